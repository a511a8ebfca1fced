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
	at   time.Time
	err  error // nothing comes after it
}

// mostAhead is how many lines can be typed ahead.
const mostAhead = 64

// typing gives what is typed, line by line. A read from a terminal cannot be stopped,
// so nobody waits for it: it ends with the program.
func (a *app) typing(ctx context.Context) <-chan typed {
	lines := make(chan typed, mostAhead)
	go func() {
		in := bufio.NewReader(a.in)
		for {
			text, err := in.ReadString('\n')
			select {
			case lines <- typed{text, time.Now(), err}:
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
		line, ok := t.next()
		if !ok {
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

// next gives the next line; false: somebody wants to leave.
func (t *talk) next() (line typed, ok bool) {
	if len(t.ahead) > 0 {
		line, t.ahead = t.ahead[0], t.ahead[1:]
		return line, true
	}
	select {
	case line = <-t.lines:
		return line, true
	case <-t.signals:
		return line, false
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
	if x != nil && x.view.problem() != nil {
		return x.view.problem() // nobody would see what comes next either
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
func (x *exchange) approve(ctx context.Context, r *parley.ApprovalRequested) (err error) {
	allow := r.Default == parley.ApprovalApproved
	if x.talk.lines == nil {
		x.view.note(r.Tool + " needs an approval, and nobody can be asked: it is " + string(r.Default))
	} else {
		x.view.note(r.Tool + " needs your approval; at " + r.Deadline.Local().Format(time.TimeOnly) + " it is " + string(r.Default))
		if text := x.calls[r.Call]; text != oneLine(text) {
			x.talk.say(harmless(text) + "\n") // all of it
		}
		x.talk.say("allow it? [y/N] ")
		var answered bool
		if allow, answered, err = x.ask(ctx, time.Now(), r.Deadline); !answered {
			return err
		}
	}
	err = x.talk.host.Approve(ctx, x.Session, r.Call, allow)
	if errors.Is(err, parley.ErrConflict) {
		return nil // somebody else was faster
	}
	return err
}

// ask waits for a yes or no that was typed after the question. What was typed before it,
// and the end of the input, are for the loop.
func (x *exchange) ask(ctx context.Context, asked, deadline time.Time) (yes, answered bool, err error) {
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	for {
		select {
		case line := <-x.talk.lines:
			if line.at.Before(asked) {
				x.talk.ahead = append(x.talk.ahead, line)
				if line.err != nil {
					return false, true, nil // nobody can answer any more
				}
				continue
			}
			if line.err != nil {
				x.talk.ahead = append(x.talk.ahead, typed{err: line.err})
			}
			answer := strings.ToLower(strings.TrimSpace(line.text))
			return answer == "y" || answer == "yes", true, nil
		case <-late.C:
			return false, false, nil
		case <-x.stopping:
			return false, false, nil
		case <-ctx.Done():
			return false, false, context.Cause(ctx)
		}
	}
}
