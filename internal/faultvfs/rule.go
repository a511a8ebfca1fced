package faultvfs

import (
	"io/fs"
	"syscall"

	"github.com/ncruces/go-sqlite3"
)

// Rule says which operations fail, and how.
type Rule struct {
	Op   Op
	Kind Kind
	// Grow narrows the rule to writes and truncations that make a file longer:
	// a full disk still takes writes into what it holds.
	Grow bool
	// Nth is the first matching operation that fails, counted from 1; 0 is the
	// first.
	Nth int
	// Bytes lets matching writes through until they have carried as many bytes.
	Bytes int
	// Times is how many operations fail; 0 is all until the rule is removed.
	Times int

	// Err is the error; nil: the one that the operating system's VFS gives for the operation.
	Err error
	// Short lets half of a write happen before it fails.
	Short bool
	// Lose makes a failing sync on a [Disk] lose what it should have made safe.
	Lose bool
	// Revert, with Lose, shows what is lost as it was before.
	Revert bool
	// Do is called at that moment, and the operation then happens as if there
	// were no rule; with an Err it fails after that.
	Do func()
}

// ErrFull is a full disk as SQLite's own VFS reports it.
var ErrFull error = sqlite3.FULL

// ErrNoSpace is a full disk as the driver's VFS reports it on Unix, where
// SQLite sees an I/O error and the cause goes with it.
var ErrNoSpace error = &fs.PathError{Op: "write", Path: "disk", Err: syscall.ENOSPC}

func (r *Rule) err(op Op) error {
	if r.Err != nil {
		return r.Err
	}
	switch op {
	case Open:
		return sqlite3.CANTOPEN
	case Read:
		return sqlite3.IOERR_READ
	case Write:
		return sqlite3.IOERR_WRITE
	case Sync:
		return sqlite3.IOERR_FSYNC
	case Truncate:
		return sqlite3.IOERR_TRUNCATE
	case Size:
		return sqlite3.IOERR_FSTAT
	case Delete:
		return sqlite3.IOERR_DELETE
	}
	return sqlite3.IOERR
}

// Fault is a [Rule] at work. Its fields are guarded by its owner's mutex.
type Fault struct {
	rule  Rule
	owner *Faults
	seen  int
	bytes int
	hits  int
}

// Hits says how often the rule struck.
func (f *Fault) Hits() int {
	f.owner.mu.Lock()
	defer f.owner.mu.Unlock()
	return f.hits
}

// Remove takes the rule away.
func (f *Fault) Remove() { f.owner.remove(f) }

// strikes counts an operation and reports whether it fails.
func (f *Fault) strikes(op Op, kind Kind, size int, grows bool) bool {
	r := &f.rule
	if !r.Op.matches(op) || r.Kind != AnyKind && r.Kind != kind || r.Grow && !grows {
		return false
	}
	f.seen++
	f.bytes += size
	return f.seen >= r.Nth && f.bytes >= r.Bytes && (r.Times == 0 || f.hits < r.Times)
}
