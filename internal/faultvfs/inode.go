package faultvfs

import "math/rand/v2"

// sectorSize is the smallest piece that a disk writes whole.
const sectorSize = 512

// inode is the content of one file: what is safe, and what came later.
type inode struct {
	safe    []byte
	pending []change
}

// change is a write (data at off), or, without data, a new size.
type change struct {
	off  int64
	data []byte
	size int64
}

// sync makes all changes safe.
func (n *inode) sync() {
	for _, c := range n.pending {
		n.safe = c.apply(n.safe)
	}
	n.pending = nil
}

// lose makes a random part of the changes safe and forgets the others.
func (n *inode) lose(r *rand.Rand) {
	n.safe = n.survive(r, r.Float64()/2)
	n.pending = nil
}

// survive gives the bytes that are there after a power cut: a change is kept
// with the given probability.
func (n *inode) survive(r *rand.Rand, keep float64) []byte {
	img := append([]byte(nil), n.safe...)
	for _, c := range n.pending {
		switch {
		case r.Float64() < keep:
			img = c.apply(img)
		case c.data == nil:
		case keep > 0 && r.IntN(2) == 0:
			for _, piece := range c.sectors() {
				if r.IntN(2) == 0 {
					img = piece.apply(img)
				}
			}
		case keep > 0 && r.IntN(4) == 0:
			if end := c.off + int64(len(c.data)); end > int64(len(img)) {
				img = resize(img, end)
			}
		}
	}
	return img
}

func (c change) apply(img []byte) []byte {
	if c.data == nil {
		return resize(img, c.size)
	}
	if end := c.off + int64(len(c.data)); end > int64(len(img)) {
		img = resize(img, end)
	}
	copy(img[c.off:], c.data)
	return img
}

// sectors cuts a write at the boundaries of sectors.
func (c change) sectors() []change {
	var pieces []change
	for off, data := c.off, c.data; len(data) > 0; {
		n := min(sectorSize-off%sectorSize, int64(len(data)))
		pieces = append(pieces, change{off: off, data: data[:n]})
		off, data = off+n, data[n:]
	}
	return pieces
}

// resize gives img another length; what it gains is zeros. It doubles, because
// append grows large slices by little, and each time the race detector looks at
// all of them.
func resize(img []byte, size int64) []byte {
	old := len(img)
	if size > int64(cap(img)) {
		grown := make([]byte, old, max(size, 2*int64(cap(img))))
		copy(grown, img)
		img = grown
	}
	img = img[:size]
	if size > int64(old) {
		clear(img[old:])
	}
	return img
}
