package sqlite

import (
	"context"

	"github.com/parley-run/parley"
)

func decodeUser(r row) parley.User {
	return parley.User{ID: parley.UserID(r.text(0)), Name: r.text(1), Role: parley.Role(r.text(2)), CreatedAt: r.time(3)}
}

func decodeIdentity(r row) parley.Identity {
	return parley.Identity{
		ID: parley.IdentityID(r.text(0)), User: parley.UserID(r.text(1)), Name: r.text(2), Bot: r.bool(3), CreatedAt: r.time(4),
	}
}

// User implements [parley.PeopleReader].
func (s *Store) User(ctx context.Context, id parley.UserID) (parley.User, error) {
	var user parley.User
	err := s.read(ctx, "read user", func(c *conn) error {
		found, err := c.one(func(r row) { user = decodeUser(r) }, `SELECT id, name, role, created_at FROM users WHERE id = ?`, id)
		if err == nil && !found {
			err = notFound("there is no user %q", id)
		}
		return err
	})
	return user, err
}

// Users implements [parley.PeopleReader].
func (s *Store) Users(ctx context.Context, after parley.UserID, limit int) ([]parley.User, error) {
	var list []parley.User
	err := s.read(ctx, "read users", func(c *conn) error {
		return c.each(func(r row) error {
			list = append(list, decodeUser(r))
			return nil
		}, `SELECT id, name, role, created_at FROM users WHERE id > ? ORDER BY id LIMIT ?`, after, parley.PageSize(limit))
	})
	return list, err
}

// Identity implements [parley.PeopleReader].
func (s *Store) Identity(ctx context.Context, id parley.IdentityID) (parley.Identity, error) {
	var identity parley.Identity
	err := s.read(ctx, "read identity", func(c *conn) error {
		found, err := c.one(func(r row) { identity = decodeIdentity(r) },
			`SELECT id, ifnull(user, ''), name, bot, created_at FROM identities WHERE id = ?`, id)
		if err == nil && !found {
			err = notFound("there is no identity %q", id)
		}
		return err
	})
	return identity, err
}

// Identities implements [parley.PeopleReader].
func (s *Store) Identities(ctx context.Context, user parley.UserID) ([]parley.Identity, error) {
	var list []parley.Identity
	err := s.read(ctx, "read identities", func(c *conn) error {
		return c.each(func(r row) error {
			list = append(list, decodeIdentity(r))
			return nil
		}, `SELECT id, ifnull(user, ''), name, bot, created_at FROM identities WHERE user = ? ORDER BY id`, user)
	})
	return list, err
}

// AllIdentities implements [parley.PeopleReader].
func (s *Store) AllIdentities(ctx context.Context, after parley.IdentityID, limit int) ([]parley.Identity, error) {
	var list []parley.Identity
	err := s.read(ctx, "read all identities", func(c *conn) error {
		return c.each(func(r row) error {
			list = append(list, decodeIdentity(r))
			return nil
		}, `SELECT id, ifnull(user, ''), name, bot, created_at FROM identities WHERE id > ? ORDER BY id LIMIT ?`,
			after, parley.PageSize(limit))
	})
	return list, err
}
