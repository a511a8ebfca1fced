package terminal_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/internal/terminal"
)

// raw is the start of a shell script whose terminal passes on every byte at once,
// and show the end of one that shows what came.
const (
	raw  = `stty -icanon -icrnl -echo; `
	show = `echo ready; exec cat -v`
)

func TestTypeAndSend(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 40, 10, nil, "cat")
	term.Type("one; two;")
	term.Send("Enter")
	term.WaitUntil("the line comes back", func(screen string) bool { return screen == "one; two;\none; two;" })
	term.Type(`wide 世界 é \;`)
	term.Send("BSpace", "!", "Enter")
	term.WaitFor("\nwide 世界 é \\!\nwide 世界 é \\!")
	term.Send("C-d")
	if status := term.WaitExit(); status != 0 {
		t.Errorf("cat ends with %d", status)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 40, 10, nil, "sh", "-c", raw+show)
	term.WaitFor("ready")
	term.Send("C-a", "M-x", "Up", "Escape")
	term.WaitFor("^A^[x^[[A^[")
}

// TestTypeMuch types more than fits into one argument of a command, and cuts no
// character in two.
func TestTypeMuch(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 60, 5, nil, "sh", "-c", raw+`echo ready; head -c 300001 | sha256sum`)
	term.WaitFor("ready")
	text := "x" + strings.Repeat("世", 100_000)
	sum := exec.CommandContext(t.Context(), "sha256sum")
	sum.Stdin = strings.NewReader(text)
	want, err := sum.Output()
	if err != nil {
		t.Fatal(err)
	}
	term.Type(text)
	term.WaitFor(string(want[:32]))
}

func TestPaste(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 40, 10, nil, "sh", "-c", raw+show)
	term.WaitFor("ready")
	term.Paste("")
	term.Paste("a\nb;")
	term.WaitFor("a^Mb;")

	term = terminal.Start(t, 40, 10, nil, "sh", "-c", raw+`printf '\033[?2004h'; `+show)
	term.WaitFor("ready")
	term.Paste("a\nb;")
	term.WaitFor("^[[200~a^Mb;^[[201~")
}

func TestPasteOfMegabytes(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 40, 10, nil, "sh", "-c", raw+`printf '\033[?2004h'; echo ready; head -c 5000012 | wc -c`)
	term.WaitFor("ready")
	term.Paste(strings.Repeat("123456789\n", 500_000))
	term.WaitFor("5000012")
}

func TestResize(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 60, 15, nil, "sh", "-c", `trap 'stty size' WINCH; stty size; while :; do sleep 1 & wait $!; done`)
	term.WaitFor("15 60")
	for _, size := range [][2]int{{300, 100}, {1, 1}, {80, 24}} {
		term.Resize(size[0], size[1])
		if state := term.State(); state.Cols != size[0] || state.Rows != size[1] {
			t.Errorf("after a change to %v the size is %dx%d", size, state.Cols, state.Rows)
		}
	}
	term.WaitFor("24 80")
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 300, 20, []string{"TERM=dumb", "WORDS=a b;"}, "env")
	term.WaitFor("TERM=dumb", "WORDS=a b;", "PATH=", "COLORTERM=")
	var keys []string
	for line := range strings.Lines(term.Screen()) {
		key, _, _ := strings.Cut(line, "=")
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if want := []string{"COLORTERM", "HOME", "LANG", "PATH", "TERM", "WORDS"}; !slices.Equal(keys, want) {
		t.Errorf("the environment has %q, want %q", keys, want)
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	term := terminal.Open(t, terminal.Config{Cols: 200, Dir: dir}, "pwd", "-P")
	term.WaitFor(dir)
}

func TestColored(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 20, 3, nil, "printf", `\033[1;38;2;1;2;3mbold\033[0m plain \033[44m  \033[0m`)
	term.WaitUntil("the text is there", func(screen string) bool { return screen == "bold plain" })
	lines := strings.Split(term.Colored(), "\n")
	if len(lines) != 3 {
		t.Errorf("with colours it has %d lines, want all 3", len(lines))
	}
	for _, want := range []string{"\x1b[1m\x1b[38;2;1;2;3mbold\x1b[0m", "\x1b[44m  "} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("with colours it is %q, want %q in it", lines[0], want)
		}
	}
}

func TestScrollback(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 20, 3, nil, "seq", "30")
	term.WaitUntil("the last lines are there", func(screen string) bool { return screen == "29\n30" })
	if all := term.Scrollback(); !strings.HasPrefix(all, "1\n2\n") || !strings.HasSuffix(all, "29\n30") {
		t.Errorf("the whole text is %q", all)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 30, 8, nil, "sh", "-c",
		`stty -echo; printf '\033]2;the title\033\\\033[?1049h\033[?25l\033[?1000h\033[?1h\033[3;5Hhere'; read -r x; printf '\033[?1l\033[?1000l\033[?25h\033[?1049l'; stty echo; echo back`)
	term.WaitFor("here")
	want := terminal.State{Cols: 30, Rows: 8, X: 8, Y: 2, CursorHidden: true, AlternateScreen: true, Mouse: true, CursorKeys: true, Raw: true, Title: "the title"}
	if got := term.State(); got != want {
		t.Errorf("the state is %+v, want %+v", got, want)
	}
	term.Send("Enter")
	term.WaitExit()
	term.WaitFor("back")
	term.WaitGone("here")
	want = terminal.State{Cols: 30, Rows: 8, Y: 1, Title: "the title"}
	if got := term.State(); got != want {
		t.Errorf("after it the state is %+v, want %+v", got, want)
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	const ask = raw + `printf '\033]11;?\033\\\033]10;?\033\\'; ` + show
	term := terminal.Start(t, 70, 5, nil, "sh", "-c", ask)
	term.WaitFor("]11;rgb:0000/0000/0000", "]10;rgb:ffff/ffff/ffff")
	term = terminal.Open(t, terminal.Config{Foreground: "#101010", Background: "#fafafa"}, "sh", "-c", ask)
	term.WaitFor("]11;rgb:fafa/fafa/fafa", "]10;rgb:1010/1010/1010")
}

func TestExit(t *testing.T) {
	t.Parallel()
	term := terminal.Start(t, 40, 10, nil, "sh", "-c", "echo the last words; exit 7")
	if status := term.WaitExit(); status != 7 {
		t.Errorf("the status is %d, want 7", status)
	}
	if term.Running() {
		t.Error("a program that has ended is running")
	}
	term.WaitUntil("the screen has them alone", func(screen string) bool { return screen == "the last words" })

	term = terminal.Start(t, 40, 10, nil, "cat")
	if !term.Running() {
		t.Error("a program that waits has ended")
	}
	term.Kill()
	if status := term.WaitExit(); status != 128+9 {
		t.Errorf("the status after a kill is %d, want 137", status)
	}
	term.Kill()
}

// stubborn is a program that outlives its terminal if nobody kills it.
var stubborn = []string{"sh", "-c", `trap '' HUP TERM INT; echo "$$ there"; while :; do sleep 1; done`}

// TestNothingIsLeft looks for the program and the files of a terminal after the
// test that used it. That the server is gone, the terminal itself waits for. It
// is not parallel, as it changes the environment to see the files of this test.
func TestNothingIsLeft(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		soak.SkipOrFail(t, "there is no tmux to run a terminal in: make terminal")
	}
	var program int
	dir := t.TempDir()
	t.Run("a terminal", func(t *testing.T) {
		t.Setenv("TMPDIR", dir)
		term := terminal.Start(t, 40, 10, nil, stubborn...)
		term.WaitFor("there")
		program = process(t, term.Screen())
		if program != term.PID() {
			t.Errorf("PID is %d, and the program says %d", term.PID(), program)
		}
	})
	if exists(t, program) {
		t.Error("the program is still there after the test")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left after the test: %v, %v", left, err)
	}
}

const asChild = "PARLEY_TEST_TERMINAL_CHILD"

// TestKilled kills a test in the middle, which therefore cleans nothing up, and
// waits until its server has gone by itself.
func TestKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv(asChild) != "" {
		term := terminal.Start(t, 40, 10, nil, "sh", "-c", `echo "$$ there"; exec cat`)
		term.WaitFor("there")
		fmt.Printf("\n%s\n", term.Screen())
		select {}
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		soak.SkipOrFail(t, "there is no tmux to run a terminal in: make terminal")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), asChild+"=1", "TMPDIR="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var program int
	for lines := bufio.NewScanner(out); program == 0 && lines.Scan(); {
		if strings.HasSuffix(lines.Text(), " there") {
			program = process(t, lines.Text())
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	if program == 0 {
		t.Fatal("the child has shown no program")
	}
	for deadline := time.Now().Add(time.Minute); exists(t, program); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program of a test that was killed is still there")
		}
	}
}

func process(t *testing.T, screen string) (pid int) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.TrimSpace(screen), "%d there", &pid); err != nil {
		t.Fatalf("the program shows %q: %v", screen, err)
	}
	return pid
}

// exists reports whether there is a process of that number, even one that has
// ended and was not waited for.
func exists(t *testing.T, pid int) bool {
	t.Helper()
	err := exec.CommandContext(t.Context(), "sh", "-c", `kill -s 0 "$1"`, "sh", strconv.Itoa(pid)).Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return err == nil
}
