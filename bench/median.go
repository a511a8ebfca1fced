package bench

import "slices"

// median gives the middle value, or the mean of the two in the middle, and 0 if
// there is none. It leaves its argument as it is.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// pair collects a figure and its reference, round by round.
type pair struct {
	value, reference []float64
}

func (p *pair) medians() (value, reference float64) { return median(p.value), median(p.reference) }

// inTurns runs both sides of a round, the one or the other first by turns, so
// that neither always finds the caches, or the disk, as the other left them.
func inTurns(round int, value, reference func() error) error {
	first, second := value, reference
	if round%2 == 1 {
		first, second = reference, value
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}
