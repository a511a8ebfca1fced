package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley/secret"
)

// decoder fills a configuration from nodes. It remembers where each value was
// written, and everything that is wrong.
type decoder struct {
	problems Problems
	warnings Problems
	places   map[string]Place // of values, by their path
	names    map[string]Place // of the keys of maps, by the path of their value
	partial  map[string]Place // of entries of lists in which something is wrong, by their path
}

func newDecoder() *decoder {
	return &decoder{places: map[string]Place{}, names: map[string]Place{}, partial: map[string]Place{}}
}

func pathKey(path []string) string { return strings.Join(path, "\x00") }

func child(path []string, names ...string) []string { return slices.Concat(path, names) }

func (d *decoder) fail(p Place, format string, args ...any) {
	d.problems = append(d.problems, Problem{p, harmless(fmt.Sprintf(format, args...))})
}

// forget drops what is known about a path and all that is in it.
func (d *decoder) forget(path []string) {
	prefix := pathKey(path)
	for _, m := range []map[string]Place{d.places, d.names, d.partial} {
		for k := range m {
			if k == prefix || strings.HasPrefix(k, prefix+"\x00") {
				delete(m, k)
			}
		}
	}
}

// value decodes n into v. A value that is wrong leaves v as it is; nothing at all
// leaves it too, so that an empty key is its default.
func (d *decoder) value(v reflect.Value, f field, path []string, n node) {
	if n.kind == kindNull {
		return
	}
	d.places[pathKey(path)] = n.place
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer:
		fresh := reflect.New(t.Elem())
		setDefaults(fresh.Elem())
		before := len(d.problems)
		d.value(fresh.Elem(), f, path, n)
		if len(d.problems) == before || !leaf(t.Elem()) {
			v.Set(fresh)
		}
	case !leaf(t):
		d.object(v, path, n)
	case t.Kind() == reflect.Map:
		d.entries(v, f, path, n)
	case t.Kind() == reflect.Slice:
		d.items(v, f, path, n)
	default:
		d.scalar(v, f, path, n)
	}
}

// object decodes the keys of a struct.
func (d *decoder) object(v reflect.Value, path []string, n node) {
	if n.kind != kindMap {
		d.mismatch(path, n, "keys and their values are wanted")
		return
	}
	fields := fieldsOf(v.Type())
	seen := map[string]Place{}
	for _, e := range n.keys {
		if !d.key(path, e, seen) {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == e.name })
		if i < 0 {
			d.unknown(path, e, fields)
			continue
		}
		d.value(v.FieldByIndex(fields[i].index), fields[i], child(path, e.name), e.value)
	}
	for _, f := range fields {
		if _, ok := seen[f.name]; f.is == "required" && !ok {
			d.fail(n.place, "%s lacks %s%s", pathText(path), f.name, wanted(f))
		}
	}
}

// key reports whether a key can be looked at: it is not there twice, and can be
// repeated in a message.
func (d *decoder) key(path []string, e entry, seen map[string]Place) bool {
	switch first, twice := seen[e.name]; {
	case secret.CheckPlain(e.name) != nil:
		d.fail(e.place, "this key%s looks like a credential, and those are not written down here; what is before a : is a name", inside(path))
		return false
	case len(e.name) > maxKeyBytes:
		d.fail(e.place, "this key%s is longer than %d bytes", inside(path), maxKeyBytes)
		return false
	case twice:
		d.fail(e.place, "%s is there twice, first in line %d; remove one of them", pathText(child(path, e.name)), first.Line)
		return false
	}
	seen[e.name] = e.place
	return true
}

func inside(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " in " + pathText(path)
}

// unknown says what an unknown key should probably be.
func (d *decoder) unknown(path []string, e entry, fields []field) {
	text := fmt.Sprintf("%s is not known", pathText(child(path, e.name)))
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if near := nearest(e.name, names); near != "" {
		d.fail(e.place, "%s; did you mean %s?", text, near)
		return
	}
	// A key that is right, but in the wrong place.
	for _, f := range Fields() {
		if f.Path[strings.LastIndexByte(f.Path, '.')+1:] == e.name && strings.Contains(f.Path, ".") {
			d.fail(e.place, "%s; did you mean %s?", text, f.Path)
			return
		}
	}
	where := "at the top"
	if len(path) > 0 {
		where = "in " + pathText(path)
	}
	d.fail(e.place, "%s; the keys %s are %s", text, where, listed(names, " and "))
}

// entries decodes a map.
func (d *decoder) entries(v reflect.Value, f field, path []string, n node) {
	if n.kind != kindMap {
		d.mismatch(path, n, "names and what belongs to them are wanted")
		return
	}
	fresh := reflect.MakeMap(v.Type())
	seen := map[string]Place{}
	for _, e := range n.keys {
		here := child(path, e.name)
		switch {
		case !d.key(path, e, seen):
			continue
		case e.name == "":
			d.fail(e.place, "a name%s is empty", inside(path))
			continue
		case len(f.keys) > 0 && !slices.Contains(f.keys, e.name):
			d.fail(e.place, "%s is not known; it must be %s", pathText(here), either(f.keys))
			continue
		}
		if rule := rules[f.names]; rule != nil {
			if _, wrong := rule(e.name); wrong != "" {
				d.fail(e.place, "%s: %s", pathText(here), wrong)
			}
		}
		d.names[pathKey(here)] = e.place
		d.places[pathKey(here)] = e.place
		elem := reflect.New(v.Type().Elem()).Elem()
		setDefaults(elem)
		d.value(elem, field{is: f.is, typ: elem.Type()}, here, e.value)
		fresh.SetMapIndex(reflect.ValueOf(e.name), elem)
	}
	v.Set(fresh)
}

// items decodes a list. One that was given is never nil.
func (d *decoder) items(v reflect.Value, f field, path []string, n node) {
	if n.kind != kindList {
		d.mismatch(path, n, "a list is wanted, such as [a, b]")
		return
	}
	fresh := reflect.MakeSlice(v.Type(), 0, len(n.list))
	for i, item := range n.list {
		elem := reflect.New(v.Type().Elem()).Elem()
		setDefaults(elem)
		here := child(path, strconv.Itoa(i))
		if item.kind == kindNull {
			d.fail(item.place, "%s is empty; remove it, or write something", pathText(here))
			continue
		}
		before := len(d.problems)
		d.value(elem, field{is: f.is, enum: f.enum, typ: elem.Type()}, here, item)
		if len(d.problems) > before && leaf(elem.Type()) {
			continue // what is not there causes no further problems
		}
		kept := pathKey(child(path, strconv.Itoa(fresh.Len())))
		d.places[kept] = item.place
		if len(d.problems) > before {
			d.partial[kept] = item.place
		}
		fresh = reflect.Append(fresh, elem)
	}
	v.Set(fresh)
}

// mismatch says that a value is of the wrong kind. It shows only what cannot be
// a secret.
func (d *decoder) mismatch(path []string, n node, want string) {
	what := pathText(path)
	if what == "" {
		what = "the configuration"
	}
	d.fail(n.place, "%s is %s; %s", what, n.kind, want)
}

// setDefaults gives v and what is in it the defaults of its tags.
func setDefaults(v reflect.Value) {
	if leaf(v.Type()) {
		return
	}
	for _, f := range fieldsOf(v.Type()) {
		at := v.FieldByIndex(f.index)
		if !leaf(f.typ) {
			setDefaults(at)
			continue
		}
		if !f.hasDefault {
			continue
		}
		n := node{kind: kindText, text: f.def}
		if f.typ.Kind() == reflect.Slice {
			n.kind = kindList
			for _, word := range words(f.def) {
				n.list = append(n.list, node{kind: kindText, text: word})
			}
		}
		newDecoder().value(at, f, nil, n)
	}
}

// Default gives the configuration if nothing is configured.
func Default() Config {
	var c Config
	setDefaults(reflect.ValueOf(&c).Elem())
	c.complete()
	return c
}

// complete adds what is always there.
func (c *Config) complete() {
	if c.Agents == nil {
		c.Agents = map[string]Agent{}
	}
	if _, ok := c.Agents[MainAgent]; !ok {
		var main Agent
		setDefaults(reflect.ValueOf(&main).Elem())
		c.Agents[MainAgent] = main
	}
}
