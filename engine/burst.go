package engine

import (
	"context"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// burst is what a message of a burst changes besides its own admission.
type burst struct {
	others []parley.Input // the messages of the burst that wait already
	queued int            // how many inputs of the session waited in all
}

// gather finds the burst that an input belongs to, and says in the input how long it
// waits. It is nil for what does not wait.
func (h *Handle) gather(ctx context.Context, in *parley.Input, id parley.SessionID, how Manner) (*burst, error) {
	if how.Pause <= 0 {
		return nil, nil
	}
	waiting, err := h.engine.store.OpenInputs(ctx, parley.SeeAll(), id, parley.InputRef{}, parley.MaxPageSize)
	if err != nil {
		return nil, err
	}
	now := h.engine.cfg.Clock.Now()
	b, first := &burst{}, now
	for _, w := range waiting {
		if w.State != parley.InputQueued {
			continue
		}
		b.queued++
		if w.Kind != parley.InputMessage || w.Ref.Origin != in.Ref.Origin || !now.Before(w.NotBefore) || !access.Together(w.Principal, in.Principal) {
			continue
		}
		if w.At.Before(first) {
			first = w.At
		}
		b.others = append(b.others, w)
	}
	in.NotBefore = now.Add(how.Pause)
	if end := first.Add(max(how.Longest, how.Pause)); end.Before(in.NotBefore) {
		in.NotBefore = end
	}
	return b, nil
}

// join makes the messages that wait already wait for the new one's instant: that is
// how they are known to belong together. It expects that none has started since, and
// that no other has come.
func (b *burst) join(change *parley.SessionChange, expect []parley.Expectation, until time.Time) []parley.Expectation {
	if b == nil {
		return expect
	}
	for _, w := range b.others {
		change.Inputs = append(change.Inputs, parley.InputChange{Ref: w.Ref, State: parley.InputQueued, NotBefore: &until})
		expect = append(expect, parley.InputIs{Ref: w.Ref, State: parley.InputQueued})
	}
	return expect
}
