package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// round is a message with n calls.
func round(n int) (parley.Message, []parley.ToolCall) {
	m := parley.Message{ID: "m", Role: parley.MessageAssistant}
	var calls []parley.ToolCall
	for i := range n {
		c := parley.ToolCall{ID: parley.CallID(fmt.Sprintf("c%d", i+1)), Name: "look", Arguments: []byte(`{}`)}
		calls = append(calls, c)
		m.Parts = append(m.Parts, parley.Part{Kind: parley.PartToolCall, Call: &c})
	}
	return m, calls
}

// inTurn runs a turn of a session with f, and gives what is stored of it.
func inTurn(t *testing.T, f func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error)) []parley.Event {
	t.Helper()
	s := newStage(t, engine.Config{Runner: runs(f)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	return s.turns(id, 1)
}

// TestCallsAtOnce has a runner run the calls of a round at once, each of which waits
// for all others: each runs once, has its own result, and gives it again when it is
// asked for.
func TestCallsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 8
	m, calls := round(n)
	var mu sync.Mutex
	ran := map[parley.CallID]int{}
	events := inTurn(t, func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		if err := tc.Journal.Say(ctx, parley.Said{Message: m}); err != nil {
			return parley.TurnEnd{}, err
		}
		var together sync.WaitGroup
		together.Add(n)
		run := func(c parley.ToolCall, meet bool) error {
			result, err := tc.Journal.Call(ctx, c, func(context.Context) (parley.ToolResult, error) {
				mu.Lock()
				ran[c.ID]++
				mu.Unlock()
				if meet {
					together.Done()
					together.Wait()
				}
				return parley.ToolResult{Text: "of " + string(c.ID)}, nil
			})
			if err == nil && (result.Unknown || result.CallID != c.ID || result.Text != "of "+string(c.ID)) {
				err = fmt.Errorf("call %s: %+v", c.ID, result)
			}
			return err
		}
		errs := make([]error, 2*n)
		var over sync.WaitGroup
		for i, c := range calls {
			over.Go(func() { errs[i] = run(c, true) })
		}
		over.Wait()
		for i, c := range calls {
			errs[n+i] = run(c, false)
		}
		return ends(tc, "ok"), errors.Join(errs...)
	})
	if body, err := events[len(events)-1].Decode(); err != nil || body.(*parley.TurnCompleted).Error != nil {
		t.Fatalf("%+v, %v", body, err)
	}
	started, finished, shown := map[parley.CallID]int{}, map[parley.CallID]int{}, map[parley.CallID]int{}
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.ToolStarted:
			started[b.Call]++
		case *parley.ToolCompleted:
			if b.State == parley.CallFinished && started[b.Call] == 1 {
				finished[b.Call]++
			}
		case *parley.Message:
			if b.Role == parley.MessageTool {
				shown[b.Parts[0].Result.CallID]++
			}
		}
	}
	for _, c := range calls {
		if ran[c.ID] != 1 || started[c.ID] != 1 || finished[c.ID] != 1 || shown[c.ID] != 1 {
			t.Errorf("call %s: ran %d, started %d, finished %d, shown %d times", c.ID, ran[c.ID], started[c.ID], finished[c.ID], shown[c.ID])
		}
	}
}

// TestSameCallTwiceAtOnce has a runner run a call while it runs: that is refused, and
// the call goes on to its end.
func TestSameCallTwiceAtOnce(t *testing.T) {
	t.Parallel()
	m, calls := round(1)
	ran := 0
	var twice error
	events := inTurn(t, func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		if err := tc.Journal.Say(ctx, parley.Said{Message: m}); err != nil {
			return parley.TurnEnd{}, err
		}
		_, err := tc.Journal.Call(ctx, calls[0], func(ctx context.Context) (parley.ToolResult, error) {
			ran++
			_, twice = tc.Journal.Call(ctx, calls[0], func(context.Context) (parley.ToolResult, error) {
				ran++
				return parley.ToolResult{Text: "second"}, nil
			})
			return parley.ToolResult{Text: "first"}, nil
		})
		return ends(tc, "ok"), err
	})
	if parley.CodeOf(twice) != parley.CodeInternal || ran != 1 {
		t.Errorf("ran %d, %v", ran, twice)
	}
	if got := sketch(t, events); got != ">go <(look) =first <ok |stop" {
		t.Errorf("%s", got)
	}
}

// TestNothingStartsAfterAStop has a person stop a turn after its first call: the
// journal starts no other, and what has run keeps its result.
func TestNothingStartsAfterAStop(t *testing.T) {
	t.Parallel()
	m, calls := round(2)
	ran := 0
	var after error
	var s *stage
	var id parley.SessionID
	s = newStage(t, engine.Config{Runner: runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		if err := tc.Journal.Say(ctx, parley.Said{Message: m}); err != nil {
			return parley.TurnEnd{}, err
		}
		_, err := tc.Journal.Call(ctx, calls[0], func(ctx context.Context) (parley.ToolResult, error) {
			if _, err := s.eng.As(alice).Cancel(ctx, id, ""); err != nil && ctx.Err() == nil {
				return parley.ToolResult{}, err
			}
			<-ctx.Done()
			return parley.ToolResult{Text: "done by then"}, nil
		})
		if err != nil {
			return parley.TurnEnd{}, err
		}
		_, after = tc.Journal.Call(ctx, calls[1], func(context.Context) (parley.ToolResult, error) {
			ran++
			return parley.ToolResult{}, nil
		})
		end := ends(tc, "stopped")
		end.Completed.StopReason = parley.StopAborted
		return end, nil
	})})
	id = s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	events := s.turns(id, 1)
	if !errors.Is(after, parley.ErrCanceled) || ran != 0 {
		t.Errorf("ran %d, %v", ran, after)
	}
	started := 0
	for _, e := range events {
		if e.Type == parley.EventToolStarted {
			started++
		}
	}
	if got := sketch(t, events); started != 1 || got != ">go <(look)(look) =done by then <stopped |aborted" {
		t.Errorf("%d started, %s", started, got)
	}
}

// TestUsageOfATurnThatWaits is kept: the next attempt knows what the ones before
// have consumed, although they have said nothing.
func TestUsageOfATurnThatWaits(t *testing.T) {
	t.Parallel()
	used := parley.Usage{InputTokens: 100, OutputTokens: 10, CostMicroUSD: 7}
	var found []parley.Usage
	s := newStage(t, engine.Config{Runner: runs(func(_ context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		found = append(found, tc.Turn.Usage)
		if total := tc.Turn.Usage.Plus(used); len(found) < 3 {
			return parley.TurnEnd{}, &parley.SuspendError{After: time.Second, Usage: total, Err: parley.Errorf(parley.CodeUnavailable, "down")}
		}
		return ends(tc, "ok"), nil
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	for range 2 {
		s.clock.WaitForTimer(time.Minute)
		s.clock.Advance(time.Minute)
	}
	s.turns(id, 1)
	if len(found) != 3 || found[0] != (parley.Usage{}) || found[1] != used || found[2] != used.Plus(used) {
		t.Errorf("%+v", found)
	}
}
