package lifecycle_test

import (
	"testing"
	"time"

	"github.com/parley-run/parley/lifecycle"
)

// TestLastBoundary has the wall clocks of many places. Instants are in UTC.
func TestLastBoundary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, zone string
		hour       int
		now, want  string
	}{
		{"a winter day", "Europe/Berlin", 4, "2026-01-15T12:00:00Z", "2026-01-15T03:00:00Z"},
		{"a summer day", "Europe/Berlin", 4, "2026-07-15T12:00:00Z", "2026-07-15T02:00:00Z"},
		{"before the hour", "Europe/Berlin", 4, "2026-01-15T02:59:59.999999999Z", "2026-01-14T03:00:00Z"},
		{"at the hour", "Europe/Berlin", 4, "2026-01-15T03:00:00Z", "2026-01-15T03:00:00Z"},

		// 29 March 2026: 02:00 is 03:00 at 01:00Z.
		{"forward, the hour is not touched", "Europe/Berlin", 4, "2026-03-29T02:00:00Z", "2026-03-29T02:00:00Z"},
		{"forward, before the hour", "Europe/Berlin", 4, "2026-03-29T01:59:59Z", "2026-03-28T03:00:00Z"},
		{"in the gap, before", "Europe/Berlin", 2, "2026-03-29T00:59:59.999999Z", "2026-03-28T01:00:00Z"},
		{"in the gap, right after", "Europe/Berlin", 2, "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"},
		{"at the end of the gap", "Europe/Berlin", 3, "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"},
		{"after the gap, a day later", "Europe/Berlin", 2, "2026-03-30T00:00:00Z", "2026-03-30T00:00:00Z"},
		// 25 October 2026: 03:00 is 02:00 at 01:00Z.
		{"twice, before the first", "Europe/Berlin", 2, "2026-10-24T23:59:59Z", "2026-10-24T00:00:00Z"},
		{"twice, the first", "Europe/Berlin", 2, "2026-10-25T00:00:00Z", "2026-10-25T00:00:00Z"},
		{"twice, the second", "Europe/Berlin", 2, "2026-10-25T01:00:00Z", "2026-10-25T00:00:00Z"},
		{"back, the hour comes once", "Europe/Berlin", 3, "2026-10-25T01:30:00Z", "2026-10-24T01:00:00Z"},
		{"back, at the hour", "Europe/Berlin", 3, "2026-10-25T02:00:00Z", "2026-10-25T02:00:00Z"},

		// 8 March 2026: 02:00 is 03:00 at 07:00Z. 1 November: 02:00 is 01:00 at 06:00Z.
		{"in the gap", "America/New_York", 2, "2026-03-08T07:00:00Z", "2026-03-08T07:00:00Z"},
		{"before the gap", "America/New_York", 2, "2026-03-08T06:59:59Z", "2026-03-07T07:00:00Z"},
		{"twice, the first", "America/New_York", 1, "2026-11-01T05:00:00Z", "2026-11-01T05:00:00Z"},
		{"twice, the second", "America/New_York", 1, "2026-11-01T06:59:59Z", "2026-11-01T05:00:00Z"},

		// Half an hour: 5 October 2025, 02:00 is 02:30 at 15:30Z the day before;
		// 6 April 2025, 02:00 is 01:30 at 15:00Z the day before.
		{"half a gap", "Australia/Lord_Howe", 2, "2025-10-04T15:30:00Z", "2025-10-04T15:30:00Z"},
		{"before half a gap", "Australia/Lord_Howe", 2, "2025-10-04T15:29:59Z", "2025-10-03T15:30:00Z"},
		{"after half an hour back", "Australia/Lord_Howe", 2, "2025-04-05T15:30:00Z", "2025-04-05T15:30:00Z"},
		{"in the half hour that comes again", "Australia/Lord_Howe", 2, "2025-04-05T15:29:59Z", "2025-04-04T15:00:00Z"},
		{"half an hour back, the hour before", "Australia/Lord_Howe", 1, "2025-04-05T15:10:00Z", "2025-04-05T14:00:00Z"},

		// Ramadan: 10 March 2024, 03:00 is 02:00 at 02:00Z; 14 April 2024, 02:00 is 03:00 at 02:00Z.
		{"back in spring, the first", "Africa/Casablanca", 2, "2024-03-10T01:00:00Z", "2024-03-10T01:00:00Z"},
		{"back in spring, the second", "Africa/Casablanca", 2, "2024-03-10T02:30:00Z", "2024-03-10T01:00:00Z"},
		{"forward again", "Africa/Casablanca", 2, "2024-04-14T02:00:00Z", "2024-04-14T02:00:00Z"},
		{"in Ramadan", "Africa/Casablanca", 4, "2024-03-20T04:00:00Z", "2024-03-20T04:00:00Z"},

		// 30 December 2011 did not happen: from 29 December 23:59:59 to the 31st at 10:00Z.
		{"the day before the missing one", "Pacific/Apia", 4, "2011-12-30T09:59:59Z", "2011-12-29T14:00:00Z"},
		{"the missing day", "Pacific/Apia", 4, "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"the day after it, early", "Pacific/Apia", 4, "2011-12-30T13:59:59Z", "2011-12-30T10:00:00Z"},
		{"the day after it", "Pacific/Apia", 4, "2011-12-30T14:00:00Z", "2011-12-30T14:00:00Z"},

		// 1 October 1969: from 24:00 back to 01:00 of the same day, at 13:00Z.
		{"a day twice, the first", "Pacific/Kwajalein", 4, "1969-09-30T12:00:00Z", "1969-09-29T17:00:00Z"},
		{"a day twice, the second", "Pacific/Kwajalein", 4, "1969-10-01T11:00:00Z", "1969-09-29T17:00:00Z"},
		{"a day twice, and over", "Pacific/Kwajalein", 4, "1969-10-01T16:00:00Z", "1969-10-01T16:00:00Z"},

		// At midnight: in Chile 24:00 of 6 September 2025 was 01:00 of the 7th, at 04:00Z;
		// in Paraguay 24:00 of 23 March 2024 was 23:00 again, at 03:00Z.
		{"midnight does not happen", "America/Santiago", 0, "2025-09-07T04:00:00Z", "2025-09-07T04:00:00Z"},
		{"midnight does not happen, before", "America/Santiago", 0, "2025-09-07T03:59:59Z", "2025-09-06T04:00:00Z"},
		{"back over midnight, the first 23:00", "America/Asuncion", 23, "2024-03-24T02:00:00Z", "2024-03-24T02:00:00Z"},
		{"back over midnight, the second 23:00", "America/Asuncion", 23, "2024-03-24T03:30:00Z", "2024-03-24T02:00:00Z"},
		{"back over midnight, then midnight", "America/Asuncion", 0, "2024-03-24T03:59:59Z", "2024-03-23T03:00:00Z"},
		// In Newfoundland 00:01 of 7 November 2010 was 23:01 of the 6th, at 02:31Z.
		// Midnight comes before and after; the first one counts, and stays.
		{"midnight twice, the first", "America/St_Johns", 0, "2010-11-07T02:30:00Z", "2010-11-07T02:30:00Z"},
		{"midnight twice, the evening again", "America/St_Johns", 0, "2010-11-07T02:45:00Z", "2010-11-07T02:30:00Z"},
		{"midnight twice, the second", "America/St_Johns", 0, "2010-11-07T03:30:00Z", "2010-11-07T02:30:00Z"},

		{"a quarter of an hour off", "Asia/Kathmandu", 4, "2026-06-16T22:15:00Z", "2026-06-16T22:15:00Z"},
		{"just before", "Asia/Kathmandu", 4, "2026-06-16T22:14:59Z", "2026-06-15T22:15:00Z"},
		{"far east", "Pacific/Chatham", 4, "2026-06-16T15:15:00Z", "2026-06-16T15:15:00Z"},
		// 27 September 2026: 02:45 is 03:45 at 14:00Z the day before.
		{"a gap between full hours", "Pacific/Chatham", 3, "2026-09-26T14:00:00Z", "2026-09-26T14:00:00Z"},
		{"furthest ahead", "Pacific/Kiritimati", 0, "2026-06-16T10:00:00Z", "2026-06-16T10:00:00Z"},

		{"leap day", "UTC", 4, "2028-02-29T04:00:00Z", "2028-02-29T04:00:00Z"},
		{"the day after a leap day, early", "UTC", 4, "2028-03-01T03:59:59Z", "2028-02-29T04:00:00Z"},
		{"the end of a leap year", "Europe/Berlin", 4, "2028-12-31T12:00:00Z", "2028-12-31T03:00:00Z"},
		{"the end of a leap year, far away", "Europe/Berlin", 4, "2064-12-31T23:00:00Z", "2064-12-31T03:00:00Z"},
		{"and the day after", "America/New_York", 4, "2065-01-01T09:00:00Z", "2065-01-01T09:00:00Z"},
		{"and in the south", "Pacific/Chatham", 4, "2064-12-31T15:00:00Z", "2064-12-31T14:15:00Z"},
		{"no leap day", "UTC", 4, "2100-03-01T03:59:59Z", "2100-02-28T04:00:00Z"},
		{"new year, early", "Europe/Berlin", 4, "2027-01-01T02:59:59Z", "2026-12-31T03:00:00Z"},
		{"new year", "Europe/Berlin", 4, "2027-01-01T03:00:00Z", "2027-01-01T03:00:00Z"},
		{"new year elsewhere", "America/New_York", 23, "2027-01-01T03:59:59Z", "2026-12-31T04:00:00Z"},
	}
	for _, test := range tests {
		t.Run(test.zone+"/"+test.name, func(t *testing.T) {
			t.Parallel()
			p := lifecycle.Policy{AtHour: &test.hour, Zone: zone(t, test.zone)}
			now, want := utc(t, test.now), utc(t, test.want)
			got := p.LastBoundary(now)
			if !got.Equal(want) {
				t.Errorf("got %s, want %s", got, want)
			}
			if got.Location() != time.UTC {
				t.Errorf("%s is not in UTC", got)
			}
			if next := p.NextBoundary(want.Add(-1)); !next.Equal(want) {
				t.Errorf("the boundary after the instant before is %s, want %s", next, want)
			}
			if next := p.NextBoundary(want); !next.After(now) {
				t.Errorf("the next boundary is %s, which is not after %s", next, now)
			}
		})
	}
}
