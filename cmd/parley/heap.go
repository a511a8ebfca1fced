package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much memory a daemon asks for and never touches, so that the system gives no page for it.
//
// The garbage collector begins when the heap is twice as large as what is in use. A daemon uses little, some
// megabytes, so with 500 messages a second it would begin ten times a second, and each time messages wait for
// the processors it takes. What is reserved counts as in use, and makes it begin once in some seconds. That is
// paid for with memory: a busy daemon has up to so much more garbage. One that rests gives it back, see [quietHeap].
//
// It comes in pieces because Go writes zeros to all of a piece of which some was used before.
const (
	heapReserveBytes = 192 << 20
	heapPieceBytes   = 4 << 20
)

// reserveHeap gives the reserve, which is there while it is referred to. Where the environment says
// how the collector is to work, that holds, and there is none.
func (a *app) reserveHeap() [][]byte {
	if a.getenv("GOGC") != "" || a.getenv("GOMEMLIMIT") != "" {
		return nil
	}
	pieces := make([][]byte, heapReserveBytes/heapPieceBytes)
	for i := range pieces {
		pieces[i] = make([]byte, heapPieceBytes)
	}
	return pieces
}

// When a daemon gives memory back.
const (
	quietInterval = 5 * time.Second
	quietBytes    = 4 << 20  // it rests if it asks for less in an interval
	spareBytes    = 16 << 20 // so much has to be spare
)

// quietHeap gives memory back in moments in which few have to wait for that: of a daemon that was busy and
// rests now. By itself Go would keep it for minutes.
type quietHeap struct {
	readFunc func() heapState
	giveFunc func()
	last     uint64 // allocated, when it was looked at last
}

// heapState is what the runtime knows of the heap, in bytes.
type heapState struct {
	allocated uint64 // since the start
	spare     uint64 // free, or allocated since the last collection, in use or not
}

// newQuietHeap looks at the heap of this process.
func newQuietHeap() *quietHeap { return &quietHeap{readFunc: readHeap, giveFunc: debug.FreeOSMemory} }

// run looks now and then, until ctx ends.
func (q *quietHeap) run(ctx context.Context) {
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

// look gives memory back if little was asked for since it last looked, and much is spare.
func (q *quietHeap) look() {
	h := q.readFunc()
	since := h.allocated - q.last
	q.last = h.allocated
	if since < quietBytes && h.spare >= spareBytes {
		q.giveFunc()
	}
}

func readHeap() heapState {
	s := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	allocated, live, objects, free := s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64(), s[3].Value.Uint64()
	return heapState{allocated: allocated, spare: objects - min(live, objects) + free}
}
