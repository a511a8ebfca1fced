package main

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"

	"github.com/parley-run/parley"
)

// listing is rows for people, with a head. What is in it was made harmless by cell.
type listing struct {
	head []string
	// wide is the column that is cut if a line does not fit the terminal.
	wide int
	rows [][]string
}

// cell gives a text of others' making as it stands in a listing: on one line, and
// without what commands a terminal or turns text around.
func cell(text string) string { return visible(strings.Join(strings.Fields(text), " ")) }

func (t *listing) add(cells ...string) {
	for i := range cells {
		cells[i] = cell(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// gap is what stands between columns, and leastWide what is left of a wide one.
const (
	gap       = "  "
	leastWide = 10
)

// text writes the rows; columns is how wide the terminal is, or 0 for no limit.
func (t *listing) text(columns int) string {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], textWidth(c))
		}
	}
	total := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	if over := total - columns; columns > 0 && over > 0 {
		widths[t.wide] = max(widths[t.wide]-over, leastWide)
	}
	var b strings.Builder
	for _, row := range append([][]string{t.head}, t.rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			c = cutWidth(c, widths[i])
			cells[i] = c + strings.Repeat(" ", widths[i]-textWidth(c))
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, gap), " ") + "\n")
	}
	return b.String()
}

// textWidth is how many columns of a terminal a text takes.
func textWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100: // nothing below is wide
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cutWidth cuts a text that takes more columns than there are.
func cutWidth(text string, columns int) string {
	if textWidth(text) <= columns {
		return text
	}
	n := 1 // for the sign that something is left out
	for i, r := range text {
		if n += runeWidth(r); n > columns {
			return text[:i] + "…"
		}
	}
	return text
}

// age is how long ago something was, as short as it can be told.
func age(at, now time.Time) string {
	switch d := now.Sub(at); {
	case at.IsZero():
		return "never"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return itoa(d/time.Minute) + "m"
	case d < 48*time.Hour:
		return itoa(d/time.Hour) + "h"
	case d < 60*24*time.Hour:
		return itoa(d/(24*time.Hour)) + "d"
	}
	return at.Local().Format(time.DateOnly)
}

func itoa(d time.Duration) string { return thousands(int64(d)) }

// instant is a time for people, in their zone.
func instant(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }

// money is an amount in millionths of a dollar, for people.
func money(microUSD int64) string {
	text := thousands(microUSD/1e6) + "." + sixDigits(microUSD%1e6)
	for strings.HasSuffix(text, "0") && len(text)-strings.IndexByte(text, '.') > 3 {
		text = text[:len(text)-1]
	}
	return "$" + text
}

func sixDigits(n int64) string {
	digits := "000000" + strings.ReplaceAll(thousands(n), ",", "")
	return digits[len(digits)-6:]
}

// usageText is what was consumed, for people.
func usageText(u parley.Usage) string {
	text := counted(u.PromptTokens(), "token") + " in, " + thousands(u.OutputTokens) + " out"
	if u.CostMicroUSD > 0 {
		text += ", " + money(u.CostMicroUSD)
	}
	return text
}
