package main

import (
	"context"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/client"
)

// Users implements [userKeeper].
func (d *localDesk) Users(ctx context.Context, cursor string, limit int) (client.UserPage, error) {
	users, err := d.in.people.Users(ctx, d.by, parley.UserID(cursor), limit)
	page := client.UserPage{Users: users}
	if n := len(users); n == parley.PageSize(limit) {
		page.Cursor = string(users[n-1].ID)
	}
	return page, err
}

// Identities implements [userKeeper].
func (d *localDesk) Identities(ctx context.Context, cursor string, limit int) (client.IdentityPage, error) {
	list, err := d.in.people.Identities(ctx, d.by, parley.IdentityID(cursor), limit)
	page := client.IdentityPage{Identities: list}
	if n := len(list); n == parley.PageSize(limit) {
		page.Cursor = string(list[n-1].ID)
	}
	return page, err
}

// AddUser implements [userKeeper].
func (d *localDesk) AddUser(ctx context.Context, n client.NewUser) (parley.User, []parley.Identity, error) {
	user, err := d.in.people.AddUser(ctx, d.by, access.NewUser(n))
	if err != nil {
		return user, nil, err
	}
	return d.in.people.User(ctx, d.by, user.ID)
}

// RenameUser implements [userKeeper].
func (d *localDesk) RenameUser(ctx context.Context, id parley.UserID, name string) (parley.User, error) {
	return d.in.people.RenameUser(ctx, d.by, id, name)
}

// SetRole implements [userKeeper].
func (d *localDesk) SetRole(ctx context.Context, id parley.UserID, role parley.Role) (parley.User, error) {
	return d.in.people.SetRole(ctx, d.by, id, role)
}

// RemoveUser implements [userKeeper].
func (d *localDesk) RemoveUser(ctx context.Context, id parley.UserID) error {
	return d.in.people.RemoveUser(ctx, d.by, id)
}

// LinkCode implements [linkKeeper]. Here everybody is the owner.
func (d *localDesk) LinkCode(ctx context.Context, _ *client.Sender) (string, error) {
	return d.in.people.LinkCode(ctx, d.by)
}

// Link implements [linkKeeper].
func (d *localDesk) Link(ctx context.Context, code string, _ *client.Sender) (parley.User, error) {
	return d.in.people.Link(ctx, d.by, code)
}

// Unlink implements [linkKeeper].
func (d *localDesk) Unlink(ctx context.Context, id parley.IdentityID) error {
	return d.in.people.Unlink(ctx, d.by, id)
}

// Pair implements [linkKeeper].
func (d *localDesk) Pair(ctx context.Context, code string, role parley.Role, name string) (parley.User, error) {
	return d.in.people.Pair(ctx, d.by, code, role, name)
}

// Tokens implements [tokenKeeper].
func (d *localDesk) Tokens(ctx context.Context, cursor string, limit int) (client.TokenPage, error) {
	tokens, err := d.in.people.Tokens(ctx, d.by, parley.TokenID(cursor), limit)
	page := client.TokenPage{Tokens: tokens}
	if n := len(tokens); n == parley.PageSize(limit) {
		page.Cursor = string(tokens[n-1].ID)
	}
	return page, err
}

// CreateToken implements [tokenKeeper].
func (d *localDesk) CreateToken(ctx context.Context, n client.NewToken) (string, parley.Token, error) {
	return d.in.people.CreateToken(ctx, d.by, access.NewToken(n))
}

// RevokeToken implements [tokenKeeper].
func (d *localDesk) RevokeToken(ctx context.Context, id parley.TokenID) error {
	return d.in.people.Revoke(ctx, d.by, id)
}

// Audit implements [tokenKeeper].
func (d *localDesk) Audit(ctx context.Context, q parley.AuditQuery, cursor string) (client.AuditPage, error) {
	var err error
	if q.Before, err = readBefore(cursor); err != nil {
		return client.AuditPage{}, err
	}
	entries, err := d.in.people.Audit(ctx, d.by, q)
	page := client.AuditPage{Entries: entries}
	if n := len(entries); n == parley.PageSize(q.Limit) {
		page.Cursor = writeBefore(entries[n-1].Nr)
	}
	return page, err
}
