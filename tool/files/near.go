package files

import (
	"slices"
	"strings"
)

// missing says that nothing has the name, and which names come near it.
func (w *walk) missing(path, name string) error {
	at := w.path(".")
	near := w.near(name)
	text := "there is no " + show(path)
	if where := w.path(name); where != path {
		text += ": " + show(at) + " has no " + show(name)
	}
	if len(near) > 0 {
		return refusef("%s; did you mean %s?", text, strings.Join(near, " or "))
	}
	return refusef("%s; list_files shows what is there", text)
}

const (
	nearNames = 3    // that are proposed
	nearLook  = 1000 // that are looked at
)

// near gives the names in the folder that look like the one that was given.
func (w *walk) near(name string) []string {
	top := w.top()
	dir, err := top.root.Open(".")
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // it was only read
	entries, _ := dir.ReadDir(nearLook)
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, e := range entries {
		far := distance(strings.ToLower(name), strings.ToLower(e.Name()))
		if far > max(1, len(name)/3) {
			continue
		}
		// What is hidden is not proposed.
		if info, err := top.root.Lstat(e.Name()); err != nil || hides(w.hidden, top.info, e.Name(), info) {
			continue
		}
		found = append(found, candidate{e.Name(), far})
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, c := range found[:min(len(found), nearNames)] {
		names = append(names, show(w.path(c.name)))
	}
	return names
}

// distance counts the letters to insert, remove or exchange to get from a to b. It
// is large for names that are too long to be worth it.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		if a == b {
			return 0
		}
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
