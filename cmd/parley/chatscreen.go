package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

// canDraw reports whether the terminal takes a program on the whole screen, and the
// person wants one.
func (a *app) canDraw() bool {
	term := a.getenv("TERM")
	return a.inTerminal && a.outTerminal && term != "" && term != "dumb" && a.getenv("NO_COLOR") == ""
}

// screenHost is whoever the program on the screen talks to.
type screenHost interface {
	entrance
	chat.Backend
	// accounts gives the accounts of who sits there.
	accounts(ctx context.Context) ([]parley.IdentityID, error)
}

// privately is what does not work while no daemon runs.
const privately = "No daemon runs, so this program answers by itself: chats, schedules and other people wait until 'parley serve' runs."

// chatOnScreen shows the conversation on the whole screen. A signal ends it.
func (a *app) chatOnScreen(ctx context.Context, o chatOptions) (err error) {
	// What is written meanwhile would stand in the middle of the screen.
	held := &heldBack{}
	defer func() { held.flush(a.err) }()
	running, err := a.daemon()
	if err != nil {
		return err
	}
	var h screenHost
	cfg := chat.Config{
		In: a.in, Out: a.out, Environ: a.environ(), EditorFunc: a.editor(),
	}
	if running != nil {
		h, err = a.remoteBackend(*running)
	} else {
		cfg.Private, cfg.Notice = true, privately
		h, err = a.localBackend(ctx, held)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if cfg.Me, err = h.accounts(ctx); err != nil {
		return err
	}
	if cfg.Session, err = enter(ctx, h, o); err != nil {
		return err
	}
	if err := chat.Run(ctx, h, cfg); err != nil {
		return err
	}
	return ctx.Err()
}

// editor gives the command with which the person edits files; nil: none is named.
func (a *app) editor() func(path string) *exec.Cmd {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(a.getenv(name)); len(words) > 0 {
			return func(path string) *exec.Cmd {
				//nolint:gosec,noctx // G204: it is the person's own choice; and it ends when they leave it
				return exec.Command(words[0], append(words[1:len(words):len(words)], path)...)
			}
		}
	}
	return nil
}

// heldBack keeps what is written until it can be shown: the last of it.
type heldBack struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// mostHeld is how much is kept.
const mostHeld = 64 << 10

// Write implements [io.Writer].
func (h *heldBack) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(b)
	if over := h.text.Len() - mostHeld; over > 0 {
		h.text.Next(over)
	}
	return len(b), nil
}

func (h *heldBack) flush(to io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = h.text.WriteTo(to) // nothing else can be told either
}
