package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// describe prints a value for a failure report: like Go source, but only the
// fields that are set, so that a batch fits on a few lines.
func describe(v any) string {
	var b strings.Builder
	describeTo(&b, reflect.ValueOf(v))
	return b.String()
}

func describeTo(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("nil")
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		describeTo(b, v.Elem())
	case reflect.Struct:
		describeStruct(b, v)
	case reflect.Slice:
		describeSlice(b, v)
	case reflect.Array:
		fmt.Fprintf(b, "%x", v) // a hash
	case reflect.Map:
		describeMap(b, v)
	case reflect.String:
		b.WriteString(quoted(v.String()))
	default:
		fmt.Fprintf(b, "%v", v)
	}
}

func describeStruct(b *strings.Builder, v reflect.Value) {
	if t, ok := reflect.TypeAssert[time.Time](v); ok {
		b.WriteString(t.Format("15:04:05.000000"))
		return
	}
	b.WriteString(v.Type().Name())
	b.WriteByte('{')
	n := 0
	for i := range v.NumField() {
		if v.Field(i).IsZero() || !v.Type().Field(i).IsExported() {
			continue
		}
		separate(b, n)
		n++
		b.WriteString(v.Type().Field(i).Name)
		b.WriteString(": ")
		describeTo(b, v.Field(i))
	}
	b.WriteByte('}')
}

func describeSlice(b *strings.Builder, v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b.WriteString(quoted(string(v.Bytes())))
		return
	}
	b.WriteByte('[')
	for i := range v.Len() {
		separate(b, i)
		describeTo(b, v.Index(i))
	}
	b.WriteByte(']')
}

func describeMap(b *strings.Builder, v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	b.WriteByte('{')
	for i, key := range keys {
		separate(b, i)
		fmt.Fprintf(b, "%v: ", key)
		describeTo(b, v.MapIndex(key))
	}
	b.WriteByte('}')
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

// quoted cuts what only fills the screen.
func quoted(s string) string {
	const most = 120
	if len(s) > most {
		return strconv.Quote(s[:most]) + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return strconv.Quote(s)
}
