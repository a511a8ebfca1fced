package scripted

import (
	"context"
	"iter"
	"regexp"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// Provider is the part of the model's name before the slash.
const Provider = "scripted"

// DemoName is the model that is there without a script, scripted/demo.
const DemoName = "demo"

// The sizes of a model whose [Config] gives none, in tokens.
const (
	DefaultContext   = 200_000
	DefaultMaxOutput = 32_000

	maxSize = 100_000_000
)

// Config says what a model is and what it answers. The zero value is
// scripted/demo.
type Config struct {
	// Name is the part of the model's name after the slash. Empty: [DemoName].
	Name string
	// Script is what the model answers. Nil: [Demo].
	Script *Script
	// Context is how many tokens a request and its answer may have together, and
	// MaxOutput how many an answer may have. 0: [DefaultContext] and
	// [DefaultMaxOutput].
	Context, MaxOutput int
	// Pace is the pause after each piece of text where the script gives none, so
	// that a person sees the answer being written. 0: none.
	Pace time.Duration
	// Clock measures the pauses. Nil: the system's.
	Clock parley.Clock
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (c *Config) validate() error {
	switch {
	case c.Name == "":
		c.Name = DemoName
	case !nameForm.MatchString(c.Name):
		return parley.Errorf(parley.CodeInvalid, "a scripted model cannot be called %q; use letters, digits, ., _ and -, at most 64 of them", cut(c.Name, 80))
	}
	if c.Context < 0 || c.MaxOutput < 0 || c.Pace < 0 {
		return parley.Errorf(parley.CodeInvalid, "the context, the output and the pace of a scripted model must not be negative")
	}
	if c.Context > maxSize || c.MaxOutput > maxSize {
		return parley.Errorf(parley.CodeInvalid, "the context and the output of a scripted model have at most %d tokens", maxSize)
	}
	if c.Script == nil {
		c.Script = Demo()
	}
	if c.Context == 0 {
		c.Context = DefaultContext
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = min(DefaultMaxOutput, c.Context)
	}
	if c.Clock == nil {
		c.Clock = system{}
	}
	return nil
}

// Model answers from a script. It is free, and may be used by many at once.
type Model struct {
	config Config

	mu    sync.Mutex
	tries map[digest]int // how often a request has failed that will not always
}

// New makes a model. A name or a number that cannot be is [parley.CodeInvalid].
func New(c Config) (*Model, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Model{config: c, tries: map[digest]int{}}, nil
}

// Info gives the model's name, its sizes and its price, which is nothing.
func (m *Model) Info() parley.ModelInfo {
	return parley.ModelInfo{
		Name: Provider + "/" + m.config.Name, Context: m.config.Context, MaxOutput: m.config.MaxOutput, Price: &parley.Price{},
	}
}

// Stream yields the script's answer to the request, as [parley.Model] has it. The
// errors are those that the script asks for; [parley.CodeTooLarge] for a request
// that leaves no room for an answer; and that of ctx, when it ends, also in the
// middle of a pause. Calls have no id. A token is four bytes.
func (m *Model) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		a := &answer{model: m, yield: yield}
		if err := a.give(ctx, req); err != nil && !a.stopped {
			yield(parley.ModelPiece{}, err)
		}
	}
}

// maxTries bounds what is remembered about requests that are being tried again.
const maxTries = 10_000

// fails reports whether a request that fails the first n times fails this time.
// What passes is forgotten, so that the same request fails again later.
func (m *Model) fails(d digest, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tries[d] >= n {
		delete(m.tries, d)
		return false
	}
	if len(m.tries) >= maxTries {
		clear(m.tries)
	}
	m.tries[d]++
	return true
}

// system is the clock of the machine.
type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
