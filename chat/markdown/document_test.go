package markdown_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley/chat/markdown"
	"github.com/parley-run/parley/internal/soak"
)

// Where a text is cut to keep what is finished does not show.
func TestPiecesAreNotSeen(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(soak.Seed(t), 4))
	for range soak.Count(200, 20_000) {
		text := randomText(random, scraps)
		width := 1 + random.IntN(80)
		if diff := cmp.Diff(markdown.DrawOnce(dark, text, width), whole(dark, text, width), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the text %q at width %d is drawn differently when finished blocks are kept (-at once +kept):\n%s", text, width, diff)
		}
	}
}

// An append draws the last block again, however long the text before it is.
func TestAppendDrawsTheLastBlock(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"paragraphs": numbered("Paragraph %d with **some** text in `it`.\n\n", 25_000),
		"list":       numbered("- item %d\n", 25_000),
		"code":       "```\n" + numbered("line %d\n", 25_000),
		"mixed":      numbered("# Heading %d\ntext\n\n- a\n- b\n\n> quote\n\n```\ncode\n```\n", 10_000),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := markdown.New(plain)
			d.Append(text)
			lines := len(d.Lines(80))
			for range 20 {
				before := d.Drawn()
				d.Append("word ")
				if got := len(d.Lines(80)); got < lines || got > lines+3 {
					t.Fatalf("%d lines became %d", lines, got)
				}
				if drawn := d.Drawn() - before; drawn > 2 {
					t.Fatalf("%d blocks were drawn", drawn)
				}
			}
		})
	}
}

// An append to a long text takes no more memory than one to a short one. The test is
// not parallel, as the allocations of others would be counted as well.
func TestAppendAllocates(t *testing.T) {
	cost := func(text string) float64 {
		d := markdown.New(dark)
		d.Append(text)
		d.Lines(80)
		return testing.AllocsPerRun(50, func() {
			d.Append("x")
			d.Lines(80)
		})
	}
	for name, block := range map[string]string{
		"paragraphs": "Some text with **bold** and `code`.\n\n",
		"list":       "- an item\n",
		"table":      "| a | b |\n|---|---|\n| c | d |\n\n",
	} {
		short, long := cost(strings.Repeat(block, 10)), cost(strings.Repeat(block, 1<<20/len(block)))
		if long > 2*short+50 {
			t.Errorf("%s: an append to 1 MB allocates %v times, one to a short text %v times", name, long, short)
		}
	}
}

func TestWithoutChangeNothingIsDrawn(t *testing.T) {
	t.Parallel()
	d := markdown.New(dark)
	d.Append("one\n\ntwo")
	first := slices.Clone(d.Lines(20))
	drawn := d.Drawn()
	if diff := cmp.Diff(first, d.Lines(20)); diff != "" || d.Drawn() != drawn {
		t.Errorf("drawn again: %s", diff)
	}
	d.Finish()
	d.Lines(20)
	drawn = d.Drawn()
	d.Finish()
	if d.Lines(20); d.Drawn() != drawn {
		t.Error("the second Finish changed something")
	}
}

func TestAppendAfterFinish(t *testing.T) {
	t.Parallel()
	d := markdown.New(plain)
	d.Append("one **")
	d.Finish()
	if got := bareText(d.Lines(20)); got != "one **" {
		t.Errorf("finished: %q", got)
	}
	d.Append("two**")
	if got := bareText(d.Lines(20)); got != "one **two**" {
		t.Errorf("gone on: %q", got)
	}
	if d.Text() != "one **two**" {
		t.Errorf("the text is %q", d.Text())
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "  \n\t\n", "\u200b"} {
		if lines := whole(dark, text, 10); len(lines) != 0 {
			t.Errorf("%q has the lines %q", text, lines)
		}
	}
	if got := whole(plain, "ab", -3); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("without a width there are the lines %q", got)
	}
}

// A character that is wider than the line has a stand-in; nothing else has.
func TestOneCell(t *testing.T) {
	t.Parallel()
	if got := strings.Join(whole(plain, "a漢b", 1), ""); got != "a\ufffdb" {
		t.Errorf("at one cell: %q", got)
	}
	if got := strings.Join(whole(plain, "a漢b", 2), ""); got != "a漢b" {
		t.Errorf("at two cells: %q", got)
	}
}

// A mark without a character to stand on does not change what is drawn before it.
func TestLoneMarks(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"\ufe0f", "\u0301", "\u200d"} {
		text := "- " + mark + "abcdef"
		lines := whole(plain, text, 8)
		checkLines(t, plain, lines, 8)
		if !strings.HasPrefix(lines[0], "- \u25cc"+mark) {
			t.Errorf("%q is drawn as %q", text, lines)
		}
	}
}

// Quotes within quotes end at a depth that nobody reads.
func TestDepth(t *testing.T) {
	t.Parallel()
	for _, quote := range []string{">", "> "} {
		got := bareText(whole(dark, strings.Repeat(quote, 100)+"x", 400))
		if bars, marks := strings.Count(got, "│"), strings.Count(got, ">"); bars != 40 || marks != 60 {
			t.Errorf("%q: %d quotes and %d marks", quote, bars, marks)
		}
	}
	items := bareText(whole(dark, strings.Repeat("- ", 100)+"x", 400))
	if bullets := strings.Count(items, "•"); bullets < 30 || bullets > 42 {
		t.Errorf("%d items", bullets)
	}
	code := strings.Repeat("> ", 100)
	if got := whole(plain, "```\n"+code+"\n```", 400); !cmp.Equal(got, []string{"  " + code}) {
		t.Errorf("in code: %q", got)
	}
}

// A line below a table may make a heading of the lines before it.
func TestHeadingBeforeTable(t *testing.T) {
	t.Parallel()
	text := []string{"text\n", "a | b\n", "--|--\n", "c | d\n", "===\n", "\nmore"}
	d := markdown.New(plain)
	for _, line := range text {
		d.Append(line)
		d.Lines(60)
	}
	d.Finish()
	want := markdown.DrawOnce(plain, strings.Join(text, ""), 60)
	if diff := cmp.Diff(want, d.Lines(60)); diff != "" || !slices.Contains(want, "# text") {
		t.Errorf("the lines are %q (-at once +in pieces):\n%s", want, diff)
	}
}
