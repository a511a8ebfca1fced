package engine

import (
	"errors"
	"slices"

	"github.com/parley-run/parley"
)

// rider is a slash command that is admitted and answered by the commit that
// carries it out. So it happens once, as everything that is admitted: what comes
// again finds the input, and the whole commit is left.
type rider struct {
	session parley.SessionID
	input   parley.Input
	join    []parley.NewEvent    // makes who gives it a participant
	expect  []parley.Expectation // the session is its key's current one, as for all that is said
	// answerFunc says what is done, from the change that does it.
	answerFunc func(b *parley.Batch) string
	// changeFunc adds to what is done to the session; nil: nothing.
	changeFunc func(c *parley.SessionChange)
	answerID   string
	again      bool    // what a rewind takes back is said again
	undone     Rewound // what a rewind takes back
	done       bool    // the change was made
}

// board puts the command and its answer into a change.
func (r *rider) board(b *parley.Batch) {
	answer := forPeople(r.answerID, r.answerFunc(b))
	answer.Inputs = []parley.InputRef{r.input.Ref}
	at := -1
	for i := range b.Sessions {
		if b.Sessions[i].Session == r.session {
			at = i
		}
	}
	if at < 0 {
		at = len(b.Sessions)
		b.Sessions = append(b.Sessions, parley.SessionChange{Session: r.session})
	}
	b.Expect = append(b.Expect, r.expect...)
	c := &b.Sessions[at]
	c.Admit = append(c.Admit, r.input)
	c.Events = append(c.Events, r.join...)
	c.Events = append(c.Events, parley.NewEvent{Body: answer})
	if r.changeFunc != nil {
		r.changeFunc(c)
	}
}

// stale reports whether err says that the command was given in a session that is not
// the current one of its key.
func (r *rider) stale(err error) bool {
	e, ok := errors.AsType[*parley.ExpectError](err)
	return ok && r != nil && slices.Contains(r.expect, e.Expect)
}

// repeatedError says that a command was given before.
type repeatedError struct{ input parley.Input }

func (e *repeatedError) Error() string { return "the command was given before" }
