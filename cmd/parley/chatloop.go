package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/parley-run/parley"
)

// listen gives the signals by which somebody wants it to stop.
func listen() (<-chan struct{}, func()) {
	raw := make(chan os.Signal, 4)
	out := make(chan struct{}, 4)
	quit := make(chan struct{})
	signal.Notify(raw, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer close(out)
		for {
			select {
			case <-quit:
				return
			case <-raw:
				select {
				case out <- struct{}{}:
				default:
				}
			}
		}
	}()
	return out, func() {
		signal.Stop(raw)
		close(quit)
		for range out { // until the goroutine has ended
		}
	}
}

// typed is a line that somebody typed.
type typed struct {
	text string
	err  error
}

// typing gives what is typed, line by line. A read from a terminal cannot be stopped,
// so nobody waits for it: it ends with the program.
func (a *app) typing(ctx context.Context) <-chan typed {
	lines := make(chan typed)
	go func() {
		in := bufio.NewReader(a.in)
		for {
			text, err := in.ReadString('\n')
			select {
			case lines <- typed{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// loop has each line that is typed answered, until the input ends.
func (t *talk) loop(ctx context.Context, s parley.Session) error {
	t.say("* " + string(s.ID) + ", with the agent " + s.Agent.Name + "; Ctrl-D leaves\n")
	for {
		t.say("> ")
		var line typed
		select {
		case line = <-t.lines:
		case <-t.signals:
			t.say("\n")
			return nil
		}
		if text := strings.TrimSpace(line.text); text != "" {
			if err := t.line(ctx, &s, text); err != nil {
				return err
			}
		}
		if errors.Is(line.err, io.EOF) {
			t.say("\n")
			return nil
		}
		if line.err != nil {
			return fmt.Errorf("read what is typed: %w", line.err)
		}
	}
}

// line has one line answered. What goes wrong with it is told, and ends nothing.
func (t *talk) line(ctx context.Context, s *parley.Session, text string) error {
	// The session may be another by now: by a command, or by somebody else.
	present, err := t.host.Session(ctx, s.ID)
	if err == nil && present.Ended != nil {
		if present, err = t.host.Enter(ctx, s.Agent.Name, false); err == nil {
			t.say("* the conversation goes on in " + string(present.ID) + "\n")
		}
	}
	if err != nil {
		return err
	}
	*s = present
	x, err := t.exchange(ctx, *s, text, true)
	if err == nil {
		err = x.status()
	}
	if errors.Is(err, errLeft) {
		return err
	}
	if err != nil {
		t.complain(describe(err))
	}
	return nil
}

// say writes to who sits at the terminal.
func (a *app) say(text string) {
	_, _ = io.WriteString(a.err, text) // nothing else can be told either
}

// approve asks who sits at the terminal whether a call may run. Where nobody does,
// the default answers at once.
func (x *exchange) approve(ctx context.Context, r *parley.ApprovalRequested) error {
	allow := r.Default == parley.ApprovalApproved
	if x.talk.lines == nil {
		x.view.note(r.Tool + " needs an approval, and nobody can be asked: it is " + string(r.Default))
	} else {
		x.view.note(r.Tool + " needs your approval; at " + r.Deadline.Local().Format(time.TimeOnly) + " it is " + string(r.Default))
		x.talk.say("allow it? [y/N] ")
		late := time.NewTimer(time.Until(r.Deadline))
		defer late.Stop()
		select {
		case line := <-x.talk.lines:
			answer := strings.ToLower(strings.TrimSpace(line.text))
			allow = answer == "y" || answer == "yes"
		case <-late.C:
			return nil
		case <-x.stopping:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	err := x.talk.host.Approve(ctx, x.Session, r.Call, allow)
	if errors.Is(err, parley.ErrConflict) {
		return nil // somebody else was faster
	}
	return err
}
