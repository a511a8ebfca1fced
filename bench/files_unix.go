//go:build unix

package bench

import "syscall"

// openFiles gives how many files a process may have open, or -1. The runtime has
// raised that to what the system allows.
func openFiles() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return -1
	}
	return int64(min(uint64(limit.Cur), 1<<62)) //nolint:unconvert // it is signed on some systems
}
