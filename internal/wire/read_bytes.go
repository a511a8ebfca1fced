package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort says that the bytes end too early.
var errShort = errors.New("the bytes end too early")

// decoder is one call of [Codec.Decode]. Nothing is made before it is known that
// there are bytes for it.
type decoder struct {
	data  []byte
	pos   int
	depth int
}

func (d *decoder) left() int { return len(d.data) - d.pos }

// uvarint reads a varint that was written in as few bytes as it takes.
func (d *decoder) uvarint() (uint64, error) {
	n, size := binary.Uvarint(d.data[d.pos:])
	switch {
	case size == 0:
		return 0, errShort
	case size < 0 || size > 1 && d.data[d.pos+size-1] == 0:
		return 0, errors.New("a number is written in too many bytes")
	}
	d.pos += size
	return n, nil
}

func (d *decoder) varint() (int64, error) {
	u, err := d.uvarint()
	return int64(u>>1) ^ -int64(u&1), err
}

// take gives the next n bytes, which are the input's.
func (d *decoder) take(n uint64) ([]byte, error) {
	if n > uint64(d.left()) {
		return nil, errShort
	}
	b := d.data[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return b, nil
}

// text gives bytes that have their length before them, which are the input's.
func (d *decoder) text() ([]byte, error) {
	n, err := d.uvarint()
	if err != nil {
		return nil, err
	}
	return d.take(n)
}

// count reads how many elements a slice or a map has, each of which takes so many
// bytes at least.
func (d *decoder) count(least int) (n int, null bool, err error) {
	u, err := d.uvarint()
	if err != nil || u == 0 {
		return 0, true, err
	}
	if u-1 > uint64(d.left()/least) {
		return 0, false, errShort
	}
	return int(u - 1), false, nil
}

// quote shows a name that may be anything.
func quote(name []byte) string {
	const most = 64
	if len(name) > most {
		return fmt.Sprintf("%q…", name[:most])
	}
	return fmt.Sprintf("%q", name)
}
