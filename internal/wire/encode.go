package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// encoder is one call of [Codec.Append]. It calls no function through a value, so
// that the compiler sees that it may live on the stack.
type encoder struct {
	buf   []byte
	depth int
}

func (e *encoder) uvarint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

// value writes a value of the plan's type.
func (e *encoder) value(p *plan, v reflect.Value) error {
	switch p.form {
	case formBool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		e.buf = append(e.buf, b)
	case formInt:
		e.buf = binary.AppendVarint(e.buf, v.Int())
	case formUint:
		e.uvarint(v.Uint())
	case formFloat32:
		e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(float32(v.Float())))
	case formFloat64:
		e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(v.Float()))
	case formString:
		s := v.String()
		e.uvarint(uint64(len(s)))
		e.buf = append(e.buf, s...)
	case formBytes:
		if v.IsNil() {
			e.buf = append(e.buf, 0)
			break
		}
		b := v.Bytes()
		e.uvarint(uint64(len(b)) + 1)
		e.buf = append(e.buf, b...)
	case formTime:
		t, _ := reflect.TypeAssert[time.Time](v) // the plan says that it is one
		e.buf = binary.AppendVarint(e.buf, t.Unix())
		e.uvarint(uint64(t.Nanosecond()))
	case formByteArray:
		e.byteArray(v)
	default:
		if e.depth == maxDepth {
			return errDeep
		}
		e.depth++
		err := e.compound(p, v)
		e.depth--
		return err
	}
	return nil
}

// compound writes a value that contains others.
func (e *encoder) compound(p *plan, v reflect.Value) error {
	switch p.form {
	case formStruct:
		return e.structure(p, v)
	case formPointer:
		if v.IsNil() {
			e.buf = append(e.buf, 0)
			return nil
		}
		e.buf = append(e.buf, 1)
		return e.value(p.elem, v.Elem())
	case formSlice:
		if v.IsNil() {
			e.buf = append(e.buf, 0)
			return nil
		}
		e.uvarint(uint64(v.Len()) + 1)
		return e.values(p.elem, v)
	case formArray:
		e.uvarint(uint64(v.Len()))
		return e.values(p.elem, v)
	case formMap:
		return e.mapping(p, v)
	default: // formInterface
		return e.iface(p, v)
	}
}

// structure writes the fields that are not zero. Negative zeros count as zero, as
// they do for ==.
func (e *encoder) structure(p *plan, v reflect.Value) error {
	for i := range p.fields {
		f := &p.fields[i]
		fv := v.Field(f.index)
		if fv.IsZero() {
			continue
		}
		e.buf = append(e.buf, f.label...)
		if err := e.value(f.plan, fv); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, 0)
	return nil
}

// values writes the elements of a slice or an array.
func (e *encoder) values(p *plan, v reflect.Value) error {
	for i := range v.Len() {
		if err := e.value(p, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) byteArray(v reflect.Value) {
	n := v.Len()
	e.uvarint(uint64(n))
	if v.CanAddr() {
		e.buf = append(e.buf, v.Bytes()...)
		return
	}
	// In an interface or a map.
	e.buf = slices.Grow(e.buf, n)
	for i := range n {
		e.buf = append(e.buf, byte(v.Index(i).Uint()))
	}
}

// entry is what a map has under a key.
type entry struct {
	key   string
	value reflect.Value
}

// mapping writes a map in the order of its keys.
func (e *encoder) mapping(p *plan, v reflect.Value) error {
	if v.IsNil() {
		e.buf = append(e.buf, 0)
		return nil
	}
	entries := make([]entry, 0, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		entries = append(entries, entry{key: iter.Key().String(), value: iter.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	e.uvarint(uint64(len(entries)) + 1)
	for _, en := range entries {
		e.uvarint(uint64(len(en.key)))
		e.buf = append(e.buf, en.key...)
		if err := e.value(p.elem, en.value); err != nil {
			return err
		}
	}
	return nil
}

// iface writes what an interface holds, under the name of its type.
func (e *encoder) iface(p *plan, v reflect.Value) error {
	if v.IsNil() {
		e.buf = append(e.buf, 0)
		return nil
	}
	held := v.Elem()
	o, ok := p.byType[held.Type()]
	if !ok {
		return fmt.Errorf("%s holds %s, which is not one of its choices", p.typ, held.Type())
	}
	e.buf = append(e.buf, o.label...)
	return e.value(o.plan, held)
}
