package parley_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

func TestValidateParts(t *testing.T) {
	t.Parallel()
	media := func(edit func(*parley.Media)) parley.Part {
		m := parley.Media{Handle: "h", Type: "image/png"}
		edit(&m)
		return parley.Part{Kind: parley.PartMedia, Media: &m}
	}
	call := func(edit func(*parley.ToolCall)) parley.Part {
		c := parley.ToolCall{ID: "c", Name: "run"}
		edit(&c)
		return parley.Part{Kind: parley.PartToolCall, Call: &c}
	}
	result := func(edit func(*parley.ToolResult)) parley.Part {
		r := parley.ToolResult{CallID: "c"}
		edit(&r)
		return parley.Part{Kind: parley.PartToolResult, Result: &r}
	}
	for _, test := range []struct {
		name string
		part parley.Part
		code parley.Code
	}{
		{"text", parley.TextPart("a\tb\r\nc\x1b[0m"), ""},
		{"no text", parley.TextPart(""), ""},
		{"note", parley.Part{Kind: parley.PartText, Note: true, Text: "a\nb"}, ""},
		{"note without text", parley.Part{Kind: parley.PartText, Note: true}, ""},
		{"media", media(func(*parley.Media) {}), ""},
		{"call", call(func(*parley.ToolCall) {}), ""},
		{"call with a scalar", call(func(c *parley.ToolCall) { c.Arguments = []byte(`1`) }), ""},
		{"result", result(func(*parley.ToolResult) {}), ""},

		{"no kind", parley.Part{Text: "x"}, invalid},
		{"unknown kind", parley.Part{Kind: "hologram", Text: "x"}, invalid},
		{"unknown kind, a megabyte long", parley.Part{Kind: parley.PartKind(strings.Repeat("\x00", 1<<20))}, invalid},
		{"kind in capitals", parley.Part{Kind: "Text", Text: "x"}, invalid},
		{"note that is reasoning", parley.Part{Kind: parley.PartReasoning, Note: true, Text: "x"}, invalid},
		{"note that is media", parley.Part{Kind: parley.PartMedia, Note: true, Media: &parley.Media{Handle: "h", Type: "t"}}, invalid},
		{"note that is a call", parley.Part{Kind: parley.PartToolCall, Note: true, Call: &parley.ToolCall{ID: "c", Name: "n"}}, invalid},
		{"note that is a result", parley.Part{Kind: parley.PartToolResult, Note: true, Result: &parley.ToolResult{CallID: "c"}}, invalid},
		{"note with NUL", parley.Part{Kind: parley.PartText, Note: true, Text: "\x00"}, invalid},
		{"text with NUL", parley.TextPart("a\x00b"), invalid},
		{"text that is not UTF-8", parley.TextPart("a\xc3"), invalid},
		{"long text", parley.TextPart(strings.Repeat("x", parley.MaxBodyBytes+1)), tooLarge},
		{"reasoning with NUL", parley.Part{Kind: parley.PartReasoning, Text: "\x00"}, invalid},
		{"text and media", parley.Part{Kind: parley.PartText, Text: "x", Media: &parley.Media{Handle: "h", Type: "t"}}, invalid},
		{"text part with a call", parley.Part{Kind: parley.PartText, Call: &parley.ToolCall{ID: "c", Name: "n"}}, invalid},
		{"reasoning part with a result", parley.Part{Kind: parley.PartReasoning, Result: &parley.ToolResult{CallID: "c"}}, invalid},
		{"media part without", parley.Part{Kind: parley.PartMedia}, invalid},
		{"media part with text", parley.Part{Kind: parley.PartMedia, Text: "x"}, invalid},
		{"call part without", parley.Part{Kind: parley.PartToolCall}, invalid},
		{"call part with media", parley.Part{Kind: parley.PartToolCall, Media: &parley.Media{Handle: "h", Type: "t"}}, invalid},
		{"result part without", parley.Part{Kind: parley.PartToolResult}, invalid},
		{"call and result", parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c", Name: "n"}, Result: &parley.ToolResult{CallID: "c"}}, invalid},

		{"media without handle", media(func(m *parley.Media) { m.Handle = "" }), invalid},
		{"media handle with a path", media(func(m *parley.Media) { m.Handle = "../x" }), invalid},
		{"media without type", media(func(m *parley.Media) { m.Type = "" }), invalid},
		{"media type with newline", media(func(m *parley.Media) { m.Type = "a\nb" }), invalid},
		{"media name with newline", media(func(m *parley.Media) { m.Name = "a\nb" }), invalid},
		{"media name too long", media(func(m *parley.Media) { m.Name = long }), tooLarge},
		{"media of negative size", media(func(m *parley.Media) { m.Size = -1 }), invalid},

		{"call without id", call(func(c *parley.ToolCall) { c.ID = "" }), invalid},
		{"call without name", call(func(c *parley.ToolCall) { c.Name = "" }), invalid},
		{"call with broken arguments", call(func(c *parley.ToolCall) { c.Arguments = []byte(`{"a":}`) }), invalid},
		{"call with two arguments", call(func(c *parley.ToolCall) { c.Arguments = []byte(`{} {}`) }), invalid},
		{"call with arguments that are not UTF-8", call(func(c *parley.ToolCall) { c.Arguments = []byte("\"\xff\"") }), invalid},
		{"call with deep arguments", call(func(c *parley.ToolCall) { c.Arguments = nested(10_000) }), invalid},
		{"call with large arguments", call(func(c *parley.ToolCall) { c.Arguments = []byte(`"` + strings.Repeat("x", parley.MaxBodyBytes) + `"`) }), tooLarge},

		{"result without call", result(func(r *parley.ToolResult) { r.CallID = "" }), invalid},
		{"result with NUL", result(func(r *parley.ToolResult) { r.Text = "\x00" }), invalid},
		{"result too long", result(func(r *parley.ToolResult) { r.Text = strings.Repeat("x", parley.MaxBodyBytes+1) }), tooLarge},
		{"result with bad media", result(func(r *parley.ToolResult) { r.Media = &parley.Media{} }), invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// A bad part behind a good one is found as well.
			wantCode(t, parley.ValidateParts([]parley.Part{parley.TextPart("x"), test.part}), test.code)
		})
	}
	most := make([]parley.Part, parley.MaxParts)
	for i := range most {
		most[i] = parley.TextPart("x")
	}
	wantCode(t, parley.ValidateParts(most), "")
	wantCode(t, parley.ValidateParts(slices.Concat(most, most[:1])), tooLarge)
	wantCode(t, parley.ValidateParts(nil), "")
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parts []parley.Part
		want  string
	}{
		{nil, ""},
		{parts(), "hello\nworld"},
		{[]parley.Part{parley.TextPart("a"), {Kind: parley.PartReasoning, Text: "no"}, parley.TextPart("b")}, "a\nb"},
		{[]parley.Part{{Kind: parley.PartText, Note: true, Text: "no"}, parley.TextPart("a")}, "a"},
		{[]parley.Part{{Kind: parley.PartText, Note: true, Text: "no"}}, ""},
	} {
		if got := parley.PlainText(test.parts); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	text := func(s ...string) []parley.Part {
		var parts []parley.Part
		for _, s := range s {
			parts = append(parts, parley.TextPart(s))
		}
		return parts
	}
	repeat := strings.Repeat
	for _, test := range []struct {
		name  string
		role  parley.MessageRole
		parts []parley.Part
		want  string
	}{
		{"user", parley.MessageUser, text("hello"), "hello"},
		{"assistant", parley.MessageAssistant, text("hello"), "hello"},
		{"tool", parley.MessageTool, text("hello"), ""},
		{"system", parley.MessageSystem, text("hello"), ""},
		{"nothing", parley.MessageUser, nil, ""},
		{"white space only", parley.MessageUser, text(" \n\t\u00a0\u2028"), ""},
		{"white space outside", parley.MessageUser, text("  a  "), "a"},
		{"white space inside", parley.MessageUser, text("a \r\n\t b\u00a0\u00a0c"), "a b c"},
		{"control characters", parley.MessageUser, text("a\x1b[31m\x07b"), "a [31m b"},
		{"several parts", parley.MessageUser, text("a ", "", " b"), "a b"},
		{"only text", parley.MessageUser, parts(), "hello world"},
		{"note first", parley.MessageUser, []parley.Part{{Kind: parley.PartText, Note: true, Text: "no"}, parley.TextPart("a")}, "a"},
		{"note between", parley.MessageUser, []parley.Part{
			parley.TextPart("a"), {Kind: parley.PartText, Note: true, Text: "no"}, parley.TextPart("b"),
		}, "a b"},
		{"nothing but a note", parley.MessageUser, []parley.Part{{Kind: parley.PartText, Note: true, Text: "no"}}, ""},
		{"fits", parley.MessageUser, text(repeat("x", 120)), repeat("x", 120)},
		{"fits, with white space after", parley.MessageUser, text(repeat("x", 120) + " \n"), repeat("x", 120)},
		{"one too many", parley.MessageUser, text(repeat("x", 121)), repeat("x", 120) + "…"},
		{"wide characters", parley.MessageUser, text(repeat("漢", 200)), repeat("漢", 120) + "…"},
		{"emoji", parley.MessageUser, text(repeat("🦜", 121)), repeat("🦜", 120) + "…"},
		{"cut at a word's end", parley.MessageUser, text(repeat("x", 120) + " y"), repeat("x", 120) + "…"},
		{"cut at a word's start", parley.MessageUser, text(repeat("x", 119) + " y"), repeat("x", 119) + "…"},
		{"a last word that fits", parley.MessageUser, text(repeat("x", 118) + " y"), repeat("x", 118) + " y"},
		{"cut between parts", parley.MessageUser, text(repeat("x", 120), "y"), repeat("x", 120) + "…"},
		{"a megabyte of white space", parley.MessageUser, text(repeat(" ", 1<<20) + "x"), "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := parley.Message{ID: "m", Role: test.role, Parts: test.parts}
			got := m.Preview()
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if n := utf8.RuneCountInString(got); n > 121 || !utf8.ValidString(got) {
				t.Errorf("%d runes: %q", n, got)
			}
		})
	}
}
