package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	maxOutput = 1 << 20
	// endFor is how long git has to take its locks away when it is told to end.
	endFor = 2 * time.Second
)

// answer is what git said.
type answer struct {
	code   int
	out    string
	errors string
}

// git runs one command of git to its end. The error is that of ctx, or says that
// git could not be run; that git failed is in the answer.
func (g *Git) git(ctx context.Context, stdin string, args ...string) (answer, error) {
	cmd := exec.CommandContext(ctx, g.path, append(g.cfg.options(), args...)...) //nolint:gosec // its own arguments, and paths behind --
	cmd.Dir = g.cfg.Dir
	cmd.Env = g.env
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	ownGroup(cmd)
	// Killed at once, git would leave its locks behind.
	cmd.Cancel = func() error { return endGroup(cmd.Process) }
	cmd.WaitDelay = endFor
	err := cmd.Run()
	if cmd.Process != nil {
		killGroup(cmd.Process)
	}
	if err != nil && ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	a := answer{out: out.String(), errors: strings.ReplaceAll(errs.String(), g.cfg.Dir, ".")} // the model has no use for the host's paths
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if a.code = exit.ExitCode(); a.code < 0 {
			return a, refusef("git was ended by a signal")
		}
		return a, nil
	}
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return a, refusef("git cannot be started: %v", pe.Err)
	}
	return a, err
}

// limited keeps the first bytes that are written to it.
type limited struct{ b bytes.Buffer }

var _ io.Writer = (*limited)(nil)

func (l *limited) String() string { return strings.ToValidUTF8(l.b.String(), "\uFFFD") }

func (l *limited) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, maxOutput-l.b.Len()))])
	return len(p), nil
}
