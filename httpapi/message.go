package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

func (s *Server) messageRoutes() {
	add(s, onSession(access.OpPost), endpoint[postIn, any]{
		method: http.MethodPost, path: "/api/sessions/{id}/messages", name: "postMessage",
		summary: "Say something. It is durable when the answer comes; saying it again with the same input_id changes nothing. With `wait` the answer is the finished turn, if it is done by then and does not wait for approval. With Accept: text/event-stream it is that turn's events until it is completed.",
		status:  http.StatusAccepted, also: map[int]string{http.StatusOK: "the finished turn"}, stream: true, do: (*call).post,
	})
	add(s, onSession(access.OpRead), endpoint[messagesIn, messagesOut]{
		method: http.MethodGet, path: "/api/sessions/{id}/messages", name: "readMessages",
		summary: "The messages of a session, the newest page first, oldest first inside a page.", do: (*call).messages,
	})
	add(s, onSession(access.OpRead), endpoint[sessionIn, waitingOut]{
		method: http.MethodGet, path: "/api/sessions/{id}/inputs", name: "readWaiting",
		summary: "The messages of a session that wait for their turn, in that order.", do: (*call).waiting,
	})
	add(s, onSession(access.OpWithdraw), endpoint[withdrawIn, withdrawOut]{
		method: http.MethodDelete, path: "/api/sessions/{id}/inputs/{input_id}", name: "withdrawInput",
		summary: "Take back a message that still waits.", do: (*call).withdraw,
	})
}

// postIn is what somebody says.
type postIn struct {
	ID        parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Wait      time.Duration    `query:"wait" json:"-" jsonschema:"how long to wait for the turn's end, such as 30s"`
	Text      *string          `json:"text,omitempty"`
	Content   []parley.Part    `json:"content,omitempty" jsonschema:"parts of type text and media, in place of text"`
	InputID   string           `json:"input_id,omitempty" jsonschema:"your own name for the message, so that it can be repeated safely; one is made if it is not given"`
	Busy      parley.BusyMode  `json:"busy,omitempty" jsonschema:"what to do during a turn; as the session says if it is not given"`
	Sender    *senderView      `json:"sender,omitempty" jsonschema:"who says it, for credentials that speak for several accounts"`
	Mentioned bool             `json:"mentioned,omitempty" jsonschema:"the agent was addressed, in a group"`
	Trigger   *bool            `json:"trigger,omitempty" jsonschema:"false: it is only logged, and the next turn sees it"`
	ReplyTo   string           `json:"reply_to,omitempty" jsonschema:"the platform's id of the message it answers"`
	MessageID string           `json:"message_id,omitempty" jsonschema:"the platform's id of the message itself"`
}

// finishedOut is a turn that has ended.
type finishedOut struct {
	InputID    string            `json:"input_id"`
	State      parley.InputState `json:"state"`
	Turn       parley.TurnID     `json:"turn_id,omitempty"`
	Duplicate  bool              `json:"duplicate"`
	Message    *messageView      `json:"message,omitempty" jsonschema:"the last thing the agent said in the turn, or what a command was answered with"`
	StopReason parley.StopReason `json:"stop_reason,omitempty"`
	Usage      *parley.Usage     `json:"usage,omitempty"`
	Cost       *int64            `json:"cost_microusd,omitempty"`
	Error      *parley.TurnError `json:"error,omitempty"`
}

// input makes the input of a request.
func (in *postIn) input() (parley.Input, error) {
	made := parley.Input{
		Ref: parley.InputRef{ID: in.InputID}, Parts: in.Content, Busy: in.Busy, Mentioned: in.Mentioned, ReplyTo: in.ReplyTo, MessageID: in.MessageID,
	}
	switch {
	case in.Text != nil && in.Content != nil:
		return made, invalidf("give text or content, not both")
	case in.Text != nil:
		made.Parts = []parley.Part{parley.TextPart(*in.Text)}
	}
	if len(made.Parts) == 0 || len(made.Parts) == 1 && made.Parts[0].Kind == parley.PartText && strings.TrimSpace(made.Parts[0].Text) == "" {
		return made, invalidf("there is nothing to say: give text, or content with parts")
	}
	for i := range made.Parts {
		p := &made.Parts[i]
		if p.Kind != parley.PartText && p.Kind != parley.PartMedia || p.Note {
			return made, invalidf("content[%d] must be of type text or media; others are the agent's", i)
		}
	}
	return made, nil
}

// post admits a message, and waits for its answer if that was asked for.
func (c *call) post(in *postIn) (any, error) {
	input, err := in.input()
	if err != nil {
		return nil, err
	}
	if err := c.describeMedia(input.Parts); err != nil {
		return nil, err
	}
	if in.Wait > c.cfg.Limits.Wait {
		return nil, invalidf("wait must be at most %s", c.cfg.Limits.Wait)
	}
	ctx := c.r.Context()
	if in.Sender != nil || c.cred.Caller.Principal().Role == "" {
		if err := c.arrive(ctx, in); err != nil {
			return nil, err
		}
	}
	if in.Sender != nil && c.cred.Caller.Namespace() != "" {
		input.Sender = in.Sender.sender() // what others call themselves is not theirs to say here
	}
	if c.wantsStream() {
		return nil, c.postAndFollow(in, input)
	}
	if in.Wait == 0 {
		return c.say(ctx, in, input, c.acknowledge)
	}
	return c.sayAndWait(in, input)
}

// describeMedia has the type and the size of media be those of the bytes that were put, whatever the
// client says of them.
func (c *call) describeMedia(parts []parley.Part) error {
	for i := range parts {
		m := parts[i].Media
		if m == nil || c.cfg.Blobs == nil {
			continue
		}
		b, err := c.cfg.Blobs.Stat(c.r.Context(), parley.BlobHandle(m.Handle))
		if errors.Is(err, parley.ErrNotFound) {
			return parley.Errorf(parley.CodeNotFound, "there is no media %q; POST /api/blobs stores it first", m.Handle)
		}
		if err != nil {
			return err
		}
		m.Type, m.Size = b.Type, b.Size
	}
	return nil
}

// lastLook is how long the answer to an input may take to be read that is settled.
const lastLook = 2 * time.Second

// sayAndWait posts the input and waits for its answer. Who waits counts as one who
// has a stream open, and gets what there is when the server stops.
func (c *call) sayAndWait(in *postIn, input parley.Input) (any, error) {
	ctx, stop := context.WithCancelCause(c.r.Context())
	defer stop(nil)
	leave, err := c.streams.enter(&stream{call: c, stop: stop})
	switch {
	case errors.Is(err, parley.ErrUnavailable):
		return c.say(ctx, in, input, c.acknowledge) // the server stops, and waits for nothing
	case err != nil:
		return nil, err
	}
	defer leave()
	session, err := c.handle().Session(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	input.Ref = c.handle().Name(session, input.Ref)
	receipt, err := c.say(c.r.Context(), in, input, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, in.Wait)
	defer cancel()
	answer, err := c.handle().Answer(ctx, in.ID, input.Ref)
	if errors.Is(context.Cause(ctx), errClosing) {
		// What is stored by now is read, and not waited for.
		last, done := context.WithTimeout(c.r.Context(), lastLook)
		defer done()
		if said, e := c.handle().Input(last, in.ID, input.Ref); e == nil && !said.State.Open() {
			ctx = last
			answer, err = c.handle().Answer(last, in.ID, input.Ref)
		}
	}
	switch {
	case ctx.Err() != nil:
		return c.standing(in.ID, input.Ref, receipt), nil
	case err != nil:
		return nil, err
	case answer.Awaits != nil:
		receipt.State, receipt.Turn = answer.Input.State, answer.Turn
		return receipt, nil
	}
	c.status = http.StatusOK
	return finished(answer, receipt), nil
}

// arrive makes the call that of the sender, and lets a stranger in where the
// session's agent does.
func (c *call) arrive(ctx context.Context, in *postIn) error {
	credential := c.handle()
	if err := c.speak(ctx, in.Sender); err != nil {
		return err
	}
	if c.cred.Caller.Principal().Role != "" {
		return nil
	}
	session, err := credential.Session(ctx, in.ID)
	if err != nil {
		return err
	}
	agent, _ := c.cfg.AgentFunc(session.Agent.Name) // one that is gone is private
	return c.enter(ctx, agent.Door)
}

// say posts the input, or has it logged. If it starts a turn, acknowledge is called before
// that begins to work; nil: the receipt comes when say returns.
func (c *call) say(ctx context.Context, in *postIn, input parley.Input, acknowledge func(parley.Receipt)) (parley.Receipt, error) {
	if in.Trigger != nil && !*in.Trigger {
		return c.handle().Append(ctx, in.ID, input)
	}
	return c.handle().Bring(ctx, in.ID, input, engine.Manner{AcknowledgeFunc: acknowledge})
}

// receiptTime is how long a client may take to receive a receipt, because its turn waits for that.
const receiptTime = time.Second

// acknowledge answers with a receipt, while the handler goes on.
func (c *call) acknowledge(r parley.Receipt) {
	c.took = true
	c.w.limit = min(c.w.limit, receiptTime)
	c.write(c.status, r)
}

// standing is how an input stands that is not settled yet.
func (c *call) standing(id parley.SessionID, ref parley.InputRef, r parley.Receipt) parley.Receipt {
	if in, err := c.handle().Input(c.r.Context(), id, ref); err == nil {
		r.State, r.Turn = in.State, in.Turn
	}
	return r
}

func finished(a engine.Answer, r parley.Receipt) finishedOut {
	out := finishedOut{InputID: r.ID, State: a.Input.State, Turn: a.Turn, Duplicate: r.Duplicate}
	if a.Message != nil {
		m := viewMessage(a.Message)
		out.Message = &m
	}
	if done := a.Completed; done != nil {
		out.StopReason, out.Usage, out.Cost, out.Error = done.StopReason, &done.Usage, &done.Usage.CostMicroUSD, done.Error
	}
	return out
}

type messagesIn struct {
	ID     parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Limit  int              `query:"limit" json:"-" jsonschema:"how many at most; 50 if it is not given, never more than 1000"`
	Cursor string           `query:"cursor" json:"-" jsonschema:"that of the page before, for older messages"`
}

type messagesOut struct {
	Messages []loggedView `json:"messages"`
	Cursor   string       `json:"cursor" jsonschema:"where the page with older messages ends; empty: there is none"`
}

// loggedView is a message in the log.
type loggedView struct {
	messageView
	Seq      uint64            `json:"seq"`
	Turn     parley.TurnID     `json:"turn_id,omitempty"`
	At       time.Time         `json:"at"`
	Identity parley.IdentityID `json:"identity,omitempty"`
	Redacted bool              `json:"redacted,omitempty" jsonschema:"its content was taken away"`
}

func (c *call) messages(in *messagesIn) (messagesOut, error) {
	before, err := readCount("messages", in.ID, in.Cursor)
	if err != nil {
		return messagesOut{}, err
	}
	page, err := c.handle().Messages(c.r.Context(), in.ID, before, in.Limit)
	if err != nil {
		return messagesOut{}, err
	}
	out := messagesOut{Messages: make([]loggedView, len(page.Messages))}
	for i := range page.Messages {
		m := &page.Messages[i]
		out.Messages[i] = loggedView{messageView: viewMessage(&m.Message), Seq: m.Seq, Turn: m.Turn, At: m.At.UTC(), Identity: m.Identity, Redacted: m.Redacted}
	}
	if page.Before > 0 {
		out.Cursor = cursorOf("messages", in.ID, strconv.FormatUint(page.Before, 10))
	}
	return out, nil
}

type waitingOut struct {
	Inputs []waitingView `json:"inputs"`
}

// waitingView is an input that waits.
type waitingView struct {
	ID       string            `json:"input_id"`
	Kind     parley.InputKind  `json:"kind"`
	Parts    []parley.Part     `json:"parts"`
	Seq      uint64            `json:"seq"`
	At       time.Time         `json:"at"`
	Identity parley.IdentityID `json:"identity,omitempty"`
	Sender   *parley.Sender    `json:"sender,omitempty" jsonschema:"who wrote it, as the platform names them"`
}

// waiting gives what waits for its turn.
func (c *call) waiting(in *sessionIn) (waitingOut, error) {
	list, err := c.handle().Waiting(c.r.Context(), in.ID)
	if err != nil {
		return waitingOut{}, err
	}
	out := waitingOut{Inputs: make([]waitingView, len(list))}
	for i := range list {
		w := &list[i]
		out.Inputs[i] = waitingView{ID: w.Ref.ID, Kind: w.Kind, Parts: w.Parts, Seq: w.Seq, At: w.At.UTC(), Identity: w.Principal.Identity}
		if w.Sender != (parley.Sender{}) {
			out.Inputs[i].Sender = &w.Sender
		}
	}
	return out, nil
}

type withdrawIn struct {
	ID      parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	InputID string           `path:"input_id" json:"-" jsonschema:"the message's input_id"`
}

type withdrawOut struct {
	Withdrawn bool `json:"withdrawn" jsonschema:"false: it does not wait any more"`
}

// withdraw takes back an input. Where several senders used the same id, it is the
// caller's own.
func (c *call) withdraw(in *withdrawIn) (withdrawOut, error) {
	ctx := c.r.Context()
	session, err := c.handle().Session(ctx, in.ID)
	if err != nil {
		return withdrawOut{}, err
	}
	own := c.handle().Name(session, parley.InputRef{ID: in.InputID})
	ref := own
	waiting, err := c.handle().Waiting(ctx, in.ID)
	if err != nil {
		return withdrawOut{}, err
	}
	found := 0
	for _, input := range waiting {
		if input.Ref == own {
			ref, found = input.Ref, 1
			break
		}
		if input.Ref.ID == in.InputID {
			ref = input.Ref
			found++
		}
	}
	if found > 1 {
		return withdrawOut{}, parley.Errorf(parley.CodeConflict, "several messages that wait have the id %q", cut(in.InputID))
	}
	ok, err := c.handle().Withdraw(ctx, in.ID, ref)
	if errors.Is(err, parley.ErrNotFound) && found == 0 {
		return withdrawOut{}, err
	}
	return withdrawOut{Withdrawn: ok}, err
}
