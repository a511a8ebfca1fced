package bench

import (
	"context"
	"io"
	"os/exec"
	"time"

	"github.com/parley-run/parley"
)

// Config says what a run measures, and on what.
type Config struct {
	// OpenFunc opens the store at path for writing, and makes it if it is not
	// there. Required.
	OpenFunc func(ctx context.Context, path string) (parley.Store, error)
	// EncryptFunc makes an encrypted copy of the store at path, which may be in
	// use, and opens it. Required by [Store].
	EncryptFunc func(ctx context.Context, path, to string) (parley.Store, error)
	// ProbeFunc gives a command that calls [Probe] with path and pages in a
	// fresh process and writes its result to standard output as JSON. Required
	// by [Store].
	ProbeFunc func(ctx context.Context, path string, pages int) *exec.Cmd
	// ServeFunc gives a command that is a daemon on the data folder dir, at a free
	// port of loopback, and stops when it is interrupted. LoadFunc gives one that
	// calls [Load] with its standard input and output. Required by [HTTP].
	ServeFunc func(ctx context.Context, dir string) *exec.Cmd
	LoadFunc  func(ctx context.Context) *exec.Cmd
	// ProgramFunc gives a command that is the program itself, with arguments, as it
	// runs in a terminal that has colours. Required by [Chat], as ServeFunc is.
	ProgramFunc func(ctx context.Context, args ...string) *exec.Cmd
	// Dir is an existing folder to work in: the run makes a folder of its own
	// there and removes it. The figures are those of its disk. Required.
	Dir string
	// Size is how much is stored and measured; zero fields are as in FullSize.
	Size Size
	// Only names the figures to take; none means all.
	Only []string
	// ProgressFunc, if set, is told now and then how far the run is. A total of
	// 0 means that it is not known. Calls do not overlap.
	ProgressFunc func(step string, done, total int64)
	// ResolveFunc answers lines as `parley resolve` does. Required by [Route],
	// which needs none of the functions above.
	ResolveFunc func(ctx context.Context, in io.Reader, out io.Writer) error
}

// Size is how much a run stores and measures.
type Size struct {
	Sessions     int           // in the store with many
	Few          int           // in the store they are compared with
	Deep         int           // events of a long log
	Rounds       int           // of each reading measurement
	CommitRounds int           // of each writing measurement; a disk's mood needs more
	Stretch      time.Duration // the most one side of a round may take
	Subscribers  int           // of the fan-out
	FanoutEvents int           // that each of them gets
	Turns        int           // that wait for one of 64 places
	Cancels      int           // runs that are stopped
	Posts        int           // over HTTP, in rounds and again in a row
	PostSessions int           // that they go to
	Streams      int           // that get the same events
	StreamEvents int           // that each of them gets
	IdleStreams  int           // that get nothing
	Idle         time.Duration // how long these are looked at
	Keys         int           // that are pressed while an answer streams, and while none does
}

// FullSize is what the bars are meant for.
func FullSize() Size {
	return Size{
		Sessions: 1_000_000, Few: 1_000, Deep: 100_000, Rounds: 31, CommitRounds: 101, Stretch: 2 * time.Second,
		Subscribers: 10_000, FanoutEvents: 400, Turns: 1_024, Cancels: 300,
		Posts: 30_000, PostSessions: 1_000, Streams: 9_000, StreamEvents: 120, IdleStreams: 5_000, Idle: 40 * time.Second, Keys: 992,
	}
}

// QuickSize gives a first impression within half a minute.
func QuickSize() Size {
	return Size{
		Sessions: 20_000, Few: 1_000, Deep: 5_000, Rounds: 15, CommitRounds: 15, Stretch: 250 * time.Millisecond,
		Subscribers: 2_000, FanoutEvents: 60, Turns: 320, Cancels: 100,
		Posts: 1_500, PostSessions: 200, Streams: 1_000, StreamEvents: 8, IdleStreams: 1_000, Idle: 2 * time.Second, Keys: 160,
	}
}

func (c *Config) validate() error {
	full := FullSize()
	for _, f := range []struct {
		what  string
		field *int
		full  int
	}{
		{"sessions", &c.Size.Sessions, full.Sessions},
		{"sessions to compare with", &c.Size.Few, full.Few},
		{"events of a long log", &c.Size.Deep, full.Deep},
		{"rounds", &c.Size.Rounds, full.Rounds},
		{"commit rounds", &c.Size.CommitRounds, full.CommitRounds},
		{"subscribers", &c.Size.Subscribers, full.Subscribers},
		{"events to fan out", &c.Size.FanoutEvents, full.FanoutEvents},
		{"turns that wait", &c.Size.Turns, full.Turns},
		{"runs that are stopped", &c.Size.Cancels, full.Cancels},
		{"posts", &c.Size.Posts, full.Posts},
		{"sessions that are posted to", &c.Size.PostSessions, full.PostSessions},
		{"streams", &c.Size.Streams, full.Streams},
		{"events of a stream", &c.Size.StreamEvents, full.StreamEvents},
		{"idle streams", &c.Size.IdleStreams, full.IdleStreams},
		{"keys", &c.Size.Keys, full.Keys},
	} {
		if *f.field == 0 {
			*f.field = f.full
		}
		if *f.field < 1 {
			return parley.Errorf(parley.CodeInvalid, "the number of %s must be positive", f.what)
		}
	}
	if c.Size.Stretch <= 0 {
		c.Size.Stretch = full.Stretch
	}
	if c.Size.Idle <= 0 {
		c.Size.Idle = full.Idle
	}
	if c.OpenFunc == nil {
		return parley.Errorf(parley.CodeInvalid, "a run needs OpenFunc")
	}
	if c.ProgressFunc == nil {
		c.ProgressFunc = func(string, int64, int64) {}
	}
	return nil
}
