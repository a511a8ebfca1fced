package mcp

import (
	"context"
	"sync/atomic"
)

// note is what becomes known about a request on its way out. It travels in the
// context, as the library between does not tell.
type note struct {
	sent   atomic.Bool  // a part of it may have left
	status atomic.Int32 // of the answer, where it is HTTP
}

func (n *note) mark() {
	if n != nil {
		n.sent.Store(true)
	}
}

func (n *note) answered(status int) {
	if n != nil {
		n.status.Store(int32(status))
	}
}

type noteKey struct{}

func withNote(ctx context.Context, n *note) context.Context {
	return context.WithValue(ctx, noteKey{}, n)
}

func noteIn(ctx context.Context) *note {
	n, _ := ctx.Value(noteKey{}).(*note)
	return n
}
