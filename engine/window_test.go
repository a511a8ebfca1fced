package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// A turn in a very long conversation sees the last part of it, which begins alike for
// many turns, and is told that there was more.
func TestWindow_OfALongConversation(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	fill := func(n int) {
		change := parley.SessionChange{Session: id}
		for i := range n {
			change.Events = append(change.Events, parley.NewEvent{Body: &parley.Message{
				ID: fmt.Sprintf("old%d.%d", n, i), Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(fmt.Sprint("old ", i))},
			}})
		}
		if _, err := s.store.Commit(t.Context(), parley.Batch{At: s.clock.Now(), Sessions: []parley.SessionChange{change}}); err != nil {
			t.Fatal(err)
		}
	}
	fill(9_000)
	var before parley.Window
	for i := range 3 {
		s.post(alice, id, say(fmt.Sprint(i), fmt.Sprint("hi ", i)))
		s.turns(id, i+1)
		w := (<-seen).Window
		if n := len(w.Past); n < 3_000 || n > 6_100 {
			t.Fatalf("the window has %d messages", n)
		}
		if first := w.Past[0].Parts[0]; !first.Note || !strings.Contains(first.Text, "not shown") {
			t.Errorf("it begins with %+v", first)
		}
		if i > 0 {
			for j, m := range before.Past {
				if m.ID != w.Past[j].ID {
					t.Fatalf("message %d was %s, and is %s", j, m.ID, w.Past[j].ID)
				}
			}
		}
		before = w
	}
	if undone, err := s.eng.As(alice).Rewind(t.Context(), id, 2); err != nil || undone.Turns != 2 || undone.Text != "hi 1" {
		t.Errorf("%+v, %v", undone, err)
	}
}
