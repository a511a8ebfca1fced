package secret_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "env:TOKEN", "file:/x/y", "keyring:a/b", "env:", "file:a\x00", "hunter2", "keyring:\xff", "env:sk-0123456789abcdefghij"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := secret.Parse(text)
		if err != nil {
			wantCode(t, err, parley.CodeInvalid)
			if !ref.IsZero() {
				t.Fatalf("refused, but gave %s", ref)
			}
			// Long enough not to be a word of ours.
			if len(text) > 40 && strings.Contains(err.Error(), text) {
				t.Fatalf("the error repeats the text: %v", err)
			}
			return
		}
		if ref.String() != text {
			t.Fatalf("%q became %q", text, ref)
		}
		if err := secret.CheckPlain(text); err != nil {
			t.Fatalf("a reference that looks like a credential: %v", err)
		}
	})
}

func FuzzKeys(f *testing.F) {
	list, err := secret.FormatKeys([][]byte{key(1), key(0xfe)})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", list, "# only\n", strings.ToUpper(list[strings.LastIndex(list, "\nfe"):]), list + "0", "\r\n\v", list[:len(list)-2]} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := secret.ParseKeys(text)
		if err != nil {
			wantCode(t, err, parley.CodeInvalid)
			if keys != nil {
				t.Fatalf("refused, but gave %x", keys)
			}
			return
		}
		again, err := secret.FormatKeys(keys)
		if err != nil {
			t.Fatalf("was read, but cannot be written: %v", err)
		}
		same, err := secret.ParseKeys(again)
		if err != nil || !cmp.Equal(keys, same) {
			t.Fatalf("%x became %x, %v", keys, same, err)
		}
	})
}

func FuzzScrub(f *testing.F) {
	f.Add("secret word", "other secret", "a secret word, and another secret", 3)
	f.Add("aaaaaa", "aaaaab", "aaaaaaaaaaaab", 1)
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa", sample, `\xff\xfe\xfd\xfc\xfb\xfa`, 2)
	f.Fuzz(func(t *testing.T, one, two, text string, size int) {
		if size < 1 {
			return
		}
		s := scrubber(one, two)
		got := s.Text(text)
		if pieces := byPieces(t, s, text, size); pieces != got {
			t.Fatalf("in pieces %q, as a whole %q", pieces, got)
		}
		for _, v := range []string{one, two} {
			if len(v) >= secret.MinScrub && strings.Contains(v, secret.Mask) {
				return // what remains may make up a value together with a mask
			}
		}
		for rest := range strings.SplitSeq(got, secret.Mask) {
			for _, v := range []string{one, two} {
				if len(v) >= secret.MinScrub && strings.Contains(rest, v) {
					t.Fatalf("%q is left in %q", v, got)
				}
			}
		}
	})
}
