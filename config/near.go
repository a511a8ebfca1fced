package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley/secret"
)

// nearest gives the name that was probably meant, or "" if none is close.
func nearest(text string, names []string) string {
	best, least := "", min(3, (len(text)+2)/3) // a short name is soon like any other
	for _, name := range names {
		if d := distance(strings.ToLower(text), name, least); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace, and the neighbours
// to swap, to get from a to b. From most on it does not count exactly.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if n := len(x) - len(y); n >= most || -n >= most {
		return most
	}
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(y)]
}

// either lists names as a sentence does: a, b or c.
func either[S ~string](names []S) string { return listed(names, " or ") }

func listed[S ~string](names []S, last string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(last)
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// hidden stands for a value that is not shown.
const hidden = "(hidden, as it looks like a credential)"

// quote shows a value in a message: quoted, escaped and cut, or not at all if it
// looks like a credential.
func quote(s string) string {
	if secret.CheckPlain(s) != nil {
		return hidden
	}
	const most = 64
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.Quote(s)
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// harmless takes what a message quotes out of it, if it looks like a credential.
// Not everything that is quoted went through quote.
func harmless(message string) string {
	if secret.CheckPlain(message) == nil {
		return message
	}
	if message = quoted.ReplaceAllString(message, hidden); secret.CheckPlain(message) == nil {
		return message
	}
	return "this is wrong, and looks like a credential; those are not written down here"
}

// pathText writes a path as people write it: routes[0].match.chat.
func pathText(path []string) string {
	var b strings.Builder
	for i, name := range path {
		_, err := strconv.Atoi(name)
		switch {
		case err == nil && i > 0:
			b.WriteString("[" + name + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if plainKey(name) {
			b.WriteString(name)
		} else {
			b.WriteString(quote(name))
		}
	}
	return b.String()
}

// plainKey reports whether a key needs no quotes in a path.
func plainKey(name string) bool {
	return name != "" && !slices.ContainsFunc([]rune(name), func(r rune) bool {
		return !strings.ContainsRune("_-/:@+", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
