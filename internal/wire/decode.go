package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"
)

// firstBytes is how much memory a slice gets before its elements have been seen.
const firstBytes = 4096

// value reads a value of the plan's type into v, which is zero and can be set.
func (d *decoder) value(p *plan, v reflect.Value) error {
	switch p.form {
	case formBool, formInt, formUint, formFloat32, formFloat64, formTime:
		return d.number(p, v)
	case formString:
		b, err := d.text()
		if err == nil {
			v.SetString(string(b))
		}
		return err
	case formBytes:
		n, null, err := d.count(1)
		if err != nil || null {
			return err
		}
		b := make([]byte, n)
		d.pos += copy(b, d.data[d.pos:])
		v.SetBytes(b)
		return nil
	case formByteArray:
		b, err := d.text()
		if err == nil && len(b) != v.Len() {
			err = fmt.Errorf("%d bytes do not fit %s", len(b), p.typ)
		}
		if err == nil {
			copy(v.Bytes(), b)
		}
		return err
	default:
		if d.depth == maxDepth {
			return errDeep
		}
		d.depth++
		err := d.compound(p, v)
		d.depth--
		return err
	}
}

// number reads what is neither a text nor contains other values.
func (d *decoder) number(p *plan, v reflect.Value) error {
	switch p.form {
	case formInt:
		n, err := d.varint()
		if err == nil && v.OverflowInt(n) {
			err = fmt.Errorf("%d does not fit %s", n, p.typ)
		}
		if err == nil {
			v.SetInt(n)
		}
		return err
	case formFloat32:
		b, err := d.take(4)
		if err == nil {
			v.SetFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
		return err
	case formFloat64:
		b, err := d.take(8)
		if err == nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		return err
	case formTime:
		return d.time(v)
	default: // formBool, formUint
		n, err := d.uvarint()
		switch {
		case err != nil:
			return err
		case p.form == formBool && n > 1, p.form == formUint && v.OverflowUint(n):
			return fmt.Errorf("%d does not fit %s", n, p.typ)
		case p.form == formBool:
			v.SetBool(n == 1)
		default:
			v.SetUint(n)
		}
		return nil
	}
}

func (d *decoder) time(v reflect.Value) error {
	sec, err := d.varint()
	if err != nil {
		return err
	}
	nsec, err := d.uvarint()
	if err != nil {
		return err
	}
	if nsec >= uint64(time.Second) {
		return fmt.Errorf("a time has %d nanoseconds", nsec)
	}
	t, _ := reflect.TypeAssert[*time.Time](v.Addr()) // the plan says that it is one
	// The seconds of the zero time give the zero value again.
	*t = time.Unix(sec, int64(nsec)).UTC()
	return nil
}

// compound reads a value that contains others.
func (d *decoder) compound(p *plan, v reflect.Value) error {
	switch p.form {
	case formStruct:
		return d.structure(p, v)
	case formPointer:
		n, err := d.uvarint()
		if err != nil || n == 0 {
			return err
		}
		if n > 1 {
			return fmt.Errorf("%s is neither nil nor set: %d", p.typ, n)
		}
		target, err := d.fresh(p.elem)
		if err != nil {
			return err
		}
		v.Set(target.Addr())
		return nil
	case formSlice:
		return d.slice(p, v)
	case formArray:
		n, err := d.uvarint()
		if err == nil && n != uint64(v.Len()) {
			err = fmt.Errorf("%d elements do not fit %s", n, p.typ)
		}
		for i := 0; err == nil && i < v.Len(); i++ {
			err = d.value(p.elem, v.Index(i))
		}
		return err
	case formMap:
		return d.mapping(p, v)
	default: // formInterface
		return d.iface(p, v)
	}
}

// fresh reads a value into memory of its own.
func (d *decoder) fresh(p *plan) (reflect.Value, error) {
	if p.least > d.left() {
		return reflect.Value{}, errShort
	}
	v := reflect.New(p.typ).Elem()
	return v, d.value(p, v)
}

func (d *decoder) structure(p *plan, v reflect.Value) error {
	for {
		name, err := d.text()
		if err != nil || len(name) == 0 {
			return err
		}
		i, ok := p.byName[string(name)]
		if !ok {
			return fmt.Errorf("%s has no field %s", p.typ, quote(name))
		}
		f := &p.fields[i]
		fv := v.Field(f.index)
		if !fv.IsZero() { // zeros are not written
			return fmt.Errorf("%s has the field %s twice", p.typ, quote(name))
		}
		if err := d.value(f.plan, fv); err != nil {
			return err
		}
	}
}

func (d *decoder) slice(p *plan, v reflect.Value) error {
	n, null, err := d.count(p.elem.least)
	if err != nil || null {
		return err
	}
	// An element may be much larger than its bytes are: what is not read yet gets
	// no more room than what was.
	first := firstBytes / max(1, int(p.elem.typ.Size()))
	v.Set(reflect.MakeSlice(p.typ, 0, min(n, max(1, first))))
	for i := range n {
		if i == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(i + 1)
		if err := d.value(p.elem, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) mapping(p *plan, v reflect.Value) error {
	n, null, err := d.count(1) // the length of the key
	if err != nil || null {
		return err
	}
	v.Set(reflect.MakeMap(p.typ))
	key := reflect.New(p.typ.Key()).Elem()
	for i := range n {
		b, err := d.text()
		if err != nil {
			return err
		}
		if i > 0 && string(b) <= key.String() {
			return fmt.Errorf("the keys of %s are not in order", p.typ)
		}
		key.SetString(string(b))
		value, err := d.fresh(p.elem)
		if err != nil {
			return err
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

func (d *decoder) iface(p *plan, v reflect.Value) error {
	name, err := d.text()
	if err != nil || len(name) == 0 {
		return err
	}
	o, ok := p.option[string(name)]
	if !ok {
		return fmt.Errorf("%s has no choice %s", p.typ, quote(name))
	}
	held, err := d.fresh(o.plan)
	if err != nil {
		return err
	}
	v.Set(held)
	return nil
}
