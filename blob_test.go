package parley_test

import (
	"slices"
	"testing"

	"github.com/parley-run/parley"
)

func TestBlobsIn(t *testing.T) {
	t.Parallel()
	media := func(handle string) parley.Part {
		return parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: handle, Type: "image/png"}}
	}
	result := parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{
		CallID: "c", Media: &parley.Media{Handle: "of-a-result", Type: "image/png"},
	}}
	bare := parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c"}}
	for name, c := range map[string]struct {
		body parley.EventBody
		want []parley.BlobHandle
	}{
		"nothing":     {&parley.Message{}, nil},
		"text":        {&parley.Message{Parts: []parley.Part{parley.TextPart("a"), bare}}, nil},
		"message":     {&parley.Message{Parts: []parley.Part{media("b"), parley.TextPart("x"), media("a")}}, []parley.BlobHandle{"b", "a"}},
		"each once":   {&parley.Message{Parts: []parley.Part{media("a"), media("b"), media("a")}}, []parley.BlobHandle{"a", "b"}},
		"tool result": {&parley.Message{Parts: []parley.Part{result, result}}, []parley.BlobHandle{"of-a-result"}},
		"input":       {&parley.Admitted{Parts: []parley.Part{media("a"), result}}, []parley.BlobHandle{"a", "of-a-result"}},
		"redacted":    {&parley.Tombstone{Of: parley.EventMessage}, nil},
		"other":       {&parley.Custom{Type: "app:x", Data: []byte(`{"handle":"a"}`)}, nil},
	} {
		if got := parley.BlobsIn(c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestBlobsInCostsNothingWithoutMedia is not parallel, because allocations are
// counted for the whole process.
func TestBlobsInCostsNothingWithoutMedia(t *testing.T) {
	m := &parley.Message{Parts: []parley.Part{parley.TextPart("a"), parley.TextPart("b")}}
	if n := testing.AllocsPerRun(100, func() { parley.BlobsIn(m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
