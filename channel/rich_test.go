package channel_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley/channel"
)

func TestTidy(t *testing.T) {
	t.Parallel()
	const text = "one two three four"
	span := func(kind channel.Kind, words string) channel.Span {
		start := strings.Index(text, words)
		s := channel.Span{Kind: kind, Start: start, End: start + len(words)}
		if kind == channel.Link {
			s.URL = "https://example.org"
		}
		return s
	}
	for name, c := range map[string]struct {
		spans []channel.Span
		want  string
	}{
		"overlap":                {[]channel.Span{span(channel.Bold, "one two"), span(channel.Italic, "two three")}, "[bold:one [italic:two]] [italic:three] four"},
		"a link is not cut":      {[]channel.Span{span(channel.Bold, "one two"), span(channel.Link, "two three")}, "[bold:one] [link https://example.org:[bold:two] three] four"},
		"the same twice":         {[]channel.Span{span(channel.Bold, "two"), span(channel.Bold, "two")}, "one [bold:two] three four"},
		"the same within itself": {[]channel.Span{span(channel.Bold, "one two three"), span(channel.Bold, "two")}, "[bold:one two three] four"},
		"side by side":           {[]channel.Span{span(channel.Bold, "on"), span(channel.Bold, "e two")}, "[bold:one two] three four"},
		"code in bold":           {[]channel.Span{span(channel.Bold, "one two three"), span(channel.Code, "two")}, "[bold:one] [code:two] [bold:three] four"},
		"code in a link":         {[]channel.Span{span(channel.Link, "one two"), span(channel.Code, "two")}, "[link https://example.org:one two] three four"},
		"a link in code":         {[]channel.Span{span(channel.Pre, "one two three"), span(channel.Link, "two")}, "[pre:one two three] four"},
		"a quote in bold":        {[]channel.Span{span(channel.Bold, "one two three"), span(channel.Quote, "two")}, "[bold:one] [quote:[bold:two]] [bold:three] four"},
		"a quote in a quote":     {[]channel.Span{span(channel.Quote, "one two three"), span(channel.Quote, "two")}, "[quote:one two three] four"},
		"white space":            {[]channel.Span{span(channel.Bold, " two "), span(channel.Italic, " ")}, "one [bold:two] three four"},
		"in any order":           {[]channel.Span{span(channel.Italic, "two"), span(channel.Bold, "one two three")}, "[bold:one [italic:two] three] four"},
		"nonsense": {[]channel.Span{
			{Kind: "blink", Start: 0, End: 3},
			{Kind: channel.Bold, Start: -1, End: 3},
			{Kind: channel.Bold, Start: 3, End: 99},
			{Kind: channel.Bold, Start: 5, End: 5},
			{Kind: channel.Link, Start: 0, End: 3},
		}, text},
		"what does not belong": {[]channel.Span{{Kind: channel.Bold, Start: 0, End: 3, URL: "https://example.org", Language: "go"}}, "[bold:one] two three four"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := channel.Rich{Text: text, Spans: c.spans}.Tidy()
			if err := got.Check(); err != nil {
				t.Error(err)
			}
			if marked(got) != c.want {
				t.Errorf("got %q, want %q", marked(got), c.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	bold := func(start, end int) channel.Span { return channel.Span{Kind: channel.Bold, Start: start, End: end} }
	of := func(kind channel.Kind, start, end int) channel.Span {
		return channel.Span{Kind: kind, Start: start, End: end}
	}
	for name, bad := range map[string]channel.Rich{
		"bytes":            {Text: "a\xff"},
		"control":          {Text: "a\x1b"},
		"kind":             {Text: "abc", Spans: []channel.Span{{Start: 0, End: 1}}},
		"outside":          {Text: "abc", Spans: []channel.Span{bold(1, 4)}},
		"empty":            {Text: "abc", Spans: []channel.Span{bold(1, 1)}},
		"cuts a character": {Text: "é", Spans: []channel.Span{bold(0, 1)}},
		"order":            {Text: "abc", Spans: []channel.Span{bold(1, 2), bold(0, 1)}},
		"overlap":          {Text: "abc", Spans: []channel.Span{bold(0, 2), of(channel.Italic, 1, 3)}},
		"within its kind":  {Text: "abc", Spans: []channel.Span{bold(0, 3), bold(1, 2)}},
		"in code":          {Text: "abc", Spans: []channel.Span{of(channel.Code, 0, 3), bold(1, 2)}},
		"code in bold":     {Text: "abc", Spans: []channel.Span{bold(0, 3), of(channel.Code, 1, 2)}},
		"quote in bold":    {Text: "abc", Spans: []channel.Span{bold(0, 3), of(channel.Quote, 1, 2)}},
		"no address":       {Text: "abc", Spans: []channel.Span{of(channel.Link, 0, 3)}},
		"an address":       {Text: "abc", Spans: []channel.Span{{Kind: channel.Bold, Start: 0, End: 3, URL: "x"}}},
		"a language":       {Text: "abc", Spans: []channel.Span{{Kind: channel.Bold, Start: 0, End: 3, Language: "x"}}},
		"white space":      {Text: "a  c", Spans: []channel.Span{bold(1, 3)}},
	} {
		if bad.Check() == nil {
			t.Errorf("%s: %+v counts as well-formed", name, bad)
		}
		if err := bad.Tidy().Check(); err != nil {
			t.Errorf("%s: tidied, it is not well-formed: %v", name, err)
		}
	}
}

func TestBlank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, " \n\t": true, "\u200b\u2060\ufeff": true, "\u00ad": true, "\u2800\u3164": true, "\u202e": true, "\ufe0f": true,
		"a": false, " . ": false, "👍": false, "\u200ba": false,
	} {
		if got := channel.Plain(text).Blank(); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}
