package access_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// FuzzAuthenticate: only the token itself is good, and whatever else comes gets the
// one answer.
func FuzzAuthenticate(f *testing.F) {
	w := newWorld(f, access.PeopleConfig{})
	for _, seed := range []string{"", "ply_o_", w.token, w.token[:20], strings.ToUpper(w.token), "ply_u_" + strings.Repeat("A", 43), "\x00\xff", strings.Repeat("x", 1<<16)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		cred, err := w.Authenticate(t.Context(), token, "token")
		if token == w.token {
			must(t, err)
			return
		}
		code(t, token, parley.CodeUnauthorized, err)
		if cred.Caller.Principal() != (parley.Principal{}) || cred.Token != "" {
			t.Errorf("refused, and it is %+v", cred)
		}
		_, _, err = w.Login(t.Context(), token, token)
		code(t, "login", parley.CodeUnauthorized, err)
	})
}

// FuzzReadPasscode: what is read is a code or nothing, and reads as itself, however it is
// written.
func FuzzReadPasscode(f *testing.F) {
	for _, seed := range []string{"7KQM-X2WP", "7kqmx2wp", " 7KQM – X2WP\n", "7KQM-X2WO", "", "ſſſſ-ſſſſ", "7KQMX2W\xff", strings.Repeat("-", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		got := access.ReadPasscode(typed)
		if got == "" {
			return
		}
		if len(got) != 9 || got[4] != '-' || strings.Trim(got, "23456789ABCDEFGHJKMNPQRSTVWXYZ-") != "" {
			t.Fatalf("%q is read as %q", typed, got)
		}
		for _, same := range []string{got, strings.ToLower(got), strings.ReplaceAll(got, "-", " ")} {
			if again := access.ReadPasscode(same); again != got {
				t.Errorf("%q is read as %q, and that as %q", typed, got, again)
			}
		}
	})
}
