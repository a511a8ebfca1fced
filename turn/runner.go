package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// run is one call of [Runner.Run].
type run struct {
	runner *Runner
	t      parley.TurnContext
	agent  Agent
	limits Limits
	media  media

	budget  *toolBudget           // what is spent here and by tools
	past    []parley.ModelMessage // the same for every request
	turn    []parley.Message      // this turn's, as stored
	state   opaque
	usage   parley.Usage
	prompt  int64 // tokens of the last request
	asked   int   // model calls of this run
	partial *answer
}

// Run runs a turn; see [parley.Runner].
func (r *Runner) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	x := &run{
		runner: r, t: t, turn: slices.Clone(t.Window.Turn), usage: t.Turn.Usage, budget: &toolBudget{of: t.Budget},
		media: media{open: r.cfg.MediaFunc, of: t.Session.ID, known: map[string][]byte{}},
	}
	var err error
	if x.agent, err = r.cfg.AgentFunc(ctx, t); err != nil {
		return x.stopped(ctx, fmt.Errorf("make the agent ready: %w", err))
	}
	if x.agent.ReleaseFunc != nil {
		defer x.agent.ReleaseFunc()
	}
	x.limits = x.agent.Limits.withDefaults()
	ctx, _, cancel := r.limit(ctx, x.limits.Time, errTurnTime)
	defer cancel()
	if err := x.begin(ctx); err != nil {
		return x.stopped(ctx, err)
	}
	end, err := x.loop(ctx)
	if err == nil {
		return end, nil
	}
	return x.stopped(ctx, err)
}

// begin makes ready what all requests of the run share.
func (x *run) begin(ctx context.Context) (err error) {
	if len(x.agent.Models) == 0 {
		return parley.Errorf(parley.CodeInvalid, "agent %s has no model", x.t.Session.Agent.Name)
	}
	set(&x.agent.Approval.Deadline, defaultDeadline)
	if x.agent.Approval.Default == "" {
		x.agent.Approval.Default = parley.ApprovalDenied
	}
	if x.state, err = parseOpaque(x.t.Turn.Opaque); err != nil {
		return err
	}
	// What is opaque belongs to the open turn.
	x.past, err = x.media.inFlight(ctx, x.t.Window.Past, nil, "")
	return err
}

// total is what the turn has consumed by now, with what its tools have spent.
func (x *run) total() parley.Usage {
	u := x.usage
	u.CostMicroUSD += x.budget.spent()
	return u
}

// loop goes from the model to its tools and back until the model is done.
func (x *run) loop(ctx context.Context) (parley.TurnEnd, error) {
	if x.hasAnswer() {
		return x.end(nil, parley.StopDone, nil), nil
	}
	for {
		ran, err := x.runTools(ctx)
		if err != nil {
			return parley.TurnEnd{}, err
		}
		if ran {
			steered, err := x.t.Journal.Steered(ctx)
			if err != nil {
				return parley.TurnEnd{}, fmt.Errorf("look for what people said meanwhile: %w", err)
			}
			x.turn = append(x.turn, steered...)
		}
		a, err := x.ask(ctx)
		if err != nil {
			return parley.TurnEnd{}, err
		}
		m := a.message(true)
		switch {
		case a.cut:
			return x.end(a, parley.StopLength, nil), nil
		case a.done.StopReason != parley.StopDone:
			// Its last call may be half of one, or is one that was withdrawn.
			return x.end(a, a.done.StopReason, nil), nil
		case len(m.Calls()) == 0:
			return x.end(a, parley.StopDone, nil), nil
		case x.rounds() >= x.limits.ToolRounds:
			return x.end(a, parley.StopError, &failure{codeTurnLimit, fmt.Sprintf(
				"The agent has used its tools %d times in this turn, which is the limit. Say \"go on\" to let it continue.", x.limits.ToolRounds)}), nil
		}
		x.partial = a // until it is stored
		if err := x.say(ctx, a, m); err != nil {
			return parley.TurnEnd{}, err
		}
		x.partial = nil
	}
}

// hasAnswer reports whether the turn was cut off after its last message.
func (x *run) hasAnswer() bool {
	if len(x.turn) == 0 {
		return false
	}
	last := x.turn[len(x.turn)-1]
	return last.Role == parley.MessageAssistant && len(last.Calls()) == 0
}

// rounds is how often the turn has used tools.
func (x *run) rounds() int {
	n := 0
	for _, m := range x.turn {
		if len(m.Calls()) > 0 {
			n++
		}
	}
	return n
}

// nextID gives the id of the message that the next model call becomes. An
// attempt never uses those of another.
func (x *run) nextID() string {
	x.asked++
	return fmt.Sprintf("%s.%d.%d", x.t.Turn.ID, x.t.Turn.Attempt, x.asked)
}

// request is what a model is asked next.
func (x *run) request(ctx context.Context, info parley.ModelInfo) (parley.ModelRequest, error) {
	turn, err := x.media.inFlight(ctx, parley.TurnInOrder(x.turn), x.state, info.Name)
	if err != nil {
		return parley.ModelRequest{}, err
	}
	req := parley.ModelRequest{
		System:    x.runner.cfg.Scrubber.Text(x.t.System),
		Messages:  slices.Concat(x.past, turn),
		MaxTokens: answerLimit(x.agent.MaxTokens, info),
		CacheKey:  string(x.t.Session.ID),
	}
	if x.agent.Tools != nil {
		req.Tools = x.agent.Tools.Specs()
	}
	return req, nil
}

// say makes a message with calls durable before they run.
func (x *run) say(ctx context.Context, a *answer, m parley.Message) error {
	said := parley.Said{Message: m, Usage: x.total()}
	for _, call := range m.Calls() {
		if effect, _ := x.effect(call); effect == parley.ToolApprove {
			said.Ask = append(said.Ask, parley.CallQuestion{Call: call.ID, Deadline: x.agent.Approval.Deadline, Default: x.agent.Approval.Default})
		}
	}
	if len(a.opaque) > 0 {
		x.state[m.ID] = a.opaque
		var err error
		if said.Opaque, err = x.state.encode(x.turn); err != nil {
			return err
		}
	}
	if err := x.t.Journal.Say(ctx, said); err != nil {
		return fmt.Errorf("keep what the model said: %w", err)
	}
	x.turn = append(x.turn, m)
	return nil
}

// end is the end of the turn, with the last words of a.
func (x *run) end(a *answer, reason parley.StopReason, f *failure) parley.TurnEnd {
	end := parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: reason, Usage: x.total(), PromptTokens: x.prompt}}
	if a != nil {
		if m := a.message(false); len(m.Parts) > 0 {
			end.Last = &m
		}
	}
	if f != nil {
		end.Completed.Error = &parley.TurnError{Code: f.code, Message: cutBefore(f.message, parley.MaxTextBytes/8)}
	}
	return end
}

// stopped is what becomes of a turn that did not get to its end.
func (x *run) stopped(ctx context.Context, err error) (parley.TurnEnd, error) {
	if ctx.Err() != nil {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, parley.ErrCanceled):
			return x.end(x.partial, parley.StopAborted, nil), nil
		case errors.Is(cause, errTurnTime):
			return x.end(x.partial, parley.StopError, &failure{codeTurnTimeout, fmt.Sprintf(
				"The agent worked for %s, which is the limit of a turn. Say \"go on\" to let it continue.", x.limits.Time)}), nil
		default:
			return parley.TurnEnd{}, &parley.SuspendError{Usage: x.total(), Err: cause}
		}
	}
	if s, ok := errors.AsType[*parley.SuspendError](err); ok && s.Usage == (parley.Usage{}) {
		s.Usage = x.total()
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return x.end(nil, parley.StopError, f), nil
	}
	return parley.TurnEnd{}, err
}

// scrubbed gives an error with the same text but for secrets.
func (x *run) scrubbed(code parley.Code, err error) error {
	text := strings.ReplaceAll(x.runner.cfg.Scrubber.Text(err.Error()), "\n", "; ")
	return &parley.Error{Code: code, Message: text, RetryAfter: retryAfter(err)}
}
