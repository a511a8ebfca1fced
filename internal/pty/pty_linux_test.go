package pty_test

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-run/parley/internal/pty"
)

func TestStart(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `stty size; tty; read -r line; echo "got $line"; test -t 0 && test -t 1 && test -t 2`)
	outer, err := pty.Start(cmd, 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outer.Close() }()
	lines := bufio.NewReader(outer)
	read := func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	if size, name := read(), read(); size != "30 100" || !strings.HasPrefix(name, "/dev/pts/") {
		t.Errorf("the terminal is %q, with the size %q", name, size)
	}
	if _, err := outer.WriteString("a word\n"); err != nil {
		t.Fatal(err)
	}
	if shown, got := read(), read(); shown != "a word" || got != "got a word" {
		t.Errorf("it shows %q and then %q", shown, got)
	}
	if _, err := io.ReadAll(lines); !errors.Is(err, syscall.EIO) {
		t.Errorf("after the program: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program: %v", err)
	}
}

func TestStart_NoProgram(t *testing.T) {
	t.Parallel()
	if outer, err := pty.Start(exec.CommandContext(t.Context(), "/no/such/program"), 80, 24); err == nil || outer != nil {
		t.Errorf("gave %v, %v", outer, err)
	}
}
