package parley

import "context"

// Lease is a node's right to run turns. It belongs to the node, not to a
// session: a session's claim is valid while its node's lease is.
type Lease interface {
	// Node names the node.
	Node() string
	// Hold keeps the lease until ctx ends, and returns earlier, with
	// [CodeUnavailable], if it was lost.
	Hold(ctx context.Context) error
}
