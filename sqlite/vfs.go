package sqlite

import (
	"strconv"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// writerVFS is what every connection that writes opens its files through: the writer's, the mover's, that of an upgrade and of a copy
// ([Store.CopyTo]). It gathers the writes to the WAL ([walFile]), clears what pages of the database
// no longer use, and has them written early ([dbFile]). Of all files it says when the disk is full ([fullFile]).
type writerVFS struct{ vfs.VFS }

// writerVFSNumber tells those over the same VFS apart.
var writerVFSNumber atomic.Int64

// registerWriterVFS registers a writerVFS over the VFS named base. Unregister is
// for when no connection uses it any more: what is registered is never freed.
func registerWriterVFS(base string) (name string, unregister func()) {
	name = "parley-" + base
	if base == "" {
		// Shared by all stores, and it holds nothing.
		vfs.Register(name, writerVFS{vfs.Find(base)})
		return name, func() {}
	}
	name += "-" + strconv.FormatInt(writerVFSNumber.Add(1), 10) // a copy is written beside the store's own
	vfs.Register(name, writerVFS{vfs.Find(base)})
	return name, func() { vfs.Unregister(name) }
}

// Open implements [vfs.VFS].
func (w writerVFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := w.VFS.Open(name, flags)
	return wrapFile(f, name, flags, err)
}

// OpenFilename implements [vfs.VFSFilename].
func (w writerVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := vfsutil.WrapOpenFilename(w.VFS, name, flags)
	return wrapFile(f, name.String(), flags, err)
}

func wrapFile(f vfs.File, path string, flags vfs.OpenFlag, err error) (vfs.File, vfs.OpenFlag, error) {
	if err != nil {
		return f, flags, err
	}
	f = fullFile{forwardingFile{f}}
	switch {
	case flags&vfs.OPEN_WAL != 0:
		f = &walFile{File: f, path: path}
	case flags&vfs.OPEN_MAIN_DB != 0:
		f = &dbFile{forwardingFile: forwardingFile{f}}
	}
	return f, flags, nil
}
