package sqlite

import (
	"time"

	"github.com/parley-run/parley"
)

func (t *tx) applyCredentials(b *parley.Batch) error {
	for i := range b.Tokens {
		if err := t.changeToken(b.At, &b.Tokens[i]); err != nil {
			return err
		}
	}
	for i := range b.Passcodes {
		if err := t.changePasscode(b.At, &b.Passcodes[i]); err != nil {
			return err
		}
	}
	for i := range b.Audit {
		if err := t.writeAudit(b.At, &b.Audit[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) changeToken(at time.Time, c *parley.TokenChange) error {
	if c.New != nil {
		return t.makeToken(c.New)
	}
	found, err := t.c.changed(`UPDATE tokens SET revoked_at = iif(?1, ifnull(revoked_at, ?2), revoked_at),
		last_used_at = max(ifnull(last_used_at, ?3), ifnull(?3, last_used_at)) WHERE id = ?4`, c.Revoke, at, c.Used, c.ID)
	if err != nil {
		return err
	}
	if !found {
		return notFound("there is no token %q", c.ID)
	}
	if !c.Remove {
		return nil
	}
	return t.c.exec(`DELETE FROM tokens WHERE id = ?`, c.ID)
}

func (t *tx) makeToken(n *parley.Token) error {
	if taken, err := t.c.exists(`SELECT 1 FROM tokens WHERE id = ?`, n.ID); err != nil {
		return err
	} else if taken {
		return conflict("there is a token %q already", n.ID)
	}
	if taken, err := t.c.exists(`SELECT 1 FROM tokens WHERE hash = ?`, n.Hash[:]); err != nil {
		return err
	} else if taken {
		return conflict("the secret of token %q is that of another; make a new one", n.ID)
	}
	return t.c.exec(`INSERT INTO tokens (id, hash, kind, name, identity, namespace, agent, created_at, expires_at, last_used_at, revoked_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, n.ID, n.Hash[:], n.Kind, n.Name, orNull(n.Identity), n.Namespace, n.Agent,
		n.CreatedAt, n.ExpiresAt, n.LastUsedAt, n.RevokedAt)
}

func (t *tx) changePasscode(at time.Time, c *parley.PasscodeChange) error {
	n := c.New
	if n == nil {
		found, err := t.c.changed(`DELETE FROM passcodes WHERE hash = ? AND expires_at > ?`, c.Use[:], at)
		if err == nil && !found {
			err = noPasscode()
		}
		return err
	}
	if err := t.c.exec(`DELETE FROM passcodes WHERE expires_at <= ?`, at); err != nil {
		return err
	}
	if err := t.c.exec(`DELETE FROM passcodes WHERE identity = ? AND kind = ?`, n.Identity, n.Kind); err != nil {
		return err
	}
	if taken, err := t.c.exists(`SELECT 1 FROM passcodes WHERE hash = ?`, n.Hash[:]); err != nil {
		return err
	} else if taken {
		return conflict("the code is in use; make another")
	}
	return t.c.exec(`INSERT INTO passcodes (hash, kind, identity, created_at, expires_at) VALUES (?, ?, ?, ?, ?)`,
		n.Hash[:], n.Kind, n.Identity, n.CreatedAt, n.ExpiresAt)
}

func (t *tx) writeAudit(at time.Time, e *parley.AuditEntry) error {
	return t.c.exec(`INSERT INTO audit (at, action, actor, via, session, subject, detail) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		at, e.Action, orNull(e.Actor), e.Via, orNull(e.Session), e.Subject, e.Detail)
}
