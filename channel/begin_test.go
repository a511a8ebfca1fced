package channel_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
)

// A store that cannot write when the outbox starts does not keep it from working later.
func TestBeginsWhenTheStoreCanWrite(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("fake:a"))
	w.delta("fake:a", turn, 1, "Once upon")
	w.until("its beginning is shown", func() bool { o := w.open(); return len(o) == 1 && o[0].PlatformID != "" })
	w.end()
	end := closing("fake:a", turn)
	if _, err := w.store.Commit(t.Context(), parley.Batch{At: w.clock.Now(), Sessions: []parley.SessionChange{end}}); err != nil {
		t.Fatal(err) // past the outbox, which would have seen to the beginning
	}
	var full atomic.Bool
	full.Store(true)
	w.commits = func(parley.Batch) fate {
		if full.Load() {
			return astray
		}
		return taken
	}
	w.prepare(-1)
	tries := w.life.count()
	w.until("it was tried more than once", func() bool { return w.life.count() > tries+2 })
	full.Store(false)
	w.answer("fake:a", "Here.")
	w.settled()
	if got := w.chat.texts("fake:a"); !slices.Contains(got, "Here.") {
		t.Errorf("the chat shows %q", got)
	}
}
