package access

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-run/parley"
)

// LinkCode makes a code that shows, entered with another account within ten minutes,
// that both are of one person. A later one takes its place.
func (p *People) LinkCode(ctx context.Context, by Caller) (string, error) {
	if err := by.mayLink(); err != nil {
		return "", err
	}
	who, err := p.person(ctx, by.principal.Identity)
	if err != nil {
		return "", err
	}
	code := newPasscode()
	return code, p.storePasscode(ctx, parley.PasscodeLink, who.account.ID, code, p.known(&who))
}

// Link makes one user of the caller and of who shows the code: the one with the
// greater role, or the older one, with the accounts of both. Nothing else is
// rewritten: what each account took part in, both see.
//
// A code that is not good is [parley.CodeNotFound]; two accounts that nobody has let in
// are [parley.CodeForbidden], as one of them has to be a user's.
func (p *People) Link(ctx context.Context, by Caller, code string) (parley.User, error) {
	if err := by.mayLink(); err != nil {
		return parley.User{}, err
	}
	found, err := p.enterPasscode(ctx, by, parley.PasscodeLink, code)
	if err != nil {
		return parley.User{}, err
	}
	p.change.Lock()
	defer p.change.Unlock()
	a, err := p.person(ctx, found.Identity)
	if err != nil {
		return parley.User{}, err
	}
	b, err := p.person(ctx, by.principal.Identity)
	if err != nil {
		return parley.User{}, err
	}
	switch {
	case a.user.ID == "" && b.user.ID == "":
		return parley.User{}, parley.Errorf(parley.CodeForbidden, "neither account was let in yet; ask an owner first")
	case a.account.ID == b.account.ID || a.user.ID == b.user.ID:
		return parley.User{}, parley.Errorf(parley.CodeConflict, "the two accounts are of one user already")
	}
	into, from := &a, &b
	if b.before(&a) {
		into, from = &b, &a
	}
	batch, err := p.merge(ctx, into, from)
	if err != nil {
		return parley.User{}, err
	}
	batch.Passcodes = usePasscode(&found)
	batch.Audit = []parley.AuditEntry{entry(by, "linked", string(into.user.ID), string(from.account.ID)+" to "+string(into.account.ID))}
	if err := p.commit(ctx, batch, a.user.ID, b.user.ID); err != nil {
		return parley.User{}, passcodeGone(err)
	}
	p.settle(ctx)
	return into.user, nil
}

// before reports whether w is the user that stays when both become one.
func (w *person) before(other *person) bool {
	if r, o := rank(w.user.Role), rank(other.user.Role); r != o {
		return r > o
	}
	return w.user.CreatedAt.Before(other.user.CreatedAt)
}

// merge gives the batch that makes two people one. Both accounts were proven to be the
// person's, so the configuration no longer says where they belong.
func (p *People) merge(ctx context.Context, into, from *person) (parley.Batch, error) {
	moving := []parley.Identity{from.account}
	batch := parley.Batch{}
	if from.user.ID != "" {
		var err error
		if moving, err = p.store.Identities(ctx, from.user.ID); err != nil {
			return parley.Batch{}, err
		}
		batch.Users = []parley.UserChange{{User: from.user, Remove: true}}
	}
	for _, account := range moving {
		batch.Expect = append(batch.Expect, parley.IdentityIs{Identity: account.ID, User: account.User})
		account.User = into.user.ID
		batch.Identities = append(batch.Identities, parley.IdentityChange{Identity: p.made(account)})
	}
	for _, proven := range []parley.IdentityID{into.account.ID, from.account.ID} {
		batch.Identities = append(batch.Identities, unmark(proven))
	}
	return batch, nil
}

// mayLink refuses who may not prove that an account is theirs. What a channel says
// proves it of the account it speaks for; so a channel must not bring along what is
// beyond its namespace, or an owner's rights.
func (c Caller) mayLink() error {
	if c.principal.Identity == "" {
		return unauthorized()
	}
	beyond := slices.ContainsFunc(c.identities, func(id parley.IdentityID) bool { return !within(c.namespace, id) })
	if c.namespace != "" && (beyond || c.owner()) {
		return parley.Errorf(parley.CodeForbidden, "this account belongs to a user with more than this chat; link from the web or the terminal, where you are signed in")
	}
	return nil
}

// Unlink gives an account a user of its own, with the role it has, but no owner's.
// People unlink their own accounts, owners those of everybody; another is
// [parley.CodeNotFound]. The only account of a user, and what the configuration links,
// is [parley.CodeConflict].
func (p *People) Unlink(ctx context.Context, by Caller, id parley.IdentityID) error {
	if err := by.known(); err != nil {
		return err
	}
	if by.namespace != "" && id != by.principal.Identity {
		return parley.Errorf(parley.CodeForbidden, "in a chat, people unlink the account they write with")
	}
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.person(ctx, id)
	switch {
	case err != nil:
		return err
	case who.user.ID == "" || who.user.ID != by.principal.User && (!by.owner() || by.namespace != ""):
		return parley.Errorf(parley.CodeNotFound, "there is no account %q", id)
	case id == localAccount:
		return parley.Errorf(parley.CodeConflict, "the account of the data folder stays the owner's")
	case len(who.accounts) < 2:
		return parley.Errorf(parley.CodeConflict, "it is the only account of its user")
	case p.configured(id):
		return parley.Errorf(parley.CodeConflict, "the configuration links this account; take it out there")
	}
	account, own := who.account, p.newUser(who.account.Name, atMost(who.user.Role, parley.RoleUser))
	account.User = own.ID
	return p.commit(ctx, parley.Batch{
		Expect:     []parley.Expectation{parley.IdentityIs{Identity: id, User: who.user.ID}},
		Users:      []parley.UserChange{{User: own}},
		Identities: []parley.IdentityChange{{Identity: account}, unmark(id)},
		Audit:      []parley.AuditEntry{entry(by, "unlinked", string(id), "from the user "+string(who.user.ID)+" to "+string(own.ID))},
	}, who.user.ID)
}

// PairCode makes a code for a stranger to show to an owner, good for ten minutes. Who
// asks often is [parley.CodeRateLimited]; who has a role is [parley.CodeConflict].
func (p *People) PairCode(ctx context.Context, stranger parley.IdentityID) (string, error) {
	if err := stranger.Validate(); err != nil {
		return "", err
	}
	if err := p.asked.Request(string(stranger)); err != nil {
		return "", err
	}
	if err := p.askedAll.Request(""); err != nil {
		return "", err
	}
	who, err := p.person(ctx, stranger)
	if err != nil {
		return "", err
	}
	if who.user.ID != "" {
		return "", parley.Errorf(parley.CodeConflict, "%q is known, and needs no code", stranger)
	}
	code := newPasscode()
	return code, p.storePasscode(ctx, parley.PasscodePair, stranger, code, p.known(&who))
}

// Pair lets the stranger in who shows the code, with a role ("": user) and a name ("":
// that of the account). It is for owners; a code that is not good is
// [parley.CodeNotFound].
func (p *People) Pair(ctx context.Context, by Caller, code string, role parley.Role, name string) (parley.User, error) {
	if err := by.ownerThemselves("let people in"); err != nil {
		return parley.User{}, err
	}
	found, err := p.enterPasscode(ctx, by, parley.PasscodePair, code)
	if err != nil {
		return parley.User{}, err
	}
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.person(ctx, found.Identity)
	if err != nil {
		return parley.User{}, err
	}
	if who.user.ID != "" {
		return parley.User{}, parley.Errorf(parley.CodeConflict, "%q was let in already", found.Identity)
	}
	if name == "" {
		name = who.account.Name
	}
	user := p.newUser(name, role)
	batch := p.adopt(&who, user)
	batch.Passcodes = usePasscode(&found)
	batch.Audit = []parley.AuditEntry{entry(by, "paired", string(found.Identity), "as the user "+string(user.ID)+" with the role "+string(user.Role))}
	if err := p.commit(ctx, batch); err != nil {
		return parley.User{}, passcodeGone(err)
	}
	p.settle(ctx)
	return user, nil
}

// passcodeGone says that a code was used up by somebody else, if that is why a batch failed.
func passcodeGone(err error) error {
	if errors.Is(err, parley.ErrNotFound) {
		return wrongPasscode()
	}
	return err
}
