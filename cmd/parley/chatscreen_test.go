package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/terminal"
)

// screenScript is what the agent answers in these tests.
const screenScript = `
rules:
  - when: {starts: count}
    say:
      - {text: "Counting. ", pace: 1ms}
      - {words: 400, pace: 15ms}
      - "\n\nThat was all."
  - when: {starts: forever}
    say:
      - "Counting. "
      - {words: 20000, pace: 10ms}
  - when: {starts: wide}
    say: "漢字かな 한국어 👩‍👩‍👧‍👦 e\u0301\u0323 end\n\n| 名前 | n |\n|---|---|\n| 山田 | 1 |\n"
  - when: {starts: write, offers: write_file}
    say:
      - text: I write a file.
      - call: {tool: write_file, arguments: {path: a.txt, content: "first line\nsecond line\n"}}
  - when: {after_tool: write_file}
    say: It is written.
  - when: {matches: '(?s).'}
    say: I have heard that.
`

// screenFolder is a data folder whose agent answers from that script.
func screenFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "script.yaml", screenScript)
	put(t, dir, "parley.yaml", `agents: {main: {model: scripted/test, tools: [files], policy: [{tool: write_file, effect: approve}]}}
models: {scripted/test: {script: script.yaml}}
`)
	return dir
}

// onScreen runs parley chat in a terminal.
func onScreen(t *testing.T, cols, rows int, dir string, args ...string) *terminal.Terminal {
	t.Helper()
	argv := append([]string{os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir}, args...)
	term := terminal.Start(t, cols, rows, nil, argv...)
	term.WaitFor("main · ")
	return term
}

// says types a message and sends it.
func says(term *terminal.Terminal, text string) {
	term.Type(text)
	term.Send("Enter")
}

// leaves ends the program as people do, and checks that the terminal is as it was.
func leaves(t *testing.T, term *terminal.Terminal) {
	t.Helper()
	term.Send("C-c")
	term.WaitFor("press Ctrl-C again to leave")
	term.Send("C-c")
	restored(t, term, 0)
}

// restored checks how the program ended, and that the terminal is as it was.
func restored(t *testing.T, term *terminal.Terminal, status int) {
	t.Helper()
	if got := term.WaitExit(); got != status {
		t.Errorf("it ended with %d\n%s", got, term.Screen())
	}
	term.WaitUntil("the terminal as it was", func(string) bool {
		s := term.State()
		return !s.AlternateScreen && !s.Mouse && !s.CursorHidden && !s.Raw
	})
}

// TestScreen_Streaming: an answer is there while it is written, and whole in the end.
func TestScreen_Streaming(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	term.WaitFor("A conversation with main")
	says(term, "count for me")
	term.WaitFor("▌ count for me", "working", "Counting.")
	if strings.Contains(term.Screen(), "That was all.") {
		t.Error("it was there at once")
	}
	term.WaitFor("That was all.", "scripted/test (offline)", "tokens")
	term.WaitGone("working")
	leaves(t, term)
}

// TestScreen_Approval: a key lets a call run that was shown in full, or refuses it.
func TestScreen_Approval(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	says(term, "write it")
	term.WaitFor("write_file needs your approval", "path: a.txt", "first line", "second line", "y once")
	term.WaitUntil("the answer", func(screen string) bool {
		if strings.Contains(screen, "y once") {
			term.Send("y") // until the question takes it: what comes too early is no answer
		}
		return strings.Contains(screen, "It is written.")
	})
	term.WaitFor("▸ write_file", "done")
	term.WaitGone("working")
	for strings.HasPrefix(lineWith(term.Screen(), "> "), "> y") {
		term.Send("C-u")
		term.WaitGone("> y")
	}
	term.Send("BTab", "Enter")
	term.WaitFor("▾ write_file", "content:", "first line")
	leaves(t, term)
}

// lineWith gives the last line that begins so.
func lineWith(screen, begin string) string {
	found := ""
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, begin) {
			found = line
		}
	}
	return found
}

// TestScreen_Cancel: Esc stops the answer, and what waits can be taken back before.
func TestScreen_Cancel(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	says(term, "forever")
	term.WaitFor("Counting.")
	says(term, "and this later")
	term.WaitFor("1 message waiting", "◦ and this later")
	term.Send("C-q")
	term.WaitFor("d take back")
	term.Send("d")
	term.WaitGone("◦ and this later")
	term.Send("Escape")
	term.WaitFor("· stopped")
	term.WaitGone("working")
	leaves(t, term)
}

// TestScreen_Resume: what was said is there in another terminal, and an earlier
// conversation goes on from the list.
func TestScreen_Resume(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	says(term, "the first thing")
	term.WaitFor("I have heard that.")
	says(term, "/new Second")
	term.WaitFor("a fresh start")
	says(term, "another thing")
	term.WaitFor("▌ another thing", "I have heard that.")
	leaves(t, term)
	term = onScreen(t, 100, 30, dir)
	term.WaitFor("▌ another thing", "Second")
	term.Send("C-p")
	term.WaitFor("Conversations", "2 found")
	term.Send("Down", "Enter")
	term.WaitFor("▌ the first thing", "· resumed")
	says(term, "it goes on")
	term.WaitFor("▌ it goes on")
	leaves(t, term)
}

// TestScreen_Resize: a window that changes while an answer is written shows the same
// conversation, whole, in its new size.
func TestScreen_Resize(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	says(term, "count for me")
	term.WaitFor("Counting.")
	for _, size := range [][2]int{{60, 15}, {300, 100}, {61, 40}, {120, 16}, {80, 24}} {
		term.Resize(size[0], size[1])
		term.WaitUntil("the status in the last line", statusIn(size[1]))
		for line := range strings.SplitSeq(term.Screen(), "\n") {
			if strings.Contains(line, "working") && !strings.HasPrefix(line, "working") {
				t.Errorf("%v: lines are mixed up: %q", size, line)
			}
		}
	}
	term.WaitFor("That was all.")
	term.Resize(30, 5)
	term.WaitFor("too small")
	term.Resize(80, 24)
	term.WaitFor("That was all.")
	leaves(t, term)
}

// TestScreen_ResizeWhileDrawing: a window that gets another height while the program is
// drawing has no stretch that stays as it was. Of two changes in a row tmux tells the program
// of the second one a quarter of a second later: until then it draws for the first.
func TestScreen_ResizeWhileDrawing(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	for i := range 12 { // lines that are not alike
		note := fmt.Sprintf("note %d\n%[1]d is its number", i)
		term.Paste(note)
		term.Send("Enter")
		term.WaitFor(fmt.Sprintf("%d is its number", i))
	}
	for _, rows := range []int{40, 22, 44, 23, 48} {
		term.Resize(80, 20)
		term.WaitUntil("the status in line 20", statusIn(20))
		term.Type("\x1b[<64;5;5M") // the wheel
		term.WaitFor("there is more below")
		term.Resize(80, 21)
		term.Resize(80, rows)
		term.Send("C-End") // it has the terminal move lines
		term.WaitGone("there is more below")
		term.WaitUntil(fmt.Sprintf("the status in line %d", rows), statusIn(rows))
		if lines := strings.Split(term.Screen(), "\n"); !strings.HasPrefix(lines[rows-2], ">") {
			t.Errorf("the input is not above the status: %q", lines[rows-2:])
		}
	}
	leaves(t, term)
}

// statusIn says that a screen has so many lines, of which the last is the status.
func statusIn(rows int) func(screen string) bool {
	return func(screen string) bool {
		lines := strings.Split(screen, "\n")
		return len(lines) == rows && strings.Contains(lines[rows-1], "main")
	}
}

// TestScreen_Paste: 10,000 lines are pasted at once, shown as one word, and sent whole.
func TestScreen_Paste(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	d := daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir, "--new", "--session", "cli:paste")
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d of what was pasted\n", i+1)
	}
	term.Type("look: ")
	term.Paste(strings.TrimSuffix(text.String(), "\n"))
	term.WaitFor("10,000 lines")
	term.Send("Enter")
	term.WaitFor("I have heard that.", "line 1 of what was pasted", "▸ 9985 more lines")
	term.Send("BTab", "Enter")
	term.WaitGone("more lines")
	want := "look: " + strings.TrimSuffix(text.String(), "\n")
	if got := d.messages("cli:paste")[0].text(); got != want {
		t.Errorf("%d bytes were sent, and %d arrived", len(want), len(got))
	}
	leaves(t, term)
}

// TestScreen_Wide: wide and combining characters keep their columns, typed and shown.
func TestScreen_Wide(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	term := onScreen(t, 60, 15, dir)
	says(term, "wide 漢字 e\u0301 ok")
	term.WaitFor("漢字かな 한국어", "end", "山田", "▌ wide 漢字")
	if got := term.State(); got.X != 2 {
		t.Errorf("the cursor is in column %d", got.X)
	}
	term.Type("漢字")
	term.WaitUntil("the cursor behind two wide characters", func(string) bool { return term.State().X == 6 })
	term.Send("BSpace")
	term.WaitUntil("the cursor behind one", func(string) bool { return term.State().X == 4 })
	leaves(t, term)
}

// TestScreen_Two: two terminals and a program show one conversation, live.
func TestScreen_Two(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	d := daemonOn(t, dir)
	one := onScreen(t, 80, 24, dir, "--new", "--session", "cli:both")
	two := onScreen(t, 100, 30, dir, "--session", "cli:both")
	says(one, "forever from one")
	two.WaitFor("▌ forever from one", "working", "Counting.")
	says(two, "and then this")
	one.WaitFor("1 message waiting", "◦ and then this")
	two.WaitFor("◦ and then this")
	two.Send("C-q")
	two.WaitFor("d take back")
	two.Send("d")
	one.WaitGone("◦ and then this")
	two.Send("Escape")
	one.WaitFor("· stopped")
	d.say("cli:both", "from a program")
	one.WaitFor("▌ from a program")
	two.WaitFor("▌ from a program")
	leaves(t, one)
	leaves(t, two)
}

// TestScreen_Restart: when the daemon is killed and comes back, at another address, the
// program goes on by itself, and what was said meanwhile and before is there once.
func TestScreen_Restart(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	d := daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir, "--new", "--session", "cli:again")
	says(term, "before the kill")
	term.WaitFor("I have heard that.")
	d.kill()
	term.WaitFor("reconnecting")
	says(term, "while it is away")
	term.WaitFor("while it is away")
	d = daemonOn(t, dir)
	term.WaitFor("▌ while it is away")
	term.WaitGone("reconnecting", "sending", "waits for the connection")
	said := 0
	for _, m := range d.messages("cli:again") {
		if m.text() == "while it is away" {
			said++
		}
	}
	if n := strings.Count(term.Screen(), "▌ before the kill"); said != 1 || n != 1 {
		t.Errorf("it was said %d times; what was before is shown %d times", said, n)
	}
	d.kill()
	term.WaitFor("reconnecting")
	leaves(t, term) // also while there is no daemon
}

// TestScreen_Missed: what happens while the connection is lost stands below a mark.
func TestScreen_Missed(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	d := daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir, "--new", "--session", "cli:missed")
	says(term, "before")
	term.WaitFor("I have heard that.")
	d.stop()
	term.WaitFor("reconnecting")
	onFolder(t, dir)("chat", "--session", "cli:missed", "meanwhile").says2(t, "offline model")
	daemonOn(t, dir)
	term.WaitFor("── missed while away", "▌ meanwhile")
	term.WaitGone("reconnecting")
	screen := term.Screen()
	if strings.Count(screen, "▌ before") != 1 || strings.Count(screen, "▌ meanwhile") != 1 || strings.Index(screen, "missed while") > strings.Index(screen, "▌ meanwhile") {
		t.Errorf("the screen is\n%s", screen)
	}
	leaves(t, term)
}

// TestScreen_TakenUp: an answer that a kill of the daemon cut off is taken up, and
// whole in the end.
func TestScreen_TakenUp(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	d := daemonOn(t, dir)
	term := onScreen(t, 80, 24, dir)
	says(term, "count for me")
	term.WaitFor("Counting.")
	d.kill()
	term.WaitFor("reconnecting")
	daemonOn(t, dir)
	term.WaitGone("reconnecting")
	term.WaitFor("That was all.")
	term.WaitGone("working")
	term.Send("C-Home")
	term.WaitFor("▌ count for me", "Counting.")
	if screen := term.Screen(); strings.Count(screen, "▌ count for me") != 1 || strings.Count(screen, "Counting.") != 1 {
		t.Errorf("the screen is\n%s", screen)
	}
	leaves(t, term)
}

// TestScreen_Private: without a daemon the program answers by itself, and says so.
func TestScreen_Private(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	term := onScreen(t, 80, 24, dir)
	term.WaitFor("No daemon runs", "parley serve", "no daemon")
	says(term, "hello")
	term.WaitFor("▌ hello", "I have heard that.")
	leaves(t, term)
	onFolder(t, dir)("doctor").says(t, 0)
}

// TestScreen_Signals: whatever ends the program, the terminal is as it was.
func TestScreen_Signals(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	for _, signal := range []string{"TERM", "HUP", "INT"} {
		term := onScreen(t, 80, 24, dir)
		if out, err := exec.CommandContext(t.Context(), "kill", "-"+signal, fmt.Sprint(term.PID())).CombinedOutput(); err != nil {
			t.Fatalf("kill: %v %s", err, out)
		}
		restored(t, term, 130)
	}
	term := onScreen(t, 80, 24, dir)
	term.Send("C-d")
	restored(t, term, 0)
}

// TestScreen_Plain: line by line where the whole screen is not wanted.
func TestScreen_Plain(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	daemonOn(t, dir)
	for name, run := range map[string]struct{ env, args []string }{
		"--plain": {nil, []string{"--plain"}}, "NO_COLOR": {[]string{"NO_COLOR=1"}, nil}, "dumb": {[]string{"TERM=dumb"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := terminal.Start(t, 80, 24, run.env, append([]string{os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir}, run.args...)...)
			term.WaitFor("Ctrl-D leaves")
			says(term, "hello")
			term.WaitFor("I have heard that.")
			if s := term.State(); s.AlternateScreen || s.Raw || strings.Contains(term.Colored(), "\x1b[") {
				t.Errorf("the terminal is %+v\n%q", s, term.Colored())
			}
			term.Send("C-d")
			if status := term.WaitExit(); status != 0 {
				t.Errorf("it ended with %d", status)
			}
		})
	}
}

// TestScreen_Editor: what is written can be changed in the person's own editor.
func TestScreen_Editor(t *testing.T) {
	t.Parallel()
	dir := screenFolder(t)
	d := daemonOn(t, dir)
	editor := put(t, t.TempDir(), "editor.sh", "#!/bin/sh\nprintf ' and more' >> \"$1\"\n")
	term := terminal.Start(t, 80, 24, []string{"EDITOR=sh " + editor}, os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir, "--new", "--session", "cli:edit")
	term.WaitFor("A conversation with main")
	term.Type("something")
	term.Send("C-g")
	term.WaitFor("> something and more")
	term.Send("Enter")
	term.WaitFor("I have heard that.")
	if got := d.messages("cli:edit")[0].text(); got != "something and more" {
		t.Errorf("said %q", got)
	}
	leaves(t, term)
}
