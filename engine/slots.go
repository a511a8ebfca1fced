package engine

import (
	"context"
	"sync"

	"github.com/parley-run/parley"
)

// slots limits how many turns run at once. Who waits is served by user, one after
// the other, so that somebody with many sessions does not keep others waiting.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting map[parley.UserID][]*ticket
	order   []parley.UserID // users with tickets; the first is next
}

type ticket struct{ ready chan struct{} }

func newSlots(n int) *slots { return &slots{free: n, waiting: map[parley.UserID][]*ticket{}} }

// try takes a slot if one is free and nobody waits.
func (s *slots) try() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || len(s.order) > 0 {
		return false
	}
	s.free--
	return true
}

// acquire waits for a slot on behalf of a user.
func (s *slots) acquire(ctx context.Context, user parley.UserID) error {
	if s.try() {
		return nil
	}
	s.mu.Lock()
	if s.free > 0 && len(s.order) == 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	t := &ticket{ready: make(chan struct{})}
	if len(s.waiting[user]) == 0 {
		s.order = append(s.order, user)
	}
	s.waiting[user] = append(s.waiting[user], t)
	s.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	if s.withdraw(user, t) {
		return context.Cause(ctx)
	}
	s.release() // it was given at the same moment
	return context.Cause(ctx)
}

// withdraw takes a ticket back; it reports false if it has been served.
func (s *slots) withdraw(user parley.UserID, t *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.waiting[user] {
		if other == t {
			s.drop(user, i)
			return true
		}
	}
	return false
}

// drop removes a user's ticket, and the user with the last one.
func (s *slots) drop(user parley.UserID, i int) {
	list := s.waiting[user]
	list = append(list[:i:i], list[i+1:]...)
	if len(list) > 0 {
		s.waiting[user] = list
		return
	}
	delete(s.waiting, user)
	for j, u := range s.order {
		if u == user {
			s.order = append(s.order[:j:j], s.order[j+1:]...)
			return
		}
	}
}

// release gives a slot back, to the next user in turn if somebody waits.
func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		s.free++
		return
	}
	user := s.order[0]
	t := s.waiting[user][0]
	s.drop(user, 0)
	if len(s.waiting[user]) > 0 { // to the end of the line
		for j, u := range s.order {
			if u == user {
				s.order = append(append(s.order[:j:j], s.order[j+1:]...), user)
				break
			}
		}
	}
	close(t.ready)
}

// tickets counts who waits.
func (s *slots) tickets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, list := range s.waiting {
		n += len(list)
	}
	return n
}
