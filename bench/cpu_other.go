//go:build !unix

package bench

import "time"

// cpuTime gives the processor time that this process has used, or -1 where that
// is not known.
func cpuTime() time.Duration { return -1 }
