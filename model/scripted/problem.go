package scripted

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
)

// reader turns a file into nodes and collects what is wrong with it.
type reader struct {
	file     string
	problems []problem
}

// problem is something that is wrong with a script.
type problem struct {
	place
	message string
}

// maxProblems is how many problems are told at once.
const maxProblems = 20

func (r *reader) fail(p place, format string, args ...any) {
	r.problems = append(r.problems, problem{p, fmt.Sprintf(format, args...)})
}

// err gives the problems from the top down, a line for each, or nil.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var all []error
	for i, p := range r.problems {
		if i == maxProblems {
			all = append(all, fmt.Errorf("%s: and %d more", r.file, len(r.problems)-i))
			break
		}
		all = append(all, fmt.Errorf("%s:%d:%d: %s", r.file, p.line, p.column, p.message))
	}
	return &parley.Error{Code: parley.CodeInvalid, Message: "the script cannot be used", Err: errors.Join(all...)}
}
