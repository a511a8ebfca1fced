package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/lifecycle"
)

// Two people who open the same name at once: one starts a conversation, and it is
// not there for the other.
func TestOpen_NameAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	for i := range 20 {
		var together sync.WaitGroup
		var opened, refused atomic.Int64
		for _, who := range []access.Caller{bob, carol} {
			together.Go(func() {
				_, err := s.eng.As(who).Open(t.Context(), engine.Opening{To: explicit(t, fmt.Sprint("plans", i)), Session: starting(), Namespace: "web"})
				switch {
				case err == nil:
					opened.Add(1)
				case errors.Is(err, parley.ErrNotFound):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		together.Wait()
		if opened.Load() != 1 || refused.Load() != 1 {
			t.Fatalf("%d opened it, %d were refused", opened.Load(), refused.Load())
		}
	}
}

// Many who open the same id at once open one session, each of them.
func TestOpen_IDAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	var together sync.WaitGroup
	var made atomic.Int64
	for range 8 {
		together.Go(func() {
			o, err := s.eng.As(bob).Open(t.Context(), engine.Opening{ID: "web:work", Session: starting(), Metadata: map[string]string{"a": "b"}})
			if err != nil || o.Session.ID != "web:work" {
				t.Error(o.Session.ID, err)
			}
			if o.Created {
				made.Add(1)
			}
		})
	}
	together.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
	if _, err := s.eng.As(carol).Open(t.Context(), engine.Opening{ID: "web:work", Session: starting()}); !errors.Is(err, parley.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// between is a store where something happens before the participants of a session
// are read for the n-th time.
type between struct {
	parley.Store
	n  int
	do func()
}

func (b *between) Participants(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.IdentityID, error) {
	if b.n--; b.n == 0 {
		b.do()
	}
	return b.Store.Participants(ctx, v, id)
}

// A message that comes while the clock is about to end its session is not dropped.
func TestClockAgainstPost(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo), Reset: lifecycle.Policies{Default: lifecycle.Policy{Mode: lifecycle.ModeIdle}}})
	first := s.opens("work")
	s.post(alice, first.ID, say("1", "a"))
	s.turns(first.ID, 1)
	s.clock.Advance(25 * time.Hour)
	late := say("2", "b", func(in *parley.Input) { in.NotBefore = s.clock.Now().Add(time.Second) })
	store := &between{Store: s.store, n: 2, do: func() { s.post(alice, first.ID, late) }} // the second is for the reset
	other, err := engine.New(store, s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	o, err := other.As(alice).Open(t.Context(), engine.Opening{To: explicit(t, "work"), Session: starting(), Namespace: "cli"})
	if err != nil || store.n > 0 {
		t.Fatal(store.n, err)
	}
	in, err := s.store.Input(t.Context(), parley.SeeAll(), late.Ref)
	if err != nil || in.State != parley.InputQueued || o.Session.ID != first.ID {
		t.Errorf("the message is %s, and %s was opened; %v", in.State, o.Session.ID, err)
	}
}

// A turn that is taken up while somebody stops it is stopped.
func TestCancelAgainstTakingUp(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	s := &stage{t: t, path: filepath.Join(t.TempDir(), "parley.db"), clock: newClock()}
	s.cfg = engine.Config{Clock: s.clock, Runner: runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		if tc.Turn.Attempt == 1 {
			return parley.TurnEnd{}, parley.ErrUnavailable
		}
		close(began)
		<-ctx.Done()
		return ends(tc, "half"), nil
	})}
	s.open()
	store := &between{Store: s.store, do: func() {
		s.clock.Advance(time.Minute)
		<-began
	}}
	var err error
	if s.eng, err = engine.New(feed.Announce(store, s.feed), s.cfg); err != nil {
		t.Fatal(err)
	}
	s.run()
	t.Cleanup(s.end)
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	s.clock.WaitForTimer(2 * time.Second) // it is parked
	store.n = 1
	if ok, err := s.eng.As(alice).Cancel(t.Context(), id, ""); !ok || err != nil {
		t.Error(ok, err)
	}
	if got := sketch(t, s.turns(id, 1)); !strings.HasSuffix(got, "|aborted") {
		t.Error(got)
	}
}

// What stops a turn also stops one that waits.
func TestInterruptWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: newCommitter()})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	s.call(id)
	s.waiting(id)
	s.post(alice, id, say("2", "something else", busy(parley.BusyInterrupt)))
	if got := sketch(t, s.turns(id, 1)); got != ">go <(commit) |aborted" {
		t.Error(got)
	}
	s.waiting(id) // in the second turn
}

// A session without a key ends once as well, be it idle or busy.
func TestReset_WithoutAKeyAtOnce(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	idle, busy := s.session("idle", parley.SessionDirect, "cli:alice"), s.session("busy", parley.SessionDirect, "cli:alice")
	s.post(alice, busy, say("1", "a"))
	<-h.began
	for _, id := range []parley.SessionID{idle, busy} {
		var together sync.WaitGroup
		var made atomic.Int64
		for range 8 {
			together.Go(func() {
				_, err := s.eng.As(alice).Reset(t.Context(), id, engine.Anew{})
				switch {
				case err == nil:
					made.Add(1)
				case !errors.Is(err, parley.ErrConflict):
					t.Error(err)
				}
			})
		}
		together.Wait()
		if made.Load() != 1 {
			t.Errorf("%s was followed by %d sessions", id, made.Load())
		}
	}
	s.turns(busy, 1)
}
