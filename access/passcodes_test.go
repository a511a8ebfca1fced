package access_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func loginCode(t testing.TB, w *world, by access.Caller) string {
	t.Helper()
	c, err := w.LoginCode(t.Context(), by)
	must(t, err)
	return c
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	c := loginCode(t, w, anna)
	secret, tok, err := w.Login(t.Context(), c, "Firefox\n on Linux")
	must(t, err)
	if tok.Kind != parley.TokenDevice || tok.Name != "Firefox on Linux" || tok.ExpiresAt.Sub(tok.CreatedAt) != 90*24*time.Hour {
		t.Errorf("got %+v", tok)
	}
	cred := w.signedIn(secret)
	if cred.Caller.Principal().User != "anna" || cred.Kind != parley.TokenDevice || cred.Token != tok.ID {
		t.Errorf("signed in as %+v", cred)
	}
	_, _, err = w.Login(t.Context(), c, "x")
	code(t, "once more", parley.CodeUnauthorized, err)
	again := err.Error()
	_, _, err = w.Login(t.Context(), "wrong", "x")
	if parley.CodeOf(err) != parley.CodeUnauthorized || err.Error() != again {
		t.Errorf("a wrong code: %v, one that was used: %s", err, again)
	}
	_, _, err = w.Login(t.Context(), "", "x")
	code(t, "no code", parley.CodeUnauthorized, err)

	first := loginCode(t, w, anna)
	second := loginCode(t, w, anna)
	_, _, err = w.Login(t.Context(), first, "x")
	code(t, "one that was replaced", parley.CodeUnauthorized, err)
	w.clock.Advance(10 * time.Minute)
	_, _, err = w.Login(t.Context(), second, "x")
	code(t, "after ten minutes", parley.CodeUnauthorized, err)
	third := loginCode(t, w, anna)
	w.clock.Advance(10*time.Minute - time.Second)
	_, _, err = w.Login(t.Context(), third, "x")
	code(t, "just before", "", err)

	fourth := loginCode(t, w, anna)
	must(t, w.RemoveUser(t.Context(), w.owner, "anna"))
	_, _, err = w.Login(t.Context(), fourth, "x")
	code(t, "after the user was removed", parley.CodeUnauthorized, err)
	_, err = w.LoginCode(t.Context(), w.bot("telegram"))
	code(t, "by a channel", parley.CodeForbidden, err)
	_, err = w.LoginCode(t.Context(), access.Caller{})
	code(t, "by nobody", parley.CodeUnauthorized, err)
	signIns := w.actions("sign_in")
	if len(signIns) != 2 || signIns[0].Subject != string(tok.ID) || signIns[0].Actor != "telegram:7" {
		t.Errorf("the audit has %+v", signIns)
	}
}

// TestCodesAreUsedOnce: of many who enter one at the same time, one wins.
func TestCodesAreUsedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	race := func(what string, enter func(i int) error, losers ...parley.Code) {
		t.Helper()
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				err := enter(i)
				if err == nil {
					won.Add(1)
					return
				}
				for _, lost := range losers {
					if parley.CodeOf(err) == lost {
						return
					}
				}
				t.Errorf("%s: got %v", what, err)
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%s: %d got in with one code", what, won.Load())
		}
	}
	login := loginCode(t, w, w.owner)
	race("login", func(int) error {
		_, _, err := w.Login(t.Context(), login, "x")
		return err
	}, parley.CodeUnauthorized)

	pair, err := w.PairCode(t.Context(), "telegram:9")
	must(t, err)
	race("pair", func(int) error {
		_, err := w.Pair(t.Context(), w.owner, pair, "", "")
		return err
	}, parley.CodeNotFound, parley.CodeConflict)

	anna := w.add("anna", parley.RoleUser, "")
	linking, err := w.LinkCode(t.Context(), anna)
	must(t, err)
	bot := w.bot("telegram")
	var strangers []access.Caller
	for _, id := range []string{"1", "2", "3", "4"} {
		strangers = append(strangers, w.speaks(bot, id, ""))
	}
	race("link", func(i int) error {
		_, err := w.Link(t.Context(), strangers[i], linking)
		return err
	}, parley.CodeNotFound)
	if _, accounts, err := w.User(t.Context(), w.owner, "anna"); err != nil || len(accounts) != 2 {
		t.Errorf("Anna has %v (%v), want two accounts", accounts, err)
	}
}

func TestHowCodesAreTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	shape := regexp.MustCompile(`^[2-9A-HJ-KMNP-TV-Z]{4}-[2-9A-HJ-KMNP-TV-Z]{4}$`)
	for i, typed := range []func(string) string{
		func(c string) string { return c },
		strings.ToLower,
		func(c string) string { return strings.ReplaceAll(c, "-", "") },
		func(c string) string { return " " + strings.ReplaceAll(strings.ToLower(c), "-", " – ") + "\n" },
	} {
		stranger := parley.IdentityID("telegram:" + string(rune('a'+i)))
		c, err := w.PairCode(t.Context(), stranger)
		must(t, err)
		if !shape.MatchString(c) {
			t.Errorf("code %q", c)
		}
		if _, err := w.Pair(t.Context(), w.owner, typed(c), "", ""); err != nil {
			t.Errorf("%q for %q: %v", typed(c), c, err)
		}
	}
}

// TestWrongCodesAreSlowedDown, by who enters them; others are not held up.
func TestWrongCodesAreSlowedDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna, bert := w.add("anna", parley.RoleUser, ""), w.add("bert", parley.RoleUser, "")
	stranger := w.speaks(w.bot("telegram"), "7", "Anna")
	right, err := w.LinkCode(t.Context(), stranger)
	must(t, err)
	for i := range 6 {
		_, err := w.Link(t.Context(), anna, "2222-222"+string(rune('2'+i)))
		code(t, "a wrong code", parley.CodeNotFound, err)
	}
	_, err = w.Link(t.Context(), anna, right)
	code(t, "the right one at once after six", parley.CodeRateLimited, err)
	limited, ok := err.(*parley.Error) //nolint:errorlint // it is made by the package, and not wrapped
	if !ok || limited.RetryAfter <= 0 || limited.RetryAfter > time.Second {
		t.Fatalf("got %+v, want to be told to come back within a second", err)
	}
	_, err = w.Link(t.Context(), bert, "2222-2222")
	code(t, "somebody else", parley.CodeNotFound, err)
	w.clock.Advance(limited.RetryAfter)
	_, err = w.Link(t.Context(), anna, "not a code")
	code(t, "after the pause", parley.CodeNotFound, err)
	w.clock.Advance(time.Second)
	_, err = w.Link(t.Context(), anna, right)
	code(t, "the next pause is longer", parley.CodeRateLimited, err)
	w.clock.Advance(time.Second)
	_, err = w.Link(t.Context(), anna, right)
	code(t, "after it", "", err)
	if n := len(w.actions("sign_in_failed")); n != 8 {
		t.Errorf("%d wrong codes were written down, want 8", n)
	}
}

// TestRightCodesAreNotCounted: who enters many that are right is not slowed down.
func TestRightCodesAreNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	for i := range 20 {
		c, err := w.PairCode(t.Context(), parley.IdentityID(fmt.Sprint("telegram:", i)))
		must(t, err)
		if _, err := w.Pair(t.Context(), w.owner, c, "", ""); err != nil {
			t.Fatalf("the right code nr %d: %v", i, err)
		}
	}
}

// TestManyGuessers: also those who never come twice are slowed down.
func TestManyGuessers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	bot := w.bot("irc")
	guess := func(n int) error {
		_, err := w.Link(t.Context(), w.speaks(bot, strings.Repeat("x", n+1), ""), "2222-2222")
		return err
	}
	refused := 0
	for n := range 120 {
		if parley.CodeOf(guess(n)) == parley.CodeRateLimited {
			refused++
		}
	}
	if refused < 19 || refused > 20 {
		t.Errorf("%d of 120 were refused, want all but 100", refused)
	}
}
