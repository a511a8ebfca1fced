package channel_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley/channel"
)

func FuzzMarkdown(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s.Source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 20_000 {
			return
		}
		rich := channel.Markdown(source)
		if err := rich.Check(); err != nil {
			t.Fatal(err)
		}
		// Formulas keep entities that others decode.
		if !strings.ContainsAny(source, `&$\`) {
			if missing := lost(visible(source), rich.Text); missing != "" {
				t.Fatalf("%s are lost: %q became %q", missing, source, rich.Text)
			}
		}
		for at := len(source) / 2; at < len(source); at += 1 + len(source)/20 {
			if err := channel.Beginning(source[:at]).Check(); err != nil {
				t.Fatalf("the beginning %q: %v", source[:at], err)
			}
		}
	})
}

func FuzzSplit(f *testing.F) {
	for i, s := range corpus(f) {
		if len(s.Source) < 2000 {
			f.Add(s.Source, 4+i%60, i%3)
		}
	}
	f.Fuzz(func(t *testing.T, source string, size, unit int) {
		if len(source) > 5000 || size > 10_000 {
			return
		}
		size = max(size, 4)
		units := []channel.Units{channel.UTF16, channel.Runes, channel.Bytes}[uint(unit)%3]
		rich := channel.Markdown(source)
		if err := checkParts(rich, rich.Split(size, units), size, units); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzTidy makes spans of bytes: each three are a kind, a place and a length.
func FuzzTidy(f *testing.F) {
	f.Add("some text with\nlines and 😀", []byte{0, 1, 9, 1, 5, 9, 7, 3, 3, 8, 2, 20, 6, 0, 255})
	f.Add("a\r\nb\x00c\xff\xffd", []byte{0, 1, 2, 7, 2, 6})
	kinds := []channel.Kind{
		channel.Bold, channel.Italic, channel.Underline, channel.Strike, channel.Spoiler,
		channel.Code, channel.Pre, channel.Link, channel.Quote, "other",
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		var spans []channel.Span
		for ; len(data) >= 3 && len(spans) < 200; data = data[3:] {
			start := int(data[1])
			spans = append(spans, channel.Span{
				Kind: kinds[int(data[0])%len(kinds)], Start: start, End: start + int(data[2]),
				URL: "https://example.org", Language: "go",
			})
		}
		got := channel.Rich{Text: text, Spans: spans}.Tidy()
		if err := got.Check(); err != nil {
			t.Fatalf("%v in %+v", err, got)
		}
		if utf8.ValidString(text) && !strings.ContainsAny(text, "\r") && squeezed(got.Text) != squeezed(channel.Plain(text).Text) {
			t.Fatalf("the text %q became %q", text, got.Text)
		}
		for _, part := range got.Split(20, channel.UTF16) {
			if err := part.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
