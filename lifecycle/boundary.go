package lifecycle

import "time"

// reach is more than any zone has ever been ahead of or behind UTC.
const reach = 26 * time.Hour

// LastBoundary gives the last instant, now or before, at which a day began in the
// policy's zone.
//
// Each calendar day begins once: at the first instant at which the wall clock
// shows the policy's hour of that day, or a later time. So where clocks are put
// forward over that hour, the day begins right after the gap; where they are put
// back and show it twice, it is the first of the two; and a day that a zone left
// out altogether begins, and ends, where the gap is.
func (p Policy) LastBoundary(now time.Time) time.Time {
	// Clocks that go back over midnight show the day before again, so the last
	// boundary can be that of the day after the one they show.
	for day := 1; ; day-- {
		if b := p.boundary(now, day); !b.After(now) {
			return b
		}
	}
}

// NextBoundary gives the first instant after t at which a day begins in the
// policy's zone. LastBoundary says when a day begins.
func (p Policy) NextBoundary(t time.Time) time.Time {
	for day := -1; ; day++ {
		if b := p.boundary(t, day); b.After(t) {
			return b
		}
	}
}

// boundary gives the instant at which a calendar day begins: the one that the
// wall clock shows at t, or so many days later.
func (p Policy) boundary(t time.Time, days int) time.Time {
	zone := p.zone()
	year, month, day := t.In(zone).Date()
	// What the wall clock has to show, as if it were UTC.
	wall := time.Date(year, month, day+days, p.hour(), 0, 0, 0, time.UTC)
	// Each step is a stretch with one offset. At its start the clock shows less
	// than wall, or it has just jumped over it.
	from := wall.Add(-reach).In(zone)
	for {
		_, seconds := from.Zone()
		offset := time.Duration(seconds) * time.Second
		at := wall.Add(-offset)
		if !at.After(from) {
			return from.UTC()
		}
		_, end := from.ZoneBounds()
		if !end.IsZero() && !end.After(from) {
			// Package time may say so on the last day of a leap year, and then
			// the loop would never end. No clocks are changed on that day.
			end = from.Add(time.Hour)
		}
		if end.IsZero() || at.Before(end) {
			return at
		}
		from = end
	}
}
