package engine

import (
	"slices"
	"sync"

	"github.com/parley-run/parley"
)

// holds are locks of sessions. Who ends a turn holds its session, and who cancels
// one does: so one of both is first. There are only as many as are in use.
type holds struct {
	mu  sync.Mutex
	all map[parley.SessionID]*hold
}

type hold struct {
	sync.Mutex
	users int // guarded by the mutex of holds
}

// hold holds sessions until release is called.
func (h *holds) hold(ids ...parley.SessionID) (release func()) {
	slices.Sort(ids) // the same order for all
	var held []func()
	for _, id := range slices.Compact(ids) {
		held = append(held, h.one(id))
	}
	return func() {
		for _, release := range held {
			release()
		}
	}
}

func (h *holds) one(id parley.SessionID) (release func()) {
	h.mu.Lock()
	if h.all == nil {
		h.all = map[parley.SessionID]*hold{}
	}
	lock := h.all[id]
	if lock == nil {
		lock = &hold{}
		h.all[id] = lock
	}
	lock.users++
	h.mu.Unlock()
	lock.Lock()
	return func() {
		lock.Unlock()
		h.mu.Lock()
		defer h.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(h.all, id)
		}
	}
}
