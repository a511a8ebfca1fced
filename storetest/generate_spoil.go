package storetest

import (
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// spoil makes a batch one that no store can keep, whatever else is in it.
func (g *generator) spoil(b *parley.Batch) {
	long := strings.Repeat("x", parley.MaxBodyBytes+1)
	either(g,
		func() { b.At = time.Time{} },
		func() { b.Expect = append(b.Expect, nil) },
		func() { b.Expect = append(b.Expect, parley.KeyIs{Key: "a/b"}) },
		func() { b.Keys = append(b.Keys, parley.KeyChange{Key: parley.Key(long)}) },
		func() { b.Aliases = append(b.Aliases, parley.AliasChange{Alias: "a\nb"}) },
		func() { b.Users = append(b.Users, parley.UserChange{User: parley.User{ID: "anna", Role: "king"}}) },
		func() {
			b.Identities = append(b.Identities, parley.IdentityChange{Identity: parley.Identity{ID: "nobody"}})
		},
		func() { b.Blobs = append(b.Blobs, parley.BlobChange{Handle: "a/b", Type: "image/png", Size: 1}) },
		func() {
			b.Tokens = append(b.Tokens, parley.TokenChange{New: &parley.Token{ID: "tok_1", Kind: parley.TokenOwner}})
		},
		func() { b.Tokens = append(b.Tokens, parley.TokenChange{ID: "a/b", Revoke: true}) },
		func() { b.Passcodes = append(b.Passcodes, parley.PasscodeChange{}) },
		func() { b.Audit = append(b.Audit, parley.AuditEntry{Action: "a", Detail: long}) },
		func() { b.Audit = append(b.Audit, parley.AuditEntry{}) },
		func() { b.Sessions = append(b.Sessions, parley.SessionChange{Session: "cli:\x00"}) },
		func() {
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: nobody, Events: []parley.NewEvent{
				{Body: &parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(long)}}},
			}})
		},
		func() {
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: nobody, Events: []parley.NewEvent{
				{Body: &parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{{Kind: "smell"}}}},
			}})
		},
	)()
}
