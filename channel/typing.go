package channel

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// The things an answer can be on its way to: an input that waits, and a turn that runs.
func typingInput(ref parley.InputRef) string { return "input\x00" + ref.Origin + "\x00" + ref.ID }

func typingTurn(session parley.SessionID, turn parley.TurnID) string {
	return "turn\x00" + string(session) + "\x00" + string(turn)
}

// startTyping has a chat show that an answer is on its way. The outbox is locked.
func (o *Outbox) startTyping(what string, to parley.Target) {
	l := o.line(placeOf(to))
	if l == nil || !l.office.can.Typing {
		return
	}
	l.typing[what] = to
	l.wake()
}

// stopTyping ends that. The outbox is locked.
func (o *Outbox) stopTyping(what string, to parley.Target) {
	l := o.lines[placeOf(to)]
	if l == nil || len(l.typing) == 0 {
		return
	}
	delete(l.typing, what)
	if len(l.typing) == 0 {
		l.wake() // it forgets itself if nothing else is to do
	}
}

// showTyping shows where answers are on their way, and says when to do that again. It
// is a step of the line as any other: so nothing is shown behind the answer.
func (l *line) showTyping() (next time.Time) {
	now := l.o.cfg.Clock.Now()
	l.o.mu.Lock()
	targets := l.typesIn()
	l.o.mu.Unlock()
	if len(targets) == 0 {
		return time.Time{}
	}
	if next = latest(l.typed.Add(l.office.can.TypingEvery), l.office.limiter.PausedUntil(l.at.target())); next.After(now) {
		return next
	}
	l.typed = now
	for _, to := range targets {
		ctx, cancel := l.call(nil)
		err := l.office.Typing(ctx, to)
		if err != nil {
			l.judge(ctx, err) // nobody misses it, but the platform may want to be left alone
		}
		cancel()
	}
	return now.Add(l.office.can.TypingEvery)
}

// typesIn gives the topics of the chat in which an answer is on its way and cannot be
// seen yet. The outbox is locked.
func (l *line) typesIn() []parley.Target {
	shown := map[string]bool{}
	for _, s := range l.streams {
		shown[typingTurn(s.session, s.turn)] = s.shown != ""
	}
	topics := map[string]parley.Target{}
	for what, to := range l.typing {
		if !shown[what] {
			to.ReplyTo = ""
			topics[to.Topic] = to
		}
	}
	return slices.SortedFunc(maps.Values(topics), func(a, b parley.Target) int { return strings.Compare(a.Topic, b.Topic) })
}
