// Package terminal runs a program in a real terminal, so that tests can type
// into it, change its size and look at its screen.
//
// The terminal is tmux, a server of its own for each [Terminal], on a socket that
// nobody else knows. What runs in it sees only the environment it is given. When
// the test ends, however it ends, the program and the server are gone.
//
// It is for tests. It starts no goroutine and imports nothing of the module.
package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
)

// patience is how long a test waits for what has to come. It is there to end a
// test that hangs, not to measure one, so it leaves room for a busy machine.
const patience = time.Minute

// pause is how long to wait before looking at the screen again.
const pause = 15 * time.Millisecond

// Config is how a terminal is. The zero value of a field is its default.
type Config struct {
	// Cols and Rows are its size: 80 and 24.
	Cols, Rows int
	// Env is what the program finds in its environment, as KEY=value, besides
	// PATH, HOME (an empty folder), LANG, TERM and COLORTERM, any of which it may
	// change. There is nothing else in it.
	Env []string
	// Dir is where the program starts: where the test runs.
	Dir string
	// Foreground and Background are the colours that a program gets to hear if
	// it asks, as #rrggbb: white on black.
	Foreground, Background string
}

// Terminal is a terminal with one program in it. Its methods fail the test when
// they cannot do what they are asked to. They are for the goroutine of the test.
type Terminal struct {
	t      testing.TB
	dir    string // of the server
	holder int    // the process that keeps the terminal
	pid    int    // the program
}

// Start opens a terminal of a size and runs a program in it. Where there is no
// tmux, it ends the test with [soak.SkipOrFail].
func Start(t testing.TB, cols, rows int, env []string, argv ...string) *Terminal {
	t.Helper()
	return Open(t, Config{Cols: cols, Rows: rows, Env: env}, argv...)
}

// Open is [Start] with more to choose.
func Open(t testing.TB, cfg Config, argv ...string) *Terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		soak.SkipOrFail(t, "there is no tmux to run a terminal in: make terminal")
	}
	if len(argv) == 0 {
		t.Fatal("a terminal needs a program to run")
	}
	if cfg.Cols == 0 {
		cfg.Cols = 80
	}
	if cfg.Rows == 0 {
		cfg.Rows = 24
	}
	term := &Terminal{t: t, dir: serve(t, cfg)}
	args := []string{
		"new-session", "-d", "-P", "-F", "#{pane_pid}",
		"-x", strconv.Itoa(cfg.Cols), "-y", strconv.Itoa(cfg.Rows),
	}
	if cfg.Dir != "" {
		args = append(args, "-c", cfg.Dir)
	}
	args = append(args, "--", "sh", "-c", hold, "sh", term.file("status"), "sh", "-c", become, "sh", term.file("pid"), "env", "-i")
	args = append(args, environment(t, cfg.Env)...)
	term.holder = term.number(strings.TrimSpace(term.tmux(append(args, argv...)...)))
	t.Cleanup(term.end)
	var pid string
	term.WaitUntil("the program starts", func(string) bool {
		var written bool
		pid, written = term.line("pid")
		return written
	})
	term.pid = term.number(pid)
	return term
}

// hold runs a program, writes its exit status into a file and then keeps the
// terminal, so that what the program leaves there can be looked at. It survives
// the keys that may end the program, and does not show how that ended.
const hold = `status=$1; shift
trap : INT QUIT
exec 3>&2 2> /dev/null
"$@" 2>&3 3>&-
echo "$?" > "$status"
trap '' INT QUIT
exec sleep 2147483647`

// become writes its process into a file and becomes the program.
const become = `echo "$$" > "$1"; shift; exec "$@"`

// environment is all that the program sees.
func environment(t testing.TB, extra []string) []string {
	t.Helper()
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"LANG=C.UTF-8", "TERM=tmux-256color", "COLORTERM=truecolor",
	}
	// A later one counts, for env as well; but a list without the first is
	// easier to read in a list of processes.
	for _, pair := range extra {
		key, _, _ := strings.Cut(pair, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, key+"=") })
		env = append(env, pair)
	}
	return env
}

// options are the server's: no decoration, and nothing that waits.
const options = `
set -g status off
set -g default-terminal tmux-256color
set -s escape-time 0
set -s exit-empty off
set -s extended-keys on
set -s set-clipboard off
set -g history-limit 50000
set -g focus-events on
`

// guard runs the server until its own input ends, which it does when the test
// closes it and also when the process of the test is killed.
const guard = `"$@" & server=$!; read -r end; kill "$server" 2> /dev/null; wait "$server"`

// serve starts a server without a session, and gives the folder of its socket. Both
// end with the test.
func serve(t testing.TB, cfg Config) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux") //nolint:usetesting // a socket's name may have 100 bytes, and t.TempDir has the test's name in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	style := fmt.Sprintf("set -g window-style 'fg=%s,bg=%s'\n", or(cfg.Foreground, "#ffffff"), or(cfg.Background, "#000000"))
	file := filepath.Join(dir, "conf")
	if err := os.WriteFile(file, []byte(options+style), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	server := exec.CommandContext(context.WithoutCancel(t.Context()), "sh", "-c", guard, "sh", "tmux", "-u", "-S", socket, "-f", file, "-D") //nolint:gosec // names of our own
	server.Env = clientEnv()
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	// Whoever holds the output open, such as a program that ignores its
	// terminal's end, does not hold up the test.
	server.WaitDelay = patience
	input, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatalf("start tmux: %v", err)
	}
	t.Cleanup(func() { stop(t, server, input) })
	for deadline := time.Now().Add(patience); ; <-time.After(pause) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "unix", socket)
		if err == nil {
			_ = conn.Close()
			return dir
		}
		if time.Now().After(deadline) {
			t.Fatalf("tmux does not start: %v", err)
		}
	}
}

// stop ends the server and waits until it is gone. How it ends does not matter:
// it was told to.
func stop(t testing.TB, server *exec.Cmd, input io.Closer) {
	t.Helper()
	_ = input.Close()
	if err := server.Wait(); err != nil && server.ProcessState == nil {
		t.Errorf("end tmux: %v", err)
	}
}

// clientEnv is the environment of tmux itself, which must not take the terminal
// that the test was started in for its own.
func clientEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "LANG=C.UTF-8", "TERM=tmux-256color", "SHELL=/bin/sh"}
}

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// tmux gives a command to the server and returns what it says.
func (term *Terminal) tmux(args ...string) string {
	term.t.Helper()
	return term.tmuxWith("", args...)
}

// tmuxWith is tmux, with something to read.
func (term *Terminal) tmuxWith(input string, args ...string) string {
	term.t.Helper()
	out, err := term.try(input, args...)
	if err != nil {
		term.t.Fatal(err)
	}
	return out
}

func (term *Terminal) try(input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(term.t.Context()), patience)
	defer cancel()
	full := []string{"-u", "-N", "-S", term.file("socket")}
	for _, arg := range args {
		full = append(full, literal(arg))
	}
	cmd := exec.CommandContext(ctx, "tmux", full...) //nolint:gosec // what runs in the terminal comes from the test
	cmd.Env = clientEnv()
	cmd.Stdin = strings.NewReader(input)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// literal keeps tmux from reading a semicolon at the end as the end of a command.
func literal(arg string) string {
	if before, found := strings.CutSuffix(arg, ";"); found {
		return before + `\;`
	}
	return arg
}

// file is the name of a file in the folder of the server.
func (term *Terminal) file(name string) string { return filepath.Join(term.dir, name) }

// line gives the one line of a file, if it was written.
func (term *Terminal) line(name string) (line string, written bool) {
	term.t.Helper()
	text, err := os.ReadFile(term.file(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		term.t.Fatal(err)
	}
	return strings.CutSuffix(string(text), "\n")
}

func (term *Terminal) number(text string) int {
	term.t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		term.t.Fatalf("this should be a number: %v", err)
	}
	return n
}

// end ends the program, which might not mind that its terminal goes away, and
// what it has started in its group.
func (term *Terminal) end() {
	if term.pid != 0 {
		term.Kill()
	}
	term.signal(-term.holder)
}

// signal sends SIGKILL to a process or a group, by the shell's own command, as a
// program for it is not everywhere. It does not matter whether there is one left.
func (term *Terminal) signal(process int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(term.t.Context()), patience)
	defer cancel()
	_ = exec.CommandContext(ctx, "sh", "-c", `kill -s KILL -- "$1"`, "sh", strconv.Itoa(process)).Run() //nolint:gosec // a number
}
