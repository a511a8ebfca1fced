package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
)

// mostReplays bounds how long a failing sequence is made shorter.
const mostReplays = 600

// shrinker makes a failing history shorter while it still fails in the same
// method.
type shrinker struct {
	t       testing.TB
	h       Harness
	failed  *sequence
	found   *difference
	replays int
}

// shrink drops operations and parts of the batches that are left, again and
// again, until nothing more can go. The difference is nil if the whole history
// does not fail again.
func shrink(t testing.TB, h Harness, failed *sequence, found *difference) ([]operation, *difference) {
	s := &shrinker{t: t, h: h, failed: failed, found: found}
	history := failed.history
	if !s.fails(history) {
		return history, nil
	}
	for before := 0; before != size(history); {
		before = size(history)
		history = s.drop(history)
		for i := range history {
			history = s.simplify(history, i)
		}
	}
	return history, s.found
}

// size is how much there is to read in a history.
func size(history []operation) int { return len(fmt.Sprint(history)) }

// drop takes operations away, first large parts of the history, then single ones.
func (s *shrinker) drop(history []operation) []operation {
	for n := max(1, len(history)/2); n > 0; n /= 2 {
		for from := 0; from+n <= len(history); {
			if shorter := slices.Delete(slices.Clone(history), from, from+n); s.fails(shorter) {
				history = shorter
			} else {
				from += n
			}
		}
	}
	return history
}

// simplify takes parts away from one batch of the history.
func (s *shrinker) simplify(history []operation, i int) []operation {
	for n := 0; history[i].batch != nil; n++ {
		b := cloneBatch(*history[i].batch)
		if !dropPart(&b, n) {
			break
		}
		simpler := slices.Clone(history)
		simpler[i].batch = &b
		if s.fails(simpler) {
			history = simpler
			n--
		}
	}
	return history
}

// cloneBatch copies as much of a batch as dropPart changes.
func cloneBatch(b parley.Batch) parley.Batch {
	b.Sessions = slices.Clone(b.Sessions)
	return b
}

// dropPart takes the n-th part out of a batch: a whole list, a session, or one
// field of a session's change. It reports false if there are not that many.
func dropPart(b *parley.Batch, n int) bool {
	for i := range b.Sessions {
		if n == 0 {
			b.Sessions = slices.Delete(b.Sessions, i, i+1)
			return true
		}
		n--
	}
	parts := settable(reflect.ValueOf(b).Elem(), "At")
	for i := range b.Sessions {
		parts = append(parts, settable(reflect.ValueOf(&b.Sessions[i]).Elem(), "Session", "Create")...)
	}
	if n >= len(parts) {
		return false
	}
	parts[n].SetZero()
	return true
}

// settable gives the fields of a struct that are set, but for some.
func settable(v reflect.Value, but ...string) []reflect.Value {
	var fields []reflect.Value
	for i := range v.NumField() {
		if !v.Field(i).IsZero() && !slices.Contains(but, v.Type().Field(i).Name) {
			fields = append(fields, v.Field(i))
		}
	}
	return fields
}

// fails runs operations on a fresh store and reports whether they lead to a
// difference in the same method.
func (s *shrinker) fails(history []operation) bool {
	if s.replays++; s.replays > mostReplays {
		return false
	}
	q := newSequence(s.t, s.h, newCoverage())
	defer q.finish()
	q.refs = s.failed.refs
	var d *difference
	for i := 0; i < len(history) && d == nil; i++ {
		d = q.step(history[i])
	}
	for i := 0; i < len(viewers) && d == nil; i++ {
		d = q.compare(viewers[i], func(asked question) bool { return asked.method == s.found.method })
	}
	if d == nil {
		d = q.check()
	}
	if d == nil || d.method != s.found.method {
		return false
	}
	s.found = d
	return true
}

// failure is a sequence that a store did not pass.
type failure struct {
	seed       uint64
	found      *difference
	operations int
	history    []operation // as short as it could be made
	shrunk     *difference // what that leads to; nil if the failure did not come again
}

// String tells a failure so that it can be understood and repeated.
func (f *failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sequence with seed %d: %s differs after %d operations.\n", f.seed, f.found.method, f.operations)
	fmt.Fprintf(&b, "Repeat it with %s=%d.\n", seedVariable, f.seed)
	shown := f.shrunk
	if shown == nil {
		shown = f.found
		b.WriteString("It does not come again when the same operations are repeated.\n")
	}
	fmt.Fprintf(&b, "\n%s\n\nAfter these operations:\n", shown.text)
	for i, op := range f.history {
		fmt.Fprintf(&b, "%3d  %v\n", i+1, op)
	}
	return b.String()
}
