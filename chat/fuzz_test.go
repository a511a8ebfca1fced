package chat_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley/chat"
)

// FuzzArguments: whatever a model calls for, it is drawn within the width, and does
// nothing to the terminal.
func FuzzArguments(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"command":"ls -l"}`, `{"a":1,"b":[true,null],"c":{"d":"e"}}`, `[1,2]`, `"text"`, ``, `{"a":`, `{"a":"\u001b[31m\u202e"}`, `{"漢字":"漢字\n\tかな"}`,
	} {
		f.Add([]byte(text), 40)
	}
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		width = 4 + max(width, -width)%200
		for _, l := range append(chat.Arguments(data, width), chat.Brief(data)) {
			for _, r := range l {
				if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
					t.Fatalf("%q has %q", l, r)
				}
			}
		}
		for _, l := range chat.Arguments(data, width) {
			if w := ansi.StringWidth(l); w > width {
				t.Errorf("%q has %d cells, and may have %d", l, w, width)
			}
		}
	})
}

// FuzzClean: what is left has no control characters, and nothing else is taken away.
func FuzzClean(f *testing.F) {
	for _, text := range []string{"", "plain", "a\x1b[31mb", "tab\there", "e\u0301", "\u202eabc", "\xff\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := chat.Clean(text)
		if again := chat.Clean(got); again != got {
			t.Errorf("%q is %q, and then %q", text, got, again)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q has control characters", got)
		}
	})
}
