package parley_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

func TestTokenValid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		expires, revoked time.Time
		at               time.Time
		want             bool
	}{
		{"never ends", time.Time{}, time.Time{}, at, true},
		{"ends later", at.Add(time.Nanosecond), time.Time{}, at, true},
		{"ends at that instant", at, time.Time{}, at, false},
		{"ended before", at.Add(-time.Hour), time.Time{}, at, false},
		{"revoked", time.Time{}, at.Add(-time.Hour), at, false},
		{"revoked, and asked about before", time.Time{}, at, at.Add(-time.Hour), false},
		{"revoked before its end", at.Add(time.Hour), at.Add(-time.Hour), at, false},
	} {
		token := parley.Token{ExpiresAt: test.expires, RevokedAt: test.revoked}
		if got := token.Valid(test.at); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// TestTokenHashIsNotShown: who sees a token's row does not see what it is known
// by.
func TestTokenHashIsNotShown(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(full().Tokens[0].New)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.ToLower(string(data)); strings.Contains(text, "hash") || strings.Contains(text, "[1,0") || !strings.Contains(text, "tok1") {
		t.Errorf("got %s", data)
	}
}

func TestValidateAcceptsEveryKindOfCredential(t *testing.T) {
	t.Parallel()
	for _, token := range []parley.Token{
		{Kind: parley.TokenOwner, Identity: "local:owner"},
		{Kind: parley.TokenUser, Identity: "telegram:7"},
		{Kind: parley.TokenDevice, Identity: "telegram:7"},
		{Kind: parley.TokenChannel, Identity: "local:bot", Namespace: "telegram"},
		{Kind: parley.TokenJoin, Agent: "main"},
	} {
		token.ID, token.Hash = "tok", [32]byte{31: 1}
		b := parley.Batch{At: at, Tokens: []parley.TokenChange{{New: &token}}}
		if err := b.Validate(); err != nil {
			t.Errorf("%s: %v", token.Kind, err)
		}
	}
	for _, kind := range []parley.PasscodeKind{parley.PasscodeLogin, parley.PasscodeLink, parley.PasscodePair} {
		code := parley.Passcode{Hash: [32]byte{31: 1}, Kind: kind, Identity: "telegram:7", CreatedAt: at, ExpiresAt: at.Add(1)}
		b := parley.Batch{At: at, Passcodes: []parley.PasscodeChange{{New: &code}}}
		if err := b.Validate(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestValidateRefusesCredentials(t *testing.T) {
	t.Parallel()
	channel := func(edit func(*parley.Token)) func(*parley.Batch) {
		return func(b *parley.Batch) { edit(b.Tokens[0].New) }
	}
	join := func(edit func(*parley.Token)) func(*parley.Batch) {
		return func(b *parley.Batch) { edit(b.Tokens[1].New) }
	}
	code := func(edit func(*parley.Passcode)) func(*parley.Batch) {
		return func(b *parley.Batch) { edit(b.Passcodes[0].New) }
	}
	for _, test := range []struct {
		name string
		code parley.Code
		edit func(*parley.Batch)
	}{
		{"a token without kind", invalid, channel(func(t *parley.Token) { t.Kind = "" })},
		{"a token of an unknown kind", invalid, channel(func(t *parley.Token) { t.Kind = "king" })},
		{"a token without hash", invalid, channel(func(t *parley.Token) { t.Hash = [32]byte{} })},
		{"a channel token without namespace", invalid, channel(func(t *parley.Token) { t.Namespace = "" })},
		{"a channel token with an agent", invalid, channel(func(t *parley.Token) { t.Agent = "main" })},
		{"a user's token with a namespace", invalid, channel(func(t *parley.Token) { t.Kind = parley.TokenUser })},
		{"a user's token of nobody", invalid, channel(func(t *parley.Token) { t.Kind, t.Namespace, t.Identity = parley.TokenUser, "", "" })},
		{"a join token of somebody", invalid, join(func(t *parley.Token) { t.Identity = "telegram:7" })},
		{"a join token without agent", invalid, join(func(t *parley.Token) { t.Agent = "" })},
		{"a join token with a namespace", invalid, join(func(t *parley.Token) { t.Namespace = "telegram" })},
		{"a token made with an id beside it", invalid, func(b *parley.Batch) { b.Tokens[0].ID = "tok3" }},
		{"a token made and revoked", invalid, func(b *parley.Batch) { b.Tokens[0].Revoke = true }},
		{"a token made and used", invalid, func(b *parley.Batch) { b.Tokens[0].Used = at }},
		{"a token made and removed", invalid, func(b *parley.Batch) { b.Tokens[0].Remove = true }},

		{"a code without kind", invalid, code(func(c *parley.Passcode) { c.Kind = "" })},
		{"a code of an unknown kind", invalid, code(func(c *parley.Passcode) { c.Kind = parley.PasscodeKind(strings.Repeat("\x00", 1<<20)) })},
		{"a code without hash", invalid, code(func(c *parley.Passcode) { c.Hash = [32]byte{} })},
		{"a code that ends when it is made", invalid, code(func(c *parley.Passcode) { c.ExpiresAt = c.CreatedAt })},
		{"a code that ends before it is made", invalid, code(func(c *parley.Passcode) { c.ExpiresAt = c.CreatedAt.Add(-1) })},
		{"a code that never ends", invalid, code(func(c *parley.Passcode) { c.ExpiresAt = time.Time{} })},
		{"a code stored and used", invalid, func(b *parley.Batch) { b.Passcodes[0].Use = [32]byte{2} }},
		{"no code", invalid, func(b *parley.Batch) { b.Passcodes[1].Use = [32]byte{} }},

		{"an audit detail with NUL", invalid, func(b *parley.Batch) { b.Audit[0].Detail = "a\x00" }},
		{"a long audit detail", tooLarge, func(b *parley.Batch) { b.Audit[0].Detail = prose }},
		{"a bad second line", invalid, func(b *parley.Batch) { b.Audit = append(b.Audit, parley.AuditEntry{}) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := full()
			test.edit(&b)
			wantCode(t, b.Validate(), test.code)
		})
	}
}
