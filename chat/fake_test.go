package chat_test

import (
	"cmp"
	"context"
	"io"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

// me is who sits at the terminal in tests.
const me parley.IdentityID = "user:owner"

// fake is a backend in memory. It does what it is told, and notes what it is asked.
type fake struct {
	clock *clock

	mu       sync.Mutex
	changed  chan struct{} // closed at each change
	sessions map[parley.SessionID]*fakeSession
	order    []parley.SessionID
	tell     func(error)
	down     error // what every request fails with
	asked    []string
	holds    map[string]chan struct{} // messages that take until it is closed
	posts    []post
	blobs    []string
}

type post struct {
	session parley.SessionID
	input   parley.Input
}

type fakeSession struct {
	parley.Session
	messages []chat.Logged
	updates  []parley.Update
	waiting  []parley.Input
	people   []parley.Identity
}

var _ chat.Backend = (*fake)(nil)

func newFake() *fake {
	return &fake{clock: newClock(), changed: make(chan struct{}), sessions: map[parley.SessionID]*fakeSession{}}
}

// add makes a session.
func (f *fake) add(id parley.SessionID) *fakeSession {
	s := &fakeSession{
		Session: parley.Session{
			ID: id, Key: "sk_" + parley.Key(id), Agent: parley.AgentSnapshot{Name: "main"}, Status: parley.StatusIdle,
			Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect, UpdatedAt: f.clock.Now(),
		},
		people: []parley.Identity{{ID: me}},
	}
	f.mu.Lock()
	f.sessions[id] = s
	f.order = append(f.order, id)
	f.mu.Unlock()
	f.event(id, "", me, &parley.Started{Agent: "main", Source: s.Source})
	return s
}

// with changes a session under the lock.
func (f *fake) with(id parley.SessionID, change func(s *fakeSession)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f.sessions[id])
	close(f.changed)
	f.changed = make(chan struct{})
}

// event appends an event to a session's log, as the store does.
func (f *fake) event(id parley.SessionID, turn parley.TurnID, by parley.IdentityID, body parley.EventBody) uint64 {
	data, err := parley.EncodeBody(body)
	if err != nil {
		panic(err)
	}
	var seq uint64
	f.with(id, func(s *fakeSession) {
		s.LastSeq++
		seq = s.LastSeq
		e := &parley.Event{Session: id, Seq: seq, Type: body.EventType(), Turn: turn, At: f.clock.Now(), Identity: by, Data: data}
		s.updates = append(s.updates, parley.Update{Event: e})
		switch b := body.(type) {
		case *parley.Message:
			s.messages = append(s.messages, chat.Logged{Seq: seq, Turn: turn, At: e.At, Identity: by, Message: *b})
		case *parley.TurnStarted:
			s.Status = parley.StatusRunning
		case *parley.TurnCompleted:
			s.Status = parley.StatusIdle
			s.Counters.Turns++
			s.Counters.Usage = s.Counters.Plus(b.Usage)
		}
	})
	return seq
}

// says appends what somebody says, and the start of the turn that shows it.
func (f *fake) says(id parley.SessionID, turn parley.TurnID, input, text string) {
	f.event(id, "", me, &parley.Admitted{ID: input, Origin: "user:owner/x", Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart(text)}})
	f.event(id, turn, "", &parley.TurnStarted{Attempt: 1})
	f.event(id, turn, me, &parley.Message{
		ID: "m-" + input, Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text)}, Inputs: []parley.InputRef{{Origin: "x", ID: input}},
	})
}

// answers ends a turn with an answer.
func (f *fake) answers(id parley.SessionID, turn parley.TurnID, message, text string) {
	f.event(id, turn, "", &parley.Message{ID: message, Role: parley.MessageAssistant, Model: "test/model", Parts: []parley.Part{parley.TextPart(text)}})
	f.event(id, turn, "", &parley.TurnCompleted{StopReason: parley.StopDone, Usage: parley.Usage{InputTokens: 1200, OutputTokens: 34, CostMicroUSD: 5600}})
}

// calls appends a message with a tool call.
func (f *fake) calls(id parley.SessionID, turn parley.TurnID, call parley.CallID, tool, arguments string) {
	f.event(id, turn, "", &parley.Message{
		ID: "m-" + string(call), Role: parley.MessageAssistant, Model: "test/model",
		Parts: []parley.Part{{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: call, Name: tool, Arguments: []byte(arguments)}}},
	})
}

// delta streams a piece of a reply.
func (f *fake) delta(id parley.SessionID, turn parley.TurnID, stream string, n int, kind parley.PartKind, text string) {
	f.with(id, func(s *fakeSession) {
		s.updates = append(s.updates, parley.Update{Delta: &parley.Delta{Session: id, Turn: turn, Stream: stream, N: n, Kind: kind, Text: text}})
	})
}

// resync has readers begin anew.
func (f *fake) resync(id parley.SessionID, reason parley.ResyncReason) {
	f.with(id, func(s *fakeSession) { s.updates = append(s.updates, parley.Update{Resync: reason}) })
}

// note notes what was asked for, and gives what it fails with.
func (f *fake) note(what string) error {
	f.asked = append(f.asked, what)
	return f.down
}

// requests gives what was asked for.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// posted gives what was said.
func (f *fake) posted() []post {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.posts)
}

// fails has every request fail; nil: none.
func (f *fake) fails(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

// watcher gives who is told about the connection; nil: nobody yet.
func (f *fake) watcher() func(error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tell
}

func (f *fake) get(id parley.SessionID) (*fakeSession, error) {
	s, ok := f.sessions[id]
	if !ok {
		return nil, parley.Errorf(parley.CodeNotFound, "there is no session %s", id)
	}
	return s, nil
}

func (f *fake) Post(_ context.Context, id parley.SessionID, in parley.Input) (parley.Receipt, error) {
	f.mu.Lock()
	hold := f.holds[parley.PlainText(in.Parts)]
	if hold != nil {
		f.asked = append(f.asked, "begin "+parley.PlainText(in.Parts))
	}
	f.mu.Unlock()
	if hold != nil {
		<-hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.note("post " + parley.PlainText(in.Parts)); err != nil {
		return parley.Receipt{}, err
	}
	s, err := f.get(id)
	if err != nil {
		return parley.Receipt{}, err
	}
	if s.Ended != nil {
		return parley.Receipt{}, parley.Errorf(parley.CodeConflict, "the session has ended")
	}
	f.posts = append(f.posts, post{id, in})
	return parley.Receipt{ID: in.Ref.ID, State: parley.InputQueued}, nil
}

func (f *fake) Session(_ context.Context, id parley.SessionID) (parley.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return parley.Session{}, f.down
	}
	s, err := f.get(id)
	if err != nil {
		return parley.Session{}, err
	}
	s.Queued = len(s.waiting)
	return s.Session, nil
}

func (f *fake) Sessions(_ context.Context, q parley.SessionQuery) (parley.SessionPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page parley.SessionPage
	from, _ := strconv.Atoi(q.Cursor)
	for i, id := range f.order[from:] {
		if len(page.Sessions) == q.Limit {
			page.Cursor = strconv.Itoa(from + i)
			break
		}
		if s := f.sessions[id]; q.IncludeInactive || s.Ended == nil {
			page.Sessions = append(page.Sessions, s.Session)
		}
	}
	return page, f.down
}

func (f *fake) Events(ctx context.Context, id parley.SessionID, from parley.Position) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		for i, after := 0, from.Seq; ; i++ {
			u, ok := f.wait(ctx, id, i)
			if !ok {
				return
			}
			if u.Event != nil && u.Event.Seq <= after {
				continue
			}
			if u.Resync != "" { // whoever reads it anew has what came before
				f.with(id, func(s *fakeSession) { s.updates = slices.Delete(s.updates, 0, i+1) })
			}
			if !yield(u, nil) || u.Resync != "" {
				return
			}
		}
	}
}

// wait waits for the update with a number.
func (f *fake) wait(ctx context.Context, id parley.SessionID, i int) (parley.Update, bool) {
	for {
		f.mu.Lock()
		updates, changed := f.sessions[id].updates, f.changed
		f.mu.Unlock()
		if i < len(updates) {
			return updates[i], true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return parley.Update{}, false
		}
	}
}

func (f *fake) Cancel(_ context.Context, id parley.SessionID, turn parley.TurnID) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return true, f.note("cancel " + string(id) + " " + string(turn))
}

func (f *fake) Watch(tell func(error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell = tell
}

func (f *fake) Messages(_ context.Context, id parley.SessionID, cursor string, limit int) (chat.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.note("messages " + cursor); err != nil {
		return chat.Page{}, err
	}
	s, err := f.get(id)
	if err != nil {
		return chat.Page{}, err
	}
	upto := len(s.messages)
	if cursor != "" {
		upto, _ = strconv.Atoi(cursor)
	}
	from := max(upto-limit, 0)
	page := chat.Page{Messages: slices.Clone(s.messages[from:upto])}
	if from > 0 {
		page.Cursor = strconv.Itoa(from)
	}
	return page, nil
}

func (f *fake) Waiting(_ context.Context, id parley.SessionID) ([]parley.Input, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.waiting), f.down
}

func (f *fake) Approvals(context.Context) ([]parley.Approval, error) { return nil, nil }

func (f *fake) Participants(_ context.Context, id parley.SessionID) ([]parley.Identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(id)
	if err != nil {
		return nil, err
	}
	return s.people, nil
}

func (f *fake) Enter(_ context.Context, agent string, anew bool) (parley.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.note("enter " + agent + " " + strconv.FormatBool(anew)); err != nil {
		return parley.Session{}, err
	}
	return f.sessions[f.order[len(f.order)-1]].Session, nil
}

func (f *fake) Withdraw(_ context.Context, id parley.SessionID, ref parley.InputRef) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.note("withdraw " + ref.ID); err != nil {
		return false, err
	}
	s := f.sessions[id]
	before := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, func(in parley.Input) bool { return in.Ref.ID == ref.ID })
	return len(s.waiting) < before, nil
}

func (f *fake) Approve(_ context.Context, _ parley.SessionID, call parley.CallID, allow, always bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.note("approve " + string(call) + " " + strconv.FormatBool(allow) + " " + strconv.FormatBool(always))
}

func (f *fake) Fork(_ context.Context, id parley.SessionID, at uint64) (parley.Session, error) {
	f.mu.Lock()
	err := f.note("fork " + string(id) + " " + strconv.FormatUint(at, 10))
	f.mu.Unlock()
	if err != nil {
		return parley.Session{}, err
	}
	f.add(id + "-fork")
	f.event(id+"-fork", "", me, &parley.Forked{From: id, AtSeq: at})
	return f.Session(context.Background(), id+"-fork")
}

func (f *fake) RewindTo(_ context.Context, id parley.SessionID, seq uint64) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return "said before", f.note("rewind " + string(id) + " " + strconv.FormatUint(seq, 10))
}

func (f *fake) Resume(_ context.Context, id parley.SessionID) (parley.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.get(id)
	if err := cmp.Or(f.note("resume "+string(id)), err); err != nil {
		return parley.Session{}, err
	}
	s.Ended = nil
	return s.Session, nil
}

func (f *fake) PutBlob(_ context.Context, content io.Reader) (parley.Media, error) {
	data, err := io.ReadAll(content)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blobs = append(f.blobs, string(data))
	return parley.Media{Handle: "blob_" + strconv.Itoa(len(f.blobs)), Type: "image/png", Size: int64(len(data))}, err
}

// clock stands still until it is moved. What is due within a frame is due at once.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
}

type timer struct {
	at time.Time
	do func()
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 10, 11, 45, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 20*time.Millisecond {
		go f()
		return func() bool { return false }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		before := len(c.timers)
		c.timers = slices.DeleteFunc(c.timers, func(have *timer) bool { return have == t })
		return len(c.timers) < before
	}
}

// move lets time pass.
func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []*timer
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool {
		if t.at.After(c.now) {
			return false
		}
		due = append(due, t)
		return true
	})
	c.mu.Unlock()
	for _, t := range due {
		go t.do()
	}
}
