package wire_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/parley-run/parley/internal/wire"
)

type (
	holder[T any] struct{ Items []item[T] }
	item[T any]   struct{ Foo T }
	hidden        struct {
		Seen   int
		unseen int
	}
	stamp    time.Time
	embedder struct{ base }
	bad      struct{ Back func() }
)

func (bad) area() int { return 0 }

// refused gives the error of New for a type that has T in it.
func refused[T any](choices ...wire.Choices) func() error {
	return func() error { _, err := wire.New[holder[T]](choices...); return err }
}

func TestNewSaysWhatItCannotWrite(t *testing.T) {
	t.Parallel()
	_ = hidden{}.unseen
	choice := func(types map[string]reflect.Type) wire.Choices {
		return wire.Choices{Interface: reflect.TypeFor[shape](), Types: types}
	}
	for name, tc := range map[string]struct {
		try  func() error
		want string
	}{
		"func":              {refused[func()](), ".Items.Foo: func() cannot be written"},
		"chan":              {refused[chan int](), ".Items.Foo: chan int cannot"},
		"complex64":         {refused[complex64](), ".Items.Foo: complex64 cannot"},
		"complex128":        {refused[complex128](), ".Items.Foo: complex128 cannot"},
		"uintptr":           {refused[uintptr](), ".Items.Foo: uintptr cannot"},
		"unsafe pointer":    {refused[unsafe.Pointer](), ".Items.Foo: unsafe.Pointer cannot"},
		"interface":         {refused[shape](), ".Items.Foo: wire_test.shape cannot be written: there is no choice"},
		"any":               {refused[map[string]*any](), ".Items.Foo: interface {} cannot be written: there is no choice"},
		"map of ints":       {refused[map[int]string](), ".Items.Foo: map[int]string cannot be written: its keys"},
		"unexported field":  {refused[*hidden](), ".Items.Foo.unseen: a field that is not exported"},
		"unexported struct": {refused[[2]embedder](), ".Items.Foo.base: a field that is not exported"},
		"hidden elsewhere":  {refused[netip.Addr](), ".Items.Foo.addr: a field that is not exported"},
		"named time":        {refused[stamp](), ".Items.Foo.wall: a field that is not exported"},
		"in a choice": {
			refused[shape](choice(map[string]reflect.Type{"b": reflect.TypeFor[bad]()})),
			".Items.Foo(b).Back: func() cannot",
		},
		"not implemented": {
			refused[int](choice(map[string]reflect.Type{"round": reflect.TypeFor[circle]()})),
			`"round", a choice for wire_test.shape, is wire_test.circle, which does not implement it`,
		},
		"choice without a name": {refused[int](choice(map[string]reflect.Type{"": reflect.TypeFor[square]()})), "has no name"},
		"choice without a type": {refused[int](choice(map[string]reflect.Type{"a": nil})), "not a concrete type"},
		"choice of interface":   {refused[int](choice(map[string]reflect.Type{"a": reflect.TypeFor[shape]()})), "not a concrete type"},
		"choice with two names": {
			refused[int](choice(map[string]reflect.Type{"a": reflect.TypeFor[square](), "b": reflect.TypeFor[square]()})),
			`under two names, "a" and "b"`,
		},
		"two choices":             {refused[int](shapes(), shapes()), "two choices for wire_test.shape"},
		"choice for nothing":      {refused[int](wire.Choices{}), "for an interface, not for <nil>"},
		"choice for no interface": {refused[int](wire.Choices{Interface: reflect.TypeFor[square]()}), "not for wire_test.square"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tc.try(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNewNamesThePathFromTheType(t *testing.T) {
	t.Parallel()
	type Change struct{ Foo chan int }
	type Batch struct {
		ID       int
		Sessions map[string][]*Change
	}
	_, err := wire.New[Batch]()
	if err == nil || !strings.Contains(err.Error(), ": Batch.Sessions.Foo: chan int cannot be written") {
		t.Error(err)
	}
}
