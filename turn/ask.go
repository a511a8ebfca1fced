package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// The causes with which contexts of this package end.
var (
	errTurnTime   = errors.New("the turn took too long")
	errModelTime  = errors.New("the model took too long")
	errFirstPiece = errors.New("the model did not begin to answer in time")
)

// failure ends a turn for good, with what the person is told.
type failure struct {
	code    string
	message string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

// The codes of failures.
const (
	codeTurnLimit    = "turn_limit"
	codeTurnTimeout  = "turn_timeout"
	codeTooLarge     = "context_too_large"
	codeUnauthorized = "model_unauthorized"
	codeRefused      = "model_refused"
	codeBudget       = "budget_exceeded"
)

// ask asks the models of the chain, one after the other, until one answers. It
// fails with a [*failure], with a [*parley.SuspendError] if waiting may help, or
// because ctx has ended: then x.partial is what had arrived.
func (x *run) ask(ctx context.Context) (*answer, error) {
	id := x.nextID()
	var causes []error
	var wait time.Duration
	missed := func(err error, after time.Duration) {
		causes = append(causes, err)
		if after > 0 && (wait == 0 || after < wait) {
			wait = after
		}
	}
	for i, model := range x.agent.Models {
		info := model.Info()
		req, err := x.request(ctx, info)
		if err != nil {
			return nil, err
		}
		if err := x.runner.fits(info, req); err != nil {
			if i == 0 {
				return nil, &failure{codeTooLarge, err.Error()}
			}
			missed(err, 0)
			continue
		}
		settle, err := x.budget.Reserve(ctx, estimate(info, req))
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if !errors.Is(err, parley.ErrBudgetExceeded) {
				return nil, fmt.Errorf("set money aside: %w", err)
			}
			return nil, &failure{codeBudget, x.runner.cfg.Scrubber.Text(err.Error())}
		}
		report, pause, ok := x.runner.breakers.enter(info)
		if !ok {
			settle(0)
			missed(parley.Errorf(parley.CodeUnavailable, "%s is left alone for %s", info.Name, pause.Round(time.Second)), pause)
			continue
		}
		a, err := x.call(ctx, id, model, req, settle)
		switch {
		case err == nil:
			report(answered, 0)
			return a, nil
		case ctx.Err() != nil:
			report(unclear, 0)
			x.partial = a
			return nil, context.Cause(ctx)
		case !passes(err):
			report(answered, 0)
			return nil, x.refusal(err)
		}
		after := retryAfter(err)
		report(failed, after)
		missed(err, after)
		if a.started() {
			break // what has been shown is of this model; the turn waits for it
		}
	}
	return nil, &parley.SuspendError{After: wait, Usage: x.total(), Err: x.scrubbed(parley.CodeUnavailable, errors.Join(causes...))}
}

// passes reports whether a model's failure is of the kind that goes by itself.
func passes(err error) bool {
	code := parley.CodeOf(err)
	return code == parley.CodeRateLimited || code == parley.CodeUnavailable
}

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// refusal is a failure that waiting and other models do not help.
func (x *run) refusal(err error) error {
	code := codeRefused
	switch parley.CodeOf(err) {
	case parley.CodeUnauthorized, parley.CodeForbidden:
		code = codeUnauthorized
	case parley.CodeTooLarge:
		code = codeTooLarge
	}
	return &failure{code, x.runner.cfg.Scrubber.Text(err.Error())}
}

// call calls one model, and settles what was set aside for it.
func (x *run) call(ctx context.Context, id string, model parley.Model, req parley.ModelRequest, settle func(int64)) (*answer, error) {
	info := model.Info()
	a := &answer{
		id: id, model: info, scrubber: x.runner.cfg.Scrubber, room: x.limits.Output, opaque: map[int][]byte{},
		delta: func(n int, kind parley.PartKind, text string) { x.t.Journal.Delta(id, n, kind, text) },
	}
	err := x.stream(ctx, a, model, req)
	u := a.usage(req)
	settle(u.CostMicroUSD)
	x.usage = x.usage.Plus(u)
	if n := u.PromptTokens(); n > 0 {
		x.prompt = n
	}
	return a, err
}

// estimate is what a request is thought to cost before it is made.
func estimate(info parley.ModelInfo, req parley.ModelRequest) int64 {
	if info.Price == nil {
		return 0
	}
	return info.Price.Cost(parley.Usage{InputTokens: int64(tokensAbout(req)), OutputTokens: int64(req.MaxTokens)})
}

// stream reads one answer to its end, to a limit, or to an error.
func (x *run) stream(ctx context.Context, a *answer, model parley.Model, req parley.ModelRequest) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = parley.Errorf(parley.CodeInternal, "%s broke: %v", model.Info().Name, r)
		}
	}()
	ctx, _, cancel := x.runner.limit(ctx, x.limits.ModelTime, errModelTime)
	defer cancel()
	ctx, arrived, cancelFirst := x.runner.limit(ctx, x.limits.FirstPiece, errFirstPiece)
	defer cancelFirst()
	for piece, err := range model.Stream(ctx, req) {
		if err != nil {
			if ended := a.end(nil); ended != nil {
				return ended
			}
			return lateError(ctx, model.Info(), err)
		}
		arrived()
		if piece.Done != nil {
			done := *piece.Done
			if done.StopReason == "" {
				done.StopReason = parley.StopDone
			}
			a.done = &done
			break
		}
		if err := a.add(piece); err != nil {
			return err
		}
		if a.cut {
			break
		}
	}
	if err := a.end(nil); err != nil {
		return err
	}
	if a.done == nil && !a.cut {
		return parley.Errorf(parley.CodeUnavailable, "the answer of %s broke off", model.Info().Name)
	}
	return nil
}

// lateError tells a limit of ours from what the model's package made of it.
func lateError(ctx context.Context, info parley.ModelInfo, err error) error {
	for _, late := range []error{errModelTime, errFirstPiece} {
		if errors.Is(context.Cause(ctx), late) {
			return &parley.Error{Code: parley.CodeUnavailable, Message: info.Name + " was given up", Err: late}
		}
	}
	return err
}

// limit gives a context that ends with the cause after d, unless it is disarmed
// before. Cancel frees it.
func (r *Runner) limit(ctx context.Context, d time.Duration, cause error) (limited context.Context, disarm, cancel func()) {
	limited, end := context.WithCancelCause(ctx)
	stop := r.cfg.Clock.AfterFunc(d, func() { end(cause) })
	return limited, func() { stop() }, func() { stop(); end(nil) }
}
