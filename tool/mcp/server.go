package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// The pause before a server is tried again: none after the first failure, then
// one that doubles. A call that was answered, or a connection that held for a
// while, makes it the first again.
const (
	firstPause = time.Second
	maxPause   = time.Minute
	heldLong   = time.Minute
)

// Server is a server of the Model Context Protocol. It connects when it is first
// used. It is for several goroutines at once.
type Server struct {
	cfg     Config
	nowFunc func() time.Time
	// joinFunc gives a context that also ends with Close.
	joinFunc func(ctx context.Context) (context.Context, context.CancelFunc)
	endFunc  context.CancelFunc
	work     sync.WaitGroup // goroutines; added to under mu while not closed
	asking   chan struct{}  // held by who asks for the list of tools

	mu       sync.Mutex
	closed   bool
	link     *link    // nil: none
	attempt  *attempt // to connect; nil: none is under way
	failures int      // in a row
	retryAt  time.Time
	lastErr  error
	list     []parley.Tool // as last given; nil: never
	stale    bool          // the list may be another by now
}

// attempt is one to connect, which many may wait for.
type attempt struct {
	done chan struct{}
	link *link
	err  error // set before done is closed
}

// New makes a server, and does not connect.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg.withDefaults(), nowFunc: time.Now, asking: make(chan struct{}, 1), stale: true}
	s.joinFunc, s.endFunc = lifetime()
	return s, nil
}

// Name gives the server's name.
func (s *Server) Name() string { return s.cfg.Name }

// Connect connects, if there is no connection. Nobody has to call it: whatever
// needs a connection makes one. It is limited by Config.ConnectTimeout. If ctx ends
// before that, the attempt goes on for those who come later.
//
// A server that cannot be reached is [parley.CodeUnavailable], one that the guard
// refuses [parley.CodeForbidden]. After failures in a row there is a pause in which
// it gives the last failure without trying; RetryAfter says how long that is.
func (s *Server) Connect(ctx context.Context) error {
	_, err := s.use(ctx)
	return err
}

// use gives the connection, and makes one if there is none.
func (s *Server) use(ctx context.Context) (*link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := s.begin()
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.link, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin gives the attempt to wait for.
func (s *Server) begin() (*attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wait := s.retryAt.Sub(s.nowFunc()); {
	case s.closed:
		return nil, s.errClosed()
	case s.link != nil:
		a := &attempt{done: make(chan struct{}), link: s.link}
		close(a.done)
		return a, nil
	case s.attempt != nil:
		return s.attempt, nil
	case wait > 0:
		return nil, &failure{
			error: &parley.Error{
				Code: parley.CodeUnavailable, RetryAfter: wait,
				Message: fmt.Sprintf("MCP server %s has failed %d times in a row and is tried again in %v; the last failure: %v",
					s.cfg.Name, s.failures, wait.Round(100*time.Millisecond), s.lastErr),
			},
			cause: s.lastErr,
		}
	}
	a := &attempt{done: make(chan struct{})}
	s.attempt = a
	s.work.Go(func() { s.connect(a) })
	return a, nil
}

// connect makes an attempt.
func (s *Server) connect(a *attempt) {
	ctx, leave := s.joinFunc(context.Background())
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	l, err := s.dial(ctx)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt = nil
	switch {
	case s.closed && err != nil:
		err = s.errClosed()
	case err != nil:
		s.failed(err)
	default:
		// Also if it was closed meanwhile: Close waits for the goroutine, which
		// sees that first.
		s.link, s.stale = l, true
		s.work.Go(func() { s.watch(l) })
	}
	a.link, a.err = l, err
	close(a.done)
}

// watch waits until a connection ends, and cleans up behind it.
func (s *Server) watch(l *link) {
	// A server that was closed before this was here has nobody else to end it.
	ctx, leave := s.joinFunc(context.Background())
	stop := context.AfterFunc(ctx, l.close)
	_ = l.session.Wait() // close asks again
	stop()
	leave()

	s.mu.Lock()
	ours := s.link == l && !s.closed
	if ours {
		s.link = nil
		if s.nowFunc().Sub(l.since) >= heldLong {
			s.failures = 0
		}
		s.failed(stoppedError{s.cfg.Name, l})
	}
	s.mu.Unlock()
	l.close()
}

// stoppedError is that a connection has ended. Why is known a little later.
type stoppedError struct {
	server string
	link   *link
}

func (e stoppedError) Error() string {
	text := "MCP server " + e.server + " has stopped"
	select {
	case <-e.link.gone:
		if e.link.reason != "" {
			text += ": " + e.link.reason
		}
	default:
	}
	return text
}

// failed notes a failure. The caller holds mu.
func (s *Server) failed(err error) {
	s.failures++
	s.lastErr = err
	pause := time.Duration(0)
	if s.failures > 1 {
		pause = min(firstPause<<min(s.failures-2, 10), maxPause)
	}
	s.retryAt = s.nowFunc().Add(pause)
}

// worked notes that a call was answered.
func (s *Server) worked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = 0
}

// changed notes that the list of tools may be another.
func (s *Server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// drop gives a connection up, which is a failure unless the server only wants
// another one.
func (s *Server) drop(l *link, failure bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == l && !s.closed {
		s.link = nil
		if failure {
			s.failed(stoppedError{s.cfg.Name, l})
		}
		s.work.Go(l.close)
	}
}

func (s *Server) warn(format string, args ...any) { s.cfg.warn(format, args...) }

func (c Config) warn(format string, args ...any) {
	c.WarnFunc(said(c.Scrubber, fmt.Sprintf("MCP server %s: %s", c.Name, fmt.Sprintf(format, args...))))
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) errClosed() error {
	return parley.Errorf(parley.CodeUnavailable, "MCP server %s is closed", s.cfg.Name)
}

// Close ends the connection: a program is told to end, and killed with its whole
// process group if it does not within Config.StopTimeout; a session by HTTP is
// ended at the server. Calls that are under way give results that say so. When it
// returns no goroutine is left and no process: the program has been waited for, and
// those that it started in its group were killed. It may be called several times.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.endFunc()
	s.work.Wait()
	return nil
}
