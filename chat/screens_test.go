package chat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

// TestPicker: the list is searched while somebody types, over all pages, and leads to
// other conversations.
func TestPicker(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	for i := range 250 {
		s := f.add(parley.SessionID(fmt.Sprintf("web:%03d", i)))
		s.Title.Text, s.Preview, s.Source.Kind = fmt.Sprintf("Number %d", i), "about cats", "web"
		if i == 240 {
			s.Title.Text, s.Preview = "Trip to Rome", "the last train"
			s.Ended = &parley.Ending{Reason: "reset"}
		}
	}
	f.says("web:240", "t1", "chat-y", "when does it go?")
	f.event("web:240", "t1", "", &parley.TurnCompleted{StopReason: parley.StopDone})
	p := start(t, f)
	p.press("ctrl+p")
	p.shows("* cli:a", "Number 1", "web · now", "about cats")
	p.types("ROME train")
	p.shows("Trip to Rome", "1 found", "ended web · now")
	p.press("enter")
	p.asks("resume web:240")
	p.shows("▌ when does it go?")
	p.press("ctrl+p")
	p.types("web:07")
	p.shows("10 found", "Number 70", "Number 71")
	p.press("down", "ctrl+f")
	p.asks("fork web:071 0")
	p.shows("a fork of web:071", "a fork; the other conversation stays as it is")
	p.press("ctrl+p", "tab")
	p.shows("Conversations that have not ended")
	p.types("nothing like it")
	p.shows("nothing is found")
	p.press("ctrl+u", "ctrl+n")
	p.asks("enter main true")
	p.press("ctrl+p", "esc")
	p.shows("> ")
}

// TestPicker_NotMine: a session of somebody else that has ended is looked at, and not
// resumed.
func TestPicker_NotMine(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	s := f.add("telegram:b")
	s.people, s.Ended, s.Title.Text = []parley.Identity{{ID: "telegram:7"}}, &parley.Ending{Reason: "reset"}, "Theirs"
	p := start(t, f)
	p.press("ctrl+p")
	p.types("theirs")
	p.shows("1 found")
	p.press("enter")
	p.shows("this conversation has ended", "you only look on")
	for _, r := range p.requests() {
		if strings.HasPrefix(r, "resume") {
			t.Error("it was resumed")
		}
	}
}

// TestRewind: going back takes the text of the message back into the input; a fork
// there does as well.
func TestRewind(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f)
	p.press("ctrl+t")
	p.shows("there is nothing to go back to")
	for i, text := range []string{"first", "second", "third"} {
		turn := parley.TurnID(fmt.Sprint("t", i))
		p.says("cli:a", turn, fmt.Sprint("chat-x", i), text)
		p.answers("cli:a", turn, fmt.Sprint("r", i), "yes")
	}
	p.shows("▌ third")
	p.press("ctrl+t")
	p.shows("Go back to", "  second")
	p.press("up", "enter")
	p.asks("rewind cli:a 5") // the answer in the first turn
	p.shows("> said before")
	p.event("cli:a", "", me, &parley.Rewound{ToSeq: 5, Turns: 2})
	p.shows("· 2 turns were taken back")
	p.press("ctrl+t")
	p.gone("  second")
	p.press("f")
	p.asks("fork cli:a 1")
	p.shows("> first", "a fork of cli:a")
}

// TestHelp: the keys are shown on F1, and on ? if nothing is written.
func TestHelp(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	for _, key := range []string{"?", "f1"} {
		p.press(key)
		p.shows("any key goes back", "Enter")
		p.press("pgdown")
		p.shows("Ctrl-C twice")
		p.press("esc")
		p.gone("any key goes back")
	}
	p.types("what?")
	p.shows("> what?")
}

// TestAttach: text goes along as text, other files as media, and files that a message
// names with an @ as well.
func TestAttach(t *testing.T) {
	t.Parallel()
	f := newFake()
	dir := t.TempDir()
	for name, content := range map[string]string{"notes.txt": "remember the milk", "cat.png": "\x89PNG\x00\x01", "code.go": "package a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, f, func(c *chat.Config) { c.Dir = dir })
	for _, line := range []string{"/attach notes.txt", "/attach cat.png"} {
		p.types(line)
		p.press("esc", "enter")
	}
	p.shows("with notes.txt, cat.png · Esc without")
	p.types("look at these, and at @code.go, not at @nobody")
	p.press("esc", "enter")
	p.until("the message", func() bool { return len(p.posted()) == 1 })
	parts := p.posted()[0].input.Parts
	if len(parts) != 4 || parts[0].Text != "look at these, and at @code.go, not at @nobody" ||
		!strings.HasSuffix(parts[1].Text, "notes.txt:\n\nremember the milk") ||
		parts[2].Media == nil || parts[2].Media.Name != "cat.png" || f.blobs[0] != "\x89PNG\x00\x01" ||
		!strings.HasSuffix(parts[3].Text, "code.go:\n\npackage a") {
		t.Errorf("sent %+v", parts)
	}
	p.gone("with notes.txt")
	p.event("cli:a", "t1", me, &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: parts[:2], Inputs: []parley.InputRef{{Origin: "x", ID: "chat-1"}}})
	p.shows("▌ [notes.txt, ")
	p.gone("remember the milk")
}

// TestAttach_Alike: what somebody writes is shown as it is, also if it begins like a file
// that went along.
func TestAttach_Alike(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	for i, text := range []string{"File a bug, please", "Attached file it is,\nsaid somebody:\n\nno"} {
		p.says("cli:a", "t1", fmt.Sprint("chat-x", i), text)
		first, _, _ := strings.Cut(text, "\n")
		p.shows("▌ " + first)
	}
}

// TestRewind_Files: what is said again after going back is what was written, without the
// files that went with it; what was being written then is kept, also in a fork.
func TestRewind_Files(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.event("cli:a", "t1", me, &parley.Message{ID: "m1", Role: parley.MessageUser, Inputs: []parley.InputRef{{Origin: "x", ID: "chat-x"}}, Parts: []parley.Part{
		parley.TextPart("look at @a.txt"), parley.TextPart("Attached file a.txt:\n\nsecret content"),
	}})
	p.answers("cli:a", "t1", "r1", "yes")
	p.shows("▌ look at @a.txt", "▌ [a.txt, 14 bytes]")
	p.types("half a thought")
	p.press("ctrl+t", "enter")
	p.asks("rewind cli:a 1")
	p.shows("> look at @a.txt", "attach them again")
	p.press("up")
	p.shows("> half a thought")
	p.press("ctrl+t", "f")
	p.asks("fork cli:a 1")
	p.shows("a fork of cli:a", "> look at @a.txt")
	p.press("up")
	p.shows("> half a thought")
}

// TestPicker_IDs: ids are found by how they and their last parts begin; the time in them
// is not what somebody looks for who types a number.
func TestPicker_IDs(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	f.add("cli:20261115_190824_bc0669d6").Title.Text = "Paris"
	f.add("cli:20261115_190830_09d5db7a").Title.Text = "Trip 11"
	p := start(t, f)
	p.press("ctrl+p")
	p.shows("3 found")
	for query, want := range map[string]string{"11": "Trip 11", "bc06": "Paris", "cli:20261115_190830": "Trip 11"} {
		p.types(query)
		p.shows("1 found", want)
		p.press("ctrl+u")
	}
}
