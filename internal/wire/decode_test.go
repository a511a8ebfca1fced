package wire_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/wire"
)

// sample has something of every form.
func sample() rich {
	n, s := 0, "s"
	p := &s
	day := time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC)
	return rich{
		Bool: true, Flag: true, Int: -300, I8: -1, I16: 1, I32: 2, I64: 3, Uint: 300, U8: 1, U16: 2, U32: 3, U64: 4,
		F32: 1.5, F64: 2.5, Text: "text", Name: "name", Bytes: []byte("bytes"), Blob: blob{}, Octets: []octet{1},
		Raw: json.RawMessage(`{}`), Texts: []string{"", "a"}, Lists: [][]int{nil, {}, {1}}, Four: [4]int16{1, 2, 3, 4},
		Sum: [8]byte{1}, Empties: make([]struct{}, 2), Meta: map[string]string{"a": "b", "c": ""},
		Named: map[name]*square{"n": nil, "o": {}}, Sums: map[string][2]byte{"a": {1}}, Pointer: &n, Twice: &p,
		PtrList: &[]string{"x"}, Struct: square{Side: 1}, Structs: []square{{}, {Side: 2}}, Time: day,
		Times: []*time.Time{&day, nil}, Wait: time.Second, Shape: square{}, Shapes: []shape{nil, &circle{Inner: sides{1}}},
		ByName: map[string]shape{"a": square{}}, Next: &rich{Int: 1}, Tree: tree{{}, nil}, Base: Base{ID: "id"}, Wide: &Wide{Width: 1},
	}
}

func TestSampleRoundTrip(t *testing.T) { same(sample())(t) }

func TestTruncated(t *testing.T) {
	t.Parallel()
	c := codec[rich](t, shapes())
	data := encode(t, c, sample())
	for n := range data {
		if got, err := c.Decode(data[:n:n]); err == nil || got != nil {
			t.Fatalf("read the first %d of %d bytes", n, len(data))
		}
	}
	if _, err := c.Decode(append(data, 0)); err == nil || !strings.Contains(err.Error(), "1 bytes are left over") {
		t.Errorf("a byte too many: %v", err)
	}
}

// Any byte may be another one; that is an error or another value.
func TestDamaged(t *testing.T) {
	t.Parallel()
	c := codec[rich](t, shapes())
	data := encode(t, c, sample())
	for i := range data {
		was := data[i]
		for _, b := range []byte{0, 1, 2, 0x7f, 0x80, 0xff, was + 1, was - 1, was ^ 0x80, was ^ 0x20} {
			data[i] = b
			again(t, c, data)
		}
		data[i] = was
	}
}

// malformed is a case of bytes that are not the encoding of a T.
func malformed[T any](data, want string, choices ...wire.Choices) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		got, err := codec[T](t, choices...).Decode([]byte(data))
		if err == nil || got != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %#v, %v; want %q", got, err, want)
		}
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	const short = "the bytes end too early"
	for name, check := range map[string]func(*testing.T){
		"nothing":               malformed[square]("", short),
		"unknown field":         malformed[square]("\x05Width\x02\x00", `wire_test.square has no field "Width"`),
		"unknown field, inside": malformed[rich]("\x07Structs\x02\x05Width\x02\x00\x00", `wire_test.square has no field "Width"`, shapes()),
		"long unknown field":    malformed[square]("\x64"+strings.Repeat("x", 100)+"\x00", strings.Repeat("x", 64)+`"…`),
		"field twice":           malformed[square]("\x04Side\x02\x04Side\x04\x00", `wire_test.square has the field "Side" twice`),
		"unknown choice":        malformed[shape]("\x03oval\x00", `wire_test.shape has no choice "ova"`, shapes()),
		"bool":                  malformed[bool]("\x02", "2 does not fit bool"),
		"int8":                  malformed[small]("\x80\x02", "128 does not fit wire_test.small"),
		"uint8":                 malformed[uint8]("\x80\x02", "256 does not fit uint8"),
		"pointer":               malformed[*int]("\x02\x00", "*int is neither nil nor set: 2"),
		"array":                 malformed[[2]int]("\x03\x00\x00\x00", "3 elements do not fit [2]int"),
		"byte array":            malformed[[2]byte]("\x03abc", "3 bytes do not fit [2]uint8"),
		"nanoseconds":           malformed[time.Time]("\x00\x80\x94\xeb\xdc\x03", "1000000000 nanoseconds"),
		"keys out of order":     malformed[map[string]bool]("\x03\x01b\x01\x01a\x01", "not in order"),
		"key twice":             malformed[map[string]bool]("\x03\x01a\x01\x01a\x01", "not in order"),
		"varint with a tail":    malformed[uint]("\x81\x00", "too many bytes"),
		"varint without an end": malformed[uint](strings.Repeat("\xff", 11), "too many bytes"),
		"long string":           malformed[string]("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", short),
		"long bytes":            malformed[[]byte]("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", short),
		"long slice":            malformed[[]struct{}]("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", short),
		"long map":              malformed[map[string]bool]("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", short),
		"float":                 malformed[float64]("1234567", short),
	} {
		t.Run(name, check)
	}
}

// allocated gives how many bytes of memory f asks for. Other tests must not run.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Bytes that promise much more than there is do not make the reader believe it.
func TestMemory(t *testing.T) { // not parallel: it measures the memory of the whole program
	type large struct{ Room [100_000]byte }
	for name, read := range map[string]func() error{
		"slice of structs":  func() error { return reads[[]large]("\x65", strings.Repeat("\x01", 100)) },
		"slice of arrays":   func() error { return reads[[][1 << 20]byte]("\x04", strings.Repeat("\xff", 100)) },
		"slice of ints":     func() error { return reads[[]uint64]("\x65", "\x01", strings.Repeat("\x80", 99)) },
		"pointer to array":  func() error { return reads[*[1 << 22]int32]("\x01", "\xff\xff\xff\x07") },
		"pointers":          func() error { return reads[[]*[1 << 22]byte]("\x65", strings.Repeat("\x01", 100)) },
		"map of arrays":     func() error { return reads[map[string][1 << 20]int]("\x32", strings.Repeat("\x01", 100)) },
		"array in an array": func() error { return reads[[]*[1 << 10][1 << 10]int]("\x65", strings.Repeat("\x01", 100)) },
	} {
		var err error
		if n := allocated(func() { err = read() }); n > 1<<18 || err == nil {
			t.Errorf("%s: %d bytes of memory, %v", name, n, err)
		}
	}
}

func reads[T any](data ...string) error {
	c, err := wire.New[T]()
	if err == nil {
		_, err = c.Decode([]byte(strings.Join(data, "")))
	}
	return err
}

// Most values are written without asking for memory.
func TestAppendAllocatesNothing(t *testing.T) { // not parallel: AllocsPerRun refuses that
	c := codec[rich](t, shapes())
	v := sample()
	v.Meta, v.Named, v.Sums, v.ByName = nil, nil, nil, nil // maps have to be sorted
	buf := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := c.Append(buf, &v); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// again reads data and, if that goes, writes and reads the value again.
func again(t *testing.T, c *wire.Codec[rich], data []byte) {
	t.Helper()
	v, err := c.Decode(data)
	if err != nil {
		return
	}
	first := encode(t, c, *v)
	back, err := c.Decode(first)
	if err != nil {
		t.Fatalf("%q was read, and %q not: %v", data, first, err)
	}
	// A value is not equal to itself, read twice, if a number in it is none.
	twin, err := c.Decode(data)
	if err != nil {
		t.Fatalf("%q was read once: %v", data, err)
	}
	if reflect.DeepEqual(v, twin) && !reflect.DeepEqual(v, back) {
		t.Fatalf("%#v became %#v", v, back)
	}
	if second := encode(t, c, *back); !bytes.Equal(second, first) {
		t.Fatalf("%q became %q", first, second)
	}
}
