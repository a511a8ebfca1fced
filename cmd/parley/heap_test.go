package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// TestReserveHeap: who says how the collector is to work is not interfered with.
func TestReserveHeap(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": heapReserveBytes, "GOGC": 0, "GOMEMLIMIT": 0} {
		a := &app{getenv: func(asked string) string {
			if asked == name {
				return "100"
			}
			return ""
		}}
		got := 0
		for _, piece := range a.reserveHeap() {
			got += len(piece)
		}
		if got != want {
			t.Errorf("with %q set %d bytes are reserved; want %d", name, got, want)
		}
	}
}

// TestQuietHeap: a daemon gives memory back when it rests, not while it is busy, and not over and over.
func TestQuietHeap(t *testing.T) {
	t.Parallel()
	var state heapState
	given := 0
	q := quietHeap{readFunc: func() heapState { return state }, giveFunc: func() { given++; state.spare = 0 }}
	for i, step := range []struct {
		allocates, spares uint64
		want              int
	}{
		{allocates: 100 << 20, spares: 100 << 20, want: 0}, // busy
		{allocates: 50 << 20, spares: 50 << 20, want: 0},
		{allocates: 1 << 20, spares: 1 << 20, want: 1}, // rests
		{allocates: 1 << 20, spares: 1 << 20, want: 1}, // there is nothing to give
		{allocates: 90 << 20, spares: 8 << 20, want: 1},
		{want: 1}, // little is not worth it
		{spares: 50 << 20, want: 2},
	} {
		state.allocated += step.allocates
		state.spare += step.spares
		q.look()
		if given != step.want {
			t.Errorf("step %d: memory was given back %d times; want %d", i, given, step.want)
		}
	}
}

// TestQuietHeap_Run: it looks at each interval, and ends with its context.
func TestQuietHeap_Run(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		q := quietHeap{readFunc: func() heapState { looked++; return heapState{} }}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); q.run(ctx) }()
		time.Sleep(3*quietInterval + quietInterval/2) //nolint:forbidigo // in a bubble it takes no time
		stop()
		<-ended
		if looked != 3 {
			t.Errorf("it looked %d times in three intervals", looked)
		}
	})
}

// TestReadHeap: what the runtime says is taken for what it is.
func TestReadHeap(t *testing.T) { // not beside others, which allocate as well
	debug.FreeOSMemory()
	none := readHeap()
	const size = 64 << 20
	made := make([]byte, size)
	before := readHeap()
	if got := before.allocated - none.allocated; got < size {
		t.Errorf("%d bytes were allocated; want %d and more", got, size)
	}
	if before.spare < none.spare+size/2 {
		t.Errorf("%d bytes are spare before a collection, and %d were before the last %d", before.spare, none.spare, size)
	}
	runtime.KeepAlive(made)
	debug.FreeOSMemory()
	if after := readHeap(); after.spare > size/4 {
		t.Errorf("%d bytes are spare after all was given back", after.spare)
	}
}
