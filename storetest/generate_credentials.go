package storetest

import (
	"time"

	"github.com/parley-run/parley"
)

// credentials adds changes of tokens and passcodes, and lines of the audit.
func (g *generator) credentials(b *parley.Batch) {
	for g.chance(30) {
		c := g.token()
		// What would be refused takes the rest of the batch with it.
		if err := g.ahead.changeToken(g.now, c); err == nil || g.chance(10) {
			b.Tokens = append(b.Tokens, c)
		}
	}
	for g.chance(30) {
		c := g.passcode()
		if err := g.ahead.changePasscode(g.now, c); err == nil || g.chance(10) {
			b.Passcodes = append(b.Passcodes, c)
		}
	}
	for g.chance(30) {
		e := parley.AuditEntry{
			Action: pick(g, actionNames), Actor: either(g, "", pick(g, identityIDs)), Via: either(g, "", "token", "cookie"),
			Session: either(g, "", pick(g, sessionIDs)), Subject: either(g, "", "anna", "tok_1"), Detail: either(g, "", "two\nlines", g.fresh("line ")),
		}
		if g.chance(20) {
			e.Nr, e.At = uint64(g.upTo(5)), g.moment() // the store has its own
		}
		b.Audit = append(b.Audit, e)
	}
}

func (g *generator) token() parley.TokenChange {
	id := pick(g, tokenIDs)
	if _, known := g.ahead.tokens[id]; known != g.slip() {
		c := parley.TokenChange{ID: id, Revoke: g.chance(30), Remove: g.chance(15)}
		if g.chance(60) {
			c.Used = g.moment()
		}
		return c
	}
	t := &parley.Token{ID: id, Hash: pick(g, hashes), Name: either(g, "", "Anna's \"phone\""), CreatedAt: g.moment()}
	t.Kind = either(g, parley.TokenOwner, parley.TokenUser, parley.TokenDevice, parley.TokenChannel, parley.TokenJoin)
	switch t.Kind {
	case parley.TokenJoin:
		t.Agent = either(g, "helper", "coder")
	case parley.TokenChannel:
		t.Namespace = either(g, "telegram", "discord")
		fallthrough
	default:
		t.Identity = pick(g, identityIDs)
	}
	if g.chance(40) {
		t.ExpiresAt = g.moment()
	}
	if g.chance(20) {
		t.LastUsedAt = g.moment()
	}
	if g.chance(10) {
		t.RevokedAt = g.moment()
	}
	return parley.TokenChange{New: t}
}

func (g *generator) passcode() parley.PasscodeChange {
	if g.chance(30) {
		return parley.PasscodeChange{Use: pick(g, hashes)}
	}
	return parley.PasscodeChange{New: &parley.Passcode{
		Hash: pick(g, hashes), Kind: either(g, parley.PasscodeLogin, parley.PasscodeLink, parley.PasscodePair),
		Identity: pick(g, identityIDs), CreatedAt: g.now.Add(-time.Minute), ExpiresAt: g.now.Add(time.Duration(g.upTo(7200)) * time.Second),
	}}
}
