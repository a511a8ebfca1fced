package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
)

// carrier is what a connection is made over: a program, or HTTP.
type carrier interface {
	sdk.Transport
	// agreed is told the version of the protocol.
	agreed(version string)
	// stop ends it, with the session if there is one, and returns when nothing
	// of it is left: no goroutine, no process, no request.
	stop(session *sdk.ClientSession, hurry bool)
	// why gives what is known about a failure, for people. Call it after stop, or
	// while nothing was sent.
	why(err error) string
}

// link is a connection that works, or did.
type link struct {
	session *sdk.ClientSession
	over    carrier
	filter  *filtered
	since   time.Time
	// unnoticed says that changes of the list of tools are not told.
	unnoticed bool

	closeOnce sync.Once
	gone      chan struct{} // closed when nothing is left of it
	reason    string        // why it has gone; set before
}

// versions are those of the protocol that are asked for, in this order. The first
// begins with a handshake that nearly all servers know; one that knows only what
// came later refuses it with an error. The other way round, servers that do not
// answer what they do not know would never start.
var versions = []string{"2025-11-25", ""}

// dial connects.
func (s *Server) dial(ctx context.Context) (*link, error) {
	var err error
	for _, version := range versions {
		var l *link
		if l, err = s.dialAs(ctx, version); err == nil {
			return l, nil
		}
		if answered(err) == nil || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func (s *Server) dialAs(ctx context.Context, version string) (*link, error) {
	l := &link{gone: make(chan struct{})}
	options := &sdk.ClientOptions{
		Logger:         slog.New(warnings{warnFunc: s.warn}),
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // it would send a call again
	}
	l.filter = &filtered{changedFunc: func() bool { s.changed(); return false }}
	if s.cfg.URL != "" {
		w, err := newWire(s.cfg)
		if err != nil {
			return nil, err
		}
		l.over = w
	} else {
		l.over = newProcess(s.cfg)
		// The library has to know as well; but how often does not matter.
		var passed atomic.Bool
		l.filter.changedFunc = func() bool { return passed.CompareAndSwap(false, true) }
		options.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) {
			passed.Store(false)
			s.changed()
		}
	}
	l.filter.below, l.filter.versionFunc = l.over, l.over.agreed
	client := sdk.NewClient(&sdk.Implementation{Name: "parley", Version: "1"}, options)
	session, err := client.Connect(withNote(ctx, &note{}), l.filter, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		l.over.stop(nil, true)
		l.filter.wait()
		return nil, s.unavailable(ctx, l.over, err)
	}
	l.session, l.since = session, s.nowFunc()
	if r := session.InitializeResult(); r != nil {
		l.over.agreed(r.ProtocolVersion)
		l.unnoticed = s.cfg.URL != "" && r.Capabilities != nil && r.Capabilities.Tools != nil && r.Capabilities.Tools.ListChanged
	}
	return l, nil
}

// unavailable makes an error of a failure to connect, whose cause stays in the
// chain without being told twice.
func (s *Server) unavailable(ctx context.Context, over carrier, err error) error {
	var why string
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = strings.TrimSuffix(fmt.Sprintf("it was not ready within %v; %s", s.cfg.ConnectTimeout, over.why(nil)), "; ")
	} else {
		why = over.why(err)
	}
	code := parley.CodeUnavailable
	if e, ok := errors.AsType[*parley.Error](err); ok {
		code = e.Code
	}
	return &failure{error: parley.Errorf(code, "MCP server %s is not available: %s", s.cfg.Name, why), cause: err}
}

// failure is an error with a cause that it does not show.
type failure struct {
	error
	cause error
}

// Unwrap gives the error and its cause.
func (f *failure) Unwrap() []error { return []error{f.error, f.cause} }

// close ends the connection, and returns when nothing is left of it.
func (l *link) close() {
	l.closeOnce.Do(func() {
		l.over.stop(l.session, false)
		_ = l.session.Close() // what is below has ended
		l.filter.wait()
		l.reason = l.over.why(l.session.Wait())
		close(l.gone)
	})
	<-l.gone
}

// warnings is a handler for the log of the library, of which only warnings are of
// use.
type warnings struct {
	warnFunc func(format string, args ...any)
	with     string
}

func (h warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle makes one line of a record.
func (h warnings) Handle(_ context.Context, r slog.Record) error {
	text := r.Message + h.with
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(", %s: %v", a.Key, a.Value)
		return true
	})
	h.warnFunc("%s", text)
	return nil
}

// WithAttrs adds attributes.
func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.with += fmt.Sprintf(", %s: %v", a.Key, a.Value)
	}
	return h
}

// WithGroup leaves groups out.
func (h warnings) WithGroup(string) slog.Handler { return h }
