package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// ending is a context that ends when it was looked at a number of times.
type ending struct {
	context.Context //nolint:containedctx // it is one
	looks           int
}

func (c *ending) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestRead_IsWholeOrFails ends a read's context at every point of it: what comes
// without an error is all there is.
func TestRead_IsWholeOrFails(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const count = 20
	change := parley.SessionChange{
		Session: "cli:work",
		Create:  &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect},
	}
	for i := range count {
		change.Events = append(change.Events, parley.NewEvent{Body: &parley.ParticipantChanged{Identity: parley.IdentityID(fmt.Sprintf("web:%d", i))}})
	}
	if _, err := store.Commit(t.Context(), parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{change}}); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(ctx context.Context) (int, error){
		"Events": func(ctx context.Context) (int, error) {
			events, err := store.Events(ctx, parley.SeeAll(), "cli:work", parley.EventQuery{})
			return len(events), err
		},
		"Log": func(ctx context.Context) (int, error) {
			events, _, err := store.Log(ctx, parley.SeeAll(), 0, 0)
			return len(events), err
		},
		"Participants": func(ctx context.Context) (int, error) {
			people, err := store.Participants(ctx, parley.SeeAll(), "cli:work")
			return len(people), err
		},
	} {
		failed, whole := 0, 0
		for looks := range 200 {
			n, err := read(&ending{Context: t.Context(), looks: looks})
			switch {
			case err != nil && parley.CodeOf(err) != parley.CodeUnavailable:
				t.Errorf("%s that ends after %d looks fails with %v", name, looks, err)
			case err != nil:
				failed++
			case n != count:
				t.Errorf("%s that ends after %d looks gives %d of %d and no error", name, looks, n, count)
			default:
				whole++
			}
		}
		if failed == 0 || whole == 0 {
			t.Errorf("%s failed %d times and was whole %d times: this shows nothing", name, failed, whole)
		}
	}
}
