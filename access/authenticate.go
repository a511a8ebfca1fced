package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/parley-run/parley"
)

// Credential is a token that is good, and who asks with it.
type Credential struct {
	Caller Caller
	Token  parley.TokenID
	Kind   parley.TokenKind

	hash [sha256.Size]byte // of the token
}

// Authenticate gives who asks with a token. Via is how it came, such as token or
// cookie; what comes with a channel's token is via channel. It is
// [parley.CodeUnauthorized], in the same words, if the token is not known,
// revoked, over, of nobody, or one that only lets people join; and if there is none.
//
// Roles and accounts are those of the moment. The token's last use is written later,
// at most once a minute.
func (p *People) Authenticate(ctx context.Context, token, via string) (Credential, error) {
	if token == "" {
		return Credential{}, unauthorized()
	}
	if !looksLikeToken(token) {
		return Credential{}, p.refused(parley.Token{}, via)
	}
	return p.authenticate(ctx, sha256.Sum256([]byte(token)), via)
}

func (p *People) authenticate(ctx context.Context, hash [sha256.Size]byte, via string) (Credential, error) {
	var t parley.Token
	var caller Caller
	now := p.clock.Now()
	err := p.store.View(ctx, func(ctx context.Context) (err error) {
		t, err = p.store.TokenByHash(ctx, hash)
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return err
		}
		if err != nil || !same(t.Hash, hash) || !t.Valid(now) || t.Kind == parley.TokenJoin {
			return p.refused(t, via)
		}
		caller, err = p.bearer(ctx, &t, via)
		return err
	})
	if err != nil {
		return Credential{}, err
	}
	p.used(&t, now)
	return Credential{Caller: caller, Token: t.ID, Kind: t.Kind, hash: hash}, nil
}

// bearer gives who asks with a token that is good.
func (p *People) bearer(ctx context.Context, t *parley.Token, via string) (Caller, error) {
	if t.Kind == parley.TokenChannel {
		return NewChannel(t.Namespace, parley.Principal{Identity: t.Identity, Role: parley.RoleGuest, Via: viaChannel})
	}
	who, err := p.person(ctx, t.Identity)
	if err != nil {
		return Caller{}, err
	}
	if who.user.ID == "" {
		return Caller{}, p.refused(*t, via)
	}
	return NewCaller(who.principal(via), who.ids()...), nil
}

// viaChannel is how people come whom a channel speaks for.
const viaChannel = "channel"

// refused notes that a credential was not good, and gives the one answer to that, whatever is wrong with it.
func (p *People) refused(t parley.Token, via string) error {
	p.failed(parley.AuditEntry{Actor: t.Identity, Via: via, Subject: string(t.ID), Detail: "a token that is not good"})
	return parley.Errorf(parley.CodeUnauthorized, "the token is not good: it is mistyped, over or revoked; sign in, or send another")
}

// unauthorized is what everybody without a credential is told.
func unauthorized() error {
	return parley.Errorf(parley.CodeUnauthorized, "a credential is needed; sign in, or send a token")
}

// same compares in a time that does not depend on where two hashes differ.
func same(a, b [sha256.Size]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// Tokens look like ply_u_…: programs that search for secrets know them by that.
const tokenPrefix = "ply_"

const secretBytes = 32

var tokenLetters = map[parley.TokenKind]string{
	parley.TokenOwner: "o", parley.TokenUser: "u", parley.TokenDevice: "d", parley.TokenChannel: "c", parley.TokenJoin: "j",
}

// newSecret makes a token.
func newSecret(kind parley.TokenKind) (secret string, hash [sha256.Size]byte) {
	secret = tokenPrefix + tokenLetters[kind] + "_" + randomText(secretBytes)
	return secret, sha256.Sum256([]byte(secret))
}

// looksLikeToken reports whether it is worth looking for.
func looksLikeToken(token string) bool {
	return strings.HasPrefix(token, tokenPrefix) && len(token) == len(tokenPrefix)+2+base64.RawURLEncoding.EncodedLen(secretBytes)
}

// randomText is of so many random bytes, in letters, digits, - and _.
func randomText(bytes int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(bytes)) }

func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // does not fail
	return raw
}
