package tool

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quote shows a value in a message: quoted, escaped and cut.
func quote(s string) string { return strconv.Quote(head(s, 64)) }

// head cuts a text to at most that many bytes, at the end of a character.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// meant says which of the names was probably meant, as the end of a sentence.
func meant(text string, names []string) string {
	near := nearest(text, names)
	switch {
	case len(near) > 0:
		return "; did you mean " + strings.Join(near, " or ") + "?"
	case len(names) == 0:
		return "; there are none"
	}
	return "; there are " + head(strings.Join(names, ", "), 1000)
}

// nearest gives up to three names that are like the text, the nearest first.
func nearest(text string, names []string) []string {
	if len(text) > 128 {
		return nil
	}
	type candidate struct {
		name string
		far  int
	}
	var list []candidate
	text = strings.ToLower(text)
	for _, name := range names {
		lower := strings.ToLower(name)
		far := distance(text, lower)
		if len(text) >= 3 && (strings.HasSuffix(lower, "_"+text) || strings.HasPrefix(lower, text)) {
			far = min(far, 1)
		}
		if far <= len(text)/3 {
			list = append(list, candidate{name, far})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.far - b.far })
	var near []string
	for _, c := range list[:min(len(list), 3)] {
		near = append(near, c.name)
	}
	return near
}

// distance counts the bytes to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
