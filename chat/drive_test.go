package chat_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

// program is the program in a test, on a backend in memory.
type program struct {
	*chat.Driver
	*fake
	t *testing.T
}

// start runs the program on a window of 80x24 in session cli:a, which is made if it is
// not there.
func start(t *testing.T, f *fake, changes ...func(*chat.Config)) *program {
	t.Helper()
	p := begin(t, f, changes...)
	p.gone("reading…")
	return p
}

// begin is start, without waiting until the conversation was read.
func begin(t *testing.T, f *fake, changes ...func(*chat.Config)) *program {
	t.Helper()
	if _, ok := f.sessions["cli:a"]; !ok {
		f.add("cli:a")
	}
	n := 0
	cfg := chat.Config{
		Session: f.sessions["cli:a"].Session, Me: []parley.IdentityID{me}, Width: 80, Height: 24, Clock: f.clock, Dir: t.TempDir(),
		IDFunc: func() string { n++; return fmt.Sprint("chat-", n) },
	}
	for _, change := range changes {
		change(&cfg)
	}
	ctx, stop := context.WithCancel(t.Context())
	d, end := chat.NewDriver(ctx, f, cfg)
	t.Cleanup(func() { stop(); end() })
	return &program{d, f, t}
}

// until takes messages until something is so.
func (p *program) until(what string, ok func() bool) {
	p.t.Helper()
	late := time.After(20 * time.Second)
	for !ok() {
		select {
		case msg := <-p.Msgs():
			p.Send(msg)
		case <-p.tick():
		case <-late:
			p.t.Fatalf("%s did not come; the screen is\n%s", what, p.Screen())
		}
	}
}

// tick is for what is not on the screen, and changes without a message.
func (*program) tick() <-chan time.Time { return time.After(5 * time.Millisecond) }

// shows waits until the screen has all texts.
func (p *program) shows(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until(fmt.Sprintf("%q", text), func() bool { return strings.Contains(p.Screen(), text) })
	}
}

// gone waits until the screen has none of the texts.
func (p *program) gone(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until(fmt.Sprintf("the end of %q", text), func() bool { return !strings.Contains(p.Screen(), text) })
	}
}

// asks waits until the backend was asked for something.
func (p *program) asks(what string) {
	p.t.Helper()
	p.until("request "+what, func() bool { return strings.Contains("\n"+strings.Join(p.requests(), "\n")+"\n", "\n"+what+"\n") })
}

// connection says that the connection was lost, or is back.
func (p *program) connection(lost error) {
	p.t.Helper()
	p.until("somebody who follows", func() bool { return p.watcher() != nil })
	p.watcher()(lost)
}

// settle takes all messages that are there.
func (p *program) settle() {
	for {
		select {
		case msg := <-p.Msgs():
			p.Send(msg)
		case <-time.After(30 * time.Millisecond):
			return
		}
	}
}

// types types text.
func (p *program) types(text string) {
	for _, r := range text {
		p.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// press presses keys by their names, such as ctrl+c.
func (p *program) press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		key := tea.KeyPressMsg{}
		rest := name
		for {
			mod, after, ok := strings.Cut(rest, "+")
			if !ok || after == "" {
				break
			}
			key.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
			rest = after
		}
		code, ok := map[string]rune{
			"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp,
			"pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "f1": tea.KeyF1, "home": tea.KeyHome, "end": tea.KeyEnd, "space": ' ',
		}[rest]
		if !ok {
			code, _ = utf8.DecodeRuneInString(rest)
		}
		key.Code = code
		if key.Mod == 0 && (!ok || rest == "space") {
			key.Text = string(code)
		}
		if got := key.String(); got != name {
			p.t.Fatalf("the key %s is called %s", name, got)
		}
		p.Send(key)
	}
}

// say types a message and sends it.
func (p *program) say(text string) {
	p.t.Helper()
	p.types(text)
	p.press("enter")
}
