package sqlite

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
	"lukechampine.com/adiantum"
	"lukechampine.com/adiantum/hbsh"
)

// KeyBytes is the length of the key of an encrypted store.
const KeyBytes = 32

// cipherVFS encrypts the files of a store with Adiantum, which keeps lengths:
// each page of the database for itself, and in the WAL each header
// and each page for itself. So a write never touches what was written before,
// and one that is torn by a power cut harms nothing but itself.
//
// The index of the WAL stays as it is: it holds numbers of pages.
// Other files, which only come up while a file is made, are kept in memory.
type cipherVFS struct {
	vfs.VFS
	database, wal []byte // keys
}

var cipherNumber atomic.Int64

// registerCipherVFS registers a cipherVFS over the VFS named base. The key is in
// no name. Unregister is for when no connection uses it any more.
func registerCipherVFS(base string, key []byte) (name string, unregister func(), err error) {
	c := cipherVFS{VFS: vfs.Find(base)}
	if c.database, err = databaseKey(key); err != nil {
		return "", nil, err
	}
	if c.wal, err = walKey(key); err != nil {
		return "", nil, err
	}
	name = base + "cipher-" + strconv.FormatInt(cipherNumber.Add(1), 10)
	vfs.Register(name, c)
	return name, func() { vfs.Unregister(name) }, nil
}

func databaseKey(key []byte) ([]byte, error) { return deriveKey(key, "parley database") }

func walKey(key []byte) ([]byte, error) { return deriveKey(key, "parley write-ahead log") }

// deriveKey makes a key for one purpose out of another.
func deriveKey(key []byte, purpose string) ([]byte, error) {
	if len(key) != KeyBytes {
		return nil, invalid("the key of a store has %d bytes, not %d", KeyBytes, len(key))
	}
	return hkdf.Key(sha256.New, key, nil, purpose, KeyBytes)
}

// Open implements [vfs.VFS].
func (c cipherVFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if inMemory(flags) {
		return &vfsutil.SliceFile{}, flags | vfs.OPEN_MEMORY, nil
	}
	f, flags, err := c.VFS.Open(name, flags)
	return c.wrap(f, flags, err)
}

// OpenFilename implements [vfs.VFSFilename].
func (c cipherVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if inMemory(flags) {
		return &vfsutil.SliceFile{}, flags | vfs.OPEN_MEMORY, nil
	}
	f, flags, err := vfsutil.WrapOpenFilename(c.VFS, name, flags)
	return c.wrap(f, flags, err)
}

func inMemory(flags vfs.OpenFlag) bool { return flags&(vfs.OPEN_MAIN_DB|vfs.OPEN_WAL) == 0 }

func (c cipherVFS) wrap(f vfs.File, flags vfs.OpenFlag, err error) (vfs.File, vfs.OpenFlag, error) {
	if err != nil {
		return nil, flags, err
	}
	if flags&vfs.OPEN_WAL != 0 {
		return &cipherFile{forwardingFile: forwardingFile{f}, cipher: adiantum.New(c.wal), unit: walUnit}, flags, nil
	}
	return &cipherFile{forwardingFile: forwardingFile{f}, cipher: adiantum.New(c.database), unit: pageUnit}, flags, nil
}

// Delete implements [vfs.VFS]. A journal that is kept in memory has no file.
func (c cipherVFS) Delete(name string, syncDir bool) error {
	if strings.HasSuffix(name, "-journal") {
		if found, err := c.VFS.Access(name, vfs.ACCESS_EXISTS); err != nil || !found {
			return err
		}
	}
	return c.VFS.Delete(name, syncDir)
}

// cipherFile is an encrypted file. It is used by one connection.
type cipherFile struct {
	forwardingFile
	cipher *hbsh.HBSH
	// unit gives the stretch that is encrypted together with the byte at off.
	unit func(off int64) (start, end int64)
	buf  []byte
}

// pageUnit is a page of the database.
func pageUnit(off int64) (start, end int64) {
	start = off &^ (pageBytes - 1)
	return start, start + pageBytes
}

// tweakBytes is the length of a unit's offset, which is part of its encryption.
const tweakBytes = 8

// walUnit is a header or a page in the WAL.
func walUnit(off int64) (start, end int64) {
	if off < walHeaderBytes {
		return 0, walHeaderBytes
	}
	start = off - (off-walHeaderBytes)%frameBytes
	if off < start+frameHeaderBytes {
		return start, start + frameHeaderBytes
	}
	return start + frameHeaderBytes, start + frameBytes
}

// each calls do for every unit of data, which begins with one at off. It reports
// how much of data is whole units.
func (f *cipherFile) each(data []byte, off int64, do func(unit, tweak []byte)) (whole int) {
	var tweak [tweakBytes]byte
	for whole < len(data) {
		start, end := f.unit(off + int64(whole))
		size := int(end - start)
		if start != off+int64(whole) || whole+size > len(data) {
			break
		}
		binary.LittleEndian.PutUint64(tweak[:], uint64(start))
		do(data[whole:whole+size], tweak[:])
		whole += size
	}
	return whole
}

// ReadAt decrypts. A unit that is not all there is the end of the file.
func (f *cipherFile) ReadAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	start, _ := f.unit(off)
	_, end := f.unit(off + int64(len(p)) - 1)
	data := f.room(int(end - start))
	n, err := f.File.ReadAt(data, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	n = f.each(data[:n], start, func(unit, tweak []byte) { f.cipher.Decrypt(unit, tweak) })
	skip := int(off - start)
	if n <= skip {
		return 0, io.EOF
	}
	if n = copy(p, data[skip:n]); n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt encrypts. SQLite writes whole units; half of one would have to be put
// together with what is there, which is not safe.
func (f *cipherFile) WriteAt(p []byte, off int64) (int, error) {
	data := f.room(len(p))
	copy(data, p)
	if f.each(data, off, func(unit, tweak []byte) { f.cipher.Encrypt(unit, tweak) }) != len(p) {
		return 0, sqlite3.IOERR_WRITE
	}
	return f.File.WriteAt(data, off)
}

// room gives a buffer. A large one is not kept.
func (f *cipherFile) room(size int) []byte {
	if size > maxKeptBuffer {
		return make([]byte, size)
	}
	if cap(f.buf) < size {
		f.buf = make([]byte, max(size, frameBytes))
	}
	return f.buf[:size]
}

// DeviceCharacteristics are those of the file below that still hold.
func (f *cipherFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() & (vfs.IOCAP_ATOMIC4K | vfs.IOCAP_SEQUENTIAL | vfs.IOCAP_POWERSAFE_OVERWRITE |
		vfs.IOCAP_IMMUTABLE | vfs.IOCAP_SUBPAGE_READ | vfs.IOCAP_UNDELETABLE_WHEN_OPEN)
}
