package parley_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
)

// Messages that are read in the short way, and some that just are not.
var scanned = []string{
	`{"id":"m","role":"user","parts":[{"type":"text","text":"hello"}]}`,
	`{"id":"m","role":"assistant","parts":[{"type":"text","text":""}],"model":"m","hidden":true}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"one"},{"type":"text","text":"two","note":true}],"inputs":[{"origin":"a/b/c","id":"1"}],"undirected":true}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"\"\\\/\b\f\n\r\t and äöü 🙂"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"\u00e4 \ud83d\ude42 \u2028"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"\x"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"` + "\n" + `"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"` + "\xff" + `"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"cut`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"cut\`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"},]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}],}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}]}}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}],"id":"n"}`,
	`{"id":"m","ID":"n","role":"user","parts":[{"type":"text","text":"a"}]}`,
	`{"id":null,"role":"user","parts":null}`,
	`{"id":"m","role":"user","parts":[]}`,
	`{"id":"m","role":"user","parts":[{}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}],"hidden":false}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}],"hidden":1}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}],"sender":{"id":"7","name":"Ada"}}`,
	`{"id":"m","role":"assistant","parts":[{"type":"tool_call","tool_call":{"id":"c","name":"n","arguments":{"a":[1]}}}]}`,
	`{"id":"m","role":"nobody","parts":[{"type":"text","text":"a"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"sound","text":"a"}]}`,
	`{"id":"m","role":"user","parts":[{"type":"text","text":"a"}],"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}`,
	`{}`, `{`, `[]`, `"`, ``,
}

// A space in front keeps a message from being read in the short way.
func sameAsLong(t *testing.T, data string) {
	t.Helper()
	short, shortErr := parley.DecodeBody(parley.EventMessage, []byte(data))
	long, longErr := parley.DecodeBody(parley.EventMessage, []byte(" "+data))
	if parley.CodeOf(shortErr) != parley.CodeOf(longErr) || fmt.Sprint(shortErr) != fmt.Sprint(longErr) {
		t.Fatalf("%q: %v, and the long way %v", data, shortErr, longErr)
	}
	if diff := cmp.Diff(long, short); shortErr == nil && diff != "" {
		t.Fatalf("%q (- the long way, + the short one):\n%s", data, diff)
	}
}

func TestDecodeBody_MessageShortWay(t *testing.T) {
	t.Parallel()
	for _, data := range scanned {
		sameAsLong(t, data)
	}
}

func TestDecodeBody_MessageTakesShortWay(t *testing.T) {
	allocs := func(data string) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := parley.DecodeBody(parley.EventMessage, []byte(data)); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, data := range scanned[:4] {
		if short, long := allocs(data), allocs(" "+data); short >= long {
			t.Errorf("%q: %v allocations, and %v the long way", data, short, long)
		}
	}
}

// Who keeps the id of a message does not keep the message.
func TestDecodeBody_MessageSharesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ids := make([]string, 50)
	for i := range ids {
		body, err := parley.DecodeBody(parley.EventMessage,
			[]byte(`{"id":"m","role":"user","parts":[{"type":"text","text":"`+strings.Repeat("long ", 50_000)+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		m, _ := body.(*parley.Message)
		ids[i] = m.ID
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 5_000_000 {
		t.Errorf("%d ids keep %d bytes", len(ids), kept)
	}
	runtime.KeepAlive(ids)
}

func FuzzDecodeMessage(f *testing.F) {
	for _, data := range scanned {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if strings.TrimSpace(data) == string(parley.TombstoneData) || len(data) >= parley.MaxBodyBytes {
			t.Skip("a space makes a difference")
		}
		sameAsLong(t, data)
	})
}
