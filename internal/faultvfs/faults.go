package faultvfs

import (
	"slices"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// Faults is a file system that fails as its rules say. Without rules it passes
// everything on.
type Faults struct {
	inner vfs.VFS

	mu    sync.Mutex
	rules []*Fault
}

// NewFaults makes a failing file system over another one: a [Disk], or the
// operating system's if it is nil.
func NewFaults(inner vfs.VFS) *Faults {
	if inner == nil {
		inner = vfs.Find("")
	}
	return &Faults{inner: inner}
}

// Inject adds a rule. Where several match, the one added first strikes.
func (f *Faults) Inject(r Rule) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := &Fault{rule: r, owner: f}
	f.rules = append(f.rules, fault)
	return fault
}

// Heal removes all rules.
func (f *Faults) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// strike gives the rule that makes this operation fail, or nil.
func (f *Faults) strike(op Op, kind Kind, size int, grows bool) *Rule {
	f.mu.Lock()
	var hit *Fault
	for _, fault := range f.rules {
		// Every rule counts every operation, also one that another rule fails.
		if fault.strikes(op, kind, size, grows) && hit == nil {
			hit = fault
			fault.hits++
		}
	}
	f.mu.Unlock()
	if hit == nil {
		return nil
	}
	if hit.rule.Do != nil {
		hit.rule.Do() // without the lock: it may heal, cut, or never return
		if hit.rule.Err == nil {
			return nil
		}
	}
	return &hit.rule
}

// fail gives the error of an operation that needs no more than that.
func (f *Faults) fail(op Op, kind Kind) error {
	if r := f.strike(op, kind, 0, false); r != nil {
		return r.err(op)
	}
	return nil
}

// Open is not used by SQLite, which calls OpenFilename.
func (f *Faults) Open(string, vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return nil, 0, sqlite3.CANTOPEN
}

// OpenFilename opens a file.
func (f *Faults) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	kind := kindOfFlags(flags)
	if err := f.fail(Open, kind); err != nil {
		return nil, flags, err
	}
	inner, flags, err := vfsutil.WrapOpenFilename(f.inner, name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &faultFile{file: file{inner}, faults: f, kind: kind}, flags, nil
}

// Delete deletes a file.
func (f *Faults) Delete(name string, syncDir bool) error {
	if err := f.fail(Delete, kindOfName(name)); err != nil {
		return err
	}
	return f.inner.Delete(name, syncDir)
}

// Access looks a file up; no rule is about that.
func (f *Faults) Access(name string, flags vfs.AccessFlag) (bool, error) {
	return f.inner.Access(name, flags)
}

// FullPathname gives the absolute path.
func (f *Faults) FullPathname(name string) (string, error) { return f.inner.FullPathname(name) }

// remove takes one rule away.
func (f *Faults) remove(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = slices.DeleteFunc(f.rules, func(x *Fault) bool { return x == fault })
}
