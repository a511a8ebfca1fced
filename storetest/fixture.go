package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// all is the visibility of tests that are not about visibility.
var all = parley.SeeAll()

// fixture is a fresh store and the words that tests are written in.
type fixture struct {
	*testing.T
	h     Harness
	dir   string
	store parley.Store
	now   time.Time
}

func newFixture(t *testing.T, h Harness) *fixture {
	t.Helper()
	f := &fixture{T: t, h: h, dir: scratchDir(t), now: startOfTime}
	f.open()
	return f
}

// open opens the store, and closes it when the test is over.
func (f *fixture) open() {
	f.Helper()
	s := f.h.Open(f.T, f.dir)
	f.store = s
	f.Cleanup(func() {
		if s == f.store && f.h.Check != nil { // the last one; those before it were closed
			err := f.h.Check(context.WithoutCancel(f.Context()), s)
			if err != nil && !errors.Is(err, parley.ErrUnavailable) { // the test has closed it
				f.Errorf("Check: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			f.Errorf("Close: %v", err)
		}
	})
}

// reopen closes the store and opens it again.
func (f *fixture) reopen() {
	f.Helper()
	if err := f.store.Close(); err != nil {
		f.Fatalf("Close: %v", err)
	}
	f.open()
}

// crash abandons the store and opens it again.
func (f *fixture) crash() {
	f.Helper()
	if f.h.Crash == nil {
		f.reopen()
		return
	}
	f.h.Crash(f.T, f.store)
	f.open()
}

// try commits a batch. A batch without a time gets one a second later than the
// one before.
func (f *fixture) try(b parley.Batch) (parley.Result, error) {
	if b.At.IsZero() {
		f.now = f.now.Add(time.Second)
		b.At = f.now
	}
	return f.store.Commit(f.Context(), b)
}

// commit applies a batch.
func (f *fixture) commit(b parley.Batch) parley.Result {
	f.Helper()
	res, err := f.try(b)
	if err != nil {
		f.Fatalf("Commit: %v\nof %s", err, describe(b))
	}
	if res.Duplicate != nil {
		f.Fatalf("Commit: input %v is there already", res.Duplicate.Ref)
	}
	return res
}

// change applies a batch of session changes.
func (f *fixture) change(changes ...parley.SessionChange) parley.Result {
	f.Helper()
	return f.commit(parley.Batch{Sessions: changes})
}

// refuse makes sure that a batch fails with this code and leaves nothing behind.
func (f *fixture) refuse(code parley.Code, b parley.Batch) {
	f.Helper()
	_ = f.refusal(code, b)
}

// refusal is refuse for those who look at the error.
func (f *fixture) refusal(code parley.Code, b parley.Batch) error {
	f.Helper()
	unchanged := f.watch(b)
	_, err := f.try(b)
	if parley.CodeOf(err) != code {
		f.Errorf("Commit: %s, want %s\nof %s", shown(err), code, describe(b))
	}
	if errors.Is(err, parley.ErrOutcomeUnknown) {
		f.Errorf("Commit: the outcome of a refused batch is known: %v", err)
	}
	unchanged()
	return err
}

// refuseChange is refuse for session changes.
func (f *fixture) refuseChange(code parley.Code, changes ...parley.SessionChange) {
	f.Helper()
	f.refuse(code, parley.Batch{Sessions: changes})
}

// duplicate makes sure that a batch holds an input the store has, and leaves
// nothing behind.
func (f *fixture) duplicate(b parley.Batch) parley.Input {
	f.Helper()
	unchanged := f.watch(b)
	res, err := f.try(b)
	if err != nil || res.Duplicate == nil {
		f.Fatalf("Commit: result %s, error %v, want a duplicate", describe(res), err)
	}
	f.equal("result beside the duplicate", parley.Result{Duplicate: res.Duplicate}, res)
	unchanged()
	return *res.Duplicate
}

// watch looks at everything that can be read, also under the names of the batch.
// The function it gives looks again and fails the test if anything differs.
func (f *fixture) watch(b parley.Batch) func() {
	f.Helper()
	asked := questions(f.known(b), all)
	before := make([]answer, len(asked))
	for i, q := range asked {
		before[i] = q.of(f.Context(), f.store)
	}
	return func() {
		f.Helper()
		for i, q := range asked {
			if d := diff(before[i], q.of(f.Context(), f.store)); d != "" {
				f.Errorf("%v changed: %s", q, d)
				return // the first difference tells most
			}
		}
	}
}

// equal fails the test if a value is not what it should be.
func (f *fixture) equal(what string, want, got any) {
	f.Helper()
	if d := diff(want, got); d != "" {
		f.Errorf("%s: %s", what, d)
	}
}

// code fails the test if an error does not have this code.
func (f *fixture) code(what string, code parley.Code, err error) {
	f.Helper()
	if parley.CodeOf(err) != code {
		f.Errorf("%s: error %s, want code %q", what, shown(err), code)
	}
}

// get gives the result of a read that has to succeed.
func get[T any](f *fixture, read func(ctx context.Context, s parley.Store) (T, error)) T {
	f.Helper()
	value, err := read(f.Context(), f.store)
	if err != nil {
		f.Fatalf("read: %v", err)
	}
	return value
}

func (f *fixture) session(id parley.SessionID) parley.Session {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) (parley.Session, error) { return s.Session(ctx, all, id) })
}

func (f *fixture) events(id parley.SessionID) []parley.Event {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
		return allEvents(ctx, s, all, id, parley.MaxPageSize)
	})
}

func (f *fixture) log() []parley.Event {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
		events, _, err := logAfter(ctx, s, all, 0, parley.MaxPageSize)
		return events, err
	})
}

func (f *fixture) input(ref parley.InputRef) parley.Input {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) (parley.Input, error) { return s.Input(ctx, all, ref) })
}

func (f *fixture) openInputs(id parley.SessionID) []parley.Input {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Input, error) {
		return s.OpenInputs(ctx, all, id, parley.InputRef{}, 0)
	})
}

// turn gives the turn t1 of the session home.
func (f *fixture) turn() parley.Turn {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) (parley.Turn, error) { return s.Turn(ctx, all, home, "t1") })
}

// calls gives the journal of a turn of the session home.
func (f *fixture) calls(turn parley.TurnID) []parley.Call {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Call, error) { return s.Calls(ctx, all, home, turn) })
}

func (f *fixture) deliveries(q parley.DeliveryQuery) []parley.Delivery {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Delivery, error) { return s.Deliveries(ctx, all, q) })
}

// aliases gives the aliases of a key.
func (f *fixture) aliases(key parley.Key) []parley.Alias {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Alias, error) { return s.Aliases(ctx, all, key) })
}

func (f *fixture) lookup(name string) parley.KeyEntry {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) (parley.KeyEntry, error) { return s.Lookup(ctx, all, name) })
}

func (f *fixture) list(q parley.SessionQuery) []parley.SessionID {
	f.Helper()
	sessions := get(f, func(ctx context.Context, s parley.Store) ([]parley.Session, error) {
		return allSessions(ctx, s, all, q)
	})
	var ids []parley.SessionID
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	return ids
}
