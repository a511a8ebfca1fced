package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
)

// Config is how the program runs. A zero field is its default.
type Config struct {
	// Session is where it begins; only its id counts. It is required.
	Session parley.Session
	// Me is who sits there: all accounts of that person.
	Me []parley.IdentityID
	// Private says that the backend is an engine of this process, which the status line
	// shows.
	Private bool
	// Notice is what the person is told at first.
	Notice string
	// Dir is what names of files are relative to. Empty: the working directory
	Dir string
	// EditorFunc gives the command that edits a file; nil: there is no editor.
	EditorFunc func(path string) *exec.Cmd

	// In and Out are the terminal; nil: standard input and output.
	In  io.Reader
	Out io.Writer
	// Environ is what the terminal's abilities are read from; nil: the process's.
	Environ []string
	// Width and Height are the size to begin with; 0: the terminal's.
	Width, Height int
	// Light has colours for a light background until the terminal says which it has.
	Light bool

	// Clock is what waits are measured with; nil: the machine's.
	Clock parley.Clock
	// IDFunc makes the ids of what is said; nil: random ones.
	IDFunc func() string
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = parley.SystemClock{}
	}
	if c.IDFunc == nil {
		c.IDFunc = func() string { return terminalPrefix + rand.Text() }
	}
	return c
}

// Run shows conversations on the terminal until somebody leaves, or ctx ends, which is
// no error. The terminal is left as it was found, also after a panic, which is an error.
func Run(ctx context.Context, backend Backend, cfg Config) error {
	if cfg.Session.ID == "" {
		return parley.Errorf(parley.CodeInvalid, "chat needs a session to begin in")
	}
	cfg = cfg.withDefaults()
	life, end := context.WithCancel(ctx)
	work := &tasks{ctx: life}
	defer work.end()
	defer end()
	// Signals end ctx: who calls decides which of them.
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if cfg.In != nil {
		options = append(options, tea.WithInput(cfg.In))
	}
	if cfg.Out != nil {
		options = append(options, tea.WithOutput(cfg.Out))
	}
	if cfg.Environ != nil {
		options = append(options, tea.WithEnvironment(cfg.Environ))
	}
	if cfg.Width > 0 && cfg.Height > 0 {
		options = append(options, tea.WithWindowSize(cfg.Width, cfg.Height))
	}
	_, err := tea.NewProgram(newModel(backend, cfg, work), options...).Run()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the terminal program failed: %w", err)
	case ctx.Err() != nil:
		return nil
	}
	return err
}
