package command_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

// FuzzArgs holds that arguments are taken or refused as invalid, and that neither
// the refusal nor an answer that shows them has anything in it that is not seen.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{"", "2", "-1", "a b", "Trip to Rome", "\x00", "a\xff", "\u202e\u2028", "default", "x\"y", "\u0300", "👩\u200d🚀", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args := strings.TrimSpace(s)
		for _, spec := range command.All() {
			err := parse(command.Command{Name: spec.Name, Args: args})
			if err == nil {
				continue
			}
			if parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "usage: /"+spec.Name) {
				t.Fatalf("/%s %q: got %v", spec.Name, args, err)
			}
			wantLine(t, err.Error())
			wantLine(t, command.ErrorText(err))
		}
		if title, show, err := command.ParseTitle(args); err == nil && !show {
			again, _, err := command.ParseTitle(title)
			if err != nil || again != title || len(title) > parley.MaxNameBytes {
				t.Fatalf("%q gives the title %q, and that %q and %v", args, title, again, err)
			}
			wantLine(t, title)
		}
		wantLine(t, command.TitledText(s))
		wantLine(t, command.UndoText(1, s))
		if _, err := command.Help(s); err != nil {
			wantLine(t, err.Error())
		}
	})
}

// wantLine fails unless text is one line that can be shown anywhere.
func wantLine(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 400 {
		t.Fatalf("not fit to be shown: %q", text)
	}
	for _, r := range text {
		joins := r == '\u200c' || r == '\u200d'
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && !joins {
			t.Fatalf("%q holds %U", text, r)
		}
	}
}
