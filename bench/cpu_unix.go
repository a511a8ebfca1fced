//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime gives the processor time that this process has used, its own and the
// system's for it, or -1.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return -1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
