package sqlite

import "encoding/binary"

// writeTogether is after how many pages the system is asked to write them.
const writeTogether = 32

// dbFile is a database whose pages hold nothing but what they are used for. When
// SQLite divides a page, the old bytes stay in the gap between its pointers and
// its cells, beyond the reach of secure_delete; a redacted text could survive
// there. So the gap of every page is cleared when the page is written.
//
// The system is made to write the pages while more of them come. Else all are written
// when the file is synced, at once, and a commit that syncs the WAL waits behind them.
type dbFile struct {
	forwardingFile
	page    [pageBytes]byte
	pending int // pages that the system was not asked to write

	pauseFunc func() // if set, is called each time the system was asked
}

// WriteAt clears the gap of a page. SQLite's own copy is left as it is.
func (f *dbFile) WriteAt(p []byte, off int64) (int, error) {
	if f.pending++; f.pending >= writeTogether {
		f.pending = 0
		defer f.startWriting()
	}
	first, last := pageGap(p, off)
	if first >= last {
		return f.File.WriteAt(p, off)
	}
	copy(f.page[:], p)
	clear(f.page[first:last])
	return f.File.WriteAt(f.page[:], off)
}

// startWriting lets the system begin to write.
func (f *dbFile) startWriting() {
	if f.pauseFunc != nil {
		defer f.pauseFunc()
	}
	startWriting(f.File, 0, 0)
}

// pageGap gives the unused stretch of a page of a table or an index, and an
// empty one for everything else. Overflow and free pages begin with the number
// of a page, whose first byte is none of the types while the file has less than
// 2^25 pages; beyond that nothing is cleared.
func pageGap(p []byte, off int64) (first, last int) {
	const (
		indexNode, tableNode, indexLeaf, tableLeaf = 2, 5, 10, 13
		maxOffset                                  = pageBytes << 25
	)
	if len(p) != pageBytes || off%pageBytes != 0 || off >= maxOffset {
		return 0, 0
	}
	start := 0
	if off == 0 {
		start = headerSize
	}
	size := 8
	switch p[start] {
	case indexNode, tableNode:
		size = 12
	case indexLeaf, tableLeaf:
	default:
		return 0, 0
	}
	cells := int(binary.BigEndian.Uint16(p[start+3:]))
	first = start + size + 2*cells
	last = int(binary.BigEndian.Uint16(p[start+5:]))
	if last > pageBytes {
		return 0, 0
	}
	return first, last
}
