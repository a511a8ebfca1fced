//go:build unix

package command_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley/tool/command"
)

// TestOutput looks at what is told about commands.
func TestOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t, command.Config{Allowed: [][]string{{"sh", "-c"}, {"cat"}, {"/in"}}, MaxOutput: 1000, MaxTotal: 100_000})
	for name, c := range map[string]struct {
		script, stdin string
		want          string // with * for what differs
		isError       bool
	}{
		"nothing":             {"true", "", "[exit code 0 after *]", false},
		"a line":              {"echo a", "", "a\n[exit code 0 after *]", false},
		"no line end":         {"printf a", "", "a\n[exit code 0 after *]", false},
		"a code":              {"echo a; exit 3", "", "a\n[exit code 3 after *]", false},
		"both outputs":        {"echo a; echo b >&2; echo c; echo d >&2", "", "a\nb\nc\nd\n[exit code 0 after *]", false},
		"a signal":            {"echo a; kill -TERM $$", "", "a\n[ended by the signal terminated after *]", false},
		"reads nothing":       {"cat; echo end", "", "end\n[exit code 0 after *]", false},
		"reads":               {"cat", "ä\nb", "ä\nb\n[exit code 0 after *]", false},
		"reads a part":        {"head -c 1; exec 0<&-; echo", strings.Repeat("x", 900_000), "x\n[exit code 0 after *]", false},
		"reads not":           {"echo a", strings.Repeat("x", 900_000), "a\n[exit code 0 after *]", false},
		"no text":             {`printf 'a\377b\n'`, "", "a\uFFFDb\n[exit code 0 after *]", false},
		"closes its output":   {"exec >&- 2>&-; exit 2", "", "[exit code 2 after *]", false},
		"as much as is kept":  {"yes 123456789 | head -n 100", "", strings.Repeat("123456789\n", 100) + "[exit code 0 after *]", false},
		"more than is kept":   {"yes 123456789 | head -n 150", "", strings.Repeat("123456789\n", 50) + "\n[500 bytes of output are left out]\n" + strings.Repeat("123456789\n", 50) + "[exit code 0 after *]", false},
		"a flood":             {"yes", "", strings.Repeat("y\n", 250) + "\n[* bytes of output are left out]\n*[killed after *: it wrote more than 100000 bytes]", true},
		"a flood from behind": {"yes & exec sleep 1000", "", "y\n*[killed after *: it wrote more than 100000 bytes]", true},
		"not found":           {"exec /nonexistent/x", "", "*[exit code 127 after *]", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := r.call(t.Context(), args{"argv": []string{"sh", "-c", c.script}, "stdin": c.stdin})
			if err != nil || res.IsError != c.isError || !fits(c.want, res.Text) || !utf8.ValidString(res.Text) {
				t.Errorf("got %v %q, %v, want %q", res.IsError, res.Text, err, c.want)
			}
		})
	}
}

// fits compares a text with one that has * for what differs.
func fits(want, got string) bool {
	pieces := strings.Split(want, "*")
	if !strings.HasPrefix(got, pieces[0]) {
		return false
	}
	got = got[len(pieces[0]):]
	for i, piece := range pieces[1:] {
		at := strings.Index(got, piece)
		if i == len(pieces)-2 {
			return strings.HasSuffix(got, piece)
		}
		if at < 0 {
			return false
		}
		got = got[at+len(piece):]
	}
	return got == ""
}

// FuzzOutput compares what is kept of an output with the whole.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("hello"), uint8(3), uint8(2))
	f.Add([]byte("0123456789abcdefghij"), uint8(7), uint8(3))
	f.Add([]byte("0123456789"), uint8(10), uint8(1))
	f.Add([]byte("ab"), uint8(1), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, size, step uint8) {
		if size == 0 || step == 0 {
			return
		}
		var pieces [][]byte
		for rest := data; len(rest) > 0; {
			n := min(int(step), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		got := command.Kept(int(size), pieces)
		want := string(data)
		if left := len(data) - int(size); left > 0 {
			head := int(size) / 2
			want = string(data[:head]) + fmt.Sprintf("\n[%d bytes of output are left out]\n", left) + string(data[head+left:])
		}
		if want = strings.ToValidUTF8(want, "\uFFFD"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
