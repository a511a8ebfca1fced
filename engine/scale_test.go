package engine_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/turn"
)

// many makes sessions of alice, a hundred by each commit.
func (s *stage) many(name string, count int) []parley.SessionID {
	s.t.Helper()
	ids := s.named(name, count)
	for some := range slices.Chunk(ids, 100) {
		s.commitSessions(some)
	}
	return ids
}

// named gives ids.
func (s *stage) named(name string, count int) []parley.SessionID {
	ids := make([]parley.SessionID, count)
	for i := range ids {
		ids[i] = parley.SessionID(fmt.Sprintf("cli:%s%d", name, i))
	}
	return ids
}

// commitSessions makes sessions by one commit.
func (s *stage) commitSessions(ids []parley.SessionID) {
	s.t.Helper()
	source := parley.Source{Kind: "cli", Interactive: true}
	b := parley.Batch{At: s.clock.Now()}
	for _, id := range ids {
		b.Sessions = append(b.Sessions, parley.SessionChange{
			Session: id,
			Create:  &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: parley.SessionDirect},
			Events: []parley.NewEvent{
				{Body: &parley.Started{Agent: "main", Source: source}},
				{Identity: "cli:alice", Body: &parley.ParticipantChanged{Identity: "cli:alice"}},
			},
		})
	}
	if _, err := s.store.Commit(s.t.Context(), b); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until something is so.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for range 120_000 {
		if so() {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Fatalf("it never happened: %s", what)
}

// TestManySessions answers one message in each of many sessions. Nothing of that
// stays in memory: no goroutine, and no heap that grows with the sessions.
func TestManySessions(t *testing.T) { //nolint:paralleltest // it looks at the heap of the whole process
	var ended atomic.Int64
	s := newStage(t, engine.Config{Clock: parley.SystemClock{}, Runner: runs(func(_ context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		ended.Add(1)
		return answers(tc), nil
	})})
	answered := int64(0)
	round := func(name string, count int) {
		ids := s.many(name, count)
		var all sync.WaitGroup
		for w := range 32 {
			all.Go(func() {
				for i := w; i < len(ids); i += 32 {
					if _, err := s.eng.As(alice).Post(t.Context(), ids[i], say(string(ids[i]), "hi")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		answered += int64(count)
		until(t, "all are answered", func() bool {
			turns, err := s.store.OpenTurns(t.Context(), parley.SeeAll(), "")
			inputs, err2 := s.store.OpenInputs(t.Context(), parley.SeeAll(), "", parley.InputRef{}, 1)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			return ended.Load() == answered && len(turns) == 0 && len(inputs) == 0
		})
		for _, id := range ids {
			session, err := s.store.Session(t.Context(), parley.SeeAll(), id)
			if err != nil || session.Counters.Turns != 1 || session.Status != parley.StatusIdle {
				t.Fatalf("%+v, %v", session, err)
			}
		}
	}
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	rinses := 0
	heap := func() uint64 {
		// The store remembers the sessions of the last commits, up to a limit, and
		// keeps a buffer for them. One commit with more than that leaves both the
		// same each time, so that what is compared is what else is held. Events that
		// were read it keeps, up to a limit, until something is taken away.
		rinses++
		ids := s.named(fmt.Sprint("rinse", rinses, "_"), 2000)
		s.commitSessions(ids)
		if _, err := s.store.Commit(t.Context(), parley.Batch{At: s.clock.Now(), Sessions: []parley.SessionChange{{Session: ids[0], Delete: true}}}); err != nil {
			t.Fatal(err)
		}
		return live()
	}
	round("warm", 500)
	before := runtime.NumGoroutine()
	bare := live()
	start := heap()
	round("s", soak.Count(1000, 10_000))
	until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	after := heap()
	t.Logf("the heap was %d KiB, and %d KiB with the buffers of the store; it is %d KiB; %d goroutines", bare>>10, start>>10, after>>10, before)
	if after > start+bare/10 { // not of start, which has those buffers in it
		t.Errorf("the heap grew from %d to %d", start, after)
	}
}

// patient is a model that is down until it is up.
type patient struct{ up *atomic.Bool }

func (m patient) Info() parley.ModelInfo { return parley.ModelInfo{Name: "fake/patient"} }

func (m patient) Stream(_ context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		if !m.up.Load() {
			yield(parley.ModelPiece{}, parley.Errorf(parley.CodeUnavailable, "overloaded"))
			return
		}
		_ = yield(parley.ModelPiece{Kind: parley.PartText, Text: "re:" + modelText(req.Messages[len(req.Messages)-1])}, nil) &&
			yield(parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone}}, nil)
	}
}

// TestLongOutage has no model for ten minutes, while messages wait in many
// sessions: all are answered, once and in order, and people are told once.
func TestLongOutage(t *testing.T) {
	t.Parallel()
	const each = 10
	var up atomic.Bool
	clock := newClock()
	runner, err := turn.New(turn.Config{Clock: clock, AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) {
		return turn.Agent{Models: []parley.Model{patient{&up}}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, engine.Config{Runner: runner, Clock: clock})
	ids := s.many("s", soak.Count(5, 50))
	for _, id := range ids {
		for i := range each {
			s.post(alice, id, say(fmt.Sprintf("%s/%d", id, i), fmt.Sprint(i)))
		}
	}
	for range 120 {
		clock.WaitForTimer(2 * time.Minute) // somebody waits for the model
		clock.Advance(5 * time.Second)
	}
	up.Store(true)
	until(t, "all are answered", func() bool {
		inputs, err := s.store.OpenInputs(t.Context(), parley.SeeAll(), "", parley.InputRef{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Second)
		return len(inputs) == 0
	})
	want := ">0 *! <re:0 |stop"
	for i := 1; i < each; i++ {
		want += fmt.Sprintf(" >%d <re:%d |stop", i, i)
	}
	for _, id := range ids {
		if got := sketch(t, s.turns(id, each)); strings.TrimSpace(got) != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
