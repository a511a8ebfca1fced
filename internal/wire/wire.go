// Package wire turns Go values into bytes and back, for records that a store writes
// before it applies a change and reads after a crash.
//
// A record may be read by a newer program than the one that wrote it. So a struct is
// written as the names and values of those fields that are not zero: a type may
// gain fields and change their order, and still reads what was written before. A
// name that the type does not have is an error, as leaving a part of a change out
// would be worse than not reading it.
//
// What comes back is [reflect.DeepEqual] to what was written, with one exception:
// a [time.Time] comes back as the same instant in UTC, to the nanosecond, without
// the monotonic clock.
//
// Types are looked at once, in [New]. The package starts no goroutine, and imports
// the standard library only: it knows nothing of what it writes.
package wire

import (
	"fmt"
	"reflect"
)

// maxDepth is how deep a value may be nested, counting structs, pointers, slices,
// arrays, maps and interfaces. It holds for writing, where a value could contain
// itself, and for reading, where bytes could ask for any depth.
const maxDepth = 1000

var errDeep = fmt.Errorf("the value is nested deeper than %d levels", maxDepth)

// Choices says which concrete types may stand in an interface, each under a name that
// is written with the value. Like the names of fields, these names stay for as long
// as there are bytes that have them.
type Choices struct {
	Interface reflect.Type
	Types     map[string]reflect.Type
}

// Codec writes and reads values of one type. Any number of goroutines may use it.
type Codec[T any] struct {
	root *plan
}

// New makes the codec of a type. It fails, and says where in the type, if there is
// something that cannot be written: functions, channels, complex numbers, uintptr
// and unsafe pointers, interfaces without a choice, maps whose keys are not strings,
// structs with fields that are not exported (other than [time.Time]). It fails for a
// choice with a type that does not implement the interface, or that has two names.
func New[T any](choices ...Choices) (*Codec[T], error) {
	typ := reflect.TypeFor[T]()
	c := compiler{choices: map[reflect.Type]Choices{}, plans: map[reflect.Type]*plan{}}
	for _, choice := range choices {
		if err := c.register(choice); err != nil {
			return nil, fmt.Errorf("plan the encoding of %s: %w", typ, err)
		}
	}
	path := typ.Name()
	if path == "" {
		path = typ.String()
	}
	root, err := c.compile(typ, path)
	if err != nil {
		return nil, fmt.Errorf("plan the encoding of %s: %w", typ, err)
	}
	return &Codec[T]{root: root}, nil
}

// Append appends the encoding of what v points at, which is the same for equal
// values. It fails for an interface that holds a type which is none of its choices,
// and for a value that is nested too deep; then buf comes back as it was.
func (c *Codec[T]) Append(buf []byte, v *T) ([]byte, error) {
	if v == nil {
		return buf, fmt.Errorf("encode %s: there is no value", c.root.typ)
	}
	e := encoder{buf: buf}
	if err := e.value(c.root, reflect.ValueOf(v).Elem()); err != nil {
		return buf, fmt.Errorf("encode %s: %w", c.root.typ, err)
	}
	return e.buf, nil
}

// Decode gives the value that data is the encoding of, all of it. The value shares
// no memory with data. Whatever the bytes are, reading them takes no more memory
// than a type needs for each of them: an empty struct in a slice is one byte.
func (c *Codec[T]) Decode(data []byte) (*T, error) {
	v := new(T)
	d := decoder{data: data}
	err := d.value(c.root, reflect.ValueOf(v).Elem())
	if err == nil && d.left() > 0 {
		err = fmt.Errorf("%d bytes are left over", d.left())
	}
	if err != nil {
		return nil, fmt.Errorf("decode %s: at byte %d of %d: %w", c.root.typ, d.pos, len(data), err)
	}
	return v, nil
}
