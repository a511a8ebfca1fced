package storetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/parley-run/parley"
)

// coverage counts what random sequences did. What has to be covered is found by
// reflection, so that a field or method that is added to the root package and
// not generated here fails the test.
type coverage struct {
	mu     sync.Mutex
	counts map[string]int
}

func newCoverage() *coverage { return &coverage{counts: map[string]int{}} }

func (c *coverage) count(name string)        { c.counts[name]++ }
func (c *coverage) method(name string)       { c.count("method " + name) }
func (c *coverage) code(code parley.Code)    { c.count("code " + string(code)) }
func (c *coverage) event(t parley.EventType) { c.count("event " + string(t)) }

// add adds the counts of another table.
func (c *coverage) add(d *coverage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, n := range d.counts {
		c.counts[name] += n
	}
}

// commit counts a batch and what became of it. Fields count only where they were
// applied: a refused batch shows nothing about them.
func (c *coverage) commit(b *parley.Batch, res parley.Result, err error) {
	c.method("Commit")
	var failed *parley.ExpectError
	holding := len(b.Expect)
	switch {
	case errors.As(err, &failed):
		holding = failed.Index
		c.count(fmt.Sprintf("expect %T fails", failed.Expect))
	case err != nil || res.Duplicate != nil:
		holding = 0
	}
	for _, e := range b.Expect[:holding] {
		c.count(fmt.Sprintf("expect %T holds", e))
	}
	if err != nil {
		c.code(parley.CodeOf(err))
		return
	}
	c.fields(reflect.ValueOf(res))
	if res.Duplicate == nil {
		c.fields(reflect.ValueOf(*b))
		for i := range b.Sessions {
			for _, body := range bodiesOf(&b.Sessions[i]) {
				c.event(body.EventType())
			}
		}
	}
}

// fields counts the fields that are set, in v and in all it holds.
func (c *coverage) fields(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.fields(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.fields(v.Index(i))
		}
	case reflect.Struct:
		if !ours(v.Type()) {
			return
		}
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				c.count(fieldName(v.Type(), i))
				c.fields(v.Field(i))
			}
		}
	}
}

func fieldName(t reflect.Type, i int) string { return "field " + t.Name() + "." + t.Field(i).Name }

// ours reports whether a type is one of the root package.
func ours(t reflect.Type) bool { return t.PkgPath() == reflect.TypeFor[parley.Batch]().PkgPath() }

// filledIn are fields that the store sets, whatever a batch says.
var filledIn = []string{
	"field Input.Session", "field Input.Seq", "field Input.Shown", "field Input.At",
	"field Delivery.Session", "field Delivery.CreatedAt", "field Notice.Session", "field Notice.CreatedAt",
	"field AuditEntry.Nr", "field AuditEntry.At",
}

// wanted lists all that has to be covered.
func wanted() []string {
	fields := map[string]bool{}
	fieldsOf(reflect.TypeFor[parley.Batch](), fields)
	for _, name := range filledIn {
		delete(fields, name)
	}
	fieldsOf(reflect.TypeFor[parley.Result](), fields)
	list := slices.Collect(maps.Keys(fields))
	for m := range reflect.TypeFor[parley.Store]().Methods() {
		list = append(list, "method "+m.Name)
	}
	g := newGenerator(0, newOracle())
	for _, makes := range expectations {
		e := makes(g)
		list = append(list, fmt.Sprintf("expect %T holds", e), fmt.Sprintf("expect %T fails", e))
	}
	for _, t := range append(parley.EventTypes(), customType) {
		list = append(list, "event "+string(t))
	}
	for _, code := range []parley.Code{
		parley.CodeInvalid, parley.CodeTooLarge, parley.CodeNotFound, parley.CodeConflict, parley.CodeUnavailable,
	} {
		list = append(list, "code "+string(code))
	}
	slices.Sort(list)
	return list
}

// fieldsOf collects the fields of a type and of the types its fields lead to.
func fieldsOf(t reflect.Type, fields map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		fieldsOf(t.Elem(), fields)
	case reflect.Struct:
		if !ours(t) {
			return
		}
		for i := range t.NumField() {
			if name := fieldName(t, i); !fields[name] {
				fields[name] = true
				fieldsOf(t.Field(i).Type, fields)
			}
		}
	}
}

// missing lists what has to be covered and is not.
func (c *coverage) missing() []string {
	return slices.DeleteFunc(wanted(), func(name string) bool { return c.counts[name] > 0 })
}

// table shows how often each thing was covered.
func (c *coverage) table() string {
	var b strings.Builder
	for _, name := range wanted() {
		fmt.Fprintf(&b, "%9d  %s\n", c.counts[name], name)
	}
	return b.String()
}
