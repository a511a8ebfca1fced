package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// Origin says where a value comes from.
type Origin string

// The origins. Each counts more than the one before.
const (
	FromDefault Origin = "default"
	FromFile    Origin = "file"
	FromEnv     Origin = "env"
)

// Value is an effective value of a configuration.
type Value struct {
	// Path leads to it, such as session.busy or agents.main.model.
	Path string `json:"path"`
	// Value is as JSON has it. Durations and sizes are texts as in the file, a
	// secret is its reference, and what is not given is null.
	Value any `json:"value"`
	// Origin is where it comes from, and Place where it is written there.
	Origin Origin `json:"origin"`
	Place
}

// Text gives the value as JSON in one line; text without quotes, if it is a
// plain word.
func (v Value) Text() string {
	data, err := json.Marshal(v.Value)
	if err != nil {
		return "?" // values are made of what JSON knows
	}
	var text string
	if json.Unmarshal(data, &text) == nil && v.Value != nil && plainValue(text) {
		return text
	}
	return string(data)
}

func plainValue(text string) bool {
	for _, r := range text {
		if r <= ' ' || r == '"' || r == '\\' || r > '~' {
			return false
		}
	}
	return text != ""
}

// Values gives every effective value, in the order of the file, with the entries
// of maps by name.
func (l *Loaded) Values() []Value {
	var all []Value
	l.collect(&all, reflect.ValueOf(&l.Config).Elem(), nil)
	return all
}

func (l *Loaded) collect(all *[]Value, v reflect.Value, path []string) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer && !v.IsNil() && !leaf(t.Elem()):
		l.collect(all, v.Elem(), path)
	case !leaf(t):
		for _, f := range fieldsOf(t) {
			l.collect(all, v.FieldByIndex(f.index), child(path, f.name))
		}
	case t.Kind() == reflect.Map && v.Len() > 0:
		entries := map[string]reflect.Value{}
		for i := v.MapRange(); i.Next(); {
			entries[i.Key().String()] = i.Value()
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			l.collect(all, entries[name], child(path, name))
		}
	case t.Kind() == reflect.Slice && v.Len() > 0 && !leaf(t.Elem()):
		for i := range v.Len() {
			l.collect(all, v.Index(i), child(path, strconv.Itoa(i)))
		}
	default:
		*all = append(*all, l.valueOf(v, path))
	}
}

func (l *Loaded) valueOf(v reflect.Value, path []string) Value {
	place, ok := l.places[pathKey(path)]
	out := Value{Path: pathText(path), Value: shownValue(v), Origin: FromDefault, Place: place}
	switch {
	case ok && place.Variable != "":
		out.Origin = FromEnv
	case ok:
		out.Origin = FromFile
	}
	return out
}

// shownValue gives a leaf as JSON and people see it.
func shownValue(v reflect.Value) any {
	switch {
	case v.Type() == durationType:
		return formatDuration(time.Duration(v.Int()))
	case v.Kind() == reflect.Pointer && v.IsNil(), v.Kind() == reflect.Slice && v.IsNil():
		return nil
	case v.Kind() == reflect.Map && v.IsNil():
		return map[string]string{}
	}
	return v.Interface()
}
