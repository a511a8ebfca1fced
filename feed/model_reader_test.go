package feed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// follower is a reader of the model: it knows what it may get next.
type follower struct {
	m  *model
	v  parley.Visibility
	id parley.SessionID // empty: all

	cancel context.CancelFunc
	done   chan struct{}

	// What follows is guarded by the model's mutex.
	gate     chan struct{}
	at       parley.Position
	stream   string // the reply it is in, how far, and what it has of it
	n        int
	parts    []parley.Part
	closed   map[string]bool // replies it has the message of
	problems []string
	err      error
	resync   parley.ResyncReason
	notSeen  bool // the end with not_found was looked at
	late     bool // it takes what came while it was paused
	resumed  bool // it came back inside a reply, and has not got more of it yet

	// Of all sessions: what it must and may get, by pos.
	must, may map[uint64]bool
}

func (m *model) makeReader() {
	v := pick(m, []parley.Visibility{
		parley.SeeAll(),
		{All: true, Namespace: "a"},
		parley.SeeAs(pick(m, crowd)),
		parley.SeeAs(pick(m, crowd), pick(m, crowd)),
		{Identities: []parley.IdentityID{pick(m, crowd)}, Namespace: "b"},
	})
	r := &follower{m: m, v: v, closed: map[string]bool{}, must: map[uint64]bool{}, may: map[uint64]bool{}}
	if m.chance(60) {
		r.id = pick(m, m.chats).id
	}
	m.readers = append(m.readers, r)
	m.connect(r)
}

func (m *model) chat(id parley.SessionID) *chat {
	for _, c := range m.chats {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (r *follower) connected() bool {
	if r.done == nil {
		return false
	}
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

func (r *follower) paused() bool {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.gate != nil
}

// pause makes the reader stop after the next update.
func (r *follower) pause() {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if r.gate == nil && r.connected() {
		r.gate = make(chan struct{})
	}
}

// wakeUp lets a paused reader go on. What it sees of which it did not see, or
// the other way round, when it was committed, it may get or not.
func (m *model) wakeUp(r *follower) {
	if !r.paused() {
		return
	}
	m.mu.Lock()
	for _, e := range m.log {
		if e.pos > r.at.Seq && m.sees(r.v, e.session) != r.must[e.pos] {
			r.must[e.pos], r.may[e.pos] = false, true
		}
	}
	gate := r.gate
	r.gate, r.late = nil, true
	m.mu.Unlock()
	close(gate)
	m.settle()
	r.late = false
}

func (m *model) disconnect(r *follower) {
	if !r.connected() {
		return
	}
	r.cancel()
	m.wakeUp(r)
	<-r.done
}

// connect starts the reader where it was.
func (m *model) connect(r *follower) {
	if m.chance(30) {
		m.settle()
	}
	if r.connected() {
		return
	}
	r.err, r.resync, r.notSeen = nil, "", false
	if r.at.Stream == "" {
		r.stream, r.n, r.parts = "", 0, nil
	}
	r.resumed = r.stream != ""
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.log {
		if e.pos > r.at.Seq {
			sees := m.sees(r.v, e.session)
			r.must[e.pos], r.may[e.pos] = sees, sees
		}
	}
	if m.chance(25) {
		r.gate = make(chan struct{}) // it stops within what it has read from the store
	}
	ctx, cancel := context.WithCancel(m.Context())
	r.cancel, r.done = cancel, make(chan struct{})
	m.tails = append(m.tails, &tail{cancel: cancel, done: r.done})
	subscription := m.feed.Subscribe(ctx, r.v, r.id, r.at)
	go func() {
		defer close(r.done)
		for u, err := range subscription {
			if gate := r.take(u, err); gate != nil {
				<-gate
			}
		}
	}()
}

// expect notes an event that is committed while the reader is there.
func (r *follower) expect(e logged, sees bool) {
	r.must[e.pos], r.may[e.pos] = sees, sees
}

// forget notes that a session is gone: who has not got its events may get them
// or not.
func (r *follower) forget(c *chat) {
	for _, e := range c.log {
		r.must[e.pos] = false
	}
}

func (r *follower) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// take looks at an update, and gives what to wait for before the next.
func (r *follower) take(u parley.Update, err error) chan struct{} {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		r.err = err
		m.count(string(parley.CodeOf(err)))
		return nil
	}
	if u.Position.Epoch != m.epoch {
		r.problem("%s has epoch %q", word(u), u.Position.Epoch)
	}
	switch {
	case u.Event != nil && r.id == "":
		r.takeOfAll(u)
	case u.Event != nil:
		r.takeEvent(u)
	case u.Delta != nil:
		m.count("delta")
		r.takeDelta(u.Delta, u.Position)
	case u.Snapshot != nil:
		m.count("snapshot")
		r.takeSnapshot(u.Snapshot, u.Position)
	default:
		r.resync = u.Resync
		m.count(string(u.Resync))
		if u.Resync != parley.ResyncSlow {
			r.problem("a position the feed gave is answered with %s", u.Resync)
		}
	}
	r.at = u.Position
	return r.gate
}

func (m *model) count(what string) { m.covered[what]++ }

// same compares an event with what the model has.
func (r *follower) same(e *parley.Event, want logged) {
	if e.Session != want.session.id || e.Seq != want.seq || e.Pos != want.pos || e.Type != want.kind {
		r.problem("got %s event %d at %d, want %s event %d at %d", e.Session, e.Seq, e.Pos, want.session.id, want.seq, want.pos)
	}
	if want.message == "" {
		return
	}
	body, err := e.Decode()
	if err != nil {
		r.problem("event %d: %v", e.Seq, err)
		return
	}
	if msg, ok := body.(*parley.Message); !ok || msg.ID != want.message || parley.PlainText(msg.Parts) != want.text {
		r.problem("event %d has %s", e.Seq, e.Data)
	}
	r.closed[want.message] = true
}

func (r *follower) takeEvent(u parley.Update) {
	r.m.count("event")
	c := r.m.chat(r.id)
	want := r.at.Seq + 1
	if u.Event.Seq != want || want > c.last() || u.Position.Seq != want {
		r.problem("got event %d at %+v, want %d of %d", u.Event.Seq, u.Position, want, c.last())
		return
	}
	r.same(u.Event, c.log[want-1])
	if r.closed[r.stream] {
		if len(r.parts) > 0 && r.n == len(r.m.replies[r.stream].deltas) {
			r.m.count("reply whole")
		}
		r.stream, r.n, r.parts = "", 0, nil
	}
}

func (r *follower) takeOfAll(u parley.Update) {
	r.m.count("event")
	e := u.Event
	if e.Pos <= r.at.Seq || e.Pos > uint64(len(r.m.log)) || u.Position.Seq != e.Pos {
		r.problem("got the event at %d after %+v", e.Pos, r.at)
		return
	}
	for pos := r.at.Seq + 1; pos < e.Pos; pos++ {
		if r.must[pos] {
			r.problem("the event at %d is missing", pos)
		}
	}
	if !r.may[e.Pos] {
		r.problem("the event at %d is not for this reader", e.Pos)
	}
	r.same(e, r.m.log[e.Pos-1])
}

// known gives a reply, if it is one that may be shown here.
func (r *follower) known(session parley.SessionID, stream string, n int, at parley.Position) *reply {
	reply := r.m.replies[stream]
	switch c := r.m.chat(session); {
	case reply == nil || n < 1 || n > len(reply.deltas):
		r.problem("%s:%d was never published, or must not be shown", stream, n)
	case r.closed[stream]:
		r.problem("%s:%d comes after its message", stream, n)
	case !r.m.sees(r.v, c) && (r.id != "" || !r.late):
		r.problem("%s:%d is not for this reader", stream, n)
	case r.id != "" && (session != r.id || r.at.Seq < reply.after):
		r.problem("%s:%d comes before event %d", stream, n, reply.after)
	case r.id != "" && at != (parley.Position{Epoch: r.m.epoch, Seq: r.at.Seq, Stream: stream, N: n}):
		r.problem("%s:%d has position %+v", stream, n, at)
	case r.id == "" && (at.Stream != "" || at.N != 0 || at.Seq < r.at.Seq):
		r.problem("%s:%d has position %+v after %+v", stream, n, at, r.at)
	default:
		return reply
	}
	return nil
}

func (r *follower) takeDelta(d *parley.Delta, at parley.Position) {
	reply := r.known(d.Session, d.Stream, d.N, at)
	if reply == nil {
		return
	}
	if *d != reply.deltas[d.N-1] {
		r.problem("delta is %+v, want %+v", *d, reply.deltas[d.N-1])
	}
	if r.id == "" {
		return
	}
	if d.Stream != r.stream {
		r.stream, r.n, r.parts = d.Stream, 0, nil
	} else if r.resumed {
		r.m.count("reply continued")
	}
	r.resumed = false
	if d.N != r.n+1 {
		r.problem("got %s:%d after %d", d.Stream, d.N, r.n)
	}
	r.n = d.N
	if last := len(r.parts) - 1; last >= 0 && r.parts[last].Kind == d.Kind {
		r.parts[last].Text += d.Text
	} else {
		r.parts = append(r.parts, parley.Part{Kind: d.Kind, Text: d.Text})
	}
	r.compareText(reply)
}

func (r *follower) takeSnapshot(s *parley.Snapshot, at parley.Position) {
	reply := r.known(s.Session, s.Stream, s.N, at)
	if reply == nil {
		return
	}
	if r.id == "" {
		r.problem("a snapshot among all sessions")
	}
	r.resumed = false
	r.stream, r.n = s.Stream, s.N
	r.parts = append([]parley.Part(nil), s.Parts...)
	r.compareText(reply)
}

// compareText compares what the reader has put together with what was published.
func (r *follower) compareText(reply *reply) {
	var want, got strings.Builder
	kind := parley.PartKind("")
	for _, d := range reply.deltas[:r.n] {
		if d.Kind != kind {
			want.WriteString("|" + string(d.Kind) + "|")
			kind = d.Kind
		}
		want.WriteString(d.Text)
	}
	for _, p := range r.parts {
		got.WriteString("|" + string(p.Kind) + "|" + p.Text)
	}
	if got.String() != want.String() {
		r.problem("%s:%d is %q, want %q", reply.name, r.n, got.String(), want.String())
	}
}

// compare waits until all is quiet and looks at every reader.
func (m *model) compare() {
	m.Helper()
	m.settle()
	for i, r := range m.readers {
		m.mu.Lock()
		for _, p := range r.verdict() {
			m.Errorf("reader %d of %q as %+v, paused %v, at %+v: %s", i, r.id, r.v, r.gate != nil, r.at, p)
		}
		r.problems = nil
		m.mu.Unlock()
	}
}

// verdict gives what is wrong with the reader when all is quiet.
func (r *follower) verdict() []string {
	m := r.m
	c := m.chat(r.id)
	switch {
	case r.connected() && r.gate != nil:
	case r.connected() && r.id == "":
		for _, e := range m.log {
			if e.pos > r.at.Seq && r.must[e.pos] {
				r.problem("the event at %d has not come", e.pos)
			}
		}
	case r.connected():
		if !m.sees(r.v, c) {
			r.problem("it may not see the session, and goes on")
		}
		if r.at.Seq != c.last() {
			r.problem("it has not got event %d", c.last())
		}
		if p := c.reply; p != nil && !p.lost && (r.stream != p.name || r.n != len(p.deltas)) {
			r.problem("it has %d of %s, and %d of %s were published", r.n, r.stream, len(p.deltas), p.name)
		}
	case errors.Is(r.err, parley.ErrNotFound):
		if r.id == "" || !r.notSeen && m.sees(r.v, c) {
			r.problem("it may see the session, and is told %v", r.err)
		}
		r.notSeen = true
	case errors.Is(r.err, parley.ErrUnavailable), r.resync == parley.ResyncSlow:
	case r.err != nil:
		r.problem("it ended with %v", r.err)
	}
	return r.problems
}
