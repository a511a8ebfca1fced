package config

import (
	"reflect"
	"strings"
	"time"

	"github.com/parley-run/parley/secret"
)

// field is a key of a struct, as its tags say.
type field struct {
	name, doc, example string
	def                string
	hasDefault         bool
	enum, keys         []string
	min, max           string
	is, names          string
	index              []int
	typ                reflect.Type
}

// fieldsOf gives the keys of a struct in their order, those of inline structs in
// their place.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields = append(fields, inner)
			}
			continue
		}
		def, hasDefault := f.Tag.Lookup("default")
		fields = append(fields, field{
			name: name, doc: f.Tag.Get("doc"), example: f.Tag.Get("example"), def: def, hasDefault: hasDefault,
			enum: words(f.Tag.Get("enum")), keys: words(f.Tag.Get("keys")), min: f.Tag.Get("min"), max: f.Tag.Get("max"),
			is: f.Tag.Get("is"), names: f.Tag.Get("names"), index: []int{i}, typ: f.Type,
		})
	}
	return fields
}

func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	sizeType     = reflect.TypeFor[Size]()
	refType      = reflect.TypeFor[secret.Ref]()
)

// leaf reports whether a value of the type is set as one. Maps are, in variables.
func leaf(t reflect.Type) bool { return t == refType || t.Kind() != reflect.Struct }

// many reports whether a field holds several values, which are JSON in a variable.
func (f field) many() bool { return f.typ.Kind() == reflect.Map || f.typ.Kind() == reflect.Slice }

// Field describes a key of the configuration.
type Field struct {
	// Path leads to it: session.busy, agents.NAME.model, routes[].agent.
	Path string
	// Variable is the environment variable that sets it, or the map or list it is
	// in. A section has none.
	Variable string
	// Type says what it is: text, whole number, duration …
	Type string
	// Default is its default as it is written in the file; empty for none.
	Default string
	// Values are those it can have, if they are few; Least and Most bound it.
	Values      []string
	Least, Most string
	// Doc is what it is for, in sentences.
	Doc string
	// Example is an entry of the map or list, in YAML.
	Example string
	// Section says that it is a group of keys, which follow.
	Section bool
	// Like is the path of a section with the same keys, which are then not listed
	// again.
	Like string
}

// Fields gives every key there is, in the order of the file, sections before
// what is in them.
func Fields() []Field {
	d := describer{seen: map[reflect.Type]string{}}
	d.object(reflect.TypeFor[Config](), "", "")
	return d.all
}

type describer struct {
	all  []Field
	seen map[reflect.Type]string // structs that were described, and where
}

// object adds the keys of a struct at a path. within is the variable of the map
// or list that holds it, if one does.
func (d *describer) object(t reflect.Type, path, within string) {
	d.see(t, path)
	for _, f := range fieldsOf(t) {
		here := strings.TrimPrefix(path+"."+f.name, ".")
		inner := f.typ
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		info := Field{
			Path: here, Variable: within, Type: typeText(f), Default: f.written(), Values: f.enum, Least: f.min, Most: f.max,
			Doc: f.doc, Example: f.example, Section: !leaf(inner),
		}
		if within == "" && !info.Section {
			info.Variable = variable(here)
		}
		below := here
		switch {
		case info.Section:
		case inner.Kind() == reflect.Map:
			inner, below = inner.Elem(), here+".NAME"
		case inner.Kind() == reflect.Slice:
			inner, below = inner.Elem(), here+"[]"
		}
		if !leaf(inner) {
			info.Like = d.seen[inner]
		}
		d.all = append(d.all, info)
		if !leaf(inner) && info.Like == "" {
			d.object(inner, below, info.Variable)
		}
	}
}

// see remembers where a struct, and those inline in it, are described.
func (d *describer) see(t reflect.Type, path string) {
	d.seen[t] = path
	for f := range t.Fields() {
		if f.Anonymous {
			d.see(f.Type, path)
		}
	}
}

// prefix is what the names of all variables begin with.
const prefix = "PARLEY_"

// variable gives the name of the variable for a path.
func variable(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// typeText says what kind of value a field has.
func typeText(f field) string {
	t := f.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case durationType:
		return "duration"
	case sizeType:
		return "size"
	case refType:
		return "secret"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "map"
	case reflect.Struct:
		return "section"
	default:
		return "text"
	}
}

// written gives the default as the file has it.
func (f field) written() string {
	switch f.typ.Kind() {
	case reflect.Slice:
		if !f.hasDefault {
			return ""
		}
		return "[" + strings.ReplaceAll(f.def, ",", ", ") + "]"
	case reflect.Map:
		return "{}"
	case reflect.String:
		switch {
		case f.def == "" && (f.is == "required" || len(f.enum) > 0):
			return ""
		case f.def == "":
			return `""`
		}
		if strings.ContainsAny(f.def, ":#") {
			return `"` + f.def + `"`
		}
	}
	return f.def
}
