package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// Accounts that the configuration gives to a user are marked, so that they go back
// when it no longer does: the mark of telegram:7 is an identity config:telegram:7, which
// is called telegram:7 and belongs to the user that it belonged to before, or to nobody.
// Such a user waits behind the present one: it loses rights and goes with it.
const markChannel = "config"

func mark(id parley.IdentityID) parley.IdentityID {
	name := string(id)
	if len(markChannel)+1+len(name) > parley.MaxIDBytes {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return parley.IdentityID(markChannel + ":" + name)
}

// unmark is the change that takes away the mark of an account, if it has one.
func unmark(id parley.IdentityID) parley.IdentityChange {
	return parley.IdentityChange{Identity: parley.Identity{ID: mark(id)}, Remove: true}
}

func isMark(i parley.Identity) bool { return strings.HasPrefix(string(i.ID), markChannel+":") }

// configured reports whether the configuration says who an account belongs to.
func (p *People) configured(id parley.IdentityID) bool {
	return slices.Contains(p.owner, id) ||
		slices.ContainsFunc(p.links, func(link []parley.IdentityID) bool { return slices.Contains(link, id) })
}

// waitingBehind gives the users that accounts of this one go back to.
func (p *People) waitingBehind(ctx context.Context, id parley.UserID) ([]parley.User, error) {
	accounts, err := p.accounts(ctx, id)
	if err != nil {
		return nil, err
	}
	waiting := map[parley.UserID]parley.User{}
	for _, account := range accounts {
		m, err := p.store.Identity(ctx, mark(account.ID))
		if errors.Is(err, parley.ErrNotFound) || err == nil && (m.User == "" || m.User == id) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if waiting[m.User], err = p.store.User(ctx, m.User); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(waiting), func(a, b parley.User) int { return strings.Compare(string(a.ID), string(b.ID)) }), nil
}

// linking is whose accounts are to be, as the configuration is applied.
type linking struct {
	now   map[parley.IdentityID]parley.Identity // as stored
	marks map[parley.IdentityID]bool            // accounts that have a mark
	home  map[parley.IdentityID]parley.UserID   // without the configuration
	want  map[parley.IdentityID]parley.UserID   // with it
}

// settle is [People.applyLinks] after another change, which stands whatever comes of it.
func (p *People) settle(ctx context.Context) {
	if err := p.applyLinks(ctx); err != nil {
		p.log.Error("accounts are not linked as configured; that is tried again at the next start", "error", err)
	}
}

// applyLinks brings the accounts to where the configuration wants them. It starts from
// where they would be without it, so it comes to the same whatever it said before.
func (p *People) applyLinks(ctx context.Context) error {
	l, err := p.unlinked(ctx)
	if err != nil {
		return err
	}
	groups := p.links
	if len(p.owner) > 0 {
		groups = append([][]parley.IdentityID{append([]parley.IdentityID{localAccount}, p.owner...)}, p.links...)
	}
	for _, group := range groups {
		if err := p.join(ctx, l, group); err != nil {
			return err
		}
	}
	return p.storeLinks(ctx, l)
}

// unlinked reads the accounts that are marked, each where it goes back to.
func (p *People) unlinked(ctx context.Context) (*linking, error) {
	l := &linking{
		now: map[parley.IdentityID]parley.Identity{}, marks: map[parley.IdentityID]bool{},
		home: map[parley.IdentityID]parley.UserID{}, want: map[parley.IdentityID]parley.UserID{},
	}
	for after := parley.IdentityID(markChannel + ":"); ; {
		page, err := p.store.AllIdentities(ctx, after, parley.MaxPageSize)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			if !isMark(m) {
				return l, nil
			}
			id := parley.IdentityID(m.Name)
			l.marks[id] = true
			if err := p.load(ctx, l, id); err != nil {
				return nil, err
			}
			l.home[id], l.want[id] = m.User, m.User
		}
		if len(page) == 0 {
			return l, nil
		}
		after = page[len(page)-1].ID
	}
}

// load reads an account, if it was not.
func (p *People) load(ctx context.Context, l *linking, id parley.IdentityID) error {
	if _, ok := l.now[id]; ok {
		return nil
	}
	who, err := p.person(ctx, id)
	if err != nil {
		return err
	}
	l.now[id], l.home[id], l.want[id] = who.account, who.account.User, who.account.User
	return nil
}

// join makes one person of a group: the owner that is among them, else the first user.
func (p *People) join(ctx context.Context, l *linking, group []parley.IdentityID) error {
	var into parley.User
	for _, id := range group {
		if err := id.Validate(); err != nil {
			return err
		}
		if err := p.load(ctx, l, id); err != nil {
			return err
		}
		if l.want[id] == "" {
			continue
		}
		user, err := p.store.User(ctx, l.want[id])
		if err != nil {
			return err
		}
		if into.ID == "" || into.Role != parley.RoleOwner && user.Role == parley.RoleOwner {
			into = user
		}
	}
	if into.ID == "" {
		return nil // nobody was let in yet
	}
	for _, id := range group {
		if from := l.want[id]; from != "" && from != into.ID {
			if err := p.joinUser(ctx, l, from, into.ID); err != nil {
				return err
			}
		}
		l.want[id] = into.ID
	}
	return nil
}

// joinUser gives all accounts of a user to another.
func (p *People) joinUser(ctx context.Context, l *linking, from, into parley.UserID) error {
	accounts, err := p.accounts(ctx, from)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if err := p.load(ctx, l, account.ID); err != nil {
			return err
		}
	}
	for id, user := range l.want {
		if user == from {
			l.want[id] = into
		}
	}
	return nil
}

// storeLinks stores what is to be different, with the marks for the way back.
func (p *People) storeLinks(ctx context.Context, l *linking) error {
	var b parley.Batch
	var users []parley.UserID
	for _, id := range slices.Sorted(maps.Keys(l.now)) {
		account, want, home := l.now[id], l.want[id], l.home[id]
		switch marked := want != home; {
		case marked && !l.marks[id]:
			m := parley.Identity{ID: mark(id), User: home, Name: string(id), CreatedAt: p.clock.Now()}
			b.Identities = append(b.Identities, parley.IdentityChange{Identity: m})
		case !marked && l.marks[id]:
			b.Identities = append(b.Identities, unmark(id))
		}
		if account.User == want {
			continue
		}
		users = append(users, account.User, want)
		b.Expect = append(b.Expect, parley.IdentityIs{Identity: id, User: account.User})
		action, detail := "linked", "by the configuration, to the user "+string(want)
		if want == home {
			action, detail = "unlinked", "by the configuration, from the user "+string(account.User)
		}
		b.Audit = append(b.Audit, parley.AuditEntry{Action: action, Via: markChannel, Subject: string(id), Detail: detail})
		account.User = want
		b.Identities = append(b.Identities, parley.IdentityChange{Identity: p.made(account)})
	}
	if len(b.Identities) == 0 {
		return nil
	}
	return p.commit(ctx, b, users...)
}
