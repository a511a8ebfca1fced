package sqlite

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

const tokenColumns = `id, hash, kind, name, ifnull(identity, ''), namespace, agent, created_at, expires_at, last_used_at, revoked_at` //nolint:gosec // names of columns

func decodeToken(r row) parley.Token {
	t := parley.Token{
		ID: parley.TokenID(r.text(0)), Kind: parley.TokenKind(r.text(2)), Name: r.text(3), Identity: parley.IdentityID(r.text(4)),
		Namespace: r.text(5), Agent: r.text(6),
		CreatedAt: r.time(7), ExpiresAt: r.time(8), LastUsedAt: r.time(9), RevokedAt: r.time(10),
	}
	copy(t.Hash[:], r.blob(1))
	return t
}

// TokenByHash implements [parley.CredentialReader].
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (parley.Token, error) {
	var token parley.Token
	err := s.read(ctx, "read token", func(c *conn) error {
		found, err := c.one(func(r row) { token = decodeToken(r) }, `SELECT `+tokenColumns+` FROM tokens WHERE hash = ?`, hash[:])
		if err == nil && !found {
			err = notFound("there is no such token")
		}
		return err
	})
	return token, err
}

// Tokens implements [parley.CredentialReader].
func (s *Store) Tokens(ctx context.Context, of parley.IdentityID, after parley.TokenID, limit int) ([]parley.Token, error) {
	sql, args := tokensQuery(of, after, limit)
	var list []parley.Token
	err := s.read(ctx, "read tokens", func(c *conn) error {
		return c.each(func(r row) error {
			list = append(list, decodeToken(r))
			return nil
		}, sql, args...)
	})
	return list, err
}

func tokensQuery(of parley.IdentityID, after parley.TokenID, limit int) (sql string, args []any) {
	if of == "" {
		return `SELECT ` + tokenColumns + ` FROM tokens WHERE id > ? ORDER BY id LIMIT ?`, []any{after, parley.PageSize(limit)}
	}
	return `SELECT ` + tokenColumns + ` FROM tokens WHERE identity = ? AND id > ? ORDER BY id LIMIT ?`,
		[]any{of, after, parley.PageSize(limit)}
}

// Passcode implements [parley.CredentialReader].
func (s *Store) Passcode(ctx context.Context, hash [32]byte, at time.Time) (parley.Passcode, error) {
	code := parley.Passcode{Hash: hash}
	err := s.read(ctx, "read passcode", func(c *conn) error {
		// As a number: a zero time is an instant here.
		found, err := c.one(func(r row) {
			code.Kind, code.Identity = parley.PasscodeKind(r.text(0)), parley.IdentityID(r.text(1))
			code.CreatedAt, code.ExpiresAt = r.time(2), r.time(3)
		}, `SELECT kind, identity, created_at, expires_at FROM passcodes WHERE hash = ? AND expires_at > ?`, hash[:], at.UnixMicro())
		if err == nil && !found {
			err = noPasscode()
		}
		return err
	})
	if err != nil {
		return parley.Passcode{}, err
	}
	return code, nil
}

func noPasscode() error {
	return notFound("there is no such code, it was used, or it is over; ask for a new one")
}

// Audit implements [parley.CredentialReader].
func (s *Store) Audit(ctx context.Context, q parley.AuditQuery) ([]parley.AuditEntry, error) {
	sql, args := auditQuery(q)
	var list []parley.AuditEntry
	err := s.read(ctx, "read audit", func(c *conn) error {
		return c.each(func(r row) error {
			list = append(list, parley.AuditEntry{
				Nr: r.seq(0), At: r.time(1), Action: r.text(2), Actor: parley.IdentityID(r.text(3)), Via: r.text(4),
				Session: parley.SessionID(r.text(5)), Subject: r.text(6), Detail: r.text(7),
			})
			return nil
		}, sql, args...)
	})
	return list, err
}

// auditQuery goes by the index of what has the fewest lines: a session, then an
// actor's lines of an action. The plus keeps it from going by another.
func auditQuery(q parley.AuditQuery) (sql string, args []any) {
	before := int64(math.MaxInt64)
	if q.Before > 0 && q.Before < math.MaxInt64 {
		before = int64(q.Before)
	}
	conditions, args := []string{"nr < ?"}, []any{before}
	more := func(condition string, value any) {
		conditions, args = append(conditions, condition), append(args, value)
	}
	plus := ""
	if q.Session != "" {
		more("session = ?", q.Session)
		plus = "+"
	}
	if q.Actor != "" {
		more(plus+"actor = ?", q.Actor)
	}
	if q.Action != "" {
		more(plus+"action = ?", q.Action)
	}
	return `SELECT nr, at, action, ifnull(actor, ''), via, ifnull(session, ''), subject, detail FROM audit WHERE ` +
		strings.Join(conditions, " AND ") + ` ORDER BY nr DESC LIMIT ?`, append(args, parley.PageSize(q.Limit))
}
