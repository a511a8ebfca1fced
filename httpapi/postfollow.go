package httpapi

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/parley-run/parley"
)

// postAndFollow posts a message and answers with the events of its turn. The first
// is a status with the receipt.
func (c *call) postAndFollow(in *postIn, input parley.Input) error {
	return c.stream(in.ID, func(ctx context.Context, st *stream) (iter.Seq2[parley.Update, error], error) {
		session, err := c.handle().Session(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		input.Ref = c.handle().Name(session, input.Ref)
		receipt, err := c.say(ctx, in, input, nil)
		if err != nil {
			return nil, err
		}
		admitted, err := c.handle().Input(ctx, in.ID, input.Ref)
		if err != nil {
			return nil, err
		}
		f := &turnFilter{ref: input.Ref, turn: admitted.Turn, droppedFunc: func() bool {
			now, err := c.handle().Input(ctx, in.ID, input.Ref)
			return err == nil && now.State == parley.InputDropped
		}}
		return func(yield func(parley.Update, error) bool) {
			st.status(map[string]any{"status": "accepted", "receipt": receipt})
			if admitted.State == parley.InputDropped {
				return
			}
			for u, err := range c.handle().Events(ctx, in.ID, parley.Position{Seq: admitted.Seq - 1}) {
				if err != nil || u.Resync != "" {
					yield(u, err)
					return
				}
				mine, last := f.see(&u)
				if mine && !yield(u, nil) || last {
					return
				}
			}
		}, nil
	})
}

// turnFilter finds the events of the turn that works on an input.
type turnFilter struct {
	ref  parley.InputRef
	turn parley.TurnID
	// droppedFunc reports whether the input was taken back.
	droppedFunc func() bool
}

// see says of an update whether it is about the input or its turn, and whether
// nothing comes after it.
func (f *turnFilter) see(u *parley.Update) (mine, last bool) {
	switch {
	case u.Delta != nil:
		return f.turn != "" && u.Delta.Turn == f.turn, false
	case u.Snapshot != nil:
		return f.turn != "" && u.Snapshot.Turn == f.turn, false
	case u.Event == nil:
		return false, false
	}
	e := u.Event
	mine = f.turn != "" && e.Turn == f.turn
	body, err := e.Decode()
	if err != nil {
		return mine, false
	}
	switch b := body.(type) {
	case *parley.Admitted:
		mine = b.ID == f.ref.ID && b.Origin == f.ref.Origin
	case *parley.Message:
		if slices.Contains(b.Inputs, f.ref) {
			f.turn, mine = cmp.Or(e.Turn, f.turn), true
			last = e.Turn == "" || b.Hidden // it was logged, or is the answer to a command
		}
	case *parley.TurnCompleted:
		last = mine
	case *parley.Ended, *parley.Updated:
		last = f.turn == "" && f.droppedFunc()
	}
	return mine, last
}
