package parley

import (
	"context"
	"time"
)

// Clock gives the time, so that tests can hold it still and move it.
type Clock interface {
	// Now gives the present instant.
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own once d has passed. Stop
	// prevents that and reports whether it did.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Lease is a node's right to run turns. It belongs to the node, not to a
// session: a session's claim is valid while its node's lease is.
type Lease interface {
	// Node names the node.
	Node() string
	// Hold keeps the lease until ctx ends, and returns earlier, with
	// [CodeUnavailable], if it was lost.
	Hold(ctx context.Context) error
}
