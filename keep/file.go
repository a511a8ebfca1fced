package keep

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-run/parley"
)

// below is what the store found below its own reads.
type below struct {
	found    int // problems
	listed   int // of these, the ones that the report begins with
	whole    bool
	sessions map[parley.SessionID]bool // those that a rebuild may help
}

// file has the store look below its own reads. It repairs nothing: a rebuild
// repairs all of a session, so [doctor.session] has to look at the rest first.
func (d *doctor) file(ctx context.Context) (err error) {
	d.below.sessions = map[parley.SessionID]bool{}
	d.below.whole, err = d.check(ctx, func(p parley.Problem) {
		d.note(p)
		d.below.found++
		d.below.listed = len(d.report.Findings)
		if d.cfg.Rebuild && p.Session != "" && Rebuildable(p.Kind) {
			d.below.sessions[p.Session] = true
		}
	})
	return err
}

// unlisted examines sessions that a rebuild may help, and that the list did not
// give: maybe it cannot be read to its end.
func (d *doctor) unlisted(ctx context.Context) error {
	for id := range d.below.sessions {
		if d.wasTried(id) {
			continue
		}
		s, err := d.store.Session(ctx, parley.SeeAll(), id)
		switch {
		case err == nil:
			err = d.session(ctx, s)
		case errors.Is(err, parley.ErrNotFound): // deleted meanwhile
			err = nil
		case !fatal(ctx, err):
			_, err = d.rebuild(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// again has the store look once more after sessions were rebuilt: what it does
// not find any more is fixed. That can be more than what the sessions were
// rebuilt for, such as rows about the media that they show.
func (d *doctor) again(ctx context.Context) error {
	if len(d.tried) == 0 || d.below.found == 0 || !d.below.whole {
		return nil
	}
	gone := map[parley.Problem][]int{} // findings, until they are found again; several may look alike
	for i, f := range d.report.Findings[:d.below.listed] {
		p := known(parley.Problem{Kind: f.Kind, Session: f.Session, Detail: f.Detail})
		gone[p] = append(gone[p], i)
	}
	unlisted := d.below.found - d.below.listed
	whole, err := d.check(ctx, func(p parley.Problem) {
		at := gone[known(p)]
		switch {
		case len(at) > 0:
			d.report.Findings[at[0]].Detail = p.Detail + d.tried[p.Session]
			gone[known(p)] = at[1:]
		case unlisted > 0:
			unlisted--
		default: // only the repair brought it to light
			d.note(p)
		}
	})
	if err != nil || !whole {
		return err
	}
	fixed := unlisted
	for _, at := range gone {
		for _, i := range at {
			d.report.Findings[i].Fixed, d.report.Findings[i].Advice = true, ""
		}
		fixed += len(at)
	}
	d.report.Fixed += int64(fixed)
	d.report.Remaining -= int64(fixed)
	return nil
}

// known gives what a problem is known by when it is found again. What is
// counted in the detail may have changed meanwhile if it can be repaired.
func known(p parley.Problem) parley.Problem {
	if p.Session != "" && Rebuildable(p.Kind) {
		p.Detail = ""
	}
	return p
}

// check has the store look, and tells whether it could look at everything.
func (d *doctor) check(ctx context.Context, report func(parley.Problem)) (whole bool, err error) {
	d.progress("checking the file", 0)
	err = d.store.Check(ctx, report)
	switch {
	case err == nil:
		return true, nil
	case fatal(ctx, err):
		return false, fmt.Errorf("check the file: %w", err)
	}
	d.note(parley.Problem{Kind: KindUnreadable, Detail: "the file cannot be checked to its end: " + err.Error()})
	return false, nil
}
