package parley_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
)

// elsewhere are fields that do not count: they are counted where they are encoded, with the body of an event, or the store sets them.
var elsewhere = []string{
	"NewEvent.Body",
	"Input.Kind", "Input.Parts", "Input.Sender", "Input.ReplyTo", "Input.MessageID", "Input.Target", "Input.Session",
}

// TestBatchSize fills every field that can hold text, alone, and wants it to count; and so that each entry of a list does.
func TestBatchSize(t *testing.T) {
	t.Parallel()
	const much = 1000
	seen := 0
	// visit fills what v can hold, step by step, and wants to see the batch grow.
	var visit func(t *testing.T, name string, b *parley.Batch, v reflect.Value)
	grows := func(t *testing.T, name string, b *parley.Batch, by int, fill func()) {
		t.Helper()
		before := b.Size()
		fill()
		if got := b.Size() - before; got < by {
			t.Errorf("%s counts for %d, want %d or more", name, got, by)
		}
		seen++
	}
	long := strings.Repeat("x", much)
	visit = func(t *testing.T, name string, b *parley.Batch, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			grows(t, name, b, much, func() { v.SetString(long) })
		case reflect.Slice:
			switch v.Type().Elem().Kind() {
			case reflect.Uint8:
				grows(t, name, b, much, func() { v.SetBytes([]byte(long)) })
			case reflect.Interface:
				for _, e := range expectations() {
					entry := reflect.New(reflect.TypeOf(e)).Elem()
					grows(t, name, b, 1, func() { v.Set(reflect.Append(v, entry)) })
					for _, field := range reflect.VisibleFields(entry.Type()) {
						for _, leaf := range textsIn(entry.FieldByIndex(field.Index)) {
							grows(t, entry.Type().Name()+"."+field.Name, b, much, func() {
								leaf.SetString(long)
								v.Index(v.Len() - 1).Set(entry)
							})
						}
					}
				}
			case reflect.String:
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				visit(t, name, b, v.Index(0))
			default:
				grows(t, name, b, 1, func() { v.Set(reflect.MakeSlice(v.Type(), 1, 1)) })
				visit(t, name, b, v.Index(0))
			}
		case reflect.Map:
			grows(t, name, b, 2*much, func() {
				v.Set(reflect.MakeMap(v.Type()))
				v.SetMapIndex(reflect.ValueOf(long).Convert(v.Type().Key()), reflect.ValueOf(long).Convert(v.Type().Elem()))
			})
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			visit(t, name, b, v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				field := v.Type().Name() + "." + v.Type().Field(i).Name
				if v.Type().Field(i).IsExported() && !slices.Contains(elsewhere, field) {
					visit(t, field, b, v.Field(i))
				}
			}
		default: // a number, a flag or a hash: the entry counts for it
		}
	}
	var b parley.Batch
	visit(t, "Batch", &b, reflect.ValueOf(&b).Elem())
	if seen < 100 {
		t.Errorf("%d things were filled, which cannot be all", seen)
	}
}

// textsIn gives the text that a field is, or those of its own fields.
func textsIn(v reflect.Value) (list []reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		list = append(list, v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		list = textsIn(v.Index(0))
	case reflect.Struct:
		for _, field := range v.Fields() {
			list = append(list, textsIn(field)...)
		}
	}
	return list
}

func expectations() []parley.Expectation {
	return []parley.Expectation{
		parley.KeyIs{},
		parley.AliasIs{},
		parley.FenceIs{},
		parley.StatusIn{},
		parley.RecoveryIs{},
		parley.EndedIs{},
		parley.QueuedAtMost{},
		parley.InputIs{},
		parley.TurnIs{},
		parley.ApprovalIs{},
		parley.DeliveryIs{},
		parley.EventIntact{},
		parley.IdentityIs{},
	}
}
