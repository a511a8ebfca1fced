package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

// watchedReads counts what is read until something is committed. Before the first commit it does
// something else, if there is something to do.
type watchedReads struct {
	parley.Store
	views, notices int
	done           chan struct{} // is closed with the first commit
	beforeFunc     func()
}

type inView struct{}

func (s *watchedReads) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *watchedReads) View(ctx context.Context, f func(context.Context) error) error {
	if ctx.Value(inView{}) == nil && !s.isDone() {
		s.views++
	}
	return s.Store.View(context.WithValue(ctx, inView{}, true), f)
}

func (s *watchedReads) Notices(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Notice, error) {
	if !s.isDone() {
		s.notices++
	}
	return s.Store.Notices(ctx, v, id)
}

func (s *watchedReads) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	if !s.isDone() {
		if s.beforeFunc != nil {
			s.beforeFunc()
		}
		close(s.done)
	}
	return s.Store.Commit(ctx, b)
}

// bring brings an input to an engine over the store, and waits until what follows from it is over.
func (s *watchedReads) bring(t *testing.T, on *stage, who access.Caller, id parley.SessionID, how engine.Manner) {
	t.Helper()
	s.Store, s.done = on.store, make(chan struct{})
	eng, stop := startOver(t, on, s, runs(echo))
	s.views, s.notices = 0, 0
	if _, err := eng.As(who).Bring(t.Context(), id, say(string(id), "hi"), how); err != nil {
		t.Error(err)
	}
	stop()
}

// startOver starts an engine over a store that is made of the stage's. stop waits until what was
// brought to it is over.
func startOver(t *testing.T, on *stage, store parley.Store, runner parley.Runner) (eng *engine.Engine, stop func()) {
	t.Helper()
	eng, err := engine.New(store, engine.Config{Runner: runner, Clock: on.clock})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- eng.Run(ctx) }()
	<-eng.Ready()
	return eng, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestFacts_OneView: a message that starts a turn at once is admitted after one look at the store. What
// only a turn needs is not read for a message that waits.
func TestFacts_OneView(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind           parley.SessionType
		how            engine.Manner
		views, notices int
	}{
		"direct": {parley.SessionDirect, engine.Manner{}, 1, 1},
		"group":  {parley.SessionGroup, engine.Manner{}, 2, 1},
		"waits":  {parley.SessionDirect, engine.Manner{Pause: time.Second, Longest: time.Second}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, engine.Config{Runner: runs(echo)}) // for its store, which is no other's: a start settles what it finds
			id := s.session(name, c.kind, "cli:alice")
			var store watchedReads
			store.bring(t, s, alice, id, c.how)
			if store.views != c.views || store.notices != c.notices {
				t.Errorf("%d views and %d reads of notices, not %d and %d", store.views, store.notices, c.views, c.notices)
			}
		})
	}
}

// TestFacts_ReadAgain: if a session changes before a turn starts, what the turn tells is read again.
func TestFacts_ReadAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)}) // for its store
	id := s.session("a", parley.SessionDirect, "cli:alice")
	store := watchedReads{beforeFunc: func() {
		_, err := s.store.Commit(t.Context(), parley.Batch{At: s.clock.Now(), Sessions: []parley.SessionChange{{
			Session: id, Claim: true,
			Notices: []parley.NoticeChange{{Add: &parley.Notice{ID: "n1", Kind: "test", Text: "the machine was restarted"}}},
		}}})
		if err != nil {
			t.Error(err)
		}
	}}
	store.bring(t, s, alice, id, engine.Manner{})
	left, err := s.store.Notices(t.Context(), parley.SeeAll(), id)
	if err != nil || len(left) > 0 {
		t.Errorf("the turn did not tell %v, %v", left, err)
	}
}
