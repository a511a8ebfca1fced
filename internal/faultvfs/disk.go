package faultvfs

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// Disk is a file system whose power can be cut. The package comment has its
// model. Files that exist when they are first opened count as safe.
type Disk struct {
	// Unordered lets creations and deletions of different names reach the disk
	// in any order, as POSIX permits and file systems with a log per file do.
	// Otherwise they get there in the order they happened, as on file systems
	// with one journal. Set it before use.
	Unordered bool

	inner vfs.VFS

	mu      sync.Mutex
	rand    *rand.Rand
	files   map[string]*inode // what a look at the folders shows; nil: no such file
	safe    map[string]*inode // what they show after a power cut, at least
	moves   []move            // what lies between the two
	changes int
	cutAt   int
	isCut   bool
	lies    bool
	cut     chan struct{}
}

// move is the creation of a file, or, without one, the deletion of a name.
type move struct {
	path string
	node *inode
}

// NewDisk makes a disk over the operating system's file system. The seed
// decides what a power cut or a lossy sync leaves.
func NewDisk(seed uint64) *Disk {
	return &Disk{
		inner: vfs.Find(""),
		rand:  rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // a test has to be able to repeat it
		files: map[string]*inode{},
		safe:  map[string]*inode{},
		cut:   make(chan struct{}),
	}
}

// CutAfter cuts the power at the n-th change from here on: a write, sync,
// truncation, creation or deletion. It is the first that does not happen.
func (d *Disk) CutAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutAt = d.changes + n
}

// Cut cuts the power at once.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off()
}

// Lie makes syncs from here on succeed and do nothing, as on a disk that keeps what it should have written in a memory of its own.
func (d *Disk) Lie() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lies = true
}

// Done is closed when the power is cut.
func (d *Disk) Done() <-chan struct{} { return d.cut }

// Changes says how many changes there were.
func (d *Disk) Changes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// Survive writes into dir the files as they are after the power cut, under
// their base names. It cuts the power if that has not happened. Each call makes
// another image.
func (d *Disk) Survive(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off()
	// Between nothing and all of the rest: a disk that was about to write
	// everything, and one that had not begun, are as likely as one in between.
	keep := []float64{0, 0.1, 0.5, 0.9, 1}[d.rand.IntN(5)]
	safe := maps.Clone(d.safe)
	lost := map[string]bool{}
	for _, m := range d.moves {
		switch {
		case lost[m.path] || lost[""]:
		case d.rand.Float64() < keep:
			safe[m.path] = m.node
		case d.Unordered:
			lost[m.path] = true
		default:
			lost[""] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(safe)) {
		if safe[path] == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), safe[path].survive(d.rand, keep), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// off cuts the power. The caller holds the mutex.
func (d *Disk) off() {
	if !d.isCut {
		d.isCut = true
		close(d.cut)
	}
}

// step counts a change and reports whether it happens. Where it does not, the
// caller still takes it down as unsynced if inFlight is set. The caller holds
// the mutex.
func (d *Disk) step() (happens, inFlight bool) {
	if d.isCut {
		return false, false
	}
	d.changes++
	if d.changes == d.cutAt {
		d.off()
		return false, true
	}
	return true, true
}

// find gives the file that a path leads to, or nil. The caller holds the mutex.
func (d *Disk) find(path string) (*inode, error) {
	if node, ok := d.files[path]; ok {
		return node, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // the path comes from the test
	var node *inode
	switch {
	case err == nil:
		node = &inode{safe: data}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	d.files[path], d.safe[path] = node, node
	return node, nil
}

// move changes what a path leads to. The caller holds the mutex.
func (d *Disk) move(path string, node *inode) {
	d.files[path] = node
	d.moves = append(d.moves, move{path, node})
}

// settle makes the creation of a file safe, and what happened before it. The
// caller holds the mutex.
func (d *Disk) settle(path string, node *inode) {
	last := slices.Index(d.moves, move{path, node})
	if last < 0 {
		return // it was safe, or the file was deleted
	}
	var rest []move
	for i, m := range d.moves {
		if i <= last && (!d.Unordered || m.path == path) {
			d.safe[m.path] = m.node
		} else {
			rest = append(rest, m)
		}
	}
	d.moves = rest
}

// Open is not used by SQLite, which calls OpenFilename.
func (d *Disk) Open(string, vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return nil, 0, sqlite3.CANTOPEN
}

// OpenFilename opens a file. Temporary files are nobody's loss and pass.
func (d *Disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isCut {
		return nil, flags, sqlite3.CANTOPEN
	}
	if name == nil || kindOfFlags(flags) == Other {
		return vfsutil.WrapOpenFilename(d.inner, name, flags)
	}
	path := name.String()
	node, err := d.find(path)
	if err != nil {
		return nil, flags, vfs.SystemError(err, sqlite3.CANTOPEN)
	}
	if node == nil && flags&vfs.OPEN_CREATE != 0 {
		if err := d.create(path); err != nil {
			return nil, flags, err
		}
		node = d.files[path]
	}
	f, flags, err := vfsutil.WrapOpenFilename(d.inner, name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &diskFile{file: file{f}, disk: d, path: path, node: node}, flags, nil
}

// create makes an empty file. The caller holds the mutex.
func (d *Disk) create(path string) error {
	happens, inFlight := d.step()
	if inFlight {
		d.move(path, &inode{})
	}
	if !happens {
		return sqlite3.CANTOPEN
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path comes from the test
	if err != nil {
		return vfs.SystemError(err, sqlite3.CANTOPEN)
	}
	return f.Close()
}

// Delete deletes a file; with syncDir that is safe at once, and all that was
// created or deleted beside it.
func (d *Disk) Delete(path string, syncDir bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isCut {
		return sqlite3.IOERR_DELETE
	}
	if _, err := d.find(path); err != nil {
		return vfs.SystemError(err, sqlite3.IOERR_DELETE)
	}
	happens, _ := d.step()
	if happens {
		if err := d.inner.Delete(path, false); err != nil {
			return err
		}
	}
	d.move(path, nil)
	switch {
	case !happens:
		return sqlite3.IOERR_DELETE
	case syncDir:
		d.syncFolder(filepath.Dir(path))
	}
	return nil
}

// syncFolder makes the names in a folder safe. The caller holds the mutex.
func (d *Disk) syncFolder(dir string) {
	d.moves = slices.DeleteFunc(d.moves, func(m move) bool {
		if filepath.Dir(m.path) != dir {
			return false
		}
		d.safe[m.path] = m.node
		return true
	})
}

// Access looks a file up.
func (d *Disk) Access(name string, flags vfs.AccessFlag) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isCut {
		return false, sqlite3.IOERR_ACCESS
	}
	return d.inner.Access(name, flags)
}

// FullPathname gives the absolute path.
func (d *Disk) FullPathname(name string) (string, error) { return d.inner.FullPathname(name) }
