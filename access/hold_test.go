package access_test

import (
	"context"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// TestHold: what ends a stream, and what does not.
func TestHold(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		do   func(w *world, cred access.Credential) error
		ends bool
	}{
		"nothing": {func(*world, access.Credential) error { return nil }, false},
		"revoked": {func(w *world, cred access.Credential) error { return w.Revoke(w.t.Context(), w.owner, cred.Token) }, true},
		"over": {func(w *world, _ access.Credential) error {
			w.clock.Advance(time.Hour)
			return nil
		}, true},
		"not over yet": {func(w *world, _ access.Credential) error {
			w.clock.Advance(59 * time.Minute)
			return nil
		}, false},
		"another role": {func(w *world, _ access.Credential) error {
			_, err := w.SetRole(w.t.Context(), w.owner, "anna", parley.RoleGuest)
			return err
		}, true},
		"the same role": {func(w *world, _ access.Credential) error {
			_, err := w.SetRole(w.t.Context(), w.owner, "anna", parley.RoleUser)
			return err
		}, false},
		"removed": {func(w *world, _ access.Credential) error { return w.RemoveUser(w.t.Context(), w.owner, "anna") }, true},
		"linked": {func(w *world, cred access.Credential) error {
			link(w.t, w, cred.Caller, w.speaks(w.bot("slack"), "A", ""))
			return nil
		}, true},
		"unlinked": {func(w *world, _ access.Credential) error { return w.Unlink(w.t.Context(), w.owner, "irc:a") }, true},
		"another's token": {func(w *world, _ access.Credential) error {
			other := w.signedIn(w.tokenFor("telegram:7"))
			return w.Revoke(w.t.Context(), w.owner, other.Token)
		}, false},
		"another's role": {func(w *world, _ access.Credential) error {
			w.add("bert", parley.RoleUser, "")
			_, err := w.SetRole(w.t.Context(), w.owner, "bert", parley.RoleGuest)
			return err
		}, false},
	} {
		for _, before := range []bool{false, true} { // the change comes before the stream is held
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, access.PeopleConfig{})
				w.add("anna", parley.RoleUser, "telegram:7")
				link(t, w, w.as("telegram:7"), w.speaks(w.bot("irc"), "a", ""))
				secret, _, err := w.CreateToken(t.Context(), w.owner, access.NewToken{For: "telegram:7", TTL: time.Hour})
				must(t, err)
				cred := w.signedIn(secret)
				if before {
					must(t, c.do(w, cred))
				}
				held, release := w.Hold(t.Context(), cred)
				if !before {
					if held.Err() != nil {
						t.Fatalf("it ended before it began: %v", context.Cause(held))
					}
					must(t, c.do(w, cred))
				}
				if ended := held.Err() != nil; ended != c.ends {
					t.Errorf("ended: %t (%v), want %t", ended, context.Cause(held), c.ends)
				}
				if c.ends {
					code(t, "the cause", parley.CodeUnauthorized, context.Cause(held))
				}
				release()
				if held.Err() == nil {
					t.Error("it is not over after its release")
				}
			})
		}
	}
}

// TestHoldOfChannelAndProgram: the token of a channel, and a credential without one.
func TestHoldOfChannelAndProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	secret, tok, err := w.CreateToken(t.Context(), w.owner, access.NewToken{Kind: parley.TokenChannel, Namespace: "telegram"})
	must(t, err)
	ofChannel, release := w.Hold(t.Context(), w.signedIn(secret))
	defer release()
	w.add("anna", parley.RoleUser, "telegram:7")
	own := access.Credential{Caller: access.NewCaller(parley.Principal{Identity: "app:1", User: "anna", Role: parley.RoleUser, Via: "app"})}
	ofProgram, releaseToo := w.Hold(t.Context(), own)
	defer releaseToo()
	if ofChannel.Err() != nil || ofProgram.Err() != nil {
		t.Fatalf("ended at once: %v, %v", context.Cause(ofChannel), context.Cause(ofProgram))
	}
	must(t, w.Revoke(t.Context(), w.owner, tok.ID))
	if ofChannel.Err() == nil || ofProgram.Err() != nil {
		t.Errorf("the channel's: %v, the program's: %v; want the first to end", ofChannel.Err(), ofProgram.Err())
	}
	must(t, w.RemoveUser(t.Context(), w.owner, "anna"))
	if ofProgram.Err() == nil {
		t.Error("its user is gone, and it goes on")
	}
}
