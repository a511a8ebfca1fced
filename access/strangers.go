package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/parley-run/parley"
)

// Speaker gives for whom a request speaks that declares a sender: the caller itself if
// the sender has no id, else by [Caller.Sender] and [Caller.As]. For a channel that is
// the account with the user, the role and the accounts it has; one that belongs to
// nobody has no role, see [People.Enter]. What the platform calls the account is
// stored when it changes. An empty channel is that of the credential.
func (p *People) Speaker(ctx context.Context, c Caller, s parley.Sender, channel string) (Caller, error) {
	name := cmp.Or(s.AltID, s.ID)
	if name == "" {
		return c.As(parley.Principal{})
	}
	declared := parley.IdentityID(cmp.Or(channel, c.namespace) + ":" + name)
	if _, err := c.Sender(declared); err != nil {
		return Caller{}, err
	}
	if c.namespace == "" {
		return c.As(parley.Principal{Identity: declared})
	}
	who, err := p.person(ctx, declared)
	if err != nil {
		return Caller{}, err
	}
	p.rename(ctx, &who, s)
	return c.As(who.principal(viaChannel), who.ids()...)
}

// rename stores what a platform calls an account. A name is not worth failing for.
func (p *People) rename(ctx context.Context, who *person, s parley.Sender) {
	name := TidyName(s.Name)
	account := who.account
	if name == "" || name == account.Name && s.Bot == account.Bot {
		return
	}
	account.Name, account.Bot = name, s.Bot
	err := p.commit(ctx, parley.Batch{
		Expect:     []parley.Expectation{parley.IdentityIs{Identity: account.ID, User: account.User}},
		Identities: []parley.IdentityChange{{Identity: p.made(account)}},
	})
	if err != nil && !errors.Is(err, parley.ErrConflict) { // the account went over to somebody else meanwhile
		p.log.Warn("the name of an account is not stored", "error", err)
	}
}

// Enter gives the caller with the role that the agent's door gives, by the function
// [Enter]. On a public agent, an account of nobody becomes that of a user of its own,
// who is a guest.
func (p *People) Enter(ctx context.Context, c Caller, d Door) (Caller, error) {
	if c.principal.Identity == "" {
		return Caller{}, unauthorized()
	}
	had := c.principal.Role
	if had == parley.RoleGuest && walkedIn(c.principal.User) {
		had = "" // at this door as at every other
	}
	role, err := Enter(d, had)
	if err != nil || c.principal.Role != "" {
		return c, err
	}
	return p.letIn(ctx, c, role, func(user parley.User) parley.AuditEntry {
		return entry(c, "user_added", string(user.ID), "a guest of a public agent")
	})
}

// walkIn begins the ids of users who came in through a public door by themselves. As
// long as nobody gives them another role, they pass no other door.
const walkIn = "guest_"

func walkedIn(id parley.UserID) bool { return strings.HasPrefix(string(id), walkIn) }

// Join lets somebody in who lets themselves in, by the function [Join]: where the door
// is protected, with a join token of the agent. Who has a greater role keeps it. Who
// often tries tokens that are not good is [parley.CodeRateLimited].
func (p *People) Join(ctx context.Context, c Caller, agent string, d Door, token string) (Caller, error) {
	if c.principal.Identity == "" {
		return Caller{}, unauthorized()
	}
	ok, err := p.joinToken(ctx, c, agent, token)
	if err != nil {
		return Caller{}, err
	}
	role, err := Join(d, ok)
	if err != nil {
		return Caller{}, err
	}
	return p.letIn(ctx, c, role, func(user parley.User) parley.AuditEntry {
		return entry(c, "joined", agent, "as the user "+string(user.ID)+" with the role "+string(user.Role))
	})
}

// joinToken reports whether a token is good to join the agent with.
func (p *People) joinToken(ctx context.Context, c Caller, agent, token string) (bool, error) {
	if token == "" {
		return false, nil
	}
	now, who := p.clock.Now(), string(c.principal.Identity)
	if err := p.guesses.start(who, now); err != nil {
		return false, err
	}
	hash := sha256.Sum256([]byte(token))
	t, err := p.store.TokenByHash(ctx, hash)
	unknown := errors.Is(err, parley.ErrNotFound)
	if err != nil && !unknown {
		p.guesses.right(who)
		return false, err
	}
	if unknown || !same(t.Hash, hash) || !t.Valid(now) || t.Kind != parley.TokenJoin || t.Agent != agent {
		p.failed(entry(c, "", "", "a join token that is not good"))
		return false, nil
	}
	p.guesses.right(who)
	p.used(&t, now)
	return true, nil
}

// letIn gives an account at least a role: a user of its own if it belongs to nobody.
func (p *People) letIn(ctx context.Context, c Caller, role parley.Role, line func(parley.User) parley.AuditEntry) (Caller, error) {
	p.change.Lock()
	defer p.change.Unlock()
	who, err := p.person(ctx, c.principal.Identity)
	if err != nil {
		return Caller{}, err
	}
	if rank(who.user.Role) >= rank(role) {
		return who.caller(c)
	}
	user := who.user
	user.Role = role
	batch := parley.Batch{Users: []parley.UserChange{{User: user}}}
	if user.ID == "" {
		user = p.newUser(who.account.Name, role)
		if role == parley.RoleGuest {
			user.ID = walkIn + user.ID
		}
		batch = p.adopt(&who, user)
	}
	batch.Audit = []parley.AuditEntry{line(user)}
	if err := p.commit(ctx, batch, user.ID); err != nil {
		return Caller{}, err
	}
	p.settle(ctx)
	if who, err = p.person(ctx, who.account.ID); err != nil {
		return Caller{}, err
	}
	return who.caller(c)
}

// known gives the batch that stores an account, if it is not stored.
func (p *People) known(who *person) parley.Batch {
	if !who.account.CreatedAt.IsZero() {
		return parley.Batch{}
	}
	return parley.Batch{
		Expect:     []parley.Expectation{parley.IdentityIs{Identity: who.account.ID}},
		Identities: []parley.IdentityChange{{Identity: p.made(who.account)}},
	}
}

// adopt gives the batch that makes an account of nobody that of a user who is made.
func (p *People) adopt(who *person, user parley.User) parley.Batch {
	account := p.made(who.account)
	account.User = user.ID
	return parley.Batch{
		Expect:     []parley.Expectation{parley.IdentityIs{Identity: account.ID}},
		Users:      []parley.UserChange{{User: user}},
		Identities: []parley.IdentityChange{{Identity: account}},
	}
}
