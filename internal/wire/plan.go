package wire

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// form is how a type is written.
type form uint8

const (
	formBool      form = iota // a byte, 0 or 1
	formInt                   // a signed varint
	formUint                  // a varint
	formFloat32               // 4 bytes, the lowest first
	formFloat64               // 8 bytes, the lowest first
	formString                // length and bytes
	formBytes                 // length + 1 and bytes; 0 is nil
	formTime                  // seconds since 1970 as a signed varint, nanoseconds as a varint
	formByteArray             // length and bytes

	// The forms from here on contain others, and count for the depth.

	formStruct    // the names and values of the fields that are not zero, then an empty name
	formPointer   // 0 for nil, or 1 and the value
	formSlice     // length + 1 and values; 0 is nil
	formArray     // length and values
	formMap       // length + 1, keys and values, sorted by the keys; 0 is nil
	formInterface // the name of the type and the value; an empty name is nil
)

// plan is how one type is written and read. It is not changed after [New], and
// refers to itself where its type does.
type plan struct {
	form form
	typ  reflect.Type
	// least is how many bytes a value takes at least, never 0: nobody has to
	// make room for more values than there are bytes for.
	least int

	elem   *plan          // of pointers, slices, arrays and maps
	fields []field        // of structs
	byName map[string]int // of structs: where in fields

	byType map[reflect.Type]*option // of interfaces
	option map[string]*option       // of interfaces: by the name that is written
}

// field is a field of a struct.
type field struct {
	plan  *plan
	index int
	label []byte // its name as it is written, with its length
}

// option is a type that an interface may hold.
type option struct {
	plan  *plan
	label []byte // its name as it is written, with its length
}

// label gives a name as it is written.
func label(name string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(name))), name...)
}

// compiler makes the plans of a type and of those it contains.
type compiler struct {
	choices map[reflect.Type]Choices
	plans   map[reflect.Type]*plan // also those that are not finished, for types that contain themselves
}

// register checks a choice and remembers it.
func (c *compiler) register(choice Choices) error {
	iface := choice.Interface
	if iface == nil || iface.Kind() != reflect.Interface {
		return fmt.Errorf("a choice is for an interface, not for %v", iface)
	}
	if _, ok := c.choices[iface]; ok {
		return fmt.Errorf("there are two choices for %s", iface)
	}
	names := map[reflect.Type]string{}
	for _, name := range slices.Sorted(maps.Keys(choice.Types)) {
		typ := choice.Types[name]
		switch {
		case name == "":
			return fmt.Errorf("%v, a choice for %s, has no name", typ, iface)
		case typ == nil || typ.Kind() == reflect.Interface:
			return fmt.Errorf("%q, a choice for %s, is not a concrete type: %v", name, iface, typ)
		case !typ.Implements(iface):
			return fmt.Errorf("%q, a choice for %s, is %s, which does not implement it", name, iface, typ)
		}
		if other, ok := names[typ]; ok {
			return fmt.Errorf("%s is a choice for %s under two names, %q and %q", typ, iface, other, name)
		}
		names[typ] = name
	}
	c.choices[iface] = choice
	return nil
}

// compile makes the plan of a type. The path says where it stands.
func (c *compiler) compile(typ reflect.Type, path string) (*plan, error) {
	if p, ok := c.plans[typ]; ok {
		return p, nil
	}
	p := &plan{typ: typ, least: 1}
	c.plans[typ] = p
	if typ == reflect.TypeFor[time.Time]() {
		p.form = formTime
		return p, nil
	}
	switch typ.Kind() {
	case reflect.Bool:
		p.form = formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.form = formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.form = formUint
	case reflect.Float32:
		p.form = formFloat32
	case reflect.Float64:
		p.form = formFloat64
	case reflect.String:
		p.form = formString
	case reflect.Struct:
		return p, c.structure(p, path)
	case reflect.Interface:
		return p, c.iface(p, path)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return p, c.container(p, path)
	default:
		return nil, fmt.Errorf("%s: %s cannot be written", path, typ)
	}
	return p, nil
}

// container completes the plan of a type that has values of one other type.
func (c *compiler) container(p *plan, path string) (err error) {
	elem := p.typ.Elem()
	switch p.typ.Kind() {
	case reflect.Pointer:
		p.form = formPointer
	case reflect.Slice:
		p.form = formSlice
		if elem.Kind() == reflect.Uint8 {
			p.form = formBytes
			return nil
		}
	case reflect.Map:
		p.form = formMap
		if p.typ.Key().Kind() != reflect.String {
			return fmt.Errorf("%s: %s cannot be written: its keys are not strings", path, p.typ)
		}
	default:
		p.form = formArray
		if elem.Kind() == reflect.Uint8 {
			p.form, p.least = formByteArray, 1+p.typ.Len()
			return nil
		}
	}
	if p.elem, err = c.compile(elem, path); err != nil {
		return err
	}
	if p.form == formArray {
		// How much an element takes is known here: an array contains itself only
		// through a pointer, a slice, a map or an interface, and those take 1.
		p.least = math.MaxInt
		if n := p.typ.Len(); n == 0 || p.elem.least <= (math.MaxInt-1)/n {
			p.least = 1 + n*p.elem.least
		}
	}
	return nil
}

// structure completes the plan of a struct.
func (c *compiler) structure(p *plan, path string) error {
	p.form = formStruct
	p.byName = make(map[string]int, p.typ.NumField())
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		at := path + "." + f.Name
		if !f.IsExported() {
			return fmt.Errorf("%s: a field that is not exported cannot be written", at)
		}
		fp, err := c.compile(f.Type, at)
		if err != nil {
			return err
		}
		p.byName[f.Name] = len(p.fields)
		p.fields = append(p.fields, field{plan: fp, index: i, label: label(f.Name)})
	}
	return nil
}

// iface completes the plan of an interface.
func (c *compiler) iface(p *plan, path string) error {
	choice, ok := c.choices[p.typ]
	if !ok {
		return fmt.Errorf("%s: %s cannot be written: there is no choice for this interface", path, p.typ)
	}
	p.form = formInterface
	p.byType = make(map[reflect.Type]*option, len(choice.Types))
	p.option = make(map[string]*option, len(choice.Types))
	for _, name := range slices.Sorted(maps.Keys(choice.Types)) {
		typ := choice.Types[name]
		op, err := c.compile(typ, path+"("+name+")")
		if err != nil {
			return err
		}
		o := &option{plan: op, label: label(name)}
		p.byType[typ], p.option[name] = o, o
	}
	return nil
}
