package keep

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-run/parley"
)

// waiting looks for inputs that wait in sessions that know nothing of it:
// nobody would ever come for them. It starts from the inputs, because few
// sessions have any. Those that [doctor.repair] has dealt with know of theirs.
func (d *doctor) waiting(ctx context.Context) error {
	var id parley.SessionID
	queued := 0
	var done int64
	for in, err := range openInputs(ctx, d.store, "") {
		if err != nil {
			if fatal(ctx, err) {
				return err
			}
			d.note(parley.Problem{Kind: KindUnreadable, Detail: "the waiting inputs cannot be read: " + err.Error()})
			return nil
		}
		if in.Session != id {
			if err := d.forgotten(ctx, id, queued); err != nil {
				return err
			}
			id, queued = in.Session, 0
		}
		if in.State == parley.InputQueued {
			queued++
		}
		done++
		if done%pageSize == 0 {
			d.progress("checking waiting inputs", done)
		}
	}
	return d.forgotten(ctx, id, queued)
}

// forgotten notes that inputs wait in a session which says that none do.
func (d *doctor) forgotten(ctx context.Context, id parley.SessionID, queued int) error {
	if queued == 0 {
		return nil
	}
	found, err := d.forgottenIn(ctx, id)
	if err != nil || len(found) == 0 {
		return err
	}
	left := found
	if d.cfg.Rebuild {
		failed, err := d.rebuild(ctx, id)
		if err != nil {
			return err
		}
		if left, err = d.forgottenIn(ctx, id); err != nil {
			return err
		}
		left = withDetail(left, failed)
	}
	d.add(found, left)
	return nil
}

// forgottenIn compares session and inputs until neither moves.
func (d *doctor) forgottenIn(ctx context.Context, id parley.SessionID) ([]parley.Problem, error) {
	const attempts = 5
	for range attempts {
		s, err := d.store.Session(ctx, parley.SeeAll(), id)
		if errors.Is(err, parley.ErrNotFound) { // deleted meanwhile
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look at session %s: %w", id, err)
		}
		if s.Queued > 0 { // compared when the session was examined
			return nil, nil
		}
		n := 0
		for in, err := range openInputs(ctx, d.store, id) {
			if err != nil {
				return nil, fmt.Errorf("look at the inputs of session %s: %w", id, err)
			}
			if in.State == parley.InputQueued {
				n++
			}
		}
		again, err := d.store.Session(ctx, parley.SeeAll(), id)
		if err != nil || !unchanged(s, again) {
			continue
		}
		if n == 0 {
			return nil, nil
		}
		return []parley.Problem{{Kind: KindQueued, Session: id, Detail: fmt.Sprintf("it says that nothing waits, and %d inputs do", n)}}, nil
	}
	return nil, nil
}
