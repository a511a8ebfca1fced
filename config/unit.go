package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes. It is written with a unit, such as 25MiB.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// String gives the size in the largest binary unit that leaves no fraction.
func (s Size) String() string {
	for _, u := range sizeUnits[:4] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// MarshalText gives the size as it is written in a configuration.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var (
	errNoUnit  = errors.New("no unit")
	errNotUnit = errors.New("not a unit")
	errRange   = errors.New("out of range")
)

// parseSize reads a size. A number without a unit counts bytes.
func parseSize(text string) (Size, error) {
	factor, number := int64(1), text
	for _, u := range sizeUnits {
		if before, ok := strings.CutSuffix(text, u.name); ok {
			factor, number = u.bytes, strings.TrimRight(before, " ")
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errRange
	}
	if err != nil {
		return 0, errNotUnit
	}
	if n > math.MaxInt64/factor || n < math.MinInt64/factor {
		return 0, errRange
	}
	return Size(n * factor), nil
}

const day = 24 * time.Hour

// parseDuration reads a duration as Go writes it, with d for days as well. As
// one unit may follow the other, 1d12h is a day and a half.
func parseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n != 0 {
		return 0, errNoUnit
	}
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, errNotUnit
		}
		return d, nil
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || strings.ContainsAny(days, "eEiInNxXpP_") {
		return 0, errNotUnit
	}
	if math.Abs(n) > 100_000 {
		return 0, errRange
	}
	d := time.Duration(n * float64(day))
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || rest[0] == '+' || rest[0] == '-' {
		return 0, errNotUnit
	}
	if math.Signbit(n) {
		more = -more
	}
	if sum := d + more; (sum >= d) == (more >= 0) {
		return sum, nil
	}
	return 0, errRange
}

// formatDuration writes a duration as short as parseDuration reads it.
func formatDuration(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
