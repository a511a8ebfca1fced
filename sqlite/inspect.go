package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lukechampine.com/adiantum"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// applicationID marks a SQLite file as a store of Parley ("PARL").
const applicationID = 0x5041524C

const cannotRead = "cannot read the store"

// inspect looks at the file at path before SQLite does, so that what is not
// ours stays untouched. It reports whether there is a store. What SQLite has in
// its WAL it cannot see; readVersion looks again.
func inspect(path string, key []byte) (found bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return false, invalid("the folder %s of the store does not exist; make it first", filepath.Dir(path))
		}
		left, err := leftBeside(path)
		if left == "" || err != nil {
			return false, err
		}
		if _, err := os.Stat(path); err == nil {
			return inspect(path, key) // another process has made it at this moment
		}
		return false, invalid("the store %s is not there, but a part of it is, %s; put the store back, or move what begins with %s away to begin anew",
			path, left, filepath.Base(path)+"-")
	case err != nil:
		return false, openError(cannotRead, err)
	case info.IsDir():
		return false, invalid("%s is a folder; a store is a file", path)
	case info.Size() == 0:
		// A store is made under another name, so this was one.
		return false, invalid("%s is empty: it was cut off; restore a backup, or move it away to begin anew", path)
	case disk.Links(info) > 1:
		// Its lock and its WAL lie beside the name by which it was opened, and another process may use another name.
		return false, invalid("%s has another name (a hard link), and who opens it by that would not see what lies beside this one; remove one of the names, or make a copy with `parley backup`", path)
	}
	header, err := readHeader(path, key)
	if err != nil && key != nil && walFits(path, key) {
		// Half of a page cannot be decrypted. A move was cut short in the
		// first one, and what belongs there is in the WAL.
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if len(header) < headerSize {
		return false, errTruncated(path)
	}
	id := binary.BigEndian.Uint32(header[68:])
	version := int(binary.BigEndian.Uint32(header[60:]))
	if err := checkVersion(path, int64(id), version); err != nil {
		return false, err
	}
	return true, checkLength(path, header)
}

// inspectToOpen is [inspect] for who goes on to open what is there.
func inspectToOpen(path string, key []byte, readOnly bool) (found bool, err error) {
	if found, err = inspect(path, key); err != nil || !found || readOnly {
		return found, err
	}
	return found, checkWritable(path)
}

// checkWritable refuses a store whose files cannot be written, before SQLite finds out: what it would make beside the store until then
// gets the mode of that, and stands in the way when the mode has been put right.
func checkWritable(path string) error {
	for _, suffix := range []string{"", walSuffix} {
		f, err := os.OpenFile(path+suffix, os.O_RDWR, 0)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return parley.Errorf(parley.CodeUnavailable,
				"%s cannot be written: %v; make it writable (chmod u+w), or run Parley as the user it belongs to", path+suffix, err)
		}
	}
	return nil
}

// leftBeside gives a file that a store has left beside its place, with what it had not put into its own file. SQLite would take the
// WAL for one of a new store, and what was acknowledged and not applied would be gone.
func leftBeside(path string) (name string, err error) {
	for _, suffix := range storeSuffixes[1:] {
		info, err := os.Stat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist), suffix == walIndexSuffix: // which says nothing by itself
		case err != nil:
			return "", openError(cannotRead, err)
		case info.Size() > 0:
			return path + suffix, nil
		}
	}
	return "", nil
}

// readVersion gives the version of an open store; 0 is an empty one.
func readVersion(path string, c *conn) (version int, err error) {
	var id int64
	if _, err := c.one(func(r row) { id = r.int(0) }, "PRAGMA application_id"); err != nil {
		return 0, err
	}
	if _, err := c.one(func(r row) { version = int(r.int(0)) }, "PRAGMA user_version"); err != nil {
		return 0, err
	}
	if id == 0 && version == 0 {
		if used, err := c.exists("SELECT 1 FROM sqlite_schema"); err != nil || !used {
			return 0, err
		}
	}
	return version, checkVersion(path, id, version)
}

func checkVersion(path string, id int64, version int) error {
	if id != applicationID {
		return invalid("%s is the SQLite file of another program; choose another path", path)
	}
	if version > newest() {
		return invalid("%s was written by a newer Parley (format %d, this one knows up to %d); use the newer Parley, or restore the copy it kept before the upgrade",
			path, version, newest())
	}
	return nil
}

const headerSize = 100

// magic is how a SQLite file begins.
var magic = []byte("SQLite format 3\x00")

// readHeader reads the header of a store with this key, or, if it is nil, of one
// that is not encrypted. Another process may be writing the page at this moment,
// and half of one cannot be decrypted: so it is tried more than once.
func readHeader(path string, key []byte) (header []byte, err error) {
	const attempts = 5
	for range attempts {
		if header, err = readHeaderOnce(path, key); err == nil || key == nil {
			break
		}
	}
	return header, err
}

func readHeaderOnce(path string, key []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(cannotRead, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	page := make([]byte, pageBytes)
	n, err := io.ReadFull(f, page)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, openError(cannotRead, err)
	}
	plain := bytes.HasPrefix(page[:n], magic)
	switch {
	case key == nil && !plain:
		return nil, invalid("%s is not a store of Parley, or it is encrypted and was opened without its key; "+
			"choose another path, or restore a backup if it once was one", path)
	case key == nil:
		return page[:min(n, headerSize)], nil
	case plain:
		return nil, invalid("%s is not encrypted, but was opened with a key; open it without one", path)
	case n < pageBytes:
		return nil, errTruncated(path)
	}
	if key, err = databaseKey(key); err != nil {
		return nil, err
	}
	page = adiantum.New(key).Decrypt(page, make([]byte, tweakBytes))
	if !bytes.HasPrefix(page, magic) {
		return nil, invalid("the key does not fit the store %s, or the file is damaged; give the key it was encrypted with, or restore a backup", path)
	}
	return page[:headerSize], nil
}

// walFits reports whether the store has a WAL that the key fits.
func walFits(path string, key []byte) bool {
	f, err := os.Open(path + walSuffix)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	header := make([]byte, walHeaderBytes)
	if _, err := io.ReadFull(f, header); err != nil {
		return false
	}
	if key, err = walKey(key); err != nil {
		return false
	}
	header = adiantum.New(key).Decrypt(header, make([]byte, tweakBytes))
	// The last bit tells the order of bytes in its sums.
	return binary.BigEndian.Uint32(header)&^1 == walMagic
}

// Encrypted reports whether there is a store at path that needs a key, as far as
// its first bytes tell.
func Encrypted(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, openError(cannotRead, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(f, begin); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		return false, openError(cannotRead, err)
	}
	return !bytes.Equal(begin, magic), nil
}

// checkLength compares the file with the number of pages its header tells.
// While a WAL is there the file may be shorter: what is missing is
// in the WAL. Another process may be moving the WAL into the file, the header
// first: so the file is measured after the WAL was seen empty.
func checkLength(path string, header []byte) error {
	if wal, err := os.Stat(path + walSuffix); err == nil && wal.Size() > 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return openError(cannotRead, err)
	}
	pages := int64(binary.BigEndian.Uint32(header[28:]))
	if info.Size() < pageSize(header)*pages {
		return errTruncated(path)
	}
	return nil
}

func pageSize(header []byte) int64 {
	size := int64(binary.BigEndian.Uint16(header[16:]))
	if size == 1 { // as the format says: 65536 does not fit
		size = 65536
	}
	return size
}

func errTruncated(path string) error {
	return invalid("%s is truncated: a part of the file is missing; restore a backup", path)
}
