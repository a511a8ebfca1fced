//go:build !linux

package bench

import (
	"os"
	"syscall"
	"time"
)

// preallocate sets space aside for the first size bytes of the file.
func preallocate(f *os.File, size int64) error { return fillZeros(f, size) }

// freeSpace gives the bytes that can still be written under dir, or -1 where
// that is not known.
func freeSpace(string) int64 { return -1 }

// resident gives the resident memory of this process in bytes, or -1 where
// that is not known.
func resident() int64 { return -1 }

// residentOf gives that of any process.
func residentOf(int) int64 { return -1 }

// pauseUntil waits until a moment.
func pauseUntil(t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	<-timer.C
}

// alive reports whether a process is there. One that has ended is there until it is
// collected, so it gets a moment for that.
func alive(pid int) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		p, err := os.FindProcess(pid)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return false
		}
		<-tick.C
	}
	return true
}

func cpuModel() string { return "" }

func filesystem(string) string { return "" }
