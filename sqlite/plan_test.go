package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestPlans: a statement is planned once, whatever its LIMIT is.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	source := parley.Source{Kind: "web"}
	if _, err := s.Commit(t.Context(), parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: "web:a",
		Create:  &parley.NewSession{Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: source},
		Events:  []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}},
	}}}); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit <= 20; limit++ {
		events, err := s.Events(t.Context(), parley.SeeAll(), "web:a", parley.EventQuery{Limit: limit, Types: []parley.EventType{parley.EventStarted}})
		if err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		if _, err := s.OpenInputs(t.Context(), parley.SeeAll(), "web:a", parley.InputRef{}, limit); err != nil {
			t.Fatal(err)
		}
	}
	if n := sqlite.Replanned(s); n > 0 {
		t.Errorf("statements were planned %d times again", n)
	}
}
