package keep

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
)

// file has the store look below its own reads. What it finds and Rebuild can
// repair is repaired, if that is wanted, and then the store looks once more.
func (d *doctor) file(ctx context.Context) error {
	repairable, err := d.check(ctx, d.note)
	if err != nil || len(repairable) == 0 {
		return err
	}
	left := repairable
	if d.cfg.Rebuild {
		for _, p := range repairable {
			if err := d.store.Rebuild(ctx, p.Session); err != nil && fatal(ctx, err) {
				return fmt.Errorf("rebuild session %s: %w", p.Session, err)
			}
		}
		// What is not repairable was reported the first time.
		if left, err = d.check(ctx, func(parley.Problem) {}); err != nil {
			return err
		}
	}
	for _, p := range repairable {
		of := slices.DeleteFunc(slices.Clone(left), func(q parley.Problem) bool { return q.Session != p.Session || q.Kind != p.Kind })
		d.add([]parley.Problem{p}, of)
	}
	return nil
}

// check gives the problems that can be repaired, as many as a report lists, and
// passes the others on.
func (d *doctor) check(ctx context.Context, other func(parley.Problem)) (repairable []parley.Problem, err error) {
	d.progress("checking the file", 0)
	err = d.store.Check(ctx, func(p parley.Problem) {
		if p.Session != "" && Rebuildable(p.Kind) && len(repairable) < MaxFindings {
			repairable = append(repairable, p)
			return
		}
		other(p)
	})
	switch {
	case err == nil:
	case fatal(ctx, err):
		return nil, fmt.Errorf("check the file: %w", err)
	default:
		other(parley.Problem{Kind: KindUnreadable, Detail: "the file cannot be checked to its end: " + err.Error()})
	}
	return repairable, nil
}
