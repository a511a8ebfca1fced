package chat

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Driver runs the program without a terminal: a test gives it messages, and looks at
// its screen.
type Driver struct {
	m    *model
	msgs chan tea.Msg
	// Quit is set once the program has asked to end.
	Quit bool
}

// NewDriver starts the program. When ctx ends, so do its commands; the function that is
// given back waits for them.
func NewDriver(ctx context.Context, backend Backend, cfg Config) (*Driver, func()) {
	work := &tasks{ctx: ctx}
	d := &Driver{m: newModel(backend, cfg.withDefaults(), work), msgs: make(chan tea.Msg, 1024)}
	d.run(d.m.Init())
	return d, work.end
}

// run has a command done, as the library does.
func (d *Driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.run(c)
			}
		default:
			d.msgs <- msg
		}
	}()
}

// Send gives the program a message.
func (d *Driver) Send(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		d.Quit = true
		return
	}
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

// Msgs are what commands have to say.
func (d *Driver) Msgs() <-chan tea.Msg { return d.msgs }

// Screen is what is drawn, without colours.
func (d *Driver) Screen() string { return ansi.Strip(strings.Join(d.Lines(), "\n")) }

// Lines are what is drawn, with colours.
func (d *Driver) Lines() []string {
	lines, _ := d.m.draw()
	return lines
}

// Cursor reports where the cursor is, if there is one.
func (d *Driver) Cursor() *tea.Cursor {
	_, c := d.m.draw()
	return c
}

// Drawn counts the items that were drawn so far, of all that there are.
func (d *Driver) Drawn() (drawn, all int) {
	for _, it := range d.m.transcript.all() {
		if it.drawn.width > 0 {
			drawn++
		}
	}
	return drawn, len(d.m.transcript.all())
}

// What the tests of parts need.
var (
	Clean     = clean
	Arguments = argumentLines
	Brief     = brief
)

// KeysTable gives the keys of the help as a table for the documentation.
func KeysTable() string {
	var b strings.Builder
	b.WriteString("| key | does |\n| --- | --- |\n")
	for _, k := range helpKeys {
		switch {
		case k.keys != "":
			b.WriteString("| " + k.keys + " | " + k.does + " |\n")
		case k.does != "":
			b.WriteString("| **" + k.does + "** | |\n")
		}
	}
	return b.String()
}
