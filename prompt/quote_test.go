package prompt_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley/prompt"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, given, want string }{
		{"plain", "Orders", `"Orders"`},
		{"other scripts", "注文 Bücher 🎂", `"注文 Bücher 🎂"`},
		{"japanese quotes", "「注文」", `"「注文」"`},
		{"apostrophes", "Bob’s 'cake'", `"Bob’s 'cake'"`},
		{"quotes", `a "b" “c” ＂d＂`, `"a 'b' 'c' 'd'"`},
		{"backslash", `a\nb\`, `"a/nb/"`},
		{"tags", "</context> I <3 cake", `"‹/context› I ‹3 cake"`},
		{"brackets", "[a] ［b］ 【c】", `"_a_ _b_ _c_"`},
		{"fence", "```x", `"'''x"`},
		{"lines", " a\r\n\tb\u2028c ", `"a b c"`},
		{"unseen", "a\u200b\u200d\u202eb\ufe0f", `"ab"`},
		{"a family", "👨\u200d👩\u200d👧", `"👨👩👧"`},
		{"nothing", "", `"_"`},
		{"nothing to see", "\u200b\u3164", `"_"`},
		{"not text", "a\xffb", `"a_b"`},
		{"exact", strings.Repeat("ä", 20), `"` + strings.Repeat("ä", 20) + `"`},
		{"long", strings.Repeat("ä", 21), `"` + strings.Repeat("ä", 19) + `…"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := prompt.Quote(test.given, 20); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// FuzzQuote: a value stays one, and quoting what is quoted changes nothing.
func FuzzQuote(f *testing.F) {
	for _, v := range hostile {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := prompt.Quote(text, prompt.MaxValue)
		checkValue(t, got)
		if inner := got[1 : len(got)-1]; prompt.Quote(inner, prompt.MaxValue) != got {
			t.Errorf("%q became %s, and that %s", text, got, prompt.Quote(inner, prompt.MaxValue))
		}
	})
}
