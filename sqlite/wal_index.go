//go:build linux || darwin

package sqlite

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
)

// movesBeside says that the WAL can be moved by a connection beside the
// writer's, because forgetMoved works.
const movesBeside = true

// The index of a WAL begins with two headers that are the same, which have how many frames there are. After them comes
// how many of those have been moved. The driver has the words with the low byte first on every machine. By the description of its format: https://sqlite.org/walformat.html
const (
	framesOffset = 16
	headersBytes = 96
	movedOffset  = headersBytes
)

// indexedFrames gives how many frames the WAL has, by its index. Nobody may be writing it at that time.
func indexedFrames(path string) (int, error) {
	index, err := os.Open(path + walIndexSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var frames [4]byte
	_, err = index.ReadAt(frames[:], framesOffset)
	return int(binary.LittleEndian.Uint32(frames[:])), errors.Join(err, index.Close())
}

// forgetMoved makes the next move bring the whole WAL into the database, as one after a crash does:
// also what was moved before. Nobody may be moving it at that time.
func forgetMoved(path string) error { return clearWALIndex(path, movedOffset, 4) }

// forgetWALIndex has the index made anew from the WAL, as after a crash, by who looks at it next.
func forgetWALIndex(path string) error { return clearWALIndex(path, 0, headersBytes) }

func clearWALIndex(path string, at int64, size int) error {
	index, err := os.OpenFile(path+walIndexSuffix, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = index.WriteAt(make([]byte, size), at)
	return errors.Join(err, index.Close())
}
