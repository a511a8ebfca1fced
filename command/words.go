package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// tidy makes one line of what somebody wrote: white space becomes single spaces,
// and what is there without being seen goes. If nothing remains that can be seen,
// it gives "".
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\u200c', '\u200d', '\ufe0e', '\ufe0f': // scripts and emoji need them
			return r
		case '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // letters that nobody sees
			return -1
		}
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r)
	}) {
		return ""
	}
	return strings.Join(strings.Fields(s), " ")
}

// line is tidy, cut to at most so many characters.
func line(s string, most int) string {
	if len(s) > 64*most { // what is cut away is not worth looking at
		s = s[:64*most]
	}
	s = tidy(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:most-1]), " ") + "…"
}

// label is line without quotes.
func label(s string, most int) string { return strings.ReplaceAll(line(s, most), `"`, "'") }

// quoted is line in quotes, which nothing inside can end.
func quoted(s string, most int) string { return `"` + label(s, most) + `"` }

// sentence begins with a capital and ends with a stop.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	s = string(unicode.ToUpper(r)) + s[n:]
	if !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}

// oneOf gives "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// count gives "1 message" or "1,200 messages".
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

// number gives "1,234,567".
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Money gives millionths of a dollar as dollars: two digits after the point from a
// dollar on, four below.
func Money(micro int64) string {
	switch {
	case micro < 0:
		return "-" + Money(-max(micro, -1<<62))
	case micro == 0:
		return "$0.00"
	case micro < 50:
		return "less than $0.0001"
	case micro < 999_950:
		return fmt.Sprintf("$0.%04d", (micro+50)/100)
	}
	cents := micro/10_000 + (micro%10_000+5_000)/10_000
	return fmt.Sprintf("$%s.%02d", number(cents/100), cents%100)
}

// when gives an instant as people say it: the day, if it is not today, and the time
// of day.
func when(at, now time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	at, now = at.In(zone), now.In(zone)
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	switch {
	case day(at) == day(now):
		return "today " + at.Format("15:04")
	case day(at) == day(now.AddDate(0, 0, -1)):
		return "yesterday " + at.Format("15:04")
	case at.Year() == now.Year():
		return at.Format("2 Jan 15:04")
	}
	return at.Format("2 Jan 2006")
}

// long gives how much time has passed, in the one or two largest units.
func long(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 24*time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute), " 0 min")
	}
	return strings.TrimSuffix(fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour), " 0 h")
}
