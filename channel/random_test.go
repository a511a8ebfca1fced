package channel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
)

// TestRandomFaults: whatever the platform and the disk do, and whenever the process is
// killed, each reply reaches its chat; what is there twice is marked; and replies come in order.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	first := soak.Seed(t)
	for i := range soak.Count(6, 300) {
		seed := first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			randomFaults(t, seed)
		})
	}
}

// attempt is a reply that is on its way in a random test.
type attempt struct {
	session parley.SessionID
	turn    parley.TurnID
	text    string
	parts   int
	shown   int // deltas so far
}

func randomFaults(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	f := newFakeChat()
	w := newWorld(t, f, f)
	sessions := []parley.SessionID{"fake:a", "fake:b", "fake:c"}
	for _, id := range sessions {
		w.session(id)
	}
	faults := rand.New(rand.NewPCG(seed, 1))
	unsure := 0
	f.decide(func(call, _, _ string) fate { // it is called with no lock of the test held
		f.mu.Lock()
		defer f.mu.Unlock()
		n := faults.IntN(100)
		switch {
		case call == "typing" || n < 80:
			return taken
		case n < 88:
			return astray
		case n < 91:
			return limited
		case n < 95:
			unsure++
			return doubtful
		}
		unsure++
		return vanished
	})
	w.commits = func(parley.Batch) fate {
		f.mu.Lock()
		defer f.mu.Unlock()
		switch n := faults.IntN(100); {
		case n < 94:
			return taken
		case n < 96:
			return astray
		case n < 98:
			return vanished
		}
		return doubtful
	}
	kills := 0
	w.begin(20 + r.IntN(60))
	revive := func() {
		if w.life.dead() {
			kills++
			w.end()
			w.begin(20 + r.IntN(60))
		}
	}
	running := map[parley.SessionID]*attempt{}
	var replies []*attempt
	for n := 0; n < 40 || len(running) > 0; n++ {
		revive()
		id := sessions[r.IntN(len(sessions))]
		a := running[id]
		switch {
		case a == nil && n < 40:
			a = &attempt{session: id, text: fmt.Sprintf("reply %d of %s. ", len(replies), id), parts: 1 + r.IntN(3)}
			a.text += strings.TrimSpace(strings.Repeat("word ", 180*(a.parts-1)))
			a.turn = w.ask(id, target(string(id)))
			if _, err := w.store.Turn(t.Context(), parley.SeeAll(), id, a.turn); err != nil {
				continue // it was killed before that; nobody was told that it was admitted
			}
			running[id] = a
			replies = append(replies, a)
		case a == nil:
		case r.IntN(3) > 0:
			cut := min(len(a.text), 10*a.shown)
			a.shown++
			w.delta(id, a.turn, a.shown, a.text[cut:min(len(a.text), cut+10)])
		default:
			message := "m." + string(a.turn)
			w.change(closing(id, a.turn, says(a.turn, message, a.text)))
			if w.said(id, message) {
				delete(running, id)
			}
		}
		steps := r.IntN(20)
		w.until("some time passes", func() bool { steps--; return steps < 0 })
	}
	w.until("nothing is open", func() bool { revive(); return len(w.open()) == 0 })
	w.end()
	if f.overlaps > 0 {
		t.Errorf("%d times two calls were under way in a chat", f.overlaps)
	}
	doubled := 0
	for _, id := range sessions {
		doubled += checkChat(t, w, f.texts(string(id)), replies, id)
	}
	t.Logf("%d replies, %d kills, %d calls, %d of them unsure, %d messages doubled", len(replies), kills, len(f.called()), unsure, doubled)
	if most := unsure + kills; doubled > most {
		t.Errorf("%d messages are there twice, with %d moments at which nobody could tell", doubled, most)
	}
}

// checkChat looks at what a chat shows in the end, and counts what is there twice.
func checkChat(t *testing.T, w *world, texts []string, replies []*attempt, id parley.SessionID) (doubled int) {
	t.Helper()
	given := map[string]bool{}
	for _, d := range w.everything() {
		if d.State == parley.DeliveryDead || d.State == parley.DeliveryHeld {
			given[d.Text] = true // a person decides; it is listed
		}
	}
	at := -1
	for _, a := range replies {
		if a.session != id {
			continue
		}
		first, _, _ := strings.Cut(a.text, ".")
		var found, unmarked int
		place := -1
		for i, text := range texts {
			if !strings.Contains(text, first+".") {
				continue
			}
			found++
			if !isMarked(text) {
				unmarked++
			}
			place = i
		}
		missing := found == 0
		for text := range given {
			missing = missing && !strings.Contains(text, first)
		}
		if missing {
			t.Errorf("%s is missing; the chat shows %.60q", first, texts)
		}
		if unmarked > 1 {
			t.Errorf("%s is there %d times without a mark", first, unmarked)
		}
		if found > 0 && place < at {
			t.Errorf("%s comes before an earlier one", first)
		}
		at = max(at, place)
		doubled += max(0, found-1)
	}
	return doubled
}
