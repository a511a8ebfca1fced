package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// TestOracle runs the suite against the oracle itself: what the named tests
// demand and what the oracle does are the same. The random sequences compare the
// oracle with itself here, which shows that they cover what they should.
func TestOracle(t *testing.T) {
	t.Parallel()
	h := newShelf().harness()
	runNamed(t, h)
	for _, p := range promises {
		if p.name != idleIsFree { // which is about processes
			p.start(t, h)
		}
	}
	t.Run("Random", func(t *testing.T) {
		t.Parallel()
		RunRandom(t, h, RandomConfig{Sequences: 100})
	})
}

// shelf keeps oracles by folder, so that they can be closed and opened again.
type shelf struct {
	mu    sync.Mutex
	disks map[string]*disk
}

// disk is what outlives a handle.
type disk struct {
	mu     sync.Mutex
	oracle *oracle
}

func newShelf() *shelf { return &shelf{disks: map[string]*disk{}} }

func (s *shelf) harness() Harness {
	return Harness{
		Open: func(_ testing.TB, dir string) parley.Store {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.disks[dir] == nil {
				s.disks[dir] = &disk{oracle: newOracle()}
			}
			return &handle{disk: s.disks[dir]}
		},
		Crash: func(testing.TB, parley.Store) {},
	}
}

// handle makes an oracle a store: safe for many goroutines, with contexts, and
// of no use after Close.
type handle struct {
	*disk
	closed bool
}

// use runs one read or write on the oracle.
func use[T any](ctx context.Context, h *handle, do func(*oracle) (T, error)) (T, error) {
	var none T
	if inside, _ := ctx.Value(viewKey{}).(*handle); inside != h {
		h.mu.Lock()
		defer h.mu.Unlock()
	}
	if h.closed {
		return none, parley.Errorf(parley.CodeUnavailable, "the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return none, &parley.Error{Code: parley.CodeUnavailable, Err: err}
	}
	return do(h.oracle)
}

func (h *handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	return nil
}

// viewKey is the key, in the context of a View, of the handle whose lock it holds.
type viewKey struct{}

func (h *handle) View(ctx context.Context, f func(ctx context.Context) error) error {
	_, err := use(ctx, h, func(*oracle) (any, error) { return nil, f(context.WithValue(ctx, viewKey{}, h)) })
	return err
}

func (h *handle) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	return use(ctx, h, func(o *oracle) (parley.Result, error) { return o.Commit(ctx, b) })
}

func (h *handle) Session(ctx context.Context, v parley.Visibility, id parley.SessionID) (parley.Session, error) {
	return use(ctx, h, func(o *oracle) (parley.Session, error) { return o.Session(ctx, v, id) })
}

func (h *handle) Sessions(ctx context.Context, v parley.Visibility, q parley.SessionQuery) (parley.SessionPage, error) {
	return use(ctx, h, func(o *oracle) (parley.SessionPage, error) { return o.Sessions(ctx, v, q) })
}

func (h *handle) Aliases(ctx context.Context, v parley.Visibility, key parley.Key) ([]parley.Alias, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Alias, error) { return o.Aliases(ctx, v, key) })
}

func (h *handle) Lookup(ctx context.Context, v parley.Visibility, name string) (parley.KeyEntry, error) {
	return use(ctx, h, func(o *oracle) (parley.KeyEntry, error) { return o.Lookup(ctx, v, name) })
}

func (h *handle) Participants(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.IdentityID, error) {
	return use(ctx, h, func(o *oracle) ([]parley.IdentityID, error) { return o.Participants(ctx, v, id) })
}

func (h *handle) Events(
	ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery,
) ([]parley.Event, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Event, error) { return o.Events(ctx, v, id, q) })
}

func (h *handle) Log(
	ctx context.Context, v parley.Visibility, after uint64, limit int,
) (events []parley.Event, next uint64, err error) {
	events, err = use(ctx, h, func(o *oracle) ([]parley.Event, error) {
		var list []parley.Event
		list, next, err = o.Log(ctx, v, after, limit)
		return list, err
	})
	return events, next, err
}

func (h *handle) Head(ctx context.Context) (parley.Head, error) {
	return use(ctx, h, func(o *oracle) (parley.Head, error) { return o.Head(ctx) })
}

func (h *handle) Input(ctx context.Context, v parley.Visibility, ref parley.InputRef) (parley.Input, error) {
	return use(ctx, h, func(o *oracle) (parley.Input, error) { return o.Input(ctx, v, ref) })
}

func (h *handle) OpenInputs(
	ctx context.Context, v parley.Visibility, id parley.SessionID, after parley.InputRef, limit int,
) ([]parley.Input, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Input, error) { return o.OpenInputs(ctx, v, id, after, limit) })
}

func (h *handle) Turn(
	ctx context.Context, v parley.Visibility, id parley.SessionID, turn parley.TurnID,
) (parley.Turn, error) {
	return use(ctx, h, func(o *oracle) (parley.Turn, error) { return o.Turn(ctx, v, id, turn) })
}

func (h *handle) OpenTurns(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Turn, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Turn, error) { return o.OpenTurns(ctx, v, id) })
}

func (h *handle) Calls(
	ctx context.Context, v parley.Visibility, id parley.SessionID, turn parley.TurnID,
) ([]parley.Call, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Call, error) { return o.Calls(ctx, v, id, turn) })
}

func (h *handle) Approvals(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Approval, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Approval, error) { return o.Approvals(ctx, v, id) })
}

func (h *handle) Deliveries(ctx context.Context, v parley.Visibility, q parley.DeliveryQuery) ([]parley.Delivery, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Delivery, error) { return o.Deliveries(ctx, v, q) })
}

func (h *handle) Notices(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Notice, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Notice, error) { return o.Notices(ctx, v, id) })
}

func (h *handle) User(ctx context.Context, id parley.UserID) (parley.User, error) {
	return use(ctx, h, func(o *oracle) (parley.User, error) { return o.User(ctx, id) })
}

func (h *handle) Users(ctx context.Context, after parley.UserID, limit int) ([]parley.User, error) {
	return use(ctx, h, func(o *oracle) ([]parley.User, error) { return o.Users(ctx, after, limit) })
}

func (h *handle) Identity(ctx context.Context, id parley.IdentityID) (parley.Identity, error) {
	return use(ctx, h, func(o *oracle) (parley.Identity, error) { return o.Identity(ctx, id) })
}

func (h *handle) Identities(ctx context.Context, user parley.UserID) ([]parley.Identity, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Identity, error) { return o.Identities(ctx, user) })
}

func (h *handle) AllIdentities(ctx context.Context, after parley.IdentityID, limit int) ([]parley.Identity, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Identity, error) { return o.AllIdentities(ctx, after, limit) })
}

func (h *handle) TokenByHash(ctx context.Context, hash [32]byte) (parley.Token, error) {
	return use(ctx, h, func(o *oracle) (parley.Token, error) { return o.TokenByHash(ctx, hash) })
}

func (h *handle) Tokens(
	ctx context.Context, of parley.IdentityID, after parley.TokenID, limit int,
) ([]parley.Token, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Token, error) { return o.Tokens(ctx, of, after, limit) })
}

func (h *handle) Passcode(ctx context.Context, hash [32]byte, at time.Time) (parley.Passcode, error) {
	return use(ctx, h, func(o *oracle) (parley.Passcode, error) { return o.Passcode(ctx, hash, at) })
}

func (h *handle) Audit(ctx context.Context, q parley.AuditQuery) ([]parley.AuditEntry, error) {
	return use(ctx, h, func(o *oracle) ([]parley.AuditEntry, error) { return o.Audit(ctx, q) })
}

func (h *handle) Spent(ctx context.Context, q parley.SpentQuery) (parley.Usage, error) {
	return use(ctx, h, func(o *oracle) (parley.Usage, error) { return o.Spent(ctx, q) })
}

func (h *handle) Blob(ctx context.Context, v parley.Visibility, blob parley.BlobHandle) (parley.Blob, error) {
	return use(ctx, h, func(o *oracle) (parley.Blob, error) { return o.Blob(ctx, v, blob) })
}

func (h *handle) Blobs(ctx context.Context, after parley.BlobHandle, limit int) ([]parley.Blob, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Blob, error) { return o.Blobs(ctx, after, limit) })
}

func (h *handle) UnusedBlobs(
	ctx context.Context, before time.Time, after parley.Blob, limit int,
) ([]parley.Blob, error) {
	return use(ctx, h, func(o *oracle) ([]parley.Blob, error) { return o.UnusedBlobs(ctx, before, after, limit) })
}
