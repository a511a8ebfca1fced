package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/parley-run/parley"
)

// bed is the stores a run measures on: one with many sessions, one with few,
// one with none.
type bed struct {
	open              func(ctx context.Context, path string) (parley.Store, error)
	dir               string
	many, few         parley.Store
	manyPop, fewPop   population
	base              time.Time
	manyPath, emptyAt string
}

// newBed makes the stores. They are closed and opened again after they were
// filled, so that what is measured finds them as a daemon would.
func newBed(ctx context.Context, cfg Config, dir string) (_ *bed, err error) {
	base := time.Now().UTC().Truncate(time.Second)
	b := &bed{
		open: cfg.OpenFunc, dir: dir, base: base,
		manyPop:  population{n: cfg.Size.Sessions, base: base},
		fewPop:   population{n: cfg.Size.Few, base: base},
		manyPath: filepath.Join(dir, "many.db"),
		emptyAt:  filepath.Join(dir, "none.db"),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	fewPath := filepath.Join(dir, "few.db")
	if err := b.fill(ctx, fewPath, b.fewPop, cfg.ProgressFunc); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, b.manyPath, b.manyPop, cfg.ProgressFunc); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, b.emptyAt, population{base: base}, cfg.ProgressFunc); err != nil {
		return nil, err
	}
	if b.few, err = b.open(ctx, fewPath); err != nil {
		return nil, fmt.Errorf("open the store with few sessions: %w", err)
	}
	if b.many, err = b.open(ctx, b.manyPath); err != nil {
		return nil, fmt.Errorf("open the store with many sessions: %w", err)
	}
	return b, nil
}

// fill makes a store with a population, looks at what is in it, and closes it.
func (b *bed) fill(ctx context.Context, path string, pop population, progress func(string, int64, int64)) (err error) {
	store, err := b.open(ctx, path)
	if err != nil {
		return fmt.Errorf("make a store: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := pop.populate(ctx, store, func(done, total int64) { progress("storing sessions", done, total) }); err != nil {
		return err
	}
	return pop.verify(ctx, store)
}

// close closes what is open. It may be called twice.
func (b *bed) close() error {
	var errs []error
	for _, store := range []*parley.Store{&b.many, &b.few} {
		if *store != nil {
			errs = append(errs, (*store).Close())
			*store = nil
		}
	}
	return errors.Join(errs...)
}
