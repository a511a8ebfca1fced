package group_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/internal/vectors"
)

type silenceVector struct {
	ID         string  `json:"id"`
	Input      string  `json:"input"`
	Delivered  *string `json:"delivered"`
	Suppressed bool    `json:"suppressed"`
}

func TestSilenceVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors.Load[silenceVector](t, "silence_markers.json") {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			want := ""
			if v.Delivered != nil {
				want = *v.Delivered
			}
			shown, silent := group.Strip(v.Input)
			if shown != want || silent != v.Suppressed {
				t.Errorf("got %q, silent %t; want %q, %t", shown, silent, want, v.Suppressed)
			}
			check(t, v.Input)
		})
	}
}

func TestStrip(t *testing.T) {
	t.Parallel()
	// As many beginnings as are held back together, and one more.
	deep := func(n int) string {
		return strings.Repeat("<EMPTY_RESPONSE", n) + strings.Repeat(">", n)
	}
	tests := []struct {
		name, text, want string
		silent           bool
	}{
		{"quotes", "“<NO_REPLY>”", "", true},
		{"angle quotes", "«<NO_REPLY>» ‹›", "", true},
		{"ellipsis", "… <NO_REPLY> ...", "", true},
		{"divider", "---\n<NO_REPLY>\n***", "", true},
		{"zero width", "\u200b<NO_REPLY>\ufeff", "", true},
		{"zero width without a marker", "\u200bhi\u200b", "\u200bhi\u200b", false},
		{"dots without a marker", " ... ", "...", false},
		{"a letter is not silent", "<NO_REPLY>a", "a", false},
		{"a digit is not silent", "<NO_REPLY> 1", "1", false},
		{"an emoji is not silent", "<NO_REPLY>👍", "👍", false},
		{"what was before a letter", "> <NO_REPLY> *a*", ">  *a*", false},
		{"half a marker is not silent", "<NO_REPLY><NO_REP", "<NO_REP", false},
		{"an open bracket is not silent", "<NO_REPLY><", "<", false},
		{"two beginnings", "<<NO_REPLY>", "<", false},
		{"a beginning in the other", "<NO_REP<EMPTY_RESPONSE>LY>", "", true},
		{"three deep", "<NO<NO_<NO_REPLY>REPLY>_REPLY>", "", true},
		{"put together from two sides", "x<NO_<NO_REPLY>REPLY>y", "xy", false},
		{"not put together over a space", "<NO_ <NO_REPLY>REPLY>", "<NO_ REPLY>", false},
		{"space around what vanishes", "a \n<NO_REPLY>\n ", "a", false},
		{"space is kept inside", "a \n\n b", "a \n\n b", false},
		{"tags of others", "<b>bold</b> <NO", "<b>bold</b> <NO", false},
		{"not utf-8", "\xff<NO_REPLY>\xc2", "\xff\xc2", false},
		{"a character cut by a marker", "a\xe3\x80<NO_REPLY>\x80", "a", false},
		{"a marker cut by a byte", "<NO_\xffREPLY>", "<NO_\xffREPLY>", false},
		{"as deep as is held", deep(4), "", true},
		{"deeper than is held", deep(5), "<EMPTY_RESPONSE", false},
		{"far deeper than is held", deep(5000), strings.Repeat("<EMPTY_RESPONSE", 4996), false},
		{
			// The first beginning is given up, goes on, and is given up again.
			"given up twice", strings.Repeat("<NO_", 14) + strings.Repeat("REPLY>", 13) +
				"REP" + strings.Repeat("<NO_", 12) + "<NO<NO_REPLY>_REPLY>" + strings.Repeat("REPLY>", 12) + "LY>",
			"<NO_REP", false,
		},
		{"as much as is held, behind half a character", "a\xf0\x9f\x91" + strings.Repeat("<EMPTY_RESPONSE", 4) + "<", "a\xf0\x9f\x91" + strings.Repeat("<EMPTY_RESPONSE", 4) + "<", false},
		{"given up, and text", strings.Repeat("<NO_", 20) + "REPLY> x", strings.Repeat("<NO_", 19) + " x", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			shown, silent := group.Strip(test.text)
			if shown != test.want || silent != test.silent {
				t.Errorf("got %q, silent %t; want %q, %t", shown, silent, test.want, test.silent)
			}
			if len(test.text) < 1000 {
				check(t, test.text)
			}
		})
	}
}

// check holds what is true for every text.
func check(t *testing.T, text string) {
	t.Helper()
	shown, silent := group.Strip(text)
	if strings.Contains(shown, group.NoReply) || strings.Contains(shown, group.EmptyResponse) {
		t.Fatalf("%q: a marker is left in %q", text, shown)
	}
	if shown != strings.TrimSpace(shown) || silent && shown != "" {
		t.Fatalf("%q: got %q, silent %t", text, shown, silent)
	}
	if again, still := group.Strip(shown); again != shown || still {
		t.Fatalf("%q: once %q, twice %q", text, shown, again)
	}
	// So few beginnings are never too long to be held back.
	if strings.Count(text, "<") < 5 {
		if want, quiet := simply(text); shown != want || silent != quiet {
			t.Fatalf("%q: got %q, silent %t; want %q, %t", text, shown, silent, want, quiet)
		}
	}
	for at := range len(text) + 1 {
		pieces(t, text, shown, silent, text[:at], text[at:])
	}
	pieces(t, text, shown, silent, strings.Split(text, "")...)
	single := make([]string, len(text))
	for i := range len(text) {
		single[i] = text[i : i+1]
	}
	pieces(t, text, shown, silent, single...)
}

// pieces runs a text through a filter and compares with what was shown of the
// whole. After each piece it looks at what is held back.
func pieces(t *testing.T, text, shown string, silent bool, split ...string) {
	t.Helper()
	var f group.Filter
	var out strings.Builder
	read := 0
	for _, p := range split {
		out.WriteString(f.Write(p))
		read += len(p)
		if out.Len() > 0 {
			held(t, text[:read], out.String())
		}
	}
	if out.Len() > 0 && silent {
		t.Fatalf("%q: silent, but %q was shown", text, out.String())
	}
	rest, quiet := f.Flush()
	out.WriteString(rest)
	if out.String() != shown || quiet != silent {
		t.Fatalf("%q in pieces %q: got %q, silent %t; want %q, %t", text, split, out.String(), quiet, shown, silent)
	}
	if f.Write("again") != "again" {
		t.Fatalf("%q: the filter keeps something after its end", text)
	}
}

// held looks at what a filter that has shown something holds back of a text, if
// that were all: white space, then less than a character, then beginnings of
// markers.
func held(t *testing.T, text, out string) {
	t.Helper()
	all, _ := group.Strip(text)
	if !strings.HasPrefix(all, out) {
		t.Fatalf("%q: %q was shown, which does not begin %q", text, out, all)
	}
	back := strings.TrimLeftFunc(all[len(out):], unicode.IsSpace)
	if len(back) >= 64 {
		t.Fatalf("%q: %d bytes are held back", text, len(back))
	}
	if strings.Count(text, "<") >= 5 {
		return // what is held may go on from what was given up
	}
	if i := strings.IndexByte(back+"<", '<'); !utf8.FullRuneInString(back[:i]) {
		back = back[i:]
	}
	for back != "" && back[0] == '<' {
		n := 1
		for n < len(back) && slices.ContainsFunc([]string{group.NoReply, group.EmptyResponse}, func(marker string) bool {
			return strings.HasPrefix(marker, back[:n+1])
		}) {
			n++
		}
		back = back[n:]
	}
	if back != "" {
		t.Fatalf("%q: %q is held back without need", text, back)
	}
}

// simply is Strip as its comment says it, without regard for pieces and depth.
func simply(text string) (string, bool) {
	marked := false
	for {
		less := strings.ReplaceAll(strings.ReplaceAll(text, group.NoReply, ""), group.EmptyResponse, "")
		if less == text {
			break
		}
		text, marked = less, true
	}
	text = strings.TrimSpace(text)
	around := strings.TrimFunc(text, unicode.IsSpace)
	around = strings.Trim(around, "\"'‘’‚‛“”„‟«»‹›.…*_~`#>-\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000")
	if marked && around == "" {
		return "", true
	}
	return text, false
}

// TestFilterRandom puts texts together from what matters, and splits them at
// random.
func TestFilterRandom(t *testing.T) {
	t.Parallel()
	words := []string{
		"<NO_REPLY>", "<EMPTY_RESPONSE>", "<NO_", "REPLY>", "<EMPTY", "_RESPONSE>", "<", ">", " ", "\n", "\u00a0", "\u3000", "\u200b",
		"a", "好", "👍", "\"", "```", "…", "\xff", "\xe3\x80", "\xc2", "\x80", "<NO_REPLY", "NO_REPLY>",
	}
	r := rand.New(rand.NewPCG(soak.Seed(t), 0))
	silences := 0
	for range soak.Count(2_000, 20_000) {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(words[r.IntN(len(words))])
		}
		text := b.String()
		check(t, text)
		shown, silent := group.Strip(text)
		if silent {
			silences++
		}
		var split []string
		for rest := text; rest != ""; {
			n := 1 + r.IntN(len(rest))
			split, rest = append(split, rest[:n]), rest[n:]
		}
		pieces(t, text, shown, silent, split...)
	}
	if silences == 0 {
		t.Fatal("no text was silent: too few to say anything")
	}
}

func FuzzFilter(f *testing.F) {
	for _, v := range vectors.Load[silenceVector](f, "silence_markers.json") {
		f.Add(v.Input, []byte{1, 3, 2})
	}
	f.Add(strings.Repeat("<NO_", 20)+strings.Repeat("REPLY>", 20), []byte{7})
	f.Add("\xe3\x80<NO_\x80REPLY>\xc2", []byte{1})
	f.Fuzz(func(t *testing.T, text string, sizes []byte) {
		if len(text) > 400 {
			return // every split of it is tried
		}
		check(t, text)
		var split []string
		rest := text
		for _, n := range sizes {
			cut := min(int(n), len(rest))
			split, rest = append(split, rest[:cut]), rest[cut:]
		}
		shown, silent := group.Strip(text)
		pieces(t, text, shown, silent, append(split, rest)...)
	})
}

// TestFilterShowsAtOnce: ordinary text is not held back.
func TestFilterShowsAtOnce(t *testing.T) {
	t.Parallel()
	var f group.Filter
	for i, step := range []struct{ piece, want string }{
		{"> ", ""},
		{"**", ""},
		{"Hel", "> **Hel"},
		{"lo,", "lo,"},
		{" ", ""},
		{"world", " world"},
		{"\n\n", ""},
		{"1 <", "\n\n1"},
		{" 2", " < 2"},
		{" <NO", ""},
		{"_REPLY", ""},
		{">", ""},
		{"!", " !"},
		{"<NO_WAY", "<NO_WAY"},
		{"é"[:1], ""},
		{"é"[1:], "é"},
	} {
		if got := f.Write(step.piece); got != step.want {
			t.Errorf("%d: %q gave %q, want %q", i, step.piece, got, step.want)
		}
	}
	if rest, silent := f.Flush(); rest != "" || silent {
		t.Errorf("the rest is %q, silent %t", rest, silent)
	}
}

func BenchmarkStrip(b *testing.B) {
	for _, text := range []string{
		strings.Repeat("The quick brown fox. ", 5000),
		strings.Repeat("<b>quick</b> fox. ", 5000),
		strings.Repeat("<NO_", 25_000),
		strings.Repeat("- ", 50_000) + "<NO_REPLY>",
	} {
		b.Run(fmt.Sprintf("%.6q", text), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				group.Strip(text)
			}
		})
	}
}
