package bench

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/sqlite"
)

// admitting is a store that gives the batches that admit something.
type admitting struct {
	parley.Store
	batches chan parley.Batch
}

func (s *admitting) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	res, err := s.Store.Commit(ctx, b)
	if err == nil && len(b.Sessions) == 1 && len(b.Sessions[0].Admit) > 0 {
		s.batches <- b
	}
	return res, err
}

// busy is a runner whose turns go on until it is closed.
type busy chan struct{}

func (b busy) Run(ctx context.Context, _ parley.TurnContext) (parley.TurnEnd, error) {
	select {
	case <-b:
		return parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopDone}}, nil
	case <-ctx.Done():
		return parley.TurnEnd{}, parley.ErrSuspended
	}
}

// TestAdmissions_AreThoseOfTheEngine: what is measured as an admission is what the engine commits for a message to a
// session that is busy, but for the instant.
func TestAdmissions_AreThoseOfTheEngine(t *testing.T) {
	t.Parallel()
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	talk := newTalk("ada", time.Now().UTC(), "")
	opening := parley.Batch{At: talk.base}
	talk.add(&opening, 0)
	if _, err := file.Commit(t.Context(), opening); err != nil {
		t.Fatal(err)
	}
	store := &admitting{Store: file, batches: make(chan parley.Batch, 10)}
	runner := make(busy)
	eng, err := engine.New(store, engine.Config{Runner: runner})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- eng.Run(running) }()
	defer func() {
		close(runner)
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	<-eng.Ready()

	for n := range 2 {
		if _, err := eng.As(talk.caller).Post(t.Context(), talk.id, talk.says(n+1)); err != nil {
			t.Fatal(err)
		}
	}
	<-store.batches // starts a turn
	talk.made = 1
	want, got := <-store.batches, talk.admissions(1)[0]
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(parley.Batch{}, "At")); diff != "" {
		t.Errorf("an admission that is measured (+) is not what the engine commits (-):\n%s", diff)
	}
}
