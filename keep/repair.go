package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
)

// repair repairs a session, in which these problems were found. It gives all that
// were there before, and those that are left.
func (d *doctor) repair(ctx context.Context, id parley.SessionID, found []parley.Problem) (all, left []parley.Problem, err error) {
	// A rebuild repairs this as well, and then [doctor.waiting] does not find it.
	forgotten, err := d.forgottenIn(ctx, id)
	if err != nil {
		if fatal(ctx, err) {
			return nil, nil, err
		}
		forgotten = nil // waiting says what cannot be read
	}
	failed, err := d.rebuild(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if failed != "" {
		return found, withDetail(found, failed), nil
	}
	all = slices.Concat(found, forgotten)
	s, err := d.store.Session(ctx, parley.SeeAll(), id)
	switch {
	case err == nil:
		left, _, err = d.steady(ctx, s)
		return all, left, err
	case errors.Is(err, parley.ErrNotFound): // deleted meanwhile
		return nil, nil, nil
	case fatal(ctx, err):
		return nil, nil, fmt.Errorf("look at session %s again: %w", id, err)
	}
	unreadable := parley.Problem{Kind: KindUnreadable, Session: id, Detail: "it cannot be read after it was rebuilt: " + err.Error()}
	all = append(all, unreadable)
	return all, all, nil
}

// rebuild has the store rebuild a session. failed is what to add to the problems
// of the session if it cannot be rebuilt.
func (d *doctor) rebuild(ctx context.Context, id parley.SessionID) (failed string, err error) {
	d.noteTried(id, "") // before the list can show it in another place
	err = d.store.Rebuild(ctx, id)
	if err == nil {
		return "", nil
	}
	if fatal(ctx, err) {
		return "", fmt.Errorf("rebuild session %s: %w", id, err)
	}
	failed = "; rebuilding failed: " + err.Error()
	d.noteTried(id, failed)
	return failed, nil
}

func (d *doctor) noteTried(id parley.SessionID, failed string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tried[id] = failed
}

func (d *doctor) wasTried(id parley.SessionID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, tried := d.tried[id]
	return tried
}

// withDetail gives problems with something added to what each says.
func withDetail(problems []parley.Problem, detail string) []parley.Problem {
	list := slices.Clone(problems)
	for i := range list {
		list[i].Detail += detail
	}
	return list
}
