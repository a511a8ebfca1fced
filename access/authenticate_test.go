package access_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/internal/soak"
)

func TestSetup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	cred := w.signedIn(w.token)
	want := parley.Principal{Identity: "local:owner", User: "owner", Role: parley.RoleOwner, Via: "token"}
	if cred.Caller.Principal() != want || cred.Kind != parley.TokenOwner {
		t.Errorf("got %+v, want %+v", cred.Caller.Principal(), want)
	}
	if got := w.owner.Principal(); got.Via != "local" || got.User != "owner" || got.Role != parley.RoleOwner {
		t.Errorf("locally it is %+v", got)
	}
	if again := w.start(access.PeopleConfig{}); again != "" {
		t.Error("a second start gives a token again")
	}
	fresh, err := w.OwnerToken(t.Context())
	must(t, err)
	w.signedIn(fresh)
	_, err = w.Authenticate(t.Context(), w.token, "token")
	code(t, "the token before", parley.CodeUnauthorized, err)
	w.wantNote("user_added", "local:owner", "owner")
	if n := len(w.actions("token_created")); n != 2 {
		t.Errorf("%d tokens were written down as made, want 2", n)
	}
	if n := len(w.actions("token_revoked")); n != 1 {
		t.Errorf("%d tokens were written down as revoked, want 1", n)
	}
}

// TestLocalAccountFollowsAnOwner: who has the data folder is an owner, also when the
// first owner is none any more.
func TestLocalAccountFollowsAnOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleOwner, "")
	must(t, w.RemoveUser(t.Context(), w.owner, "owner"))
	c, err := w.Local(t.Context())
	must(t, err)
	if p := c.Principal(); p.User != "anna" || p.Role != parley.RoleOwner {
		t.Errorf("locally it is %+v, want the owner there is", p)
	}
	if token := w.start(access.PeopleConfig{}); token != "" {
		t.Error("there is an owner, and a second one was made")
	}
}

// TestUnauthorized: whatever is wrong with a token, the answer is the same.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "")
	join, _, err := w.CreateToken(t.Context(), w.owner, access.NewToken{Kind: parley.TokenJoin, Agent: "main"})
	must(t, err)
	revoked, tok, err := w.CreateToken(t.Context(), anna, access.NewToken{})
	must(t, err)
	must(t, w.Revoke(t.Context(), anna, tok.ID))
	must(t, w.Revoke(t.Context(), anna, tok.ID)) // once more changes nothing
	over, _, err := w.CreateToken(t.Context(), anna, access.NewToken{TTL: time.Hour})
	must(t, err)
	w.signedIn(over)
	w.clock.Advance(time.Hour)
	w.add("bert", parley.RoleUser, "")
	gone := w.tokenFor("user:bert")
	must(t, w.RemoveUser(t.Context(), w.owner, "bert"))

	_, err = w.Authenticate(t.Context(), "", "token")
	code(t, "no token", parley.CodeUnauthorized, err)
	_, want := w.Authenticate(t.Context(), "nonsense", "token")
	for what, token := range map[string]string{
		"of another shape": "Bearer x", "unknown": "ply_u_" + strings.Repeat("A", 43), "revoked": revoked, "over": over,
		"for joining": join, "of somebody who was removed": gone, "of another kind": strings.Replace(w.token, "ply_o_", "ply_u_", 1),
		"cut": w.token[:len(w.token)-1], "longer": w.token + "A", "in capitals": strings.ToUpper(w.token), "with a NUL": w.token[:48] + "\x00",
	} {
		_, err := w.Authenticate(t.Context(), token, "token")
		if parley.CodeOf(err) != parley.CodeUnauthorized || err.Error() != want.Error() {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
	}
}

func TestTokenShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	device, _, err := w.Login(t.Context(), loginCode(t, w, w.owner), "a browser")
	must(t, err)
	channel, _, err := w.CreateToken(t.Context(), w.owner, access.NewToken{Kind: parley.TokenChannel, Namespace: "telegram"})
	must(t, err)
	join, _, err := w.CreateToken(t.Context(), w.owner, access.NewToken{Kind: parley.TokenJoin, Agent: "main"})
	must(t, err)
	for prefix, token := range map[string]string{
		"ply_o_": w.token, "ply_u_": w.tokenFor("local:owner"), "ply_d_": device, "ply_c_": channel, "ply_j_": join,
	} {
		if !strings.HasPrefix(token, prefix) || len(token) != len(prefix)+43 {
			t.Errorf("a token of the wrong shape, want it to begin with %s", prefix)
		}
	}
}

// TestLastUse: it is written, and not for each request.
func TestLastUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	last := func() time.Time {
		w.Close()
		tokens, err := w.Tokens(t.Context(), w.owner, "", 0)
		must(t, err)
		w.start(access.PeopleConfig{})
		return tokens[0].LastUsedAt
	}
	if !last().IsZero() {
		t.Fatal("used before it was")
	}
	w.signedIn(w.token)
	first := last()
	if first.IsZero() {
		t.Fatal("the use is not written")
	}
	w.clock.Advance(59 * time.Second)
	w.signedIn(w.token)
	if got := last(); !got.Equal(first) {
		t.Errorf("within a minute it was written again: %v, then %v", first, got)
	}
	w.clock.Advance(2 * time.Second)
	w.signedIn(w.token)
	if got := last(); !got.After(first) {
		t.Error("after a minute it was not written again")
	}
	w.Close()
	w.signedIn(w.token) // after Close: it works, and starts nothing
}

// TestBadCredentialsAreWrittenDown, at a limited rate, and the next line says how many
// were left out.
func TestBadCredentialsAreWrittenDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	bad := "ply_u_" + strings.Repeat("A", 43)
	for range 30 {
		_, err := w.Authenticate(t.Context(), bad, "token")
		code(t, "a wrong token", parley.CodeUnauthorized, err)
	}
	_, err := w.Authenticate(t.Context(), "", "token")
	code(t, "none", parley.CodeUnauthorized, err)
	w.clock.Advance(time.Minute)
	_, err = w.Authenticate(t.Context(), bad, "cookie")
	code(t, "a wrong cookie", parley.CodeUnauthorized, err)
	lines := w.actions("sign_in_failed")
	if len(lines) != 11 {
		t.Fatalf("%d lines, want 11", len(lines))
	}
	if last := lines[10]; last.Via != "cookie" || !strings.Contains(last.Detail, "20 more") {
		t.Errorf("the last is %+v, want it to say that 20 were left out", last)
	}
}

// TestSecretsStayOut: no token and no code is in the store's files or in the audit.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	secrets := []string{w.token}
	keep := func(secret string, err error) {
		t.Helper()
		must(t, err)
		secrets = append(secrets, secret)
	}
	keep(w.LoginCode(t.Context(), w.owner))
	keep(w.LinkCode(t.Context(), w.owner))
	keep(w.PairCode(t.Context(), "telegram:9"))
	device, _, err := w.Login(t.Context(), secrets[1], "browser")
	keep(device, err)
	_, err = w.Pair(t.Context(), w.owner, secrets[3], "", "")
	must(t, err)
	keep(w.tokenFor("telegram:9"), nil)
	_, err = w.Authenticate(t.Context(), secrets[0]+"x", "token")
	code(t, "a wrong token", parley.CodeUnauthorized, err)
	_, err = w.Link(t.Context(), w.as("telegram:9"), "2222-3333")
	code(t, "a wrong code", parley.CodeNotFound, err)
	text := fmt.Sprintf("%+v", w.actions(""))
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	must(t, err)
	var stored []byte
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		stored = append(stored, raw...)
	}
	if !bytes.Contains(stored, []byte("telegram:9")) {
		t.Fatal("what is stored was not looked at")
	}
	text += string(stored)
	for i, secret := range secrets {
		if strings.Contains(text, secret) || strings.Contains(text, strings.ReplaceAll(secret, "-", "")) {
			t.Errorf("secret %d was written down", i)
		}
	}
}

// TestRevokeUnderLoad: while many ask, tokens are revoked; who asks after that is
// refused, and who has another token is not.
func TestRevokeUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	const people = 8
	rounds := soak.Count(20, 500)
	var all sync.WaitGroup
	for i := range people {
		user := parley.UserID(fmt.Sprintf("u%d", i))
		me := w.add(user, parley.RoleUser, "")
		keep := w.tokenFor("user:" + parley.IdentityID(user))
		all.Go(func() {
			for range rounds {
				secret, tok, err := w.CreateToken(t.Context(), me, access.NewToken{})
				if err != nil {
					t.Error(err)
					return
				}
				var asking sync.WaitGroup
				revoked := make(chan struct{})
				for range 3 {
					asking.Go(func() {
						for done := false; ; {
							_, err := w.Authenticate(t.Context(), secret, "token")
							if done {
								code(t, "after it was revoked", parley.CodeUnauthorized, err)
								return
							}
							if err != nil && parley.CodeOf(err) != parley.CodeUnauthorized {
								t.Error(err)
							}
							select {
							case <-revoked:
								done = true
							default:
							}
						}
					})
				}
				if err := w.Revoke(t.Context(), me, tok.ID); err != nil {
					t.Error(err)
				}
				close(revoked)
				asking.Wait()
				if _, err := w.Authenticate(t.Context(), keep, "token"); err != nil {
					t.Errorf("another token: %v", err)
				}
			}
		})
	}
	all.Wait()
}
