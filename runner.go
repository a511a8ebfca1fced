package parley

import "context"

// Runner turns a window of messages into an answer. It keeps nothing between
// two calls: when a turn has to wait, Run returns [ErrSuspended] and is later
// called again from the top, and calls that are in the journal give their stored
// results.
type Runner interface {
	Run(ctx context.Context, t TurnContext) (TurnCompleted, error)
}

// TurnContext is what a runner has to work with.
type TurnContext struct {
	Session   Session
	Turn      Turn
	Principal Principal
	Window    []Message // in turn order
	Journal   Journal
}

// Journal makes a turn's work durable, each write under the turn's fence. A
// stale fence fails with [CodeConflict]: another owner has taken over, and the
// runner must stop.
type Journal interface {
	// Delta shows a piece of the answer; it is not stored.
	Delta(stream string, n int, kind PartKind, text string)
	// Say stores a message. An assistant message with calls is durable before
	// its tools run.
	Say(ctx context.Context, m Message) error
	// Call gives the stored result of a finished call, or runs it: its start is
	// durable before run is called, its result before Call returns.
	Call(ctx context.Context, call ToolCall, run func(context.Context) (ToolResult, error)) (ToolResult, error)
	// Steered gives what people said to the running turn since the last look.
	Steered(ctx context.Context) ([]Message, error)
	// Emit stores an event of a type the embedding program registered.
	Emit(ctx context.Context, event Custom) error
	// Spend counts usage against the budget; [CodeBudgetExceeded] ends the turn.
	Spend(ctx context.Context, u Usage) error
}

// Prompter writes the system prompt of a turn and says which template it is
// made from.
type Prompter interface {
	Prompt(ctx context.Context, s Session, p Principal, notices []Notice) (string, PromptRef, error)
}
