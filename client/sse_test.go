package client_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parley-run/parley/client"
)

func data(name, data, id string) client.Block {
	return client.Block{Name: name, Data: data, HasData: true, ID: id, HasID: id != ""}
}

func TestEventReader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stream string
		want         []client.Block
	}{
		{"nothing", "", nil},
		{"one", "event: a\ndata: b\nid: 1\n\n", []client.Block{data("a", "b", "1")}},
		{"without spaces", "event:a\ndata:b\nid:1\n\n", []client.Block{data("a", "b", "1")}},
		{"one space goes", "data:  b \n\n", []client.Block{data("", " b ", "")}},
		{"several lines", "data: a\ndata:\ndata: b\n\n", []client.Block{data("", "a\n\nb", "")}},
		{"CRLF", "event: a\r\ndata: b\r\ndata: c\r\n\r\ndata: d\r\n\r\n", []client.Block{data("a", "b\nc", ""), data("", "d", "")}},
		{"CR", "event: a\rdata: b\r\rdata: c\r\r", []client.Block{data("a", "b", ""), data("", "c", "")}},
		{"mixed ends", "data: a\r\n\rdata: b\n\r\n", []client.Block{data("", "a", ""), data("", "b", "")}},
		{"byte order mark", "\ufeffdata: a\n\n", []client.Block{data("", "a", "")}},
		{"another mark is a field", "\ufeff\ufeffdata: a\n\ndata: b\n\n", []client.Block{data("", "b", "")}},
		{"comments", ": hello\n\n:\ndata: a\n: in between\ndata: b\n\n", []client.Block{data("", "a\nb", "")}},
		{"unknown fields", "retry: 10\nwhat: x\ndata: a\nwhat\n\n", []client.Block{data("", "a", "")}},
		{"a name without a colon", "data\n\n", []client.Block{data("", "", "")}},
		{"an event without data", "event: a\n\ndata: b\n\n", []client.Block{data("", "b", "")}},
		{"an id alone", "id: 7\n\n", []client.Block{{ID: "7", HasID: true}}},
		{"an empty id", "id\ndata: a\n\n", []client.Block{{Data: "a", HasData: true, HasID: true}}},
		{"an id with a NUL", "id: a\x00b\ndata: a\n\n", []client.Block{data("", "a", "")}},
		{"a cut line", "data: a\n\ndata: b", []client.Block{data("", "a", "")}},
		{"a cut block", "data: a\n\nid: 2\ndata: b\n", []client.Block{data("", "a", "")}},
		{"many empty lines", "\n\n\r\r\n\ndata: a\n\n\n\n", []client.Block{data("", "a", "")}},
		{"a long line", "data: " + strings.Repeat("x", 10_000) + "\n\n", []client.Block{data("", strings.Repeat("x", 10_000), "")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]io.Reader{
				"at once": strings.NewReader(test.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(test.stream)),
				"with the error": iotest.DataErrReader(strings.NewReader(test.stream)),
			} {
				got, err := client.ReadBlocks(r, 1<<20)
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: ended with %v", name, err)
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("%s: got %+v, want %+v", name, got, test.want)
				}
			}
		})
	}
}

// endless gives the same bytes again and again.
type endless string

func (e endless) Read(b []byte) (int, error) {
	n := 0
	for n+len(e) <= len(b) {
		n += copy(b[n:], e)
	}
	return n, nil
}

func TestEventReaderIsBounded(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]io.Reader{
		"a line":     endless("x"),
		"a comment":  io.MultiReader(strings.NewReader(":"), endless("x")),
		"data lines": endless("data: x\n"),
		"ids":        endless("id: x\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client.ReadBlocks(stream, 10_000)
			if !errors.Is(err, client.ErrEventTooLarge) || len(got) != 0 {
				t.Errorf("got %d blocks, then %v", len(got), err)
			}
		})
	}
}

// plainBlocks is what the specification of server-sent events says, for a stream
// that is there as a whole.
func plainBlocks(stream string) []client.Block {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var list []client.Block
	var b client.Block
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if b.HasData || b.HasID {
				b.Data = strings.TrimSuffix(b.Data, "\n")
				list = append(list, b)
			}
			b = client.Block{}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			b.Name = value
		case "data":
			b.Data += value + "\n"
			b.HasData = true
		case "id":
			if !strings.Contains(value, "\x00") {
				b.ID, b.HasID = value, true
			}
		}
	}
	return list
}

func FuzzEventReader(f *testing.F) {
	for _, seed := range []string{
		"event: a\ndata: b\nid: 1\n\n", "data\r\n\r\n", "\ufeffid: 1\r\rdata: x\ndata:\n\n: c\n\n", "id: a\x00\ndata: x\n\r\n\r", "data: a\n\nid: 2\ndata: b\n",
	} {
		f.Add(seed, uint8(1))
		f.Add(seed, uint8(200))
	}
	f.Fuzz(func(t *testing.T, stream string, chunk uint8) {
		got, err := client.ReadBlocks(&chunks{rest: stream, size: int(chunk) + 1}, 1<<20)
		if !errors.Is(err, io.EOF) {
			t.Fatalf("ended with %v", err)
		}
		if want := plainBlocks(stream); !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// chunks gives a text a few bytes at a time.
type chunks struct {
	rest string
	size int
}

func (c *chunks) Read(b []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}
