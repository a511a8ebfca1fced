package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// A turn whose end the store does not take is not run again and again.
func TestEndThatCannotBeStored(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(parley.TurnContext) parley.TurnEnd
		want string
	}{
		{"no reason", func(parley.TurnContext) parley.TurnEnd { return parley.TurnEnd{} }, ">go *! |error:invalid"},
		{"too long", func(t parley.TurnContext) parley.TurnEnd { return ends(t, strings.Repeat("x", parley.MaxBodyBytes)) }, ">go *! |error:too_large"},
		{"media that nobody has", func(t parley.TurnContext) parley.TurnEnd {
			end := ends(t, "look")
			media := &parley.Media{Handle: strings.Repeat("a", 64), Type: "image/png"}
			end.Last.Parts = append(end.Last.Parts, parley.Part{Kind: parley.PartMedia, Media: media})
			return end
		}, ">go *! |error:"},
		{"less than nothing spent", func(t parley.TurnContext) parley.TurnEnd {
			end := ends(t, "ok")
			end.Completed.Usage.InputTokens = -1
			return end
		}, ">go *! |error:invalid"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ran := 0
			s := newStage(t, engine.Config{Runner: runs(func(_ context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
				if ran++; ran > 3 {
					return parley.TurnEnd{}, errors.New("again") // else it never ends
				}
				return test.end(tc), nil
			})})
			id := s.session("a", parley.SessionDirect, "cli:alice")
			s.post(alice, id, say("1", "go"))
			if got := sketch(t, s.turns(id, 1)); ran != 1 || !strings.HasPrefix(got, test.want) {
				t.Errorf("ran %d times: %s", ran, got)
			}
		})
	}
}

// What a turn that waits cannot write is not tried without a pause either.
func TestWaitThatCannotBeStored(t *testing.T) {
	t.Parallel()
	ran := make(chan struct{}, 1000)
	s := newStage(t, engine.Config{Runner: runs(func(_ context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		ran <- struct{}{}
		if tc.Turn.Attempt > 2 {
			return answers(tc), nil
		}
		return parley.TurnEnd{}, &parley.SuspendError{Usage: parley.Usage{InputTokens: -1}, Err: parley.ErrUnavailable}
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	const pause = 2 * time.Second // one, and two if the clock was faster than the end of the work before
	for range 2 {
		<-ran
		s.clock.WaitForTimer(pause)
		if len(ran) > 0 {
			t.Fatal("it was run again at once")
		}
		s.clock.Advance(pause)
	}
	s.turns(id, 1)
}

// notedBatches notes what is committed.
type notedBatches struct {
	parley.Store
	mu      sync.Mutex
	batches []parley.Batch
}

func (s *notedBatches) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	s.mu.Lock()
	s.batches = append(s.batches, b)
	s.mu.Unlock()
	return s.Store.Commit(ctx, b)
}

// ends gives of each turn's end whether it might wait, and counts the others that might.
func (s *notedBatches) ends() (ends []bool, others int) {
	for _, b := range s.batches {
		isEnd := func(d parley.NewEvent) bool { return d.Body.EventType() == parley.EventTurnCompleted }
		switch {
		case len(b.Sessions) == 1 && slices.ContainsFunc(b.Sessions[0].Events, isEnd):
			ends = append(ends, b.MayWait)
		case b.MayWait:
			others++
		}
	}
	return ends, others
}

// TestEndMayWait: the end of a turn may wait for other commits, unless another message waits for it. What
// else is written may not.
func TestEndMayWait(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)}) // for its store
	id := s.session("a", parley.SessionDirect, "cli:alice")
	store := &notedBatches{Store: s.store}
	var eng *engine.Engine
	post := func(name string) {
		if _, err := eng.As(alice).Post(t.Context(), id, say(name, "hi")); err != nil {
			t.Error(err)
		}
	}
	turns, last := 0, make(chan struct{})
	eng, stop := startOver(t, s, store, runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		switch turns++; turns {
		case 1: // two wait for its end, and one for that of the next
			post("2")
			post("3")
		case 3:
			close(last)
		}
		return echo(ctx, tc)
	}))
	post("1")
	<-last
	stop()
	ends, others := store.ends()
	// The store refuses to let a session rest with something queued, and the end is written again.
	want := []bool{false, false, false, false, true}
	if !slices.Equal(ends, want) || others != 0 {
		t.Errorf("ends that may wait: %v, not %v; and %d others", ends, want, others)
	}
}
