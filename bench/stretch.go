package bench

import "time"

// stretch bounds a stretch of work: so many operations per writer, and no more
// when the time is over. A slow disk makes a stretch short, not endless.
type stretch struct {
	each  int
	limit time.Duration
}

// over reports whether the time is over. One operation is always done.
func (l stretch) over(start time.Time, done int) bool {
	return done > 0 && time.Since(start) > l.limit
}

// rate gives operations per second.
func rate(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

// milliseconds gives a time in the unit of the reports.
func milliseconds(took time.Duration) float64 { return float64(took) / float64(time.Millisecond) }

// typical gives the median time of n operations, in milliseconds: one that was
// held up by something else on the machine does not count.
func typical(n int, operation func(i int) error) (float64, error) {
	times := make([]float64, n)
	for i := range times {
		start := time.Now()
		if err := operation(i); err != nil {
			return 0, err
		}
		times[i] = milliseconds(time.Since(start))
	}
	return median(times), nil
}
