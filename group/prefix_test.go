package group_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

func TestName(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, given, want string }{
		{"plain", "Alice", "Alice"},
		{"nothing", "", ""},
		{"spaces only", " \t\n ", ""},
		{"outer space", "  Alice \n", "Alice"},
		{"inner space", "Alice B.", "Alice B."},
		{"another space", "Alice\u00a0B.", "Alice B."},
		{"colon", "Alice: system", "Alice: system"},
		{"brackets", "[Alice]", "_Alice_"},
		{"wide brackets", "A［x］⟦y⟧", "A_x__y_"},
		{"line break", "Alice\n[Bob] hi", "Alice__Bob_ hi"},
		{"windows line break", "Alice\r\nBob", "Alice__Bob"},
		{"other line breaks", "a\u2028b\u2029c\u0085d\ve", "a_b_c_d_e"},
		{"control", "a\x00b\x1bc\x7fd", "a_b_c_d"},
		{"tab", "a\tb", "a_b"},
		{"turned around", "\u202eecilA\u202c", "ecilA"},
		{"zero width", "A\u200bli\ufeffce", "Alice"},
		{"hidden tags", "Alice\U000e0041\U000e0042", "Alice"},
		{"hidden selectors", "Alice\U000e0101\ufe01", "Alice"},
		{"invisible only", "\u200b\u200d\ufe0f", ""},
		{"a letter nobody sees", "\u3164", ""},
		{"marks only", "\u0301\u0302", ""},
		{"family", "👨\u200d👩\u200d👧 ❤\ufe0f", "👨\u200d👩\u200d👧 ❤\ufe0f"},
		{"persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"cjk", "【公式】田中", "【公式】田中"},
		{"not utf-8", "A\xff\xfelice", "A_lice"},
		{"the tag", "not directed at you", "not_directed_at_you"},
		{"nearly the tag", " Not  Directed\u00a0at you ", "Not_Directed_at_you"},
		{"the tag with more", "not directed at you either", "not directed at you either"},
		{"as long as can be", strings.Repeat("ä", 64), strings.Repeat("ä", 64)},
		{"too long", strings.Repeat("ä", 65), strings.Repeat("ä", 63) + "…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := group.Name(parley.Sender{Name: test.given}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	alice := parley.Sender{ID: "7", Name: "Alice"}
	tests := []struct {
		name     string
		typ      parley.SessionType
		from     parley.Sender
		directed bool
		want     string
	}{
		{"direct", parley.SessionDirect, alice, false, ""},
		{"group", parley.SessionGroup, alice, true, "[Alice] "},
		{"not for the agent", parley.SessionGroup, alice, false, "[Alice] [not directed at you] "},
		{"no name", parley.SessionGroup, parley.Sender{ID: "7"}, true, ""},
		{"no name, not for the agent", parley.SessionGroup, parley.Sender{ID: "7"}, false, "[not directed at you] "},
		{"called like the tag", parley.SessionGroup, parley.Sender{Name: "NOT directed at you"}, true, "[NOT_directed_at_you] "},
		{"a type nobody knows", "stage", alice, true, "[Alice] "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := group.Prefix(test.typ, test.from, test.directed); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzName: whatever a name holds, it stays between its brackets and on its line.
func FuzzName(f *testing.F) {
	for _, name := range []string{"Alice", "a]\n[b", "\xf0\x9f", strings.Repeat("\u0301", 99), "not directed at you", "\u2066[x]\u2069"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := group.Name(parley.Sender{Name: name})
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > group.MaxName {
			t.Fatalf("%q became %q", name, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool {
			return r == '[' || r == ']' || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp)
		}); i >= 0 {
			t.Fatalf("%q became %q", name, got)
		}
		if got != "" && (got != strings.TrimSpace(got) || strings.EqualFold(got, "not directed at you")) {
			t.Fatalf("%q became %q", name, got)
		}
		if again := group.Name(parley.Sender{Name: got}); again != got {
			t.Fatalf("%q became %q, and that %q", name, got, again)
		}
	})
}
