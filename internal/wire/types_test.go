package wire_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/wire"
)

type (
	name   string
	flag   bool
	small  int8
	blob   []byte
	octet  uint8
	shape  interface{ area() int }
	square struct{ Side int }
	circle struct {
		Radius int
		Inner  shape
	}
	sides []int // neither a struct nor a pointer to one
	other struct{}

	base struct{ ID name }
	// Base is embedded; base could not be, as its name is not exported.
	Base base

	rich struct {
		Bool    bool
		Flag    flag
		Int     int
		I8      small
		I16     int16
		I32     int32
		I64     int64
		Uint    uint
		U8      uint8
		U16     uint16
		U32     uint32
		U64     uint64
		F32     float32
		F64     float64
		Text    string
		Name    name
		Bytes   []byte
		Blob    blob
		Octets  []octet
		Raw     json.RawMessage
		Texts   []string
		Lists   [][]int
		Four    [4]int16
		Sum     [8]byte
		None    [0]string
		Empties []struct{}
		Meta    map[string]string
		Named   map[name]*square
		Sums    map[string][2]byte
		Pointer *int
		Twice   **string
		PtrList *[]string
		Struct  square
		Structs []square
		Time    time.Time
		Times   []*time.Time
		Wait    time.Duration
		Shape   shape
		Shapes  []shape
		ByName  map[string]shape
		Next    *rich
		Tree    tree
		Base
		*Wide
	}
	// Wide is embedded as a pointer.
	Wide   struct{ Width int }
	tree   []tree
	itself *itself
	nest   map[string]nest
	loop   [2]*loop
)

func (square) area() int  { return 1 }
func (*circle) area() int { return 2 }
func (sides) area() int   { return 3 }
func (other) area() int   { return 4 }

func shapes() wire.Choices {
	return wire.Choices{Interface: reflect.TypeFor[shape](), Types: map[string]reflect.Type{
		"square": reflect.TypeFor[square](), "circle": reflect.TypeFor[*circle](), "sides": reflect.TypeFor[sides](),
	}}
}

func codec[T any](t testing.TB, choices ...wire.Choices) *wire.Codec[T] {
	t.Helper()
	c, err := wire.New[T](choices...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encode[T any](t testing.TB, c *wire.Codec[T], v T) []byte {
	t.Helper()
	data, err := c.Append(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
