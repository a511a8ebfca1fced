package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapReserveBytes is how much memory a daemon asks for and never touches, so that the system gives no
// page for it.
//
// The garbage collector begins when the heap is twice as large as what is in use. A daemon uses little, some
// megabytes, so with 500 messages a second it would begin ten times a second, and each time messages wait for
// the processors it takes. What is reserved counts as in use, and makes it begin once in some seconds. That is
// paid for with memory: a busy daemon has up to so much more garbage. One that rests gives it back, see [quietHeap].
const heapReserveBytes = 192 << 20

// reserveHeap gives the reserve, which is there while it is referred to. Where the environment says
// how the collector is to work, that holds, and there is none.
func (a *app) reserveHeap() []byte {
	if a.getenv("GOGC") != "" || a.getenv("GOMEMLIMIT") != "" {
		return nil
	}
	reserve := make([]byte, heapReserveBytes)
	untouch(reserve)
	return reserve
}

// When a daemon rests, and what is worth to be collected then.
const (
	quietInterval  = 5 * time.Second
	quietBytes     = 4 << 20  // it rests if it asks for less in an interval
	worthCollected = 16 << 20 // of garbage
)

// quietHeap looks for moments in which nobody has to wait for a collection.
type quietHeap struct {
	readFunc    func() heapState
	collectFunc func()
	last        uint64 // allocated, when it was looked at last
}

// heapState is what the runtime knows of the heap.
type heapState struct {
	allocated uint64 // since the start, in bytes
	garbage   uint64 // that was not collected yet, and what came since the last collection
}

// collectWhenQuiet gives the system back what a daemon used that was busy and rests now, until ctx ends.
func collectWhenQuiet(ctx context.Context) {
	q := quietHeap{readFunc: readHeap, collectFunc: debug.FreeOSMemory}
	tick := time.NewTicker(quietInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			q.look()
		case <-ctx.Done():
			return
		}
	}
}

// look collects garbage if little was asked for since it last looked.
func (q *quietHeap) look() {
	h := q.readFunc()
	since := h.allocated - q.last
	q.last = h.allocated
	if since < quietBytes && h.garbage >= worthCollected {
		q.collectFunc()
	}
}

func readHeap() heapState {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	objects, live := s[1].Value.Uint64(), s[2].Value.Uint64()
	return heapState{allocated: s[0].Value.Uint64(), garbage: objects - min(live, objects)}
}
