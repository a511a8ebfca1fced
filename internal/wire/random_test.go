package wire_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
)

func TestRandomRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(soak.Seed(t), 0))
	c := codec[rich](t, shapes())
	for range soak.Count(2_000, 100_000) {
		var v rich
		fill(r, reflect.ValueOf(&v).Elem(), 0)
		data := encode(t, c, v)
		got, err := c.Decode(data)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if !reflect.DeepEqual(*got, v) {
			t.Fatalf("wrote %#v, read %#v", v, *got)
		}
		if second := encode(t, c, *got); !bytes.Equal(second, data) {
			t.Fatalf("%q became %q", data, second)
		}
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		again(t, c, data)
	}
}

// fill sets v to something: often zero, seldom large, and not without an end.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if r.IntN(3) == 0 || depth > 6 {
		return
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Unix(int64(r.Uint64())>>r.IntN(64), r.Int64N(1e9)).UTC()))
		return
	}
	size := r.IntN(4)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> r.IntN(64))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.String:
		v.SetString(letters(r))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), size, size))
		elements(r, v, depth)
	case reflect.Array:
		elements(r, v, depth)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range size {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(r, value, depth+1)
			v.SetMapIndex(reflect.ValueOf(letters(r)).Convert(v.Type().Key()), value)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth+1)
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(r, f, depth+1)
		}
	case reflect.Interface:
		held := reflect.New([]reflect.Type{
			reflect.TypeFor[square](), reflect.TypeFor[*circle](), reflect.TypeFor[sides](),
		}[r.IntN(3)]).Elem()
		fill(r, held, depth+1)
		v.Set(held)
	default:
		panic(v.Type().String() + " is not in the test")
	}
}

func elements(r *rand.Rand, v reflect.Value, depth int) {
	for i := range v.Len() {
		fill(r, v.Index(i), depth+1)
	}
}

func letters(r *rand.Rand) string {
	b := make([]byte, r.IntN(5)*r.IntN(5))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// What can be read can be written, and is the same when it is read again.
func FuzzDecode(f *testing.F) {
	c := codec[rich](f, shapes())
	f.Add([]byte{})
	f.Add(encode(f, c, rich{}))
	f.Add(encode(f, c, sample()))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var v rich
		fill(r, reflect.ValueOf(&v).Elem(), 0)
		f.Add(encode(f, c, v))
	}
	f.Fuzz(func(t *testing.T, data []byte) { again(t, c, data) })
}
