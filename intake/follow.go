package intake

import (
	"maps"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// follows knows what the last message of somebody was that the agent was meant by, in
// a group, for as long as a burst lasts. What belongs to such a message does not
// mention the agent again: the other pictures of an album, the rest of a text that was
// too long for one message, what was forwarded with a comment.
type follows struct {
	clock parley.Clock

	mu   sync.Mutex
	last map[string]meant // by chat and sender
}

// meant is a message that was for the agent.
type meant struct {
	until time.Time
	album string
	full  bool
}

func newFollows(clock parley.Clock) *follows { return &follows{clock: clock, last: map[string]meant{}} }

// maxFollows is how many are kept before those go that are over.
const maxFollows = 4096

func followKey(a *arrival) string { return a.ref.Origin + " " + a.TopicID + " " + a.Sender.ID }

// goesOn reports whether a message belongs to the one before it, which was for the
// agent.
func (f *follows) goesOn(a *arrival) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, ok := f.last[followKey(a)]
	if !ok || f.clock.Now().After(before.until) {
		return false
	}
	return before.full || a.Forwarded || a.Album != "" && a.Album == before.album
}

// note remembers a message that was for the agent.
func (f *follows) note(a *arrival, pause time.Duration) {
	now := f.clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.last) >= maxFollows {
		maps.DeleteFunc(f.last, func(_ string, m meant) bool { return now.After(m.until) })
	}
	if len(f.last) < maxFollows {
		f.last[followKey(a)] = meant{until: now.Add(pause), album: a.Album, full: a.Full}
	}
}
