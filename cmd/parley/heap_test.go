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
