package feed

// window is the last things of an endless list, each under its index. It is
// bounded by count and by bytes; what is pushed out at the front is gone for
// those who have not read it yet.
type window[T any] struct {
	first    uint64 // index of items[0]
	items    []T
	sizes    []int
	bytes    int
	maxItems int
	maxBytes int

	// began is where the end was when a run of additions began. What the same
	// run pushed out nobody had a chance to read: those indexes, from lostFrom
	// to before lostTo, are no reader's fault.
	began, lostFrom, lostTo uint64
}

// found says what a window has under an index.
type found int

const (
	foundItem   found = iota
	foundEnd          // nothing yet
	foundLost         // gone before anybody could read it
	foundTooOld       // gone, and there was time
)

func (w *window[T]) end() uint64 { return w.first + uint64(len(w.items)) }

// begin starts a run of additions.
func (w *window[T]) begin() { w.began = w.end() }

// add puts an item at the end, and gives the last of those it pushed out.
func (w *window[T]) add(item T, size int) (gone T) {
	w.items, w.sizes, w.bytes = append(w.items, item), append(w.sizes, size), w.bytes+size
	for len(w.items) > w.maxItems || w.bytes > w.maxBytes {
		var none T
		gone, w.items[0] = w.items[0], none // the array stays a while
		w.bytes -= w.sizes[0]
		w.items, w.sizes, w.first = w.items[1:], w.sizes[1:], w.first+1
		if w.first > w.began {
			w.lostFrom, w.lostTo = w.began, w.first
		}
	}
	return gone
}

// clear forgets what everybody has read.
func (w *window[T]) clear() { w.startAt(w.end()) }

// startAt empties the window, whose next item has the given index.
func (w *window[T]) startAt(index uint64) {
	w.first, w.items, w.sizes, w.bytes = index, nil, nil, 0
}

// drop forgets what some have not read yet; they can read it elsewhere.
func (w *window[T]) drop() {
	if len(w.items) == 0 {
		return
	}
	if w.lostTo != w.first {
		w.lostFrom = w.first
	}
	w.lostTo = w.end()
	w.clear()
}

func (w *window[T]) get(index uint64) (item T, f found) {
	switch {
	case index >= w.end():
		return item, foundEnd
	case index >= w.first:
		return w.items[index-w.first], foundItem
	case w.lostFrom <= index && index < w.lostTo:
		return item, foundLost
	}
	return item, foundTooOld
}
