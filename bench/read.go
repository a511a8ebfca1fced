package bench

import (
	"context"
	"fmt"

	"github.com/parley-run/parley"
)

// pageRows is how many rows a page of the list has.
const pageRows = 50

// window measures the last 100 messages of a long log beside those of a log
// that has no more.
func (r *run) window(ctx context.Context) error {
	const last, repeat = 100, 10
	store := r.bed.many
	deep, err := openDeep(ctx, store, "deep_window", r.bed.base, r.cfg.Size.Deep, func(done, total int64) {
		r.cfg.ProgressFunc("writing a long log", done, total)
	})
	if err != nil {
		return err
	}
	short, err := openDeep(ctx, store, "short_window", r.bed.base, last, func(int64, int64) {})
	if err != nil {
		return err
	}
	q := parley.EventQuery{Last: true, Types: []parley.EventType{parley.EventMessage}, Limit: last}
	read := func(c *inbox) func() (float64, error) {
		return func() (float64, error) {
			return typical(repeat, func(int) error {
				events, err := store.Events(ctx, parley.SeeAll(), c.id, q)
				if err != nil {
					return err
				}
				if want := min(last, r.cfg.Size.Deep); len(events) < want {
					return parley.Errorf(parley.CodeInternal, "the last %d messages of %s are %d", want, c.id, len(events))
				}
				return nil
			})
		}
	}
	var p pair
	err = r.rounds(ctx, "measuring "+WindowDeep, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i, into(&p.value, read(deep)), into(&p.reference, read(short)))
	})
	r.record(WindowDeep, &p)
	return err
}

// list measures a page of the list as an owner sees it, and as a person sees it
// who takes part in a few sessions. The worse of the two is the figure.
func (r *run) list(ctx context.Context) error {
	pages := max(min(r.cfg.Size.Few, r.cfg.Size.Sessions)/pageRows, 1)
	pages = min(pages, 20)
	// An owner turns pages; who has one page reads it several times.
	read := func(store parley.Store, v parley.Visibility, turn bool) func() (float64, error) {
		return func() (float64, error) {
			cursor := ""
			return typical(pages, func(int) error {
				rows, next, err := listPage(ctx, store, v, cursor)
				if turn {
					cursor = next
				}
				if err == nil && rows == 0 {
					err = parley.Errorf(parley.CodeInternal, "a page of the list is empty")
				}
				return err
			})
		}
	}
	var owner, person pair
	err := r.rounds(ctx, "measuring "+ListPage, r.cfg.Size.Rounds, func(i int) error {
		for _, side := range []struct {
			*pair
			v    parley.Visibility
			turn bool
		}{{&owner, parley.SeeAll(), true}, {&person, parley.SeeAs(regular), false}} {
			if err := inTurns(i,
				into(&side.value, read(r.bed.many, side.v, side.turn)),
				into(&side.reference, read(r.bed.few, side.v, side.turn)),
			); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m := r.measures[ListPage]
	all, own := m.result(owner.medians()), m.result(person.medians())
	worse := all
	if own.Ratio > all.Ratio {
		worse = own
	}
	worse.Note = fmt.Sprintf("an owner's page %.2fx, that of a person who takes part in %d sessions %.2fx", all.Ratio, pageRows, own.Ratio)
	r.results[ListPage] = worse
	return nil
}

// listPage reads the page of the list behind a cursor and gives its number of
// rows and the cursor of the next. Where the store gives short pages it asks on
// until the page is full, as a client has to.
func listPage(ctx context.Context, store parley.Store, v parley.Visibility, cursor string) (rows int, next string, err error) {
	for {
		page, err := store.Sessions(ctx, v, parley.SessionQuery{Limit: pageRows - rows, Cursor: cursor})
		if err != nil {
			return rows, "", err
		}
		rows, cursor = rows+len(page.Sessions), page.Cursor
		if rows >= pageRows || cursor == "" {
			return rows, cursor, nil
		}
	}
}

// alias measures how long it takes to find a session by one of its aliases.
func (r *run) alias(ctx context.Context) error {
	const repeat = 200
	var drawn uint32
	read := func(store parley.Store, pop population) func() (float64, error) {
		wanted := make([]conversation, repeat)
		for i := range wanted {
			drawn++
			wanted[i] = pop.conversation(pop.random(drawn))
		}
		return func() (float64, error) {
			return typical(repeat, func(i int) error {
				alias := wanted[i].aliases[i%2]
				entry, err := store.Lookup(ctx, parley.SeeAll(), string(alias))
				if err == nil && entry.Current != wanted[i].id {
					err = parley.Errorf(parley.CodeInternal, "alias %s leads to %s instead of %s", alias, entry.Current, wanted[i].id)
				}
				return err
			})
		}
	}
	var p pair
	err := r.rounds(ctx, "measuring "+AliasLookup, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i,
			into(&p.value, read(r.bed.many, r.bed.manyPop)),
			into(&p.reference, read(r.bed.few, r.bed.fewPop)))
	})
	r.record(AliasLookup, &p)
	return err
}
