package access

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// NewUser is somebody an owner adds.
type NewUser struct {
	ID   parley.UserID // empty: one is made
	Name string
	Role parley.Role // "": user
	// Identity is the account they begin with, which is nobody's; empty: user:<id>.
	Identity parley.IdentityID
}

// Users gives users by id, those after the given one. It is for owners.
func (p *People) Users(ctx context.Context, by Caller, after parley.UserID, limit int) ([]parley.User, error) {
	if err := by.ownerThemselves("see all users"); err != nil {
		return nil, err
	}
	return p.store.Users(ctx, after, limit)
}

// User gives a user and their accounts: owners everybody, others themselves. Another
// is [parley.CodeNotFound].
func (p *People) User(ctx context.Context, by Caller, id parley.UserID) (parley.User, []parley.Identity, error) {
	if err := by.themselves("see users"); err != nil {
		return parley.User{}, nil, err
	}
	if !by.owner() && id != by.principal.User {
		return parley.User{}, nil, noUser(id)
	}
	user, err := p.user(ctx, id)
	if err != nil {
		return parley.User{}, nil, err
	}
	accounts, err := p.accounts(ctx, id)
	return user, accounts, err
}

// Identities gives accounts by id, those after the given one, also those that are
// nobody's. It is for owners.
func (p *People) Identities(ctx context.Context, by Caller, after parley.IdentityID, limit int) ([]parley.Identity, error) {
	if err := by.ownerThemselves("see all accounts"); err != nil {
		return nil, err
	}
	var list []parley.Identity
	for most := parley.PageSize(limit); len(list) < most; {
		page, err := p.store.AllIdentities(ctx, after, most-len(list))
		if err != nil || len(page) == 0 {
			return list, err
		}
		after = page[len(page)-1].ID
		list = append(list, slices.DeleteFunc(page, isMark)...)
	}
	return list, nil
}

// Audit gives lines of the audit, the newest first. It is for owners.
func (p *People) Audit(ctx context.Context, by Caller, q parley.AuditQuery) ([]parley.AuditEntry, error) {
	if err := by.ownerThemselves("read the audit"); err != nil {
		return nil, err
	}
	return p.store.Audit(ctx, q)
}

// AddUser makes a user with one account. It is for owners. An id that is taken, or an
// account that is somebody's, is [parley.CodeConflict].
func (p *People) AddUser(ctx context.Context, by Caller, n NewUser) (parley.User, error) {
	if err := by.ownerThemselves("add users"); err != nil {
		return parley.User{}, err
	}
	p.change.Lock()
	defer p.change.Unlock()
	user := p.newUser(n.Name, n.Role)
	if n.ID != "" {
		user.ID = n.ID
		if _, err := p.store.User(ctx, n.ID); err == nil {
			return parley.User{}, parley.Errorf(parley.CodeConflict, "there is a user %q already", n.ID)
		} else if !errors.Is(err, parley.ErrNotFound) {
			return parley.User{}, err
		}
	}
	channel, _, _ := strings.Cut(string(n.Identity), ":")
	if n.Identity != "" && reserved(channel) {
		return parley.User{}, parley.Errorf(parley.CodeInvalid, "accounts of %q are Parley's own; leave it out, or name one of a channel", channel)
	}
	who, err := p.person(ctx, cmp.Or(n.Identity, parley.IdentityID("user:"+string(user.ID))))
	if err != nil {
		return parley.User{}, err
	}
	if who.user.ID != "" {
		return parley.User{}, parley.Errorf(parley.CodeConflict, "%q is an account of the user %q", who.account.ID, who.user.ID)
	}
	who.account.Name = cmp.Or(who.account.Name, TidyName(user.Name))
	batch := p.adopt(&who, user)
	batch.Audit = []parley.AuditEntry{entry(by, "user_added", string(user.ID), "with the role "+string(user.Role)+" and the account "+string(who.account.ID))}
	if err := p.commit(ctx, batch); err != nil {
		return parley.User{}, err
	}
	p.settle(ctx)
	return user, nil
}

// RenameUser gives a user another name. It is for owners.
func (p *People) RenameUser(ctx context.Context, by Caller, id parley.UserID, name string) (parley.User, error) {
	return p.changeUser(ctx, by, id, func(user *parley.User, b *parley.Batch) error {
		user.Name = name
		b.Audit = []parley.AuditEntry{entry(by, "user_renamed", string(id), "")}
		return nil
	})
}

// SetRole gives a user another role, which counts from their next request on; streams
// end. It is for owners. The last owner stays one: [parley.CodeConflict].
func (p *People) SetRole(ctx context.Context, by Caller, id parley.UserID, role parley.Role) (parley.User, error) {
	return p.changeUser(ctx, by, id, func(user *parley.User, b *parley.Batch) error {
		if user.Role == role {
			return nil
		}
		if err := p.ownerRemains(ctx, user); err != nil {
			return err
		}
		b.Audit = []parley.AuditEntry{entry(by, "role_changed", string(id), string(user.Role)+" to "+string(role))}
		user.Role = role
		waiting, err := p.waitingBehind(ctx, id)
		for _, w := range waiting {
			w.Role = atMost(w.Role, role)
			b.Users = append(b.Users, parley.UserChange{User: w})
		}
		return err
	})
}

// RemoveUser removes a user. Their tokens are revoked and their accounts are nobody's;
// what they said stays. It is for owners. The last owner stays: [parley.CodeConflict].
func (p *People) RemoveUser(ctx context.Context, by Caller, id parley.UserID) error {
	_, err := p.changeUser(ctx, by, id, func(user *parley.User, b *parley.Batch) error {
		if err := p.ownerRemains(ctx, user); err != nil {
			return err
		}
		accounts, err := p.accounts(ctx, id)
		if err != nil {
			return err
		}
		waiting, err := p.waitingBehind(ctx, id)
		if err != nil {
			return err
		}
		for _, gone := range append(waiting, *user) {
			b.Users = append(b.Users, parley.UserChange{User: gone, Remove: true})
		}
		b.Audit = []parley.AuditEntry{entry(by, "user_removed", string(id), "")}
		for _, account := range accounts {
			b.Identities = append(b.Identities, unmark(account.ID))
			for t, err := range p.tokensOf(ctx, account.ID) {
				if err != nil {
					return err
				}
				if t.RevokedAt.IsZero() {
					b.Tokens = append(b.Tokens, parley.TokenChange{ID: t.ID, Revoke: true})
					b.Audit = append(b.Audit, tokenEntry(by, "token_revoked", &t))
				}
			}
		}
		return nil
	})
	return err
}

// changeUser reads a user, has it changed, and stores it unless the batch says what is
// stored of it, or nothing is to be written down.
func (p *People) changeUser(ctx context.Context, by Caller, id parley.UserID, change func(*parley.User, *parley.Batch) error) (parley.User, error) {
	if err := by.ownerThemselves("change users"); err != nil {
		return parley.User{}, err
	}
	p.change.Lock()
	defer p.change.Unlock()
	user, err := p.user(ctx, id)
	if err != nil {
		return parley.User{}, err
	}
	var b parley.Batch
	if err := change(&user, &b); err != nil || len(b.Audit) == 0 {
		return user, err
	}
	if !slices.ContainsFunc(b.Users, func(c parley.UserChange) bool { return c.User.ID == id }) {
		b.Users = append(b.Users, parley.UserChange{User: user})
	}
	return user, p.commit(ctx, b, id)
}

func (p *People) user(ctx context.Context, id parley.UserID) (parley.User, error) {
	user, err := p.store.User(ctx, id)
	if errors.Is(err, parley.ErrNotFound) {
		err = noUser(id)
	}
	return user, err
}

func noUser(id parley.UserID) error {
	return parley.Errorf(parley.CodeNotFound, "there is no user %q", id)
}

// newUser gives a user who is made now.
func (p *People) newUser(name string, role parley.Role) parley.User {
	return parley.User{ID: parley.UserID("u_" + newID()), Name: name, Role: cmp.Or(role, parley.RoleUser), CreatedAt: p.clock.Now()}
}

// ownerRemains refuses to change the last owner.
func (p *People) ownerRemains(ctx context.Context, user *parley.User) error {
	if user.Role != parley.RoleOwner {
		return nil
	}
	for other, err := range p.owners(ctx) {
		if err != nil || other.ID != user.ID {
			return err
		}
	}
	return parley.Errorf(parley.CodeConflict, "%q is the last owner; make somebody else an owner first", user.ID)
}

// owners gives the owners who have an account.
func (p *People) owners(ctx context.Context) iter.Seq2[parley.User, error] {
	return func(yield func(parley.User, error) bool) {
		for after := parley.UserID(""); ; {
			page, err := p.store.Users(ctx, after, parley.MaxPageSize)
			if err != nil {
				yield(parley.User{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			after = page[len(page)-1].ID
			for _, user := range page {
				if user.Role != parley.RoleOwner {
					continue
				}
				accounts, err := p.accounts(ctx, user.ID)
				if (err != nil || len(accounts) > 0) && !yield(user, err) {
					return
				}
			}
		}
	}
}
