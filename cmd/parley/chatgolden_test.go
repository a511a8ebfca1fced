package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/terminal"
	"github.com/parley-run/parley/internal/termsvg"
)

// goldenFolder is a data folder for the pictures: an agent that looks after a backup.
func goldenFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := filepath.Join(dir, "agents", "main")
	if err := os.MkdirAll(files, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"parley.yaml": dir, "ops.yaml": dir, "backup.log": files, "backup.sh": files} {
		text, err := os.ReadFile(filepath.Join("testdata", "screens", "data", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, to, name, string(text))
	}
	return dir
}

// golden has a main screen of the program looked at: its text, and its text with colours. The
// screen may still be on its way. PARLEY_UPDATE=1 writes what is there by then.
func golden(t *testing.T, term *terminal.Terminal, name string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name)
	if os.Getenv("PARLEY_UPDATE") != "" {
		keepScreen(t, term, path)
	}
	read := func(ending string) string {
		text, err := os.ReadFile(path + ending)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	text, colors := read(".txt"), termsvg.Render(read(".ansi"), termsvg.Config{})
	term.WaitUntil("the screen "+path+".txt; if it should change, run the test with PARLEY_UPDATE=1", func(screen string) bool {
		return masked(screen) == text
	})
	// Compared as it looks: there are many ways to write the same colours.
	term.WaitUntil("the colours of "+path+".ansi; if they should change, run the test with PARLEY_UPDATE=1", func(string) bool {
		return termsvg.Render(masked(term.Colored()), termsvg.Config{}) == colors
	})
}

// keepScreen writes a screen, once it does not change any more.
func keepScreen(t *testing.T, term *terminal.Terminal, path string) {
	t.Helper()
	last, same := "", 0
	term.WaitUntil("a screen that stays as it is", func(string) bool {
		colored := masked(term.Colored())
		if colored != last {
			last, same = colored, 0
		}
		same++
		return same > 20
	})
	for ending, text := range map[string]string{".txt": masked(term.Screen()), ".ansi": last} {
		if err := os.WriteFile(path+ending, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What is another in each run: ids of sessions, how long something takes, when it was.
var (
	varyingID       = regexp.MustCompile(`\b[0-9]{8}_[0-9]{6}_[0-9a-f]{8}\b`)
	varyingDeadline = regexp.MustCompile(`denied in [0-9]m [0-9]{2}s`)
	varyingWorking  = regexp.MustCompile(`working (?:[0-9]+m )?[0-9]+s,`)
	varyingAge      = regexp.MustCompile(`cli · [0-9]+ min`)
)

// masked puts something in the place of what varies.
func masked(screen string) string {
	screen = varyingID.ReplaceAllString(screen, "00000000_000000_00000000")
	screen = varyingDeadline.ReplaceAllString(screen, "denied in 9m 59s")
	screen = varyingWorking.ReplaceAllString(screen, "working 0s,")
	return varyingAge.ReplaceAllStringFunc(screen, func(found string) string {
		return strings.Repeat(" ", len(found)-len("cli · now")) + "cli · now" // it ends where it ended
	})
}

// asksOps has the conversation that the pictures show, up to a question.
func asksOps(term *terminal.Terminal) {
	says(term, "Why is the nightly backup so slow?")
	term.WaitFor("Shall I change backup.sh?")
	term.WaitGone("working")
	says(term, "Yes, please do.")
	term.WaitFor("edit_file needs your approval", "y once")
}

// allows lets the call run that is asked about.
func allows(term *terminal.Terminal) {
	term.WaitUntil("the call runs", func(screen string) bool {
		if strings.Contains(screen, "y once") {
			term.Send("y") // until the question takes it: what comes too early is no answer
		}
		return strings.Contains(screen, "restore it, too.")
	})
	term.WaitGone("working")
	term.Send("C-u") // what came too late
	term.WaitFor("Write a message")
}

// TestGolden_Talk: a conversation with all that belongs to one, an approval, what is folded,
// the help, and the same in a small window.
func TestGolden_Talk(t *testing.T) {
	t.Parallel()
	dir := goldenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 96, 37, dir)
	term.WaitFor("A conversation with main")
	golden(t, term, "empty")
	asksOps(term)
	golden(t, term, "approval")
	allows(term)
	golden(t, term, "talk")
	term.Send("BTab", "Enter")
	term.WaitFor("▾ edit_file")
	golden(t, term, "opened")
	term.Send("Enter")
	term.WaitGone("▾ edit_file")
	term.Send("Escape")
	term.WaitUntil("the cursor in the input", func(string) bool { return !term.State().CursorHidden })
	term.Send("F1")
	term.WaitFor("Ctrl-C twice")
	golden(t, term, "help")
	term.Send("Escape")
	term.WaitGone("Ctrl-C twice")
	term.Resize(60, 15)
	golden(t, term, "small")
	leaves(t, term)
}

// TestGolden_Light: the same conversation on a light background.
func TestGolden_Light(t *testing.T) {
	t.Parallel()
	dir := goldenFolder(t)
	daemonOn(t, dir)
	term := terminal.Open(t, terminal.Config{Cols: 96, Rows: 37, Foreground: "#000000", Background: "#ffffff"},
		os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir)
	term.WaitFor("A conversation with main")
	asksOps(term)
	golden(t, term, "light-approval")
	allows(term)
	golden(t, term, "light")
	leaves(t, term)
}

// TestGolden_Queue: messages that wait while the agent works.
func TestGolden_Queue(t *testing.T) {
	t.Parallel()
	dir := goldenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	term.WaitFor("A conversation with main")
	says(term, "Watch the upload, please.")
	term.WaitFor("tell you when it is through.")
	says(term, "And then check the archive of last Sunday.")
	term.WaitFor("1 message waiting")
	says(term, "Also: how much room is left?")
	term.WaitFor("2 messages waiting")
	golden(t, term, "working")
	term.Send("C-q")
	term.WaitFor("d take back")
	golden(t, term, "queue")
	term.Send("Escape")
	term.WaitGone("d take back")
	term.Send("Escape")
	term.WaitFor("· stopped")
	leaves(t, term)
}

// TestGolden_Picker: the list of conversations, and a search in it; and the program without
// a daemon.
func TestGolden_Picker(t *testing.T) {
	t.Parallel()
	dir := goldenFolder(t)
	run := onFolder(t, dir)
	for _, c := range []struct{ id, title, text string }{
		{"cli:invoices", "Invoices of October", "Which ones are open?"},
		{"cli:release", "Release 2.4", "Read the changelog, and tell me what is missing."},
		{"cli:backup", "The nightly backup", "Thank you!"},
	} {
		run("chat", "--session", c.id, "--new", c.text).says2(t, "offline model")
		run("sessions", "rename", c.id, c.title).says(t, 0)
	}
	term := onScreen(t, 80, 24, dir, "--session", "cli:backup")
	term.WaitFor("No daemon runs", "At your service.")
	golden(t, term, "private")
	term.Send("C-p")
	term.WaitFor("Conversations", "3 found")
	golden(t, term, "picker")
	term.Type("october")
	term.WaitFor("1 found")
	golden(t, term, "search")
	term.Send("Escape")
	term.WaitGone("1 found")
	leaves(t, term)
}

// TestPictures: the pictures in the documentation are those of the screens.
func TestPictures(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]termsvg.Config{"approval": {}, "light-approval": {Light: true}} {
		capture, err := os.ReadFile(filepath.Join("testdata", "screens", name+".ansi"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", map[bool]string{false: "chat.svg", true: "chat-light.svg"}[cfg.Light])
		picture, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Title = "parley chat"
		if string(picture) != termsvg.Render(string(capture), cfg) {
			t.Errorf("%s is not the picture of the screen %s; run make screens", path, name)
		}
	}
}
