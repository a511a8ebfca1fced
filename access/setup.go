package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/parley-run/parley"
)

// The owner that a store starts with, and the account of who has the data folder.
const (
	ownerUser    parley.UserID     = "owner"
	localAccount parley.IdentityID = "local:owner"
	viaLocal                       = "local"
)

// Setup makes the owner if there is none, and gives the owner's token then; "" if
// there was one. It links the accounts that the configuration links, and unlinks those
// it no longer does: they go back to who they belonged to before, or to nobody.
func (p *People) Setup(ctx context.Context) (ownerToken string, err error) {
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.localOwner(ctx)
	if err != nil {
		return "", err
	}
	if who.user.ID == "" {
		if ownerToken, err = p.makeOwner(ctx, &who); err != nil {
			return "", err
		}
	}
	return ownerToken, p.applyLinks(ctx)
}

// OwnerToken gives a new token of the owner, and revokes those before it. It is for
// who has the data folder, where the token is kept. Without an owner it is
// [parley.CodeNotFound]; [People.Setup] makes one.
func (p *People) OwnerToken(ctx context.Context) (string, error) {
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.existingOwner(ctx)
	if err != nil {
		return "", err
	}
	by := NewCaller(who.principal(viaLocal))
	secret, token := p.newToken(parley.Token{Kind: parley.TokenOwner, Identity: localAccount})
	batch := parley.Batch{Tokens: []parley.TokenChange{{New: &token}}, Audit: []parley.AuditEntry{tokenEntry(by, "token_created", &token)}}
	for old, err := range p.tokensOf(ctx, localAccount) {
		if err != nil {
			return "", err
		}
		if old.Kind == parley.TokenOwner && old.RevokedAt.IsZero() {
			batch.Tokens = append(batch.Tokens, parley.TokenChange{ID: old.ID, Revoke: true})
			batch.Audit = append(batch.Audit, tokenEntry(by, "token_revoked", &old))
		}
	}
	return secret, p.commit(ctx, batch)
}

// IsOwnerToken reports whether a text is a token of the owner that is good.
func (p *People) IsOwnerToken(ctx context.Context, token string) (bool, error) {
	t, err := p.store.TokenByHash(ctx, sha256.Sum256([]byte(strings.TrimSpace(token))))
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	return err == nil && t.Kind == parley.TokenOwner && t.Valid(p.clock.Now()), err
}

// Local gives the owner as the caller, for programs that open the data folder
// themselves. Without an owner it is [parley.CodeNotFound].
func (p *People) Local(ctx context.Context) (Caller, error) {
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.existingOwner(ctx)
	if err != nil {
		return Caller{}, err
	}
	return NewCaller(who.principal(viaLocal), who.ids()...), nil
}

func (p *People) existingOwner(ctx context.Context) (person, error) {
	who, err := p.localOwner(ctx)
	if err == nil && who.user.ID == "" {
		err = parley.Errorf(parley.CodeNotFound, "there is no owner yet; start parley serve once")
	}
	return who, err
}

// localOwner gives the person of the local account, who is an owner: if it is not an
// owner's, it becomes that of the first owner there is. Nobody: there is no owner.
func (p *People) localOwner(ctx context.Context) (person, error) {
	who, err := p.person(ctx, localAccount)
	if err != nil || who.user.Role == parley.RoleOwner {
		return who, err
	}
	for owner, err := range p.owners(ctx) {
		if err != nil {
			return person{}, err
		}
		before := who.account.User
		who.account.User = owner.ID
		err = p.commit(ctx, parley.Batch{
			Expect:     []parley.Expectation{parley.IdentityIs{Identity: localAccount, User: before}},
			Identities: []parley.IdentityChange{{Identity: p.made(who.account)}},
			Audit:      []parley.AuditEntry{{Action: "linked", Actor: localAccount, Via: viaLocal, Subject: string(owner.ID)}},
		}, before, owner.ID)
		if err != nil {
			return person{}, err
		}
		return p.person(ctx, localAccount)
	}
	return person{account: who.account}, nil
}

func (p *People) makeOwner(ctx context.Context, who *person) (string, error) {
	now := p.clock.Now()
	user := parley.User{ID: ownerUser, Name: "owner", Role: parley.RoleOwner, CreatedAt: now}
	account := who.account
	account.User = user.ID
	secret, token := p.newToken(parley.Token{Kind: parley.TokenOwner, Identity: localAccount})
	by := NewCaller(parley.Principal{Identity: localAccount, Via: viaLocal})
	return secret, p.commit(ctx, parley.Batch{
		Users:      []parley.UserChange{{User: user}},
		Identities: []parley.IdentityChange{{Identity: p.made(account)}},
		Tokens:     []parley.TokenChange{{New: &token}},
		Audit:      []parley.AuditEntry{entry(by, "user_added", string(user.ID), "the first owner"), tokenEntry(by, "token_created", &token)},
	}, user.ID)
}
