package channel_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/channel"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		size   int
		want   []string
	}{
		"fits":                      {"one **two**", 20, []string{"one [bold:two]"}},
		"nothing":                   {"", 20, nil},
		"between paragraphs":        {"First one here.\n\nSecond one.", 20, []string{"First one here.", "Second one."}},
		"between lines":             {"first line here\nsecond line", 20, []string{"first line here", "second line"}},
		"between sentences":         {"One is here. Two is there.", 20, []string{"One is here.", "Two is there."}},
		"not behind a number":       {"It is about no. 7 of them all", 18, []string{"It is about no. 7", "of them all"}},
		"between words":             {"seven and eight and nine", 12, []string{"seven and", "eight and", "nine"}},
		"within a word":             {"abcdefghijklmnopqrstuvwxyz", 10, []string{"abcdefghij", "klmnopqrst", "uvwxyz"}},
		"a paragraph too far ahead": {"Hi.\n\nThen a line that goes on and on", 20, []string{"Hi.\n\nThen a line", "that goes on and on"}},
		"bold goes on":              {"**one two three four**", 10, []string{"[bold:one two]", "[bold:three four]"}},
		"a link stays whole":        {"text [a link of words](https://example.org) more", 18, []string{"text", "[link https://example.org:a link of words]", "more"}},
		"a link that is too long":   {"[a link of very many words](https://example.org)", 12, []string{"[link https://example.org:a link of]", "[link https://example.org:very many]", "[link https://example.org:words]"}},
		"code stays whole":          {"text `some code` more", 12, []string{"text", "[code:some code]", "more"}},
		"a block stays whole":       {"Some text.\n\n```go\na\nb\n```\n\nend", 13, []string{"Some text.", "[pre go:a\nb]\n\nend"}},
		"a block goes on":           {"```go\nfirst()\n    second()\nthird()\n```", 18, []string{"[pre go:first()]", "[pre go:    second()]", "[pre go:third()]"}},
		"a quote goes on":           {"> one two\n> three four", 12, []string{"[quote:one two]", "[quote:three four]"}},
		"a quoted block goes on":    {"> ```go\n> one()\n> two()\n> ```", 6, []string{"[quote:[pre go:one()]]", "[quote:[pre go:two()]]"}},
		"families stay together":    {"👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 20, []string{"👨‍👩‍👧👨‍👩‍👧", "👨‍👩‍👧"}},
		"larger than a part":        {"👨‍👩‍👧‍👦", 5, []string{"👨‍👩", "👧‍👦"}},
		"accents stay on":           {strings.Repeat("e\u0301", 4), 5, []string{"e\u0301e\u0301", "e\u0301e\u0301"}},
		"blank code":                {"```\na\n\n\n\n\n\n\nb\n```", 4, []string{"[pre:a]", "[pre:b]"}},
		"wide punctuation":          {"段落の文です。次の文です。", 9, []string{"段落の文です。", "次の文です。"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rich := channel.Markdown(c.source)
			parts := rich.Split(c.size, channel.UTF16)
			var got []string
			for _, part := range parts {
				got = append(got, marked(part))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := checkParts(rich, parts, c.size, channel.UTF16); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSplit_NoLimit(t *testing.T) {
	t.Parallel()
	rich := channel.Markdown(strings.Repeat("word ", 10_000))
	if parts := rich.Split(0, channel.UTF16); len(parts) != 1 {
		t.Errorf("got %d parts without a limit", len(parts))
	}
}

func TestSplit_ManySpans(t *testing.T) {
	t.Parallel()
	rich := channel.Markdown(strings.Repeat("[a](https://example.org) ", 350))
	parts := rich.Split(4096, channel.UTF16)
	links := 0
	for _, part := range parts {
		links += len(part.Spans)
	}
	if len(parts) != 4 || links != 350 {
		t.Errorf("got %d parts with %d links, want 4 with 350", len(parts), links)
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	rich := channel.Plain("aé日😀")
	for units, want := range map[channel.Units]int{channel.UTF16: 5, channel.Runes: 4, channel.Bytes: 10} {
		if got := rich.Units(units); got != want {
			t.Errorf("%s: got %d, want %d", units, got, want)
		}
	}
}
