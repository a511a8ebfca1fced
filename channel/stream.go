package channel

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// roomForReplies is how many messages the steps of a streamed reply leave room for.
const roomForReplies = 2

// stream is a reply that is shown while it is written. Its row is durable before the
// platform is called, and the platform's id of the message before it is edited. The
// message that the reply becomes goes into the row, by the commit that stores it.
type stream struct {
	session parley.SessionID
	turn    parley.TurnID
	target  parley.Target

	// guarded by the outbox's mutex
	name string // of the model call whose output it is
	text strings.Builder
	next time.Time // when the next step may be shown

	// mu is held while the row is written, by the line or by the commit that ends the
	// reply. The outbox's mutex may be taken after it, not before.
	mu     sync.Mutex
	row    parley.DeliveryID // empty: there is none
	id     string            // the platform's, once that is durable
	unsure bool              // it never said whether the message arrived
	ended  bool              // the reply is stored, or nothing of it is shown any more

	// of the line alone
	shown string
}

// Feed gives a feed that lets the outbox see replies while they are written.
func (o *Outbox) Feed(feed parley.Feed) parley.Feed { return &watched{Feed: feed, outbox: o} }

// watched is a feed whose deltas the outbox sees too.
type watched struct {
	parley.Feed
	outbox *Outbox
}

// Publish implements [parley.Feed].
func (w *watched) Publish(d parley.Delta) {
	w.outbox.follow(d)
	w.Feed.Publish(d)
}

// follow takes a piece of a reply. It never waits.
func (o *Outbox) follow(d parley.Delta) {
	if d.Kind != parley.PartText {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.sessions[d.Session].turn(d.Turn)
	if t == nil || t.target == nil || t.draft != nil {
		return
	}
	l := o.line(placeOf(*t.target))
	if l == nil || !l.office.can.Edits {
		return
	}
	s := t.stream
	if s == nil {
		s = &stream{session: d.Session, turn: d.Turn, target: *t.target}
		t.stream = s
		l.streams = append(l.streams, s)
	}
	now := o.cfg.Clock.Now()
	if s.name != d.Stream {
		s.name = d.Stream
		s.text.Reset()
		if s.next.IsZero() {
			s.next = now.Add(o.cfg.StreamAfter)
		}
	}
	s.text.WriteString(d.Text)
	l.again = l.working // it may have looked a moment ago
	l.wakeAt(s.next)
}

// forgetStream takes a stream out of its line. The outbox is locked.
func (o *Outbox) forgetStream(s *stream) {
	l := o.lines[placeOf(s.target)]
	if l == nil {
		return
	}
	for i, other := range l.streams {
		if other == s {
			l.streams = append(l.streams[:i:i], l.streams[i+1:]...)
			l.wake() // it forgets itself if nothing else is to do
			return
		}
	}
}

// show brings the beginning of a reply to the chat, or more of it. It says whether it
// did, or when there is something to do.
func (l *line) show() (did bool, next time.Time, err error) {
	l.o.mu.Lock()
	streams := append([]*stream(nil), l.streams...)
	l.o.mu.Unlock()
	now := l.o.cfg.Clock.Now()
	for _, s := range streams {
		l.o.mu.Lock()
		text, at := s.text.String(), s.next
		l.o.mu.Unlock()
		if at.After(now) {
			next = earlier(next, at)
			continue
		}
		rich := l.beginning(text)
		if rich.Blank() || rich.Text == s.shown {
			continue // more of it wakes the line
		}
		done, ok := l.office.limiter.Try(s.target, roomForReplies)
		l.o.mu.Lock()
		s.next = now.Add(l.office.can.EditEvery)
		l.o.mu.Unlock()
		if !ok {
			next = earlier(next, s.next)
			continue
		}
		err := l.showOne(s, rich)
		done()
		return true, time.Time{}, err
	}
	return false, next, nil
}

// beginning is what a message shows of a reply that is being written.
func (l *line) beginning(text string) Rich {
	rich := Beginning(text)
	if l.office.can.MaxUnits <= 0 || rich.Blank() {
		return rich
	}
	_, room := l.office.againMark()
	return rich.Split(max(1, l.office.can.MaxUnits-room), l.office.can.Units)[0]
}

// showOne sends the beginning of a reply, or edits it.
func (l *line) showOne(s *stream, rich Rich) error {
	s.mu.Lock()
	id, ended := s.id, s.ended
	var err error
	if !ended && id == "" {
		err = l.openRow(s)
	}
	row := s.row
	s.mu.Unlock()
	if ended || err != nil {
		return err
	}
	m := Outgoing{Key: string(row), Target: s.target, Text: rich}
	ctx, cancel := l.call(nil)
	defer cancel()
	if id != "" {
		err := l.office.Edit(ctx, id, m)
		switch became, _ := l.judge(ctx, err); became {
		case arrived:
			s.shown = rich.Text
		case missing, refused:
			l.leave(s)
		}
		return nil
	}
	id, err = l.office.Send(ctx, m)
	became, _ := l.judge(ctx, err)
	if became == arrived {
		s.shown = rich.Text
	}
	return l.shownFirst(s, became, id)
}

// openRow makes durable that a message is being sent whose end is not written yet. The
// stream is locked.
func (l *line) openRow(s *stream) error {
	now := l.o.cfg.Clock.Now()
	id := parley.DeliveryID("d_" + l.o.cfg.IDFunc())
	ctx, cancel := l.o.writes()
	defer cancel()
	_, err := l.o.store.Commit(ctx, parley.Batch{At: now, Sessions: []parley.SessionChange{{
		Session: s.session,
		Deliveries: []parley.DeliveryChange{{New: &parley.Delivery{
			ID: id, Turn: s.turn, Kind: parley.DeliveryMessage, Target: s.target, Draft: true,
			State: parley.DeliverySending, Attempts: 1, AttemptedAt: now,
		}}},
	}}})
	if err != nil {
		// If it was written all the same, who ends the reply finds it.
		s.ended = true
		l.o.mu.Lock()
		defer l.o.mu.Unlock()
		l.o.forgetStream(s)
		if t := l.o.sessions[s.session]; t != nil && errors.Is(err, parley.ErrOutcomeUnknown) {
			delete(t.turns, s.turn)
			l.o.forgetIdle(s.session)
		}
		return moved(err)
	}
	s.row = id
	return nil
}

// shownFirst notes what became of the first message of a reply. If the reply was stored
// meanwhile, the row is an ordinary delivery by now.
//
// The stream is not locked while it is waited for a store that cannot write: the commit
// that ends the reply finds the platform still being called.
func (l *line) shownFirst(s *stream, became outcome, id string) error {
	return l.o.insist(func(ctx context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := parley.DeliveryChange{ID: s.row}
		dropped := false
		switch {
		case became == arrived:
			c.PlatformID = &id
			if s.ended {
				c.State = new(parley.DeliveryPending)
			}
		case became == unknown && !s.ended:
			s.unsure = true
			l.leaveLocked(s)
			return nil // the row says so as it is
		case became == unknown:
			c.State = new(parley.DeliveryUnknown)
		case s.ended:
			c.State = new(parley.DeliveryPending)
		default: // the rest of the reply is not shown before it is done
			dropped = true
			c.State, c.Draft = new(parley.DeliveryDropped), new(false)
		}
		d := parley.Delivery{ID: s.row, Session: s.session, State: parley.DeliverySending}
		_, err := l.o.commit(ctx, &d, []parley.DeliveryChange{c}, nil)
		if err := moved(err); err != nil {
			return err
		}
		switch {
		case became == arrived:
			s.id = id
		case dropped:
			s.row = ""
			l.leaveLocked(s)
		}
		return nil
	})
}

// leave shows nothing more of a reply until it is done.
func (l *line) leave(s *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.leaveLocked(s)
}

func (l *line) leaveLocked(s *stream) {
	l.o.mu.Lock()
	defer l.o.mu.Unlock()
	l.o.forgetStream(s)
}
