package command

import (
	"strings"
	"unicode/utf8"
)

// near gives the name of the command that is most like word, or "" if none is
// like it: one that word begins, or that a slip of the hand makes of it. Among
// equals the first of the table wins.
func near(word string) string {
	n := utf8.RuneCountInString(word)
	if n < 2 || n > longestName+2 {
		return ""
	}
	slips := 1
	if n > 5 {
		slips = 2
	}
	best, least := "", 0
	for i := range table {
		for _, name := range table[i].names() {
			d := distance(word, name)
			if d > slips && !strings.HasPrefix(name, word) {
				continue
			}
			if best == "" || d < least {
				best, least = table[i].Name, d
			}
		}
	}
	return best
}

// longestName bounds how much of an unknown name is compared. A test holds that
// no name is longer.
const longestName = 12

// distance counts the slips between two words: letters that are missing, too
// many, wrong, or in each other's place.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// d[i][j] is the distance between the first i and j letters.
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			wrong := 1
			if x[i-1] == y[j-1] {
				wrong = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+wrong)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
