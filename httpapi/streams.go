package httpapi

import (
	"context"
	"sync"

	"github.com/parley-run/parley"
)

// streams are the open ones, requests that wait among them, and how many each
// credential has.
type streams struct {
	mu     sync.Mutex
	open   map[*stream]struct{}
	counts map[string]int
	closed bool
	idle   chan struct{} // closed when the last one has ended after close
}

func (s *streams) init() {
	s.open, s.counts, s.idle = map[*stream]struct{}{}, map[string]int{}, make(chan struct{})
}

// enter counts a stream under its call's credential, until leave is called.
func (s *streams) enter(st *stream) (leave func(), err error) {
	c := st.call
	key, most := credentialKey(c.cred), c.cfg.Limits.Streams
	if powerful(c.cred.Caller) {
		most = c.cfg.Limits.OwnerStreams
	}
	if err := s.add(st, key, most); err != nil {
		return nil, err
	}
	return func() { s.remove(st, key) }, nil
}

// add lets a stream begin, if its credential may have another; most < 0: any
// number.
func (s *streams) add(st *stream, key string, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return parley.Errorf(parley.CodeUnavailable, "the server stops; come back when it is there again")
	case most >= 0 && s.counts[key] >= most:
		return parley.Errorf(parley.CodeRateLimited, "%d streams are open with this credential, which is the limit; close one", most)
	}
	s.open[st] = struct{}{}
	s.counts[key]++
	return nil
}

func (s *streams) remove(st *stream, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, st)
	if s.counts[key]--; s.counts[key] == 0 {
		delete(s.counts, key)
	}
	if s.closed && len(s.open) == 0 {
		close(s.idle)
	}
}

// close ends all streams and waits for them.
func (s *streams) close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		if len(s.open) == 0 {
			close(s.idle)
		}
		for st := range s.open {
			st.stop(errClosing)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
