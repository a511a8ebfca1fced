package parley

import (
	"context"
	"errors"
	"time"
)

// Runner turns a window of messages into an answer. It keeps nothing between
// two calls: when a turn has to wait, Run returns [ErrSuspended] and is later
// called again from the top. The window then has what the turn has said before,
// and calls that are in the journal give their stored results.
//
// When ctx ends with the cause [ErrCanceled], a person has stopped the turn: Run
// returns what it has so far, with [StopAborted]. When it ends otherwise, the
// process stops: Run returns [ErrSuspended] as soon as it can.
//
// A turn that failed for good ends with [StopError] and what to tell the person.
// The error return is for failures of the runtime.
type Runner interface {
	Run(ctx context.Context, t TurnContext) (TurnEnd, error)
}

// TurnEnd is how a turn ended.
type TurnEnd struct {
	// Last is the turn's last message. It is not said through the journal: the
	// commit that closes the turn stores it. Nil: there is none, or the journal
	// has it.
	Last      *Message
	Completed TurnCompleted
}

// ErrCanceled is the cause with which a turn's context ends when a person has
// stopped the turn.
var ErrCanceled = errors.New("the turn was canceled")

// SuspendError is an [ErrSuspended] that says why the turn has to wait.
type SuspendError struct {
	// After is when it makes sense to go on; 0: unknown, or something else has
	// to happen first, such as an approval.
	After time.Duration
	// Usage is what the turn has consumed by now, all in all; zero: what was last
	// said.
	Usage Usage
	Err   error
}

// Error gives the reason.
func (e *SuspendError) Error() string { return ErrSuspended.Error() + ": " + e.Err.Error() }

// Unwrap gives the reason.
func (e *SuspendError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrSuspended].
func (e *SuspendError) Is(target error) bool { return target == ErrSuspended }

// TurnContext is what a runner has to work with.
type TurnContext struct {
	Session   Session
	Turn      Turn
	Principal Principal
	System    string // the system prompt
	Window    Window
	Journal   Journal
	Budget    Budget // nil: none
}

// Journal makes a turn's work durable, each write under the turn's fence. A
// stale fence fails with [CodeConflict]: another owner has taken over, and the
// runner must stop.
type Journal interface {
	// Delta shows a piece of the answer; it is not stored. Stream is the id of
	// the message that it becomes, and n counts 1, 2, 3 … in it.
	Delta(stream string, n int, kind PartKind, text string)
	// Say stores a message, with what belongs to it, in one commit. The first
	// call of an assistant message is started by it, and each further one with the
	// result of the call before, except those that wait for approval. Saying a
	// message of the turn again, by its id, does nothing.
	Say(ctx context.Context, s Said) error
	// Call gives the stored result of a finished call, or runs it: its start is
	// durable before run is called, its result before Call returns, together with
	// the tool message that shows it if the call was said.
	//
	// A call that an earlier attempt had started gives an Unknown result, and one
	// that a person has not allowed a result that says so; neither is run. While
	// the approval is open Call returns [ErrSuspended].
	//
	// The result's media must be registered blobs.
	Call(ctx context.Context, call ToolCall, run func(context.Context) (ToolResult, error)) (ToolResult, error)
	// Steered gives what people said to the running turn since the last look.
	// The messages are stored by then, after the turn's others.
	Steered(ctx context.Context) ([]Message, error)
	// Emit stores an event of a type the embedding program registered.
	Emit(ctx context.Context, event Custom) error
}

// Said is a message of a turn and what is stored with it.
type Said struct {
	Message Message
	// Ask names calls of the message that a person has to allow first.
	Ask []CallQuestion
	// Usage is what the turn has consumed by now, all in all.
	Usage Usage
	// Opaque is kept until the turn is completed, in place of the turn's
	// [Turn.Opaque]; nil leaves that as it is.
	Opaque []byte
}

// CallQuestion asks a person whether a call may run.
type CallQuestion struct {
	Call     CallID
	Deadline time.Duration // how long the question waits
	Default  ApprovalState // the answer then: approved or denied
}

// Budget limits what may be spent.
type Budget interface {
	// Reserve sets aside what a model call may cost, in millionths of a dollar,
	// before it is made; [CodeBudgetExceeded] if there is not as much. Settle
	// replaces the reservation by what the call has cost and must be called, once.
	Reserve(ctx context.Context, microUSD int64) (settle func(spent int64), err error)
}

// Prompter writes what a turn tells the model besides what people said. It is
// asked when a turn starts and when it is taken up again.
type Prompter interface {
	Prompt(ctx context.Context, p PromptContext) (Prompt, error)
}

// PromptContext is what a prompt is made from.
type PromptContext struct {
	Session   Session
	Principal Principal
	People    []Identity // who takes part
	Notices   []Notice   // what the agent is told once
	At        time.Time  // when the turn started
}

// Prompt is what a turn tells the model.
type Prompt struct {
	// System is the system prompt. It is the same from turn to turn, so that
	// providers can reuse what they have read.
	System string
	// Preface stands before what people said, as a note that is stored with the
	// turn: what differs from turn to turn, such as the time. It counts
	// when the turn starts, and not when it is taken up again.
	Preface string
	// Ref names the template of both.
	Ref PromptRef
}
