package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// written is what somebody wrote in a session, each text with the place that it was put into.
type written struct {
	texts  []string
	titles []string // each took the place of the one before
	turns  int
	shown  uint64   // seq of the message that the last title was made from
	seqs   []uint64 // of events: who redacts these takes all of it
}

// secret is how the texts of fill begin.
const secret = "[secret "

// put makes a text for a place, which is repeated so that a part of it is enough to find it.
func (w *written) put(r *rand.Rand, session parley.SessionID, place string) string {
	text := fmt.Sprintf("%s%d of %s: %s]", secret, len(w.texts)+len(w.titles), session, place)
	w.texts = append(w.texts, text)
	return strings.Repeat(text, 1+r.IntN(8))
}

// putTitle makes a title from the message that has a seq, or is going to have it.
func (w *written) putTitle(r *rand.Rand, session parley.SessionID, seq uint64) parley.Title {
	text := w.put(r, session, "title")
	last := len(w.texts) - 1
	w.texts, w.titles, w.shown = w.texts[:last], append(w.titles, w.texts[last]), seq
	return parley.Title{Text: text, Seq: seq}
}

// fill has turns in many sessions, in random order, with texts of random length: titles and previews grow
// and shrink between those of others, so that pages are divided and leave parts of themselves behind.
func fill(t *testing.T, s *sqlite.Store, sessions, turns int) map[parley.SessionID]*written {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	all, create := map[parley.SessionID]*written{}, said("cli:x", "").Sessions[0].Create
	for range turns {
		c := parley.SessionChange{Session: parley.SessionID(fmt.Sprintf("cli:s%d", r.IntN(sessions)))}
		w := all[c.Session]
		if w == nil {
			w = &written{}
			all[c.Session], c.Create = w, create
		}
		w.addTurn(r, &c)
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{c}})
	}
	return all
}

// addTurn adds a turn that stays open: an input, the message that shows it, a result, and an answer with its delivery.
func (w *written) addTurn(r *rand.Rand, c *parley.SessionChange) {
	put := func(place string) string { return w.put(r, c.Session, place) }
	before := 4 * uint64(w.turns)
	w.turns++
	turn := parley.TurnID(fmt.Sprint(w.turns))
	in := parley.Input{
		Ref: parley.InputRef{Origin: string(c.Session), ID: string(turn)}, Kind: parley.InputMessage, State: parley.InputRunning, Turn: turn,
		Parts: []parley.Part{parley.TextPart(put("input"))}, Sender: parley.Sender{ID: "1", Name: put("sender")}, Principal: loadPrincipal,
	}
	result := parley.ResultMessage(parley.ToolResult{CallID: "c", Text: put("result")})
	c.Admit = []parley.Input{in}
	for _, m := range []parley.Message{
		{
			Role: parley.MessageUser, Inputs: []parley.InputRef{in.Ref},
			Parts: []parley.Part{parley.TextPart(put("message"))}, Sender: &parley.Sender{ID: "1", Name: put("sender of the message")},
		},
		{Role: parley.MessageTool, Parts: result.Parts},
		{Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(put("answer"))}},
	} {
		m.ID = "m"
		c.Events = append(c.Events, parley.NewEvent{Turn: turn, Body: &m})
	}
	c.Turns = []parley.TurnChange{{ID: turn, Start: true}}
	c.Calls = []parley.CallChange{
		{Turn: turn, ID: "c", Tool: "shell", State: parley.CallStarted},
		{Turn: turn, ID: "c", Tool: "shell", State: parley.CallFinished, Result: fmt.Appendf(nil, "%q", put("journal"))},
	}
	c.Deliveries = []parley.DeliveryChange{{Event: len(c.Events), New: &parley.Delivery{
		ID: parley.DeliveryID(string(c.Session) + "." + string(turn)), Kind: parley.DeliveryMessage, State: parley.DeliveryPending,
		Target: parley.Target{Channel: "x", Chat: "1"}, Text: put("delivery"), Markup: put("markup"),
		Media: []parley.Media{{Handle: "blob_a", Type: "text/plain", Name: put("name of a file")}},
	}}}
	title := w.putTitle(r, c.Session, before+2)
	c.Patch.Title = &title
	// An input goes with the message that shows it, whichever is named.
	w.seqs = append(w.seqs, before+1+uint64(r.IntN(2)), before+3, before+4)
}

// addFork makes a fork that shows all there is, with a title and a delivery of its own.
func (w *written) addFork(t *testing.T, s *sqlite.Store, of parley.SessionID) (fork parley.SessionID) {
	t.Helper()
	fork = of + "-fork"
	create := *said("cli:x", "").Sessions[0].Create
	create.Fork, create.Title = &parley.ForkPoint{Session: of, Seq: 4 * uint64(w.turns)}, w.putTitle(rand.New(rand.NewPCG(1, 2)), fork, w.shown)
	commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: fork, Create: &create, Deliveries: []parley.DeliveryChange{{New: &parley.Delivery{
			ID: parley.DeliveryID(fork), Seq: w.shown, Kind: parley.DeliveryMessage, State: parley.DeliveryPending,
			Target: parley.Target{Channel: "x", Chat: "1"}, Text: w.put(rand.New(rand.NewPCG(1, 2)), fork, "delivery"),
		}}},
	}}})
	return fork
}

func TestRedactedTextIsInNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	s := openWith(t, path, unsynced(t)) // thousands of syncs would only take their time
	all := fill(t, s, 200, 2000)
	var gone, kept []string
	var changes []parley.SessionChange
	for n, id := range slices.Sorted(maps.Keys(all)) {
		w, c := all[id], parley.SessionChange{Session: id}
		switch n % 4 {
		case 0:
			kept = append(append(kept, w.texts...), w.titles[len(w.titles)-1])
			continue
		case 1:
			c.Delete = true
		case 2:
			c.Redact = w.seqs
		case 3:
			c.Redact = w.seqs
			if fork := w.addFork(t, s, id); n%8 == 3 {
				c.Session = fork
			}
		}
		gone, changes = append(append(gone, w.texts...), w.titles...), append(changes, c)
	}
	found := secretsIn(t, dir)
	for _, suffix := range []string{"-wal", sqlite.IntentSuffixes[0]} {
		if !slices.Contains(slices.Concat(slices.Collect(maps.Values(found))...), path+suffix) {
			t.Errorf("there is nothing in %s to be taken away", path+suffix)
		}
	}
	for _, c := range changes {
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{c}})
	}
	// The write-ahead log is emptied after the answer, and before the next group.
	commit(t, s, parley.Batch{At: instant})
	found = secretsIn(t, dir)
	if left := slices.DeleteFunc(gone, func(text string) bool { return found[text] == nil }); len(left) > 0 {
		t.Errorf("%d texts are left, such as %s in %v", len(left), left[0], found[left[0]])
	}
	if lost := slices.DeleteFunc(kept, func(text string) bool { return found[text] != nil }); len(lost) > 0 {
		t.Errorf("%d texts that nobody redacted are gone, such as %s", len(lost), lost[0])
	}
}

// secretsIn gives the texts of fill that are in files of the folder, and in which.
func secretsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := bytes.Index(data, []byte(secret)); at >= 0; at = bytes.Index(data, []byte(secret)) {
			data = data[at:]
			text := string(data[:bytes.IndexByte(data, ']')+1])
			if !slices.Contains(found[text], path) {
				found[text] = append(found[text], path)
			}
			data = data[len(secret):]
		}
	}
	return found
}

// TestLongReaderDoesNotHoldCommitsUp: commits wait once for a reader that is in the way when the WAL is to be emptied, not each of them. That
// is tried again, and done when the reader has left, also if nobody commits.
func TestLongReaderDoesNotHoldCommitsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(t, filepath.Join(dir, "parley.db"))
		commit(t, s, said("cli:a", "<<secret>>"))
		release := sqlite.HoldReader(t.Context(), s)
		start := time.Now()
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: "cli:a", Redact: []uint64{1}}}})
		for n := range 200 {
			commit(t, s, said(parley.SessionID(fmt.Sprintf("cli:b%d", n)), "hello"))
		}
		// In the bubble no time passes but that in which the writer waits for the reader.
		if waited := time.Since(start); waited < sqlite.ReaderTimeout || waited >= 2*sqlite.ReaderTimeout {
			t.Errorf("200 commits have waited for %s in all, not once for %s", waited, sqlite.ReaderTimeout)
		}
		if names, _ := filesWith(t, dir, "<<secret>>"); len(names) == 0 {
			t.Error("the text is gone, so that this shows nothing: the reader is in nobody's way")
		}
		release()
		<-time.After(sqlite.RetryPause)
		synctest.Wait()
		if names, _ := filesWith(t, dir, "<<secret>>"); len(names) > 0 {
			t.Errorf("the text is still in %v", names)
		}
	})
}

// TestRedactedTextLeavesWhileReadersOverlap: they are not in the way of that either, if each of them takes less time than it is waited for.
func TestRedactedTextLeavesWhileReadersOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(t, filepath.Join(dir, "parley.db"))
		commit(t, s, said("cli:a", "<<secret>>"))
		defer overlap(t, s, sqlite.ReaderTimeout*3/4)()
		<-time.After(sqlite.ReaderTimeout)
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: "cli:a", Redact: []uint64{1}}}})
		// The WAL is emptied after the answer, and before the next group.
		commit(t, s, parley.Batch{At: instant})
		if names, _ := filesWith(t, dir, "<<secret>>"); len(names) > 0 {
			t.Errorf("the text is still in %v", names)
		}
	})
}

// TestRedactedTextLeavesAtClose: what was redacted while another process read is in no file when the store is closed, though that process still has
// it open, and so nothing is taken away.
func TestRedactedTextLeavesAtClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	s := openStore(t, path)
	commit(t, s, said("cli:a", "<<secret>>"))
	reader := openWith(t, path, sqlite.Config{ReadOnly: true})
	release := sqlite.HoldReader(t.Context(), reader)
	commit(t, s, redact("cli:a", 1))
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if names, _ := filesWith(t, dir, "<<secret>>"); len(names) > 0 {
		t.Errorf("the text is in %v", names)
	}
}

// TestRedactedTextDoesNotComeAgain: a message that was taken away, and is sent once more by who does not know of that, is told to be there already
// and leaves nothing behind. Nor does a change that comes too late, and is refused.
func TestRedactedTextDoesNotComeAgain(t *testing.T) {
	t.Parallel()
	for name, takeAway := range map[string]parley.SessionChange{
		"redacted": {Session: "cli:a", Redact: []uint64{2}},
		"deleted":  {Session: "cli:a", Delete: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openStore(t, filepath.Join(dir, "parley.db"))
			b := said("cli:a", "")
			b.Sessions[0].Events = nil
			for i, text := range []string{"hello", "<<secret>>"} {
				b.Sessions[0].Admit = append(b.Sessions[0].Admit, parley.Input{
					Ref: parley.InputRef{Origin: "cli/a", ID: strconv.Itoa(i)}, Kind: parley.InputMessage, State: parley.InputDone,
					Parts: []parley.Part{parley.TextPart(text)}, Sender: parley.Sender{ID: "1"}, Principal: loadPrincipal,
				})
			}
			commit(t, s, b)
			commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{takeAway}})
			commit(t, s, parley.Batch{At: instant}) // the intents are emptied before it
			if commit(t, s, b).Duplicate == nil {
				t.Error("it is not known any more")
			}
			hasLeft := func(how string) {
				t.Helper()
				// Intents are emptied after the answer, and before the next group.
				commit(t, s, parley.Batch{At: instant})
				if names, _ := filesWith(t, dir, "<<secret>>"); len(names) > 0 {
					t.Errorf("%s: the text is in %v", how, names)
				}
			}
			hasLeft("the input again")
			// Who has read it before, and now sends it on.
			for how, late := range map[string]parley.Batch{
				"expected to be intact": {Expect: []parley.Expectation{parley.EventIntact{Session: "cli:a", Seq: 2}}},
				"of its session":        {},
			} {
				if len(late.Expect) == 0 && takeAway.Redact != nil {
					continue // the session is there, and nothing tells
				}
				late.At = instant
				late.Sessions = []parley.SessionChange{{Session: "cli:a", Deliveries: []parley.DeliveryChange{{New: &parley.Delivery{
					ID: "d1", Kind: parley.DeliveryMessage, Seq: 2, Target: parley.Target{Channel: "telegram", Chat: "7"},
					Text: "<<secret>>", State: parley.DeliveryPending,
				}}}}}
				if !sqlite.Recordable(late) {
					t.Errorf("%s: it is not written down, so this proves nothing", how)
				}
				if _, err := s.Commit(t.Context(), late); !errors.Is(err, parley.ErrConflict) && !errors.Is(err, parley.ErrNotFound) {
					t.Errorf("%s: %v, want a refusal", how, err)
				}
				hasLeft(how)
			}
		})
	}
}
