package telegramserver

import (
	"fmt"
	"net/http"
	"time"
)

// Limit is at most Count messages in any stretch of length Per. A Count below zero
// is no limit; the zero Limit is the default.
type Limit struct {
	Count int
	Per   time.Duration
}

// Limits are how much a bot may send. Telegram documents about 30 messages a second
// in all, one a second to a private chat, with short bursts above, and 20 a minute
// to a group. What it says of edits is nothing; they are refused in practice about
// as messages are, so here they have a count of their own for each chat, with the
// chat's limit, and are part of the overall one.
type Limits struct {
	Overall Limit // 30 a second
	Private Limit // 3 in 3 seconds: one a second, in bursts of up to three
	Group   Limit // 20 a minute
	// Slack shortens each Per, for bots that keep to the limits by a clock that is
	// not the server's.
	Slack time.Duration
}

// NoLimits is for tests that are about something else.
var NoLimits = Limits{Overall: Limit{Count: -1}, Private: Limit{Count: -1}, Group: Limit{Count: -1}}

func (l Limits) orDefaults() Limits {
	if l.Overall == (Limit{}) {
		l.Overall = Limit{30, time.Second}
	}
	if l.Private == (Limit{}) {
		l.Private = Limit{3, 3 * time.Second}
	}
	if l.Group == (Limit{}) {
		l.Group = Limit{20, time.Minute}
	}
	return l
}

// window holds the times of the last messages that count for a limit.
type window struct {
	times []time.Time
}

// wait says how long it is until n more messages fit; 0 if they do now. More than
// fit at all may go when the window is empty.
func (w *window) wait(now time.Time, limit Limit, slack time.Duration, n int) time.Duration {
	if limit.Count < 0 {
		return 0
	}
	per := limit.Per - slack
	old := 0
	for old < len(w.times) && now.Sub(w.times[old]) >= per {
		old++
	}
	w.times = w.times[old:]
	over := len(w.times) + n - limit.Count
	if over <= 0 || len(w.times) == 0 {
		return 0
	}
	over = min(over, len(w.times))
	return per - now.Sub(w.times[over-1])
}

func (w *window) add(now time.Time, limit Limit, n int) {
	for i := 0; i < n && limit.Count >= 0; i++ {
		w.times = append(w.times, now)
	}
}

// limiter counts what was sent.
type limiter struct {
	limits  Limits
	overall window
	sent    map[int64]*window // messages, by chat
	edits   map[int64]*window
	until   map[int64]time.Time // when a chat that was limited may be written to again
}

// admit counts n messages, or one edit, to a chat, or refuses them: the bot has to
// wait for what it is told, and trying sooner is refused as well. The caller holds
// mu.
func (s *Server) admit(c *call, chat *Chat, n int, edit bool) *apiError {
	l, now := &s.limiter, s.clock.Now()
	if until, ok := l.until[chat.ID]; ok {
		if now.Before(until) {
			s.violate(ViolationRetryAfter, c, fmt.Sprintf("%v too early", until.Sub(now)))
			return tooMany(until.Sub(now))
		}
		delete(l.until, chat.ID)
	}
	limit := l.limits.Group
	if chat.Kind == KindPrivate {
		limit = l.limits.Private
	}
	windows := l.sent
	if edit {
		windows = l.edits
	}
	own, ok := windows[chat.ID]
	if !ok {
		own = &window{}
		windows[chat.ID] = own
	}
	if wait := own.wait(now, limit, l.limits.Slack, n); wait > 0 {
		s.violate(ViolationChat, c, fmt.Sprintf("more than %d in %v", limit.Count, limit.Per))
		failure := tooMany(wait)
		l.until[chat.ID] = now.Add(time.Duration(failure.retryAfter) * time.Second)
		return failure
	}
	if wait := l.overall.wait(now, l.limits.Overall, l.limits.Slack, n); wait > 0 {
		s.violate(ViolationOverall, c, fmt.Sprintf("more than %d in %v", l.limits.Overall.Count, l.limits.Overall.Per))
		return tooMany(wait)
	}
	own.add(now, limit, n)
	l.overall.add(now, l.limits.Overall, n)
	return nil
}

// tooMany is the refusal that asks for a pause, in whole seconds.
func tooMany(wait time.Duration) *apiError {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	return &apiError{
		code: http.StatusTooManyRequests, text: fmt.Sprintf("Too Many Requests: retry after %d", seconds), retryAfter: seconds,
	}
}
