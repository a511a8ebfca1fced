package engine

import (
	"context"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Manner is what a surface knows or wants besides what the message tells. The zero value is
// that of [Handle.Post].
type Manner struct {
	// Pause is how long a message waits for another of the same person from the same
	// origin. Those that come meanwhile are one burst: they wait together, and share
	// a turn. 0: nothing waits.
	Pause time.Duration
	// Longest is how long the first message of a burst waits at most; 0: as long as
	// Pause.
	Longest time.Duration
	// AllowBots lets what a program wrote trigger a turn. Who sets it limits the rate.
	AllowBots bool
	// AcknowledgeFunc, if set, gets the receipt of a message that starts a turn, when it
	// is durable and before that turn begins to work: who sent the message need not wait
	// for a processor that works on it. The turn waits for it, so it must not take long.
	// What starts no turn at once has its receipt returned, and nothing else.
	AcknowledgeFunc func(parley.Receipt)
}

// Bring is [Handle.Post] with what the surface knows or wants besides the message. Each message is admitted at once, whatever it
// waits for; commands wait for nothing.
func (h *Handle) Bring(ctx context.Context, id parley.SessionID, in parley.Input, how Manner) (parley.Receipt, error) {
	return h.admit(ctx, access.OpPost, id, in, how)
}
