package channel_test

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/internal/vectors"
)

var update = flag.Bool("update", false, "write the golden file of the corpus anew")

// sample is a text of the corpus.
type sample struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Begin  string `json:"begin"`
	Repeat string `json:"repeat"`
	Times  int    `json:"times"`
}

func corpus(t testing.TB) []sample {
	t.Helper()
	samples := vectors.Load[sample](t, "corpus.json")
	for i, s := range samples {
		samples[i].Source += s.Begin + strings.Repeat(s.Repeat, s.Times)
	}
	return samples
}

var sizes = []int{4, 5, 7, 16, 50, 100, 1000, 4096}

func TestCorpus(t *testing.T) {
	t.Parallel()
	samples := corpus(t)
	if len(samples) < 200 {
		t.Fatalf("only %d samples", len(samples))
	}
	for _, s := range samples {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			rich := channel.Markdown(s.Source)
			if err := rich.Check(); err != nil {
				t.Errorf("%v in %+v", err, rich)
			}
			if missing := lost(visible(s.Source), rich.Text); missing != "" {
				t.Errorf("%s are lost of %q, which became %q", missing, s.Source, rich.Text)
			}
			for _, size := range sizes {
				for _, units := range []channel.Units{channel.UTF16, channel.Runes, channel.Bytes} {
					if err := checkParts(rich, rich.Split(size, units), size, units); err != nil {
						t.Errorf("parts of %d %s: %v", size, units, err)
					}
				}
			}
		})
	}
}

// visible gives what a reader sees of Markdown in a browser.
func visible(source string) string {
	var b bytes.Buffer
	plain := channel.Plain(source).Text
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(plain), &b); err != nil {
		panic(err)
	}
	return html.UnescapeString(tag.ReplaceAllString(b.String(), ""))
}

var tag = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// lost gives the letters and digits that are in a text, and not, in their order, in
// another.
func lost(text, in string) string {
	have := letters(in)
	for _, c := range letters(text) {
		at := strings.IndexRune(have, c)
		if at < 0 {
			return fmt.Sprintf("%q and what follows it", c)
		}
		have = have[at+len(string(c)):]
	}
	return ""
}

func letters(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsNumber(c) {
			return c
		}
		return -1
	}, text)
}

// checkParts says what is wrong with the parts of a text.
func checkParts(whole channel.Rich, parts []channel.Rich, size int, units channel.Units) error {
	var all strings.Builder
	for i, part := range parts {
		switch n := part.Units(units); {
		case n > size:
			return fmt.Errorf("part %d has %d", i, n)
		case part.Blank():
			return fmt.Errorf("part %d has nothing to see: %q", i, part.Text)
		case len(part.Spans) > 100:
			return fmt.Errorf("part %d has %d spans", i, len(part.Spans))
		case part.Text != strings.TrimRightFunc(part.Text, unicode.IsSpace):
			return fmt.Errorf("part %d ends in white space: %q", i, part.Text)
		}
		if err := part.Check(); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		all.WriteString(part.Text)
	}
	if got, want := squeezed(all.String()), squeezed(whole.Text); got != want && !whole.Blank() {
		return fmt.Errorf("together they are %s", cmp.Diff(want, got))
	}
	return nil
}

// squeezed gives a text without white space, and what has no shape.
func squeezed(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.In(c, unicode.Cf, unicode.Mn, unicode.Variation_Selector) {
			return -1
		}
		return c
	}, text)
}

// TestCorpus_Golden shows what becomes of each sample, for people to look at.
func TestCorpus_Golden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, s := range corpus(t) {
		if s.Times == 0 {
			fmt.Fprintf(&b, "=== %s\n%s\n---\n%s\n", s.ID, quoted(s.Source), quoted(marked(channel.Markdown(s.Source))))
		}
	}
	path := filepath.Join("testdata", "corpus.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("not as it was; -update writes it anew (-want +got):\n%s", diff)
	}
}

// quoted writes characters that cannot be seen so that they can.
func quoted(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c == '\n' || c == '\t' || unicode.IsPrint(c) && !unicode.Is(unicode.Mn, c) {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "{%04X}", c)
		}
	}
	return b.String()
}
