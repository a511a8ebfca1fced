package turn

import (
	"context"
	"io"
	"time"

	"github.com/parley-run/parley"
)

// Config is what a [Runner] works with.
type Config struct {
	// AgentFunc gives what the agent of a turn consists of. Required.
	AgentFunc func(ctx context.Context, t parley.TurnContext) (Agent, error)
	// MediaFunc gives the bytes of media that the window shows; nil: models see
	// their names alone.
	MediaFunc func(ctx context.Context, session parley.SessionID, m parley.Media) ([]byte, error)
	// Scrubber takes managed secrets out of what models and tools say, before
	// anybody sees it; nil: nothing is taken out.
	Scrubber Scrubber
	// Breaker says when a provider is left alone.
	Breaker BreakerConfig
	// CountFunc counts tokens; nil: as a current model of OpenAI does, which is
	// near enough for others.
	CountFunc func(text string) int
	// Clock is for time limits; nil: the system's.
	Clock parley.Clock
}

// Agent is what a turn runs with.
type Agent struct {
	// Models is the chain: the first is asked, the others are what it falls back
	// to. At least one.
	Models []parley.Model
	// Tools are those the turn may use; nil: none.
	Tools Tools
	// MaxTokens limits a model's answer; 0: what the model does by itself.
	MaxTokens int
	// Approval is how people are asked.
	Approval Approval
	// Limits are the turn's bounds.
	Limits Limits
	// ReleaseFunc is called when the run has ended, for what was only lent to it;
	// nil: nothing was.
	ReleaseFunc func()
}

// Tools is what a turn needs of a registry of tools.
type Tools interface {
	// Specs describes the tools, in the same order each time.
	Specs() []parley.ToolSpec
	// Effect says what a policy wants for a call, and why.
	Effect(call parley.ToolCall) (effect parley.ToolEffect, reason string)
	// Run runs a call, as [parley.Tool] does. It gives a result for unknown tools,
	// refused calls and wrong arguments as well.
	Run(ctx context.Context, by parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error)
}

// Approval is how long a question to a person waits, and what holds then.
type Approval struct {
	Deadline time.Duration        // 0: 10 minutes
	Default  parley.ApprovalState // empty: denied
}

// Limits are the bounds of one run. A zero field is its default.
type Limits struct {
	// ToolRounds is how often the model may ask for tools in one turn. 0: 16.
	ToolRounds int
	// Time is how long one run may work. Waiting for an approval or for a model
	// that is down is not part of a run. 0: 30 minutes.
	Time time.Duration
	// ModelTime is how long one call of a model may take. 0: 10 minutes.
	ModelTime time.Duration
	// FirstPiece is how long a model may take to begin its answer, before the
	// next one is tried. 0: 2 minutes.
	FirstPiece time.Duration
	// Output is how many bytes an answer may have, with its calls and its
	// reasoning, and as it is stored. 0: 512 KiB; never more than an event holds.
	Output int
}

func (l Limits) withDefaults() Limits {
	set(&l.ToolRounds, 16)
	set(&l.Time, 30*time.Minute)
	set(&l.ModelTime, 10*time.Minute)
	set(&l.FirstPiece, 2*time.Minute)
	set(&l.Output, 512<<10)
	l.Output = min(l.Output, parley.MaxBodyBytes-64<<10)
	return l
}

func set[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Scrubber takes secrets out of texts; see package secret.
type Scrubber interface {
	// Text gives text without them.
	Text(text string) string
	// Writer gives a writer that passes on what is written to it without them,
	// also those that come in several pieces. Close passes on what is held back.
	Writer(w io.Writer) io.WriteCloser
}

// noScrubber takes nothing out.
type noScrubber struct{}

func (noScrubber) Text(text string) string           { return text }
func (noScrubber) Writer(w io.Writer) io.WriteCloser { return nopCloser{w} }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Runner is the default [parley.Runner]. It may run many turns at once.
type Runner struct {
	cfg      Config
	breakers *breakers
}

// New makes a runner.
func New(cfg Config) (*Runner, error) {
	if cfg.AgentFunc == nil {
		return nil, parley.Errorf(parley.CodeInvalid, "a runner needs an AgentFunc")
	}
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.Scrubber == nil {
		cfg.Scrubber = noScrubber{}
	}
	if cfg.CountFunc == nil {
		cfg.CountFunc = countTokens
	}
	return &Runner{cfg: cfg, breakers: newBreakers(cfg.Breaker, cfg.Clock)}, nil
}
