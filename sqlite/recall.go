package sqlite

import (
	"cmp"
	"container/list"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

const (
	maxRecalled  = 64 << 20 // bytes in all
	maxRun       = 2 << 20  // bytes of a run: a longer one is read anew each time
	keptOverhead = 256      // about what an event takes besides its texts, and a run besides its events
)

// keptUnused is how long events are kept that nobody asks for: a conversation that rests
// takes no memory.
const keptUnused = 10 * time.Minute

// recall keeps events of some types that were read, for who reads them again: each turn
// begins with all that was said in its session, of which only the end is new. In the
// file that is spread over a page or two for each turn.
//
// A committed event stays as it is until its body is taken away, or it is deleted. A
// commit that does so suspends it, and everything is forgotten. So does one of which nobody knows what
// became: others may have seen it, and it may not stay. It is resumed when the next commit is there. A
// transaction that began before that has no use of it: it may see what was taken away.
type recall struct {
	mu         sync.Mutex
	suspended  bool
	generation uint64 // how often it was resumed
	runs       map[runKey]*list.Element
	order      list.List // of *run, the one used last in front
	bytes      int
	tidies     *time.Timer // gives up what nobody asks for; nil: there is nothing
}

// runKey names the events of some types in a log.
type runKey struct {
	log   int64
	types string
}

// run is all events of its key from one seq to another.
type run struct {
	key         runKey
	first, last uint64
	events      []parley.Event // without their session: forks share them
	bytes       int
	used        time.Time
}

// begin gives the generation for a transaction that is about to begin.
func (r *recall) begin() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.generation
}

// suspend forgets everything and keeps nothing more, before a commit that takes something
// away.
func (r *recall) suspend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suspended = true
	r.runs, r.bytes = nil, 0
	r.order.Init()
	if r.tidies != nil {
		r.tidies.Stop()
		r.tidies = nil
	}
}

// resume ends that, if it was suspended, when a commit is there.
func (r *recall) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.suspended {
		r.suspended = false
		r.generation++
	}
}

// tidy gives up what nobody has asked for lately.
func (r *recall) tidy() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tidies == nil {
		return // it was suspended
	}
	for place := r.order.Back(); place != nil; place = r.order.Back() {
		last, _ := place.Value.(*run)
		if left := keptUnused - time.Since(last.used); left > 0 {
			r.tidies.Reset(left)
			return
		}
		r.drop(place)
	}
	r.tidies = nil
}

// serves reports whether a transaction of a generation may use it. The lock is held.
func (r *recall) serves(generation uint64) bool { return !r.suspended && generation == r.generation }

// known gives the events from first to last that are kept, at most limit of them, and the
// seq behind what it knows of.
func (r *recall) known(generation uint64, key runKey, first, last uint64, limit int) (events []parley.Event, next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	place := r.runs[key]
	if place == nil || !r.serves(generation) {
		return nil, first
	}
	kept, _ := place.Value.(*run)
	if first < kept.first || first > kept.last {
		return nil, first
	}
	r.order.MoveToFront(place)
	kept.used = time.Now()
	next = min(last, kept.last) + 1
	events = kept.events[seqIndex(kept.events, first):seqIndex(kept.events, next)]
	if len(events) >= limit {
		events = events[:limit]
		next = events[limit-1].Seq + 1
	}
	room := min(last+1-next, uint64(limit-len(events)), fewEvents) // for those that are not kept
	return append(make([]parley.Event, 0, len(events)+int(room)), events...), next
}

// keep keeps events that were read: all from first to last.
func (r *recall) keep(generation uint64, key runKey, first, last uint64, events []parley.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.serves(generation) {
		return
	}
	kept := &run{key: key, first: first, bytes: keptOverhead + len(key.types)}
	if place := r.runs[key]; place != nil {
		old, _ := place.Value.(*run)
		if old.first <= first && last <= old.last {
			return // somebody else read it at the same time
		}
		switch {
		case old.first <= first && first <= old.last+1:
			kept, events = old, events[seqIndex(events, old.last+1):]
		case last-first < old.last-old.first:
			return // who reads more has more use of it
		}
		r.drop(place)
	}
	kept.last, kept.used = last, time.Now()
	for i := range events {
		e := &events[i]
		kept.bytes += keptOverhead + len(e.Data) + len(e.Type) + len(e.Turn) + len(e.Identity)
	}
	if kept.bytes > maxRun {
		return
	}
	kept.events = append(kept.events, events...)
	if r.runs == nil {
		r.runs = map[runKey]*list.Element{}
	}
	r.runs[key] = r.order.PushFront(kept)
	if r.tidies == nil {
		r.tidies = time.AfterFunc(keptUnused, r.tidy)
	}
	for r.bytes += kept.bytes; r.bytes > maxRecalled; {
		r.drop(r.order.Back())
	}
}

// drop takes a run out. The lock is held.
func (r *recall) drop(place *list.Element) {
	old, _ := r.order.Remove(place).(*run)
	delete(r.runs, old.key)
	r.bytes -= old.bytes
}

// seqIndex gives where the events from a seq on begin.
func seqIndex(events []parley.Event, seq uint64) int {
	i, _ := slices.BinarySearchFunc(events, seq, func(e parley.Event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	return i
}

// typesKey names a list of types.
func typesKey(types []parley.EventType) string {
	var b []byte
	for _, t := range types {
		b = strconv.AppendInt(b, int64(len(t)), 10)
		b = append(b, ':')
		b = append(b, t...)
	}
	return string(b)
}
