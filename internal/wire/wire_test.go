package wire_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// trip writes v and gives what is read.
func trip[T any](t testing.TB, v T) T {
	t.Helper()
	c := codec[T](t, shapes())
	got, err := c.Decode(encode(t, c, v))
	if err != nil {
		t.Fatal(err)
	}
	return *got
}

// same is a case of a value that comes back as it was.
func same[T any](v T) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		if got := trip(t, v); !reflect.DeepEqual(got, v) {
			t.Errorf("wrote %#v, read %#v", v, got)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	zero, text := 0, ""
	pointer, seven := &text, 7
	day := time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC)
	for name, check := range map[string]func(*testing.T){
		"bool":                  same([]bool{true, false}),
		"named bool":            same(flag(true)),
		"int":                   same([]int{0, 1, -1, math.MinInt, math.MaxInt}),
		"int8":                  same([]small{math.MinInt8, math.MaxInt8}),
		"int16":                 same([]int16{math.MinInt16, math.MaxInt16}),
		"int32":                 same([]int32{math.MinInt32, math.MaxInt32}),
		"int64":                 same([]int64{math.MinInt64, math.MaxInt64}),
		"uint":                  same([]uint{0, 127, 128, math.MaxUint}),
		"uint16":                same([]uint16{math.MaxUint16}),
		"uint32":                same([]uint32{math.MaxUint32}),
		"uint64":                same([]uint64{math.MaxUint64}),
		"float32":               same([]float32{0, 1.5, -math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Inf(1))}),
		"float64":               same([]float64{0, 1.5, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1)}),
		"string":                same([]string{"", "a", "é\x00\xff", strings.Repeat("x", 300)}),
		"named string":          same(name("n")),
		"nil bytes":             same([]byte(nil)),
		"empty bytes":           same([]byte{}),
		"bytes":                 same([]byte{0, 1, 255}),
		"named bytes":           same(blob("b")),
		"slice of named bytes":  same([]octet{0, 200}),
		"raw json":              same(json.RawMessage(`{"a":1}`)),
		"empty raw json":        same(json.RawMessage{}),
		"nil slice":             same([]string(nil)),
		"empty slice":           same([]string{}),
		"nil slices in a slice": same([][]int{nil, {}, {1}}),
		"long slice":            same(make([]uint64, 5000)),
		"slice of nothing":      same(make([]struct{}, 10)),
		"array":                 same([3]string{"a", "", "c"}),
		"byte array":            same([4]byte{1, 2, 3, 255}),
		"named byte array":      same([2]octet{1, 200}),
		"empty array":           same([0]int{}),
		"nil map":               same(map[string]int(nil)),
		"empty map":             same(map[string]int{}),
		"map":                   same(map[string]int{"": 1, "b": 0, "a": -1}),
		"map with named keys":   same(map[name][]byte{"a": nil, "b": {}}),
		"map of byte arrays":    same(map[string][2]byte{"a": {1, 200}}),
		"map of structs":        same(map[string]square{"a": {}, "b": {Side: 1}}),
		"map of interfaces":     same(map[string]shape{"a": nil, "b": square{}}),
		"nil pointer":           same((*int)(nil)),
		"pointer to zero":       same(&zero),
		"pointer to pointer":    same(&pointer),
		"pointer to nil":        same(new(*int)),
		"struct":                same(square{Side: 3}),
		"zero struct":           same(rich{}),
		"pointers in a struct":  same(rich{Pointer: &zero, PtrList: new([]string), Next: &rich{}, Times: []*time.Time{nil, {}}}),
		"empty in a struct":     same(rich{Bytes: []byte{}, Texts: []string{}, Meta: map[string]string{}, Raw: json.RawMessage{}}),
		"embedded":              same(rich{Base: Base{ID: "b"}, Wide: &Wide{}}),
		"nil interface":         same[shape](nil),
		"struct in interface":   same[shape](square{Side: 2}),
		"zero in interface":     same[shape](square{}),
		"pointer in interface":  same[shape](&circle{Radius: 1, Inner: &circle{Inner: square{}}}),
		"nil pointer in one":    same[shape]((*circle)(nil)),
		"slice in interface":    same([]shape{sides{1, 2}, sides(nil), nil, sides{}}),
		"duration":              same(90 * time.Minute),
		"time":                  same([]time.Time{day, {}, time.Unix(0, 0).UTC(), time.Unix(-1, 999_999_999).UTC(), time.Unix(1<<62, 5).UTC()}),
		"time in a map":         same(map[string]time.Time{"a": day}),
		"recursive struct":      same(rich{Next: &rich{Int: 1, Next: &rich{Text: "x"}}}),
		"recursive slice":       same(tree{nil, {}, {{nil}}}),
		"recursive map":         same(nest{"a": {"b": nil, "c": {}}}),
		"recursive array":       same(loop{nil, {nil, {}}}),
		"recursive pointer":     same(itself(new(itself))),
		"anonymous struct":      same(struct{ A, B *int }{B: &seven}),
	} {
		t.Run(name, check)
	}
}

func TestTimesComeBackInUTC(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("there", -7*3600)
	now := time.Now()
	for _, in := range []time.Time{now, now.In(zone), time.Date(2026, 1, 2, 3, 4, 5, 6, zone)} {
		for _, got := range []time.Time{trip(t, in), trip(t, rich{Time: in}).Time, *trip(t, []*time.Time{&in})[0]} {
			if want := in.Round(0).UTC(); !reflect.DeepEqual(got, want) {
				t.Errorf("wrote %v, read %#v, not %#v", in, got, want)
			}
		}
	}
	elsewhere := time.Time{}.In(zone)
	if got := trip(t, rich{Time: elsewhere, Int: 1}); !reflect.DeepEqual(got, rich{Int: 1}) {
		t.Errorf("a zero time in another zone became %#v", got.Time)
	}
}

func TestFieldsMayBeAddedAndMoved(t *testing.T) {
	t.Parallel()
	type old struct {
		A int
		B string
		C []square
	}
	type changed struct {
		Z *int
		C []struct {
			New  bool
			Side int
		}
		B name
		A int
	}
	data := encode(t, codec[old](t), old{A: 1, B: "b", C: []square{{Side: 2}, {}}})
	got, err := codec[changed](t).Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.C) != 2 || got.A != 1 || got.B != "b" || got.Z != nil || got.C[0].Side != 2 || got.C[0].New || got.C[1].Side != 0 {
		t.Errorf("read %#v", got)
	}
}

func TestMapsAreWrittenInOrder(t *testing.T) {
	t.Parallel()
	c := codec[map[string]map[name]int](t)
	v := map[string]map[name]int{}
	for k := range strings.SplitSeq("the quick brown fox jumps over a lazy dog", " ") {
		v[k] = map[name]int{name(k): 1, name(k + k): 2, "x": 3}
	}
	first := encode(t, c, v)
	for range 50 {
		if !bytes.Equal(encode(t, c, v), first) {
			t.Fatal("one value, two encodings")
		}
	}
}

func TestDecodedValuesAreTheirOwn(t *testing.T) {
	t.Parallel()
	c := codec[rich](t, shapes())
	v := rich{
		Text: "text", Bytes: []byte("bytes"), Raw: json.RawMessage("raw"), Meta: map[string]string{"key": "value"},
		Sum: [8]byte{1, 2}, Texts: []string{"a"}, Shape: square{Side: 1},
	}
	data := encode(t, c, v)
	got, err := c.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = '#'
	}
	if !reflect.DeepEqual(*got, v) {
		t.Errorf("changed with the input: %#v", got)
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	c := codec[[]shape](t, shapes())
	buf, err := c.Append([]byte("before"), &[]shape{square{Side: 1}})
	if err != nil || !bytes.HasPrefix(buf, []byte("before")) {
		t.Fatalf("%q, %v", buf, err)
	}
	if _, err := c.Decode(buf[len("before"):]); err != nil {
		t.Error(err)
	}
	kept, err := c.Append(buf, &[]shape{square{}, other{}})
	if err == nil || !bytes.Equal(kept, buf) {
		t.Errorf("after a failure: %q, %v", kept, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	var ring rich
	ring.Next = &ring
	c := codec[rich](t, shapes())
	for _, tc := range []struct {
		v    *rich
		want string
	}{
		{nil, "no value"},
		{&rich{Shape: other{}}, "wire_test.shape holds wire_test.other, which is not one"},
		{&rich{ByName: map[string]shape{"a": &square{}}}, "wire_test.shape holds *wire_test.square, which is not one"},
		{&ring, "deeper than 1000"},
	} {
		if _, err := c.Append(nil, tc.v); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
}

// What is not too deep to be written is not too deep to be read.
func TestDepth(t *testing.T) {
	t.Parallel()
	c := codec[tree](t)
	deep := tree{}
	for range 999 {
		deep = tree{deep}
	}
	got, err := c.Decode(encode(t, c, deep))
	if err != nil || !reflect.DeepEqual(*got, deep) {
		t.Errorf("1000 levels: %v", err)
	}
	if _, err := c.Append(nil, &tree{deep}); err == nil {
		t.Error("1001 levels were written")
	}
	if _, err := c.Decode(bytes.Repeat([]byte{2}, 1<<20)); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Errorf("a million levels were read: %v", err)
	}
}

func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	c := codec[rich](t, shapes())
	v := rich{Text: "x", Shapes: []shape{square{Side: 1}, &circle{}}, Meta: map[string]string{"a": "b"}, Next: &rich{Int: 1}}
	want := encode(t, c, v)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				data, err := c.Append(nil, &v)
				if err != nil || !bytes.Equal(data, want) {
					t.Errorf("%q, %v", data, err)
				}
				if got, err := c.Decode(data); err != nil || !reflect.DeepEqual(*got, v) {
					t.Errorf("%#v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}
