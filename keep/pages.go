package keep

import (
	"context"
	"iter"

	"github.com/parley-run/parley"
)

// pages gives all sessions, page by page, and ends after an error.
func pages(ctx context.Context, store parley.Store) iter.Seq2[[]parley.Session, error] {
	return func(yield func([]parley.Session, error) bool) {
		q := parley.SessionQuery{IncludeInactive: true, Limit: pageSize}
		for {
			page, err := store.Sessions(ctx, parley.SeeAll(), q)
			if !yield(page.Sessions, err) || err != nil || page.Cursor == "" {
				return
			}
			q.Cursor = page.Cursor
		}
	}
}

// ownEvents gives the events of the session's own log, without those a fork
// shares with its parent, and ends after an error.
func ownEvents(ctx context.Context, store parley.Store, s *parley.Session) iter.Seq2[parley.Event, error] {
	return func(yield func(parley.Event, error) bool) {
		after := uint64(0)
		if s.Parent != nil {
			after = s.Parent.Seq
		}
		for {
			events, err := store.Events(ctx, parley.SeeAll(), s.ID, parley.EventQuery{After: after, Limit: pageSize})
			if err != nil {
				yield(parley.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
				// A damaged log may give a seq that is not above the last one;
				// going back to it would never end.
				after = max(after+1, e.Seq)
			}
			if len(events) < pageSize {
				return
			}
		}
	}
}

// openInputs gives the open inputs of a session, or of all if id is empty, and
// ends after an error.
func openInputs(ctx context.Context, store parley.Store, id parley.SessionID) iter.Seq2[parley.Input, error] {
	return func(yield func(parley.Input, error) bool) {
		var after parley.InputRef
		for {
			inputs, err := store.OpenInputs(ctx, parley.SeeAll(), id, after, pageSize)
			if err != nil {
				yield(parley.Input{}, err)
				return
			}
			for _, in := range inputs {
				if !yield(in, nil) {
					return
				}
				after = in.Ref
			}
			if len(inputs) < pageSize {
				return
			}
		}
	}
}
