package parley

import "time"

// Clock gives the time, so that tests can hold it still and move it.
type Clock interface {
	// Now gives the present instant.
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own once d has passed. Stop
	// prevents that and reports whether it did.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now gives the present instant.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc calls f once d has passed.
func (SystemClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
