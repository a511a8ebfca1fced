package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestEvents_Types: few types and many are filtered alike.
func TestEvents_Types(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	source := parley.Source{Kind: "web"}
	if _, err := s.Commit(t.Context(), parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: "web:a",
		Create:  &parley.NewSession{Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: source},
		Events: []parley.NewEvent{
			{Body: &parley.Started{Agent: "main", Source: source}},
			{Body: &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("hi")}}},
		},
	}}}); err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		types := append(slices.Repeat([]parley.EventType{"agent:none"}, n), parley.EventMessage)
		for _, last := range []bool{false, true} {
			events, err := s.Events(t.Context(), parley.SeeAll(), "web:a", parley.EventQuery{Types: types, Last: last})
			if err != nil || len(events) != 1 || events[0].Seq != 2 {
				t.Errorf("one of %d types gives %+v, %v", len(types), events, err)
			}
		}
	}
}

// TestLog_Hidden: of events that a reader does not see the bodies are not read.
func TestLog_Hidden(t *testing.T) {
	t.Parallel()
	const (
		count = 20
		large = 100_000 // some 25 pages
	)
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	for i := range count {
		commit(t, s, said(parley.SessionID(fmt.Sprint("cli:", i)), strings.Repeat("x", large)))
	}
	for _, c := range []struct {
		v         parley.Visibility
		events    int
		allBodies bool
	}{{parley.SeeAs("cli:nobody"), 0, false}, {parley.SeeAll(), count, true}} {
		sqlite.PagesRead(s)
		events, next, err := s.Log(t.Context(), c.v, 0, 100)
		if err != nil || len(events) != c.events || next != count {
			t.Fatalf("%d events up to %d, %v", len(events), next, err)
		}
		if n := sqlite.PagesRead(s); n > 10*count != c.allBodies {
			t.Errorf("%d pages were read for %d events", n, c.events)
		}
	}
}
