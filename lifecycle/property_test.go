package lifecycle_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/lifecycle"
)

// zones are places with all kinds of clocks.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/Dublin", "Europe/London", "America/New_York", "America/St_Johns", "America/Sao_Paulo",
	"America/Havana", "America/Asuncion", "America/Santiago", "America/Scoresbysund", "America/Godthab", "Atlantic/Azores",
	"Africa/Casablanca", "Africa/Cairo", "Africa/Monrovia", "Asia/Amman", "Asia/Gaza", "Asia/Kathmandu", "Asia/Tehran", "Asia/Pyongyang",
	"Australia/Lord_Howe", "Australia/Eucla", "Antarctica/Troll", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati",
	"Pacific/Kwajalein", "Pacific/Pago_Pago",
}

// draw is a source of policies and instants. Half of the instants are near a
// change of the clocks.
type draw struct {
	*rand.Rand
	locations []*time.Location
}

func newDraw(t *testing.T, seed uint64) draw {
	t.Helper()
	d := draw{Rand: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range zones {
		d.locations = append(d.locations, zone(t, name))
	}
	return d
}

func (d draw) policy() lifecycle.Policy {
	modes := []lifecycle.Mode{lifecycle.ModeNone, lifecycle.ModeIdle, lifecycle.ModeDaily, lifecycle.ModeBoth, ""}
	p := lifecycle.Policy{Mode: modes[d.IntN(len(modes))], Zone: d.locations[d.IntN(len(d.locations))]}
	if d.IntN(8) > 0 {
		p.AtHour = new(d.IntN(24))
	}
	if d.IntN(4) > 0 {
		p.Idle = time.Duration(1+d.Int64N(3000)) * time.Minute
	}
	return p
}

func (d draw) instant(z *time.Location) time.Time {
	at := time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(d.Int64N(int64(100 * 365 * 24 * time.Hour))))
	if d.IntN(2) > 0 {
		if start, _ := at.In(z).ZoneBounds(); !start.IsZero() {
			at = start.Add(time.Duration(d.Int64N(int64(72*time.Hour))) - 36*time.Hour)
		}
	}
	return at.Truncate([]time.Duration{time.Hour, time.Minute, time.Microsecond}[d.IntN(3)]).UTC()
}

// TestBoundaryIsTheLastOne compares a boundary with the wall clock as somebody
// would see it who looks at it all the time.
func TestBoundaryIsTheLastOne(t *testing.T) {
	t.Parallel()
	d := newDraw(t, soak.Seed(t))
	for range soak.Count(2_000, 20_000) {
		p := d.policy()
		now := d.instant(p.Zone)
		hour := lifecycle.DefaultAtHour
		if p.AtHour != nil {
			hour = *p.AtHour
		}
		got := p.LastBoundary(now)
		if want := watch(now, hour, p.Zone); !got.Equal(want) {
			t.Fatalf("%s, hour %d, at %s: got %s, want %s", p.Zone, hour, now, got, want)
		}
		if got.After(now) {
			t.Fatalf("%s, hour %d, at %s: the boundary %s is later", p.Zone, hour, now, got)
		}
		// A day is 24 hours of the wall clock, and as much more as it was put back.
		most := 24*time.Hour + offset(got, p.Zone) - offset(now, p.Zone)
		if now.Sub(got) >= most {
			t.Fatalf("%s, hour %d, at %s: the boundary %s is not within %s", p.Zone, hour, now, got, most)
		}
	}
}

// watch finds the last boundary by watching the wall clock for three days, second
// by second where it may matter: the last time that it showed more than ever
// before and reached the hour.
func watch(now time.Time, hour int, z *time.Location) time.Time {
	var last time.Time
	day := func(at time.Time) int64 { // days since 1970 that have begun, by the wall clock
		wall := at.Unix() + int64(offset(at, z)/time.Second) - int64(hour)*3600
		if wall < 0 {
			wall -= 86_399
		}
		return wall / 86_400
	}
	start := now.Add(-72 * time.Hour).Truncate(time.Minute)
	most := day(start)
	for at := start; !at.After(now); at = at.Add(time.Minute) {
		if day(at) <= most {
			continue
		}
		first := at
		for back := at; back.After(at.Add(-time.Minute)); back = back.Add(-time.Second) {
			if day(back) > most {
				first = back
			}
		}
		most, last = day(at), first
	}
	for at := now.Truncate(time.Minute); !at.After(now); at = at.Add(time.Second) {
		if day(at) > most {
			most, last = day(at), at
		}
	}
	return last
}

func offset(at time.Time, z *time.Location) time.Duration {
	_, seconds := at.In(z).Zone()
	return time.Duration(seconds) * time.Second
}

// TestOpenTurnsOnce: before Due a session is used on, from Due on it is reset,
// and nothing else changes the answer. So it is the same for two instants
// without a boundary in between, and once a reset is due it stays due.
func TestOpenTurnsOnce(t *testing.T) {
	t.Parallel()
	d := newDraw(t, soak.Seed(t))
	resets, daily := 0, 0
	for range soak.Count(10_000, 100_000) {
		p := d.policy()
		last := d.instant(p.Zone)
		s := session(last)
		now := last.Add(time.Duration(d.Int64N(int64(60 * time.Hour))))
		got := lifecycle.Open(s, lifecycle.Work{}, p, now)
		never := p.Mode == lifecycle.ModeNone
		if got.Due.IsZero() != never {
			t.Fatalf("mode %q gives %s as the time of a reset", p.Mode, got.Due)
		}
		if due := !never && !now.Before(got.Due); due != (got.Action == lifecycle.ActionReset) {
			t.Fatalf("%+v, last %s, now %s: %s, and due at %s", p, last, now, got.Action, got.Due)
		}
		if got.Action == lifecycle.ActionReset {
			resets++
		}
		if never {
			continue
		}
		before := lifecycle.Open(s, lifecycle.Work{}, p, got.Due.Add(-1))
		at := lifecycle.Open(s, lifecycle.Work{}, p, got.Due)
		if before.Action != lifecycle.ActionReuse || at.Action != lifecycle.ActionReset {
			t.Fatalf("%+v, last %s: %s before and %s at %s", p, last, before.Action, at.Action, got.Due)
		}
		if at.Reason != lifecycle.ReasonDaily {
			continue
		}
		daily++
		if b := p.LastBoundary(got.Due); !b.Equal(got.Due) || !b.After(last) {
			t.Fatalf("%+v, last %s: due at %s, but the boundary is at %s", p, last, got.Due, b)
		}
		if b := p.LastBoundary(got.Due.Add(-1)); b.After(last) {
			t.Fatalf("%+v, last %s: due at %s, but there is a boundary at %s", p, last, got.Due, b)
		}
	}
	if resets == 0 || daily == 0 {
		t.Fatalf("%d resets, %d of them daily: too few to say anything", resets, daily)
	}
}

// TestBlockedNeverResets: whatever the clocks say, work under way keeps a
// session.
func TestBlockedNeverResets(t *testing.T) {
	t.Parallel()
	d := newDraw(t, soak.Seed(t))
	blockers := []func(*parley.Session, *lifecycle.Work){
		func(s *parley.Session, _ *lifecycle.Work) { s.Status = parley.StatusRunning },
		func(s *parley.Session, _ *lifecycle.Work) { s.Status = parley.StatusAwaitingApproval },
		func(s *parley.Session, _ *lifecycle.Work) { s.Queued = 1 + d.IntN(5) },
		func(_ *parley.Session, w *lifecycle.Work) { w.OpenTurn = true },
		func(_ *parley.Session, w *lifecycle.Work) { w.OpenApproval = true },
		func(_ *parley.Session, w *lifecycle.Work) { w.Automation = true },
	}
	for range soak.Count(2_000, 20_000) {
		p := d.policy()
		s := session(d.instant(p.Zone))
		now := s.UpdatedAt.Add(time.Duration(d.Int64N(int64(2000 * time.Hour))))
		free := lifecycle.Open(s, lifecycle.Work{}, p, now)
		var w lifecycle.Work
		blockers[d.IntN(len(blockers))](&s, &w)
		got := lifecycle.Open(s, w, p, now)
		if got.Action != lifecycle.ActionReuse {
			t.Fatalf("%+v, %+v: %s (%s)", p, w, got.Action, got.Reason)
		}
		if !got.Due.Equal(free.Due) {
			t.Fatalf("%+v, %+v: due at %s, and without the work at %s", p, w, got.Due, free.Due)
		}
		if lifecycle.Inactive(s, w, time.Minute, now).Action != lifecycle.ActionKeep ||
			lifecycle.Retain(s, w, lifecycle.Retention{After: time.Minute}, now).Action != lifecycle.ActionKeep {
			t.Fatalf("%+v is put away or removed", w)
		}
	}
}
