package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// rig is a store on a disk that fails and loses.
type rig struct {
	t      *testing.T
	disk   *faultvfs.Disk
	faults *faultvfs.Faults
	cfg    sqlite.Config
	path   string
	store  *sqlite.Store
	book   *ledger
	n      int

	redactions int
}

func newRig(t *testing.T, seed uint64) *rig {
	t.Helper()
	r := &rig{t: t, disk: faultvfs.NewDisk(seed), book: newLedger(), path: filepath.Join(t.TempDir(), "store.db")}
	r.faults = faultvfs.NewFaults(r.disk)
	r.cfg = useVFS(t, r.faults)
	return r
}

func (r *rig) open() error {
	var err error
	r.store, err = sqlite.Open(r.t.Context(), r.path, r.cfg)
	return err
}

// commit commits the batch of that name and takes down what the store said.
func (r *rig) commit(name string) error {
	res, err := r.store.Commit(r.t.Context(), batchOf(name))
	switch {
	case err == nil:
		r.book.add(ack{Name: name, Sessions: res.Sessions})
	case !errors.Is(err, parley.ErrOutcomeUnknown):
		if _, acked := r.book.acked[name]; !acked {
			r.book.refused[name] = true
		}
	}
	return err
}

func (r *rig) name() string {
	r.n++
	return fmt.Sprintf("0.0.%d", r.n)
}

// mustCommit commits n batches on a disk that is well.
func (r *rig) mustCommit(n int) {
	r.t.Helper()
	for range n {
		if err := r.commit(r.name()); err != nil {
			r.t.Fatalf("the disk is well, but: %v", err)
		}
	}
}

// fillWAL commits batches, every second one large, until the fault has struck, and a little more.
func (r *rig) fillWAL(fault *faultvfs.Fault) {
	r.t.Helper()
	for after, n := 0, 0; after < 5; n++ {
		name := r.name() // a small one, so that a move may go on with what was added
		if n%2 == 0 {
			r.n++
			name = fmt.Sprintf("%s%d", bigBatch, r.n)
		}
		if err := r.commit(name); err != nil {
			wantUnavailable(r.t, err)
		}
		if fault.Hits() > 0 {
			after++
		}
		if n > 1000 {
			r.t.Fatal("no move came")
		}
	}
}

// redact writes a message into a session of its own and takes it back, which
// makes the store move the WAL. armed is called when that has been committed.
func (r *rig) redact(armed func()) {
	r.t.Helper()
	_ = r.redactUnder(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Do: armed}) // it is said there
}

// loseSync has a commit whose sync fails and loses. The store opens its connection again before the next.
func (r *rig) loseSync() {
	r.t.Helper()
	if err := r.redactUnder(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Lose: true}); err == nil {
		r.t.Error("a commit whose sync fails succeeds")
	}
	r.faults.Heal()
}

// redactUnder writes a message, and takes it back under a rule. The WAL is synced for that.
func (r *rig) redactUnder(rule faultvfs.Rule) error {
	r.t.Helper()
	r.redactions++
	id := parley.SessionID(fmt.Sprintf("%s:%d", redacted, r.redactions))
	source := parley.Source{Kind: "load"}
	body := &parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("a secret")}}
	if _, err := r.store.Commit(r.t.Context(), parley.Batch{At: someTime, Sessions: []parley.SessionChange{{
		Session: id, Create: &parley.NewSession{Agent: parley.AgentSnapshot{Name: loadAgent}, Source: source, Type: parley.SessionDirect},
		Events: []parley.NewEvent{{Body: body}},
	}}}); err != nil {
		r.t.Fatalf("the disk is well, but: %v", err)
	}
	r.faults.Inject(rule)
	if _, err := r.store.Commit(r.t.Context(), parley.Batch{At: someTime, Sessions: []parley.SessionChange{{
		Session: id, Redact: []uint64{1},
	}}}); err != nil {
		wantUnavailable(r.t, err)
		return err
	}
	r.book.redacted[id] = true
	return nil
}

// start opens the store and commits something.
func (r *rig) start() {
	r.t.Helper()
	if err := r.open(); err != nil {
		r.t.Fatal(err)
	}
	if err := preparePool(r.t.Context(), r.store, r.book.add); err != nil {
		r.t.Fatal(err)
	}
	r.mustCommit(3)
}

// read reads the whole log, and a session.
func (r *rig) read() error {
	_, tallies, err := readLog(r.t.Context(), r.store)
	if err == nil {
		_, err = r.store.Session(r.t.Context(), parley.SeeAll(), poolSession(0))
	}
	if err == nil && len(tallies) < poolSize {
		r.t.Errorf("%d sessions are there, want %d or more", len(tallies), poolSize)
	}
	return err
}

// cut cuts the power and checks what survived.
func (r *rig) cut() {
	r.t.Helper()
	r.disk.Cut()
	if r.store != nil {
		_ = r.store.Close()
	}
	dir := r.t.TempDir()
	if err := r.disk.Survive(dir); err != nil {
		r.t.Fatal(err)
	}
	if err := r.book.check(r.t.Context(), dir, 1, unsynced(r.t)); err != nil {
		r.t.Error(err)
	}
}

// sweep calls try with the fault at the first operation, the second, and so on
// (in growing steps, if sparse), until it does not strike any more.
func sweep(t *testing.T, rule faultvfs.Rule, sparse bool, try func(rule faultvfs.Rule) *faultvfs.Fault) {
	t.Helper()
	struck := 0
	for rule.Nth = 1; ; rule.Nth++ {
		hits := try(rule).Hits()
		if t.Failed() {
			t.Fatalf("with the fault at operation %d", rule.Nth)
		}
		if hits == 0 {
			break
		}
		if struck > 500 {
			t.Fatal("the fault strikes without end")
		}
		struck++
		if sparse && !soak.On() {
			rule.Nth += rule.Nth / 4
		}
	}
	t.Logf("%d operations failed in turn", struck)
	if struck == 0 {
		t.Error("the fault never struck: this proves nothing")
	}
}

func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, parley.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
}

// crashedStore gives a folder with a store whose WAL was not moved.
func crashedStore(t *testing.T, seed uint64, book *ledger) string {
	t.Helper()
	r := newRig(t, seed)
	r.book = book
	r.start()
	r.disk.Cut()
	_ = r.store.Close()
	dir := t.TempDir()
	if err := r.disk.Survive(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyStore(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
