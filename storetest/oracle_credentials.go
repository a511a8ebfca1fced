package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

func (o *oracle) changeCredentials(b *parley.Batch) error {
	for _, c := range b.Tokens {
		if err := o.changeToken(b.At, c); err != nil {
			return err
		}
	}
	for _, c := range b.Passcodes {
		if err := o.changePasscode(b.At, c); err != nil {
			return err
		}
	}
	for _, e := range b.Audit {
		e.Nr, e.At = uint64(len(o.audit))+1, instant(b.At)
		o.audit = append(o.audit, e)
	}
	return nil
}

func (o *oracle) changeToken(at time.Time, c parley.TokenChange) error {
	if c.New != nil {
		for _, t := range o.tokens {
			if t.ID == c.New.ID || t.Hash == c.New.Hash {
				return conflict("token %s has the id or the hash", t.ID)
			}
		}
		o.tokens[c.New.ID] = *c.New
		return nil
	}
	t, known := o.tokens[c.ID]
	if !known {
		return missing("token %s", c.ID)
	}
	if c.Revoke && t.RevokedAt.IsZero() {
		t.RevokedAt = instant(at)
	}
	if c.Used.After(t.LastUsedAt) {
		t.LastUsedAt = c.Used
	}
	o.tokens[c.ID] = t
	if c.Remove {
		delete(o.tokens, c.ID)
	}
	return nil
}

// changePasscode stores a code, or uses one up. A code that comes takes the place
// of others before it is asked whether its hash is taken.
func (o *oracle) changePasscode(at time.Time, c parley.PasscodeChange) error {
	over := func(p parley.Passcode) bool { return !at.Before(p.ExpiresAt) }
	if c.New == nil {
		p, known := o.passcodes[c.Use]
		if !known || over(p) {
			return missing("the code")
		}
		delete(o.passcodes, c.Use)
		return nil
	}
	maps.DeleteFunc(o.passcodes, func(_ [32]byte, p parley.Passcode) bool {
		return over(p) || p.Kind == c.New.Kind && p.Identity == c.New.Identity
	})
	if _, taken := o.passcodes[c.New.Hash]; taken {
		return conflict("the hash of the code is taken")
	}
	o.passcodes[c.New.Hash] = *c.New
	return nil
}

// TokenByHash implements [parley.Store].
func (o *oracle) TokenByHash(_ context.Context, hash [32]byte) (parley.Token, error) {
	for _, t := range o.tokens {
		if t.Hash == hash {
			return t, nil
		}
	}
	return parley.Token{}, missing("the token")
}

// Tokens implements [parley.Store].
func (o *oracle) Tokens(_ context.Context, of parley.IdentityID, after parley.TokenID, limit int) ([]parley.Token, error) {
	var list []parley.Token
	for _, id := range slices.Sorted(maps.Keys(o.tokens)) {
		t := o.tokens[id]
		if id > after && (of == "" || t.Identity == of) && len(list) < parley.PageSize(limit) {
			list = append(list, t)
		}
	}
	return list, nil
}

// Passcode implements [parley.Store].
func (o *oracle) Passcode(_ context.Context, hash [32]byte, at time.Time) (parley.Passcode, error) {
	p, known := o.passcodes[hash]
	if !known || !at.Before(p.ExpiresAt) {
		return parley.Passcode{}, missing("the code")
	}
	return p, nil
}

// Audit implements [parley.Store].
func (o *oracle) Audit(_ context.Context, q parley.AuditQuery) ([]parley.AuditEntry, error) {
	var list []parley.AuditEntry
	for _, e := range slices.Backward(o.audit) {
		switch {
		case len(list) == parley.PageSize(q.Limit),
			q.Before > 0 && e.Nr >= q.Before,
			q.Action != "" && e.Action != q.Action,
			q.Actor != "" && e.Actor != q.Actor,
			q.Session != "" && e.Session != q.Session:
			continue
		}
		list = append(list, e)
	}
	return list, nil
}
