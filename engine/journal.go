package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// writeTime is how long a write may take that has to happen although its turn was
// stopped.
const writeTime = 30 * time.Second

// What the model reads of calls that were not run.
const (
	textUnknown    = "The outcome is unknown: the process stopped while this ran. It may have happened or not, and it is not run again. Look before you repeat it."
	textNotAllowed = "Not allowed: a person was asked and said no."
	textNoAnswer   = "Not allowed: a person was asked, and nobody answered in time."
)

// errUnanswered is why a turn has to wait for a person.
var errUnanswered error = parley.Errorf(parley.CodeBusy, "it waits for approval")

// JournalConfig is what a journal writes for.
type JournalConfig struct {
	Session parley.SessionID
	Turn    parley.TurnID
	Fence   parley.Fence
	// Clock gives the time of what is written; nil: the system's.
	Clock parley.Clock
	// PublishFunc shows deltas; nil: nobody watches.
	PublishFunc func(parley.Delta)
	// SteeredFunc stores what people said since the last look, as messages of the
	// turn, and gives them; nil: nobody can.
	SteeredFunc func(context.Context) ([]parley.Message, error)
	// Allowed are tools that a person has allowed for the whole session: nobody
	// is asked about them again.
	Allowed map[string]bool
	// CustomTypes are the event types of the embedding program that may be
	// emitted.
	CustomTypes []parley.EventType
}

// Journal is a turn's journal in a store; see [parley.Journal]. It is for one
// run: a turn that is taken up again has another, which finds what this one wrote.
// Its methods may be called by several goroutines, so a runner may run several calls
// at once.
type Journal struct {
	store parley.Store
	cfg   JournalConfig

	writing sync.Mutex // held while it is decided what to write, and written

	mu        sync.Mutex
	lastSeq   uint64
	said      map[string]bool // ids of the turn's messages
	calls     map[parley.CallID]*entry
	order     []parley.CallID // of the calls that were said, as they were said
	asked     bool            // somebody, about a call
	streaming string
	after     uint64 // of the stream: the last event when it began
	filter    group.Filter
	shown     int // deltas of the stream
}

// entry is what is known about a call.
type entry struct {
	tool   string
	said   bool // a message of the turn has it
	state  parley.CallState
	result parley.ToolResult
	mine   bool // started by this run, and not running yet
	// running says that this run runs it.
	running bool
	// approval is how the question stands; empty: nobody needs to be asked.
	approval parley.ApprovalState
}

// OpenJournal makes the journal of a turn, with what is stored of it.
func OpenJournal(ctx context.Context, store parley.Store, cfg JournalConfig) (*Journal, error) {
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	j := newJournal(store, cfg, 0)
	if err := j.load(ctx); err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	return j, nil
}

// newJournal makes the journal of a turn that has just been started, by the commit
// that wrote lastSeq: nothing is in it.
func newJournal(store parley.Store, cfg JournalConfig, lastSeq uint64) *Journal {
	return &Journal{store: store, cfg: cfg, lastSeq: lastSeq, said: map[string]bool{}, calls: map[parley.CallID]*entry{}}
}

func (j *Journal) load(ctx context.Context) error {
	s, err := j.store.Session(ctx, parley.SeeAll(), j.cfg.Session)
	if err != nil {
		return err
	}
	j.lastSeq = s.LastSeq
	messages, err := j.messages(ctx)
	if err != nil {
		return err
	}
	for i := range messages {
		j.note(&messages[i])
	}
	calls, err := j.store.Calls(ctx, parley.SeeAll(), j.cfg.Session, j.cfg.Turn)
	if err != nil {
		return err
	}
	for _, c := range calls {
		e := j.entry(c.ID, c.Tool)
		e.state = c.State
		if len(c.Result) > 0 {
			if err := json.Unmarshal(c.Result, &e.result); err != nil {
				return fmt.Errorf("read the result of call %s: %w", c.ID, err)
			}
		}
	}
	approvals, err := j.store.Approvals(ctx, parley.SeeAll(), j.cfg.Session)
	if err != nil {
		return err
	}
	for _, a := range approvals {
		if a.Turn == j.cfg.Turn {
			j.entry(a.Call, a.Tool).approval = a.State
		}
	}
	return nil
}

// messages gives the turn's messages.
func (j *Journal) messages(ctx context.Context) ([]parley.Message, error) {
	var found []parley.Message
	err := turnBackward(ctx, j.store, j.cfg.Session, j.cfg.Turn, func(_ parley.Event, m *parley.Message) bool {
		if m != nil {
			found = append(found, *m)
		}
		return true
	})
	slices.Reverse(found)
	return found, err
}

func (j *Journal) entry(id parley.CallID, tool string) *entry {
	e := j.calls[id]
	if e == nil {
		e = &entry{tool: tool}
		j.calls[id] = e
	}
	return e
}

// note takes a message of the turn into account.
func (j *Journal) note(m *parley.Message) {
	j.said[m.ID] = true
	for _, c := range m.Calls() {
		j.entry(c.ID, c.Name).said = true
		j.order = append(j.order, c.ID)
	}
}

// Delta shows a piece of the answer, without what people are not shown. So the
// pieces that are shown are counted here.
func (j *Journal) Delta(stream string, _ int, kind parley.PartKind, text string) {
	if j.cfg.PublishFunc == nil {
		return
	}
	j.mu.Lock()
	if j.streaming != stream {
		j.streaming, j.after, j.shown, j.filter = stream, j.lastSeq, 0, group.Filter{}
	}
	if kind == parley.PartText {
		text = j.filter.Write(text)
	}
	if text == "" {
		j.mu.Unlock()
		return
	}
	j.shown++
	d := parley.Delta{
		Session: j.cfg.Session, Turn: j.cfg.Turn, Fence: j.cfg.Fence, After: j.after,
		Stream: stream, N: j.shown, Kind: kind, Text: text,
	}
	j.mu.Unlock()
	j.cfg.PublishFunc(d)
}

// Say stores a message, starts the first of its calls, and asks for approval of
// those that need it.
func (j *Journal) Say(ctx context.Context, s parley.Said) error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	known := j.said[s.Message.ID]
	j.mu.Unlock()
	if known {
		return nil
	}
	m := s.Message
	change := parley.SessionChange{
		Events: []parley.NewEvent{j.newEvent(&m)},
		Turns:  []parley.TurnChange{{ID: j.cfg.Turn, Usage: &s.Usage, Opaque: s.Opaque}},
	}
	now := j.cfg.Clock.Now()
	asked := map[parley.CallID]bool{}
	for _, c := range m.Calls() {
		if j.known(c.ID) {
			continue
		}
		i := slices.IndexFunc(s.Ask, func(q parley.CallQuestion) bool { return q.Call == c.ID })
		if i >= 0 && !j.cfg.Allowed[c.Name] {
			asked[c.ID] = true
			j.ask(&change, now, c, s.Ask[i])
		}
	}
	var first parley.CallID
	if calls := m.Calls(); len(calls) > 0 && !asked[calls[0].ID] && !j.known(calls[0].ID) {
		first = calls[0].ID
		j.start(&change, first, calls[0].Name)
	}
	if len(asked) > 0 {
		j.mu.Lock()
		j.asked = true // also if it stays unknown whether it was written
		j.mu.Unlock()
	}
	if err := j.commit(ctx, now, change); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(&m)
	for id := range asked {
		if e := j.calls[id]; e != nil {
			e.approval = parley.ApprovalPending
		}
	}
	if first != "" {
		j.started(first)
	}
	return nil
}

// known reports whether a call was started or asked about before: its message was
// redacted since, and is said again.
func (j *Journal) known(id parley.CallID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.calls[id]
	return e != nil && (e.state != "" || e.approval != "")
}

func (j *Journal) ask(change *parley.SessionChange, now time.Time, c parley.ToolCall, q parley.CallQuestion) {
	deadline := now.Add(q.Deadline)
	change.Approvals = append(change.Approvals, parley.ApprovalChange{
		Turn: j.cfg.Turn, Call: c.ID, Tool: c.Name, State: parley.ApprovalPending, Default: q.Default, Deadline: deadline,
	})
	change.Events = append(change.Events, j.newEvent(&parley.ApprovalRequested{Call: c.ID, Tool: c.Name, Deadline: deadline, Default: q.Default}))
}

// start adds the start of a call to a change.
func (j *Journal) start(change *parley.SessionChange, id parley.CallID, tool string) {
	change.Calls = append(change.Calls, parley.CallChange{Turn: j.cfg.Turn, ID: id, Tool: tool, State: parley.CallStarted})
	change.Events = append(change.Events, j.newEvent(&parley.ToolStarted{Call: id, Tool: tool}))
}

func (j *Journal) started(id parley.CallID) {
	e := j.calls[id]
	e.state, e.mine = parley.CallStarted, true
}

// Call gives the stored result of a call, or runs it. The same call twice at once is
// a fault of the runner, [parley.CodeInternal].
func (j *Journal) Call(ctx context.Context, call parley.ToolCall, run func(context.Context) (parley.ToolResult, error)) (parley.ToolResult, error) {
	settled, done, err := j.prepare(ctx, call)
	if done || err != nil {
		return settled, err
	}
	result, err := run(ctx)
	if err != nil {
		j.mu.Lock()
		j.calls[call.ID].running = false
		j.mu.Unlock()
		return parley.ToolResult{}, err
	}
	result.CallID = call.ID
	state := parley.CallFinished
	if result.Unknown { // it was given up
		state = parley.CallUnknown
	}
	j.writing.Lock()
	defer j.writing.Unlock()
	return j.finish(ctx, call, state, result)
}

// prepare brings a call to where it may run, or gives the result it has without
// that.
func (j *Journal) prepare(ctx context.Context, call parley.ToolCall) (result parley.ToolResult, done bool, err error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	e := *j.entry(call.ID, call.Name)
	j.mu.Unlock()
	switch {
	case e.running:
		return result, false, parley.Errorf(parley.CodeInternal, "call %s runs already", call.ID)
	case e.state == parley.CallFinished, e.state == parley.CallUnknown:
		return e.result, true, nil
	case e.state == parley.CallStarted && !e.mine:
		result, err = j.finish(ctx, call, parley.CallUnknown, unknown(call.ID))
		return result, true, err
	}
	switch e.approval {
	case parley.ApprovalPending:
		return result, false, &parley.SuspendError{Err: fmt.Errorf("call %s: %w", call.ID, errUnanswered)}
	case parley.ApprovalDenied, parley.ApprovalCanceled:
		result, err = j.refuse(ctx, call, textNotAllowed)
		return result, true, err
	case parley.ApprovalExpired:
		result, err = j.refuse(ctx, call, textNoAnswer)
		return result, true, err
	}
	if e.state == "" {
		if ctx.Err() != nil {
			return result, false, context.Cause(ctx) // nothing more is started
		}
		var change parley.SessionChange
		j.start(&change, call.ID, call.Name)
		if err := j.commit(ctx, j.cfg.Clock.Now(), change); err != nil {
			return result, false, err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.started(call.ID)
	j.calls[call.ID].mine, j.calls[call.ID].running = false, true
	return result, false, nil
}

func unknown(id parley.CallID) parley.ToolResult {
	return parley.ToolResult{CallID: id, Text: textUnknown, IsError: true, Unknown: true}
}

// refuse records that a call was not allowed. It is in the journal, but it never
// started.
func (j *Journal) refuse(ctx context.Context, call parley.ToolCall, text string) (parley.ToolResult, error) {
	change := parley.SessionChange{Calls: []parley.CallChange{{Turn: j.cfg.Turn, ID: call.ID, Tool: call.Name, State: parley.CallStarted}}}
	return j.record(ctx, change, call, parley.CallFinished, parley.ToolResult{CallID: call.ID, Text: text, IsError: true})
}

// finish records the end of a call that was started.
func (j *Journal) finish(ctx context.Context, call parley.ToolCall, state parley.CallState, result parley.ToolResult) (parley.ToolResult, error) {
	change := parley.SessionChange{Events: []parley.NewEvent{j.newEvent(&parley.ToolCompleted{Call: call.ID, Tool: call.Name, State: state})}}
	return j.record(ctx, change, call, state, result)
}

// record stores a result, with the message that shows it, and starts the next call
// of the round. It happens also if the turn was stopped meanwhile: the tool has run.
func (j *Journal) record(ctx context.Context, change parley.SessionChange, call parley.ToolCall, state parley.CallState, result parley.ToolResult) (parley.ToolResult, error) {
	stopped := ctx.Err() != nil // then nothing more is started
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	data, err := json.Marshal(result)
	if err != nil {
		return parley.ToolResult{}, fmt.Errorf("write down a tool's result: %w", err)
	}
	original := change
	change.Calls = append(slices.Clone(change.Calls), parley.CallChange{Turn: j.cfg.Turn, ID: call.ID, Tool: call.Name, State: state, Result: data})
	change.Events = slices.Clone(change.Events)
	j.mu.Lock()
	said := j.calls[call.ID].said
	var next parley.CallID
	var tool string
	if !stopped {
		next, tool = j.next(call.ID)
	}
	j.mu.Unlock()
	message := parley.ResultMessage(result)
	if said {
		change.Events = append(change.Events, j.newEvent(&message))
	}
	if next != "" {
		j.start(&change, next, tool)
	}
	err = j.commit(ctx, j.cfg.Clock.Now(), change)
	if errors.Is(err, parley.ErrNotFound) && result.Media != nil {
		// The store does not know the media. The tool has run: its words count.
		result.Media = nil
		result.Text += "\n[What came with it could not be kept.]"
		return j.record(ctx, original, call, state, result)
	}
	if err != nil {
		return parley.ToolResult{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.calls[call.ID]
	e.state, e.result, e.running = state, result, false
	if said {
		j.said[message.ID] = true
	}
	if next != "" {
		j.started(next)
	}
	return result, nil
}

// next gives the call that was said after id, if nothing stands in its way: so its
// start needs no commit of its own, and a call that never began is never taken for
// one that was running.
func (j *Journal) next(id parley.CallID) (parley.CallID, string) {
	i := slices.Index(j.order, id)
	if i < 0 || i+1 >= len(j.order) {
		return "", ""
	}
	e := j.calls[j.order[i+1]]
	if e.state != "" || e.approval != "" {
		return "", ""
	}
	return j.order[i+1], e.tool
}

// Steered gives what people said to the running turn.
func (j *Journal) Steered(ctx context.Context) ([]parley.Message, error) {
	if j.cfg.SteeredFunc == nil {
		return nil, nil
	}
	messages, err := j.cfg.SteeredFunc(ctx)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range messages {
		j.note(&messages[i])
	}
	return messages, nil
}

// Emit stores an event of a registered type.
func (j *Journal) Emit(ctx context.Context, event parley.Custom) error {
	if !slices.Contains(j.cfg.CustomTypes, event.Type) {
		return parley.Errorf(parley.CodeInvalid, "event type %q is not registered", event.Type)
	}
	return j.commit(ctx, j.cfg.Clock.Now(), parley.SessionChange{Events: []parley.NewEvent{j.newEvent(&event)}})
}

func (j *Journal) newEvent(body parley.EventBody) parley.NewEvent {
	return parley.NewEvent{Turn: j.cfg.Turn, Body: body}
}

// commit writes under the turn's fence, while the turn runs.
//
// What has been handed to the store is waited for, also if the turn is stopped: so
// nothing of the turn is on its way any more when it ends.
func (j *Journal) commit(ctx context.Context, at time.Time, change parley.SessionChange) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	change.Session = j.cfg.Session
	result, err := j.store.Commit(ctx, parley.Batch{
		At: at,
		Expect: []parley.Expectation{
			parley.FenceIs{Session: j.cfg.Session, Fence: j.cfg.Fence},
			parley.TurnIs{Session: j.cfg.Session, Turn: j.cfg.Turn, State: parley.TurnRunning},
		},
		Sessions: []parley.SessionChange{change},
	})
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.lastSeq = result.Sessions[0].LastSeq
	j.mu.Unlock()
	return nil
}
