package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
)

// chatOptions is what the command line says.
type chatOptions struct {
	session string
	anew    bool
	agent   string
	asJSON  bool
	plain   bool
}

func (a *app) chatCommand() *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use:   "chat [MESSAGE]",
		Short: "Talk to an agent",
		Long: `Chat shows a conversation on the whole screen, as it goes on; F1 shows the keys. If
no daemon runs, it answers by itself, and says what then does not work. With --plain,
which suits screen readers, NO_COLOR or TERM=dumb it is line by line, until Ctrl-D.

With a message, here or through a pipe, it prints the answer on standard output while
it is written, and the rest on standard error. Ctrl-C stops it; a second one leaves.

It goes on in the terminal's own conversation with the agent, in the session that
--session names (its id, or the beginning of its name), or in a new one with --new.

It exits with 0 if the agent got to its end, 3 if the answer was cut off by its
length or a filter, 130 if it was stopped, and 1 on errors.`,
		Example: `  parley chat
  parley chat "what can you do?"
  git diff | parley chat --new --agent reviewer
  parley chat --session cli:work --json "and then?"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.chat(cmd.Context(), o, args) },
	}
	cmd.Flags().StringVar(&o.session, "session", "", "the session to talk in: its id, or the beginning of its name")
	cmd.Flags().BoolVar(&o.anew, "new", false, "start a new conversation; with --session, make that session if it is not there")
	cmd.Flags().StringVar(&o.agent, "agent", "", "the agent to talk to (default: main)")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the answer as JSON, once it is complete")
	cmd.Flags().BoolVar(&o.plain, "plain", false, "line by line, without colours, in place of the whole screen")
	completeFlag(cmd, "session", a.completeSession)
	completeFlag(cmd, "agent", a.completeAgents)
	return cmd
}

func (a *app) chat(ctx context.Context, o chatOptions, args []string) (err error) {
	text, loop, err := a.chatText(ctx, args)
	if err != nil {
		return err
	}
	if loop && o.asJSON {
		return &usageError{"--json is for one message; give it, or send it through a pipe"}
	}
	if loop && !o.plain && a.canDraw() {
		return a.chatOnScreen(ctx, o)
	}
	signals, ignore := listen()
	defer ignore()
	// Signals are dealt with here, so that the first one stops a turn and not the
	// program.
	ctx, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	h, err := a.host(ctx, signals)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	s, err := enter(ctx, h, o)
	if err != nil {
		return err
	}
	t := &talk{app: a, host: h, signals: signals}
	if a.inTerminal {
		t.lines = a.typing(ctx)
	}
	if loop {
		return t.loop(ctx, s)
	}
	x, err := t.exchange(ctx, s, text, !o.asJSON)
	if err != nil {
		return err
	}
	if o.asJSON {
		if err := a.printJSON(x); err != nil {
			return err
		}
	}
	if err := x.view.problem(); err != nil {
		return err
	}
	return x.status()
}

// chatText gives the message that the command line or the pipe has; loop, if there is
// none and somebody sits at a terminal.
func (a *app) chatText(ctx context.Context, args []string) (text string, loop bool, err error) {
	text = strings.Join(args, " ")
	switch {
	case len(args) == 0 && a.inTerminal:
		return "", true, nil
	case len(args) == 0 || text == "-":
		data, err := io.ReadAll(io.LimitReader(interruptible(ctx, a.in), parley.MaxBodyBytes+1))
		if err != nil {
			return "", false, fmt.Errorf("read the message: %w", err)
		}
		text = string(data)
	}
	switch {
	case len(text) > parley.MaxBodyBytes:
		return "", false, parley.Errorf(parley.CodeTooLarge, "the message has more than %d bytes", parley.MaxBodyBytes)
	case !utf8.ValidString(text):
		return "", false, parley.Errorf(parley.CodeInvalid, "the message is not text in UTF-8")
	case strings.TrimSpace(text) == "":
		return "", false, &usageError{"there is no message; give one, or send it through a pipe; see 'parley chat --help'"}
	}
	return text, false, nil
}

// enter gives the session to talk in.
func enter(ctx context.Context, h entrance, o chatOptions) (parley.Session, error) {
	if o.session == "" {
		return h.Enter(ctx, o.agent, o.anew)
	}
	isWhole := isWholeID(o.session)
	if o.anew && !isWhole {
		return parley.Session{}, &usageError{fmt.Sprintf("a new session's id has a namespace and a name, such as cli:work, and is not %q", o.session)}
	}
	s, err := findSession(ctx, h, o.session)
	if errors.Is(err, parley.ErrNotFound) && isWhole {
		if o.anew {
			return h.Start(ctx, parley.SessionID(o.session), o.agent)
		}
		return s, parley.Errorf(parley.CodeNotFound, "there is no session %s; --new makes it", o.session)
	}
	if err == nil && o.agent != "" && s.Agent.Name != o.agent {
		return s, parley.Errorf(parley.CodeInvalid, "session %s is one with the agent %s, and stays so; leave --agent out", s.ID, s.Agent.Name)
	}
	if err == nil && o.anew {
		return s, parley.Errorf(parley.CodeConflict, "there is a session %s already; leave --new out to go on in it", s.ID)
	}
	return s, err
}

// talk is a chat under way.
type talk struct {
	*app
	host    host
	signals <-chan struct{}
	lines   <-chan typed // what somebody types; nil: nobody does
	ahead   []typed      // what was typed before a question that it is no answer to
}

// exchange says something and shows what comes back, until it is settled.
func (t *talk) exchange(ctx context.Context, s parley.Session, text string, show bool) (*exchange, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	x := &exchange{Session: s.ID, talk: t, view: t.newView(show), calls: map[parley.CallID]string{}, stopping: make(chan struct{})}
	// From before the message on, so that nothing of the answer is missed.
	from := parley.Position{Seq: s.LastSeq}
	receipt, err := t.host.Post(ctx, s.ID, parley.Input{
		Ref: parley.InputRef{ID: "chat-" + rand.Text()}, Parts: []parley.Part{parley.TextPart(text)}, Mentioned: true,
	})
	if err != nil {
		return nil, err
	}
	x.begin(receipt)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { x.interrupts(ctx, done, leave) })
	err = x.follow(ctx, from)
	close(done)
	watching.Wait()
	x.view.end()
	if err != nil {
		return nil, err
	}
	return x, nil
}

// errLeft is the cause with which a chat ends that somebody has left.
var errLeft = &statusError{exitInterrupted, "left; what was not answered goes on with the next start"}

// interrupts stops the turn at the first signal and leaves at the second, until done.
func (x *exchange) interrupts(ctx context.Context, done <-chan struct{}, leave context.CancelCauseFunc) {
	for first := true; ; first = false {
		select {
		case <-done:
			return
		case <-x.talk.signals:
		}
		turn := x.turn.Load()
		if !first || turn == nil {
			leave(errLeft)
			return
		}
		close(x.stopping)
		_, err := x.talk.host.Cancel(ctx, x.Session, *turn)
		if err != nil {
			x.view.note("cannot stop the answer: " + describe(err))
		}
		if errors.Is(err, parley.ErrUnavailable) {
			leave(errLeft) // who could stop it is not there
			return
		}
	}
}
