package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
)

// diff compares what a store gave with what it should have. Nothing and an
// empty list are the same; so is a time in another zone.
func diff(want, got any) string {
	if same(reflect.ValueOf(want), reflect.ValueOf(got)) {
		return ""
	}
	return "the store differs (-want +got):\n" + cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// same is the rule of diff, twenty times faster than cmp.Equal: sequences make
// millions of comparisons, and nearly all of them find nothing.
func same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Struct:
		return sameStruct(a, b)
	case reflect.Slice:
		return sameSlice(a, b)
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for entries := a.MapRange(); entries.Next(); {
			if !same(entries.Value(), b.MapIndex(entries.Key())) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

func sameStruct(a, b reflect.Value) bool {
	if t, ok := reflect.TypeAssert[time.Time](a); ok {
		u, _ := reflect.TypeAssert[time.Time](b)
		return t.Equal(u)
	}
	for i := range a.NumField() {
		if !same(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

func sameSlice(a, b reflect.Value) bool {
	if a.Type().Elem().Kind() == reflect.Uint8 {
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// diffErrors compares failures by what callers can rely on: the code, and for
// an expectation that does not hold which one it was and what is there instead.
func diffErrors(want, got error) string {
	if parley.CodeOf(want) != parley.CodeOf(got) {
		return fmt.Sprintf("error %v, want %v", shown(got), shown(want))
	}
	var wantExpect, gotExpect *parley.ExpectError
	if !errors.As(want, &wantExpect) {
		return ""
	}
	if !errors.As(got, &gotExpect) {
		return fmt.Sprintf("error %v has no ExpectError, want %v", shown(got), shown(want))
	}
	return diff(*wantExpect, *gotExpect)
}

func shown(err error) string {
	if err == nil {
		return "none"
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s (%v)", parley.CodeOf(err), err), "?")
}
