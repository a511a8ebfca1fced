package main

import "testing"

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
		if got := len(a.reserveHeap()); got != want {
			t.Errorf("with %q set %d bytes are reserved; want %d", name, got, want)
		}
	}
}

// TestQuietHeap: a daemon collects its garbage when it rests, not while it is busy, and not over and over.
func TestQuietHeap(t *testing.T) {
	t.Parallel()
	var state heapState
	collected := 0
	q := quietHeap{readFunc: func() heapState { return state }, collectFunc: func() { collected++; state.garbage = 0 }}
	for i, step := range []struct {
		allocates, leaves uint64
		want              int
	}{
		{allocates: 100 << 20, leaves: 100 << 20, want: 0}, // busy
		{allocates: 50 << 20, leaves: 50 << 20, want: 0},
		{allocates: 1 << 20, leaves: 1 << 20, want: 1}, // rests
		{allocates: 1 << 20, leaves: 1 << 20, want: 1}, // there is nothing to collect
		{allocates: 90 << 20, leaves: 8 << 20, want: 1},
		{want: 1}, // little is not worth it
	} {
		state.allocated += step.allocates
		state.garbage += step.leaves
		q.look()
		if collected != step.want {
			t.Errorf("step %d: collected %d times; want %d", i, collected, step.want)
		}
	}
}

// TestReadHeap: what the runtime says is taken for what it is.
func TestReadHeap(t *testing.T) {
	t.Parallel()
	before := readHeap()
	garbage := make([]byte, 32<<20)
	after := readHeap()
	if got := after.allocated - before.allocated; got < uint64(len(garbage)) {
		t.Errorf("%d bytes were allocated; want %d and more", got, len(garbage))
	}
}
