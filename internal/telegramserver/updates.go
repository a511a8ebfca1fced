package telegramserver

import (
	"net/http"
	"slices"
	"time"
)

// queue holds the updates of the bot.
type queue struct {
	next    int64
	all     []Update  // every update there was, by id
	pending []pending // those the bot has not confirmed, in the order it gets them
	held    bool      // new updates wait until they are released
	waiting []Update
	allowed []string
	poller  *poller
}

// pending is an update that the bot has not confirmed.
type pending struct {
	Update
	insist bool // it is given once, whatever the bot's offset says
}

// poller is a getUpdates request that waits.
type poller struct {
	ended chan struct{} // closed when another one took its place
}

// defaultPollLimit is how many updates one getUpdates gives.
const defaultPollLimit = 100

var (
	errOtherPoller = &apiError{
		code: http.StatusConflict,
		text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
	}
	errWebhookActive = &apiError{
		code: http.StatusConflict,
		text: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
	}
)

// enqueue gives the bot an update, if it wants such. The caller holds mu.
func (s *Server) enqueue(u Update) {
	q := &s.updates
	if len(q.allowed) > 0 && !slices.Contains(q.allowed, u.kind()) {
		return
	}
	u.ID = q.next
	q.next++
	q.all = append(q.all, u)
	if q.held {
		q.waiting = append(q.waiting, u)
	} else {
		q.pending = append(q.pending, pending{Update: u})
	}
	s.notify()
}

// Hold keeps new updates back until [Server.Release].
func (s *Server) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.held = true
}

// Release gives the bot the updates that were held back, in the order of the places
// given; without any, in their own. Each is given once at least, even if its id is
// below what the bot confirmed.
func (s *Server) Release(order ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.updates
	if len(order) == 0 {
		for i := range q.waiting {
			order = append(order, i)
		}
	}
	for _, i := range order {
		q.pending = append(q.pending, pending{Update: q.waiting[i], insist: true})
	}
	q.held, q.waiting = false, nil
	s.notify()
}

// Updates gives every update there was.
func (s *Server) Updates() []Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.updates.all)
}

// Pending says how many updates the bot has not confirmed.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates.pending)
}

// Repeat gives the bot an update once more, as it was.
func (s *Server) Repeat(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.updates.all {
		if u.ID == id {
			s.updates.pending = append(s.updates.pending, pending{Update: u, insist: true})
		}
	}
	s.notify()
}

// Rewind forgets that the bot confirmed the updates from an id on: it gets them
// again.
func (s *Server) Rewind(from int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.updates
	q.pending = nil
	for _, u := range q.all {
		if u.ID >= from {
			q.pending = append(q.pending, pending{Update: u, insist: true})
		}
	}
	s.notify()
}

// confirm drops the updates below an offset; a negative one keeps that many at the
// end.
func (q *queue) confirm(offset int64) {
	if offset < 0 {
		if drop := len(q.pending) + int(offset); drop > 0 {
			q.pending = q.pending[drop:]
		}
		return
	}
	q.pending = slices.DeleteFunc(slices.Clone(q.pending), func(p pending) bool { return p.ID < offset && !p.insist })
}

// take gives the first updates. They stay until the bot confirms them.
func (q *queue) take(limit int) []Update {
	out := []Update{}
	for i := range q.pending {
		if len(out) == limit {
			break
		}
		q.pending[i].insist = false
		out = append(out, q.pending[i].Update)
	}
	return out
}

// getUpdates confirms what came before the offset and gives what is there, or waits
// for it.
func (s *Server) getUpdates(c *call) (any, *apiError) {
	limit := int(c.number("limit"))
	if limit <= 0 || limit > defaultPollLimit {
		limit = defaultPollLimit
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hook != nil {
		return nil, errWebhookActive
	}
	q := &s.updates
	if _, ok := c.values["allowed_updates"]; ok {
		var allowed []string
		if c.object("allowed_updates", &allowed) != nil {
			return nil, badRequest("can't parse allowed_updates JSON array")
		}
		q.allowed = allowed
	}
	if q.poller != nil {
		close(q.poller.ended)
	}
	own := &poller{ended: make(chan struct{})}
	q.poller = own
	defer func() {
		if q.poller == own {
			q.poller = nil
		}
	}()
	q.confirm(c.number("offset"))
	s.notify()

	timeout := make(chan struct{})
	wait := time.Duration(min(c.number("timeout"), 50)) * time.Second
	if wait > 0 {
		defer s.clock.AfterFunc(wait, func() { close(timeout) })()
	} else {
		close(timeout)
	}
	for {
		if found := q.take(limit); len(found) > 0 {
			return found, nil
		}
		changed := s.changed
		s.mu.Unlock()
		over, conflict, gone := false, false, false
		select {
		case <-changed:
		case <-own.ended:
			conflict = true
		case <-timeout:
			over = true
		case <-c.http.Context().Done():
			gone = true
		case <-s.done:
			gone = true
		}
		s.mu.Lock()
		switch {
		case conflict:
			return nil, errOtherPoller
		case s.hook != nil:
			return nil, errWebhookActive
		case over:
			return q.take(limit), nil
		case gone:
			return []Update{}, nil // nobody would get what was taken
		}
	}
}
