package access

import (
	"context"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// NewToken is what a token is made of.
type NewToken struct {
	// Kind is user ("" stands for it), channel or join. The owner's token and those
	// of devices are made elsewhere.
	Kind parley.TokenKind
	Name string // for people: what it is used for
	// For is who acts with it: empty is the caller, or <namespace>:bot for a channel.
	For       parley.IdentityID
	Namespace string        // of a channel token: the channel's name
	Agent     string        // of a join token: who it lets people in to
	TTL       time.Duration // 0: it does not end by itself
}

// CreateToken makes a token and gives its secret, which nobody sees again. Owners make
// them for everybody, users for themselves; guests and channels make none:
// [parley.CodeForbidden]. An account that is nobody's is [parley.CodeNotFound].
func (p *People) CreateToken(ctx context.Context, by Caller, n NewToken) (secret string, t parley.Token, err error) {
	if err := by.themselves("make tokens"); err != nil {
		return "", parley.Token{}, err
	}
	if n.Kind == "" {
		n.Kind = parley.TokenUser
	}
	if n.For == "" && n.Kind == parley.TokenUser {
		n.For = by.principal.Identity
	}
	if err := by.mayCreate(&n); err != nil {
		return "", parley.Token{}, err
	}
	p.change.Lock()
	defer p.change.Unlock()
	t = parley.Token{Kind: n.Kind, Name: n.Name, Identity: n.For, Namespace: n.Namespace, Agent: n.Agent}
	batch := parley.Batch{}
	switch n.Kind {
	case parley.TokenChannel:
		if err := p.channelAccount(ctx, &t, &batch); err != nil {
			return "", parley.Token{}, err
		}
	case parley.TokenUser:
		who, err := p.person(ctx, n.For)
		if err == nil && who.user.ID == "" {
			err = parley.Errorf(parley.CodeNotFound, "there is no user with the account %q", n.For)
		}
		if err != nil {
			return "", parley.Token{}, err
		}
	}
	secret, t = p.newToken(t)
	if n.TTL > 0 {
		t.ExpiresAt = t.CreatedAt.Add(n.TTL)
	}
	batch.Tokens = []parley.TokenChange{{New: &t}}
	batch.Audit = []parley.AuditEntry{tokenEntry(by, "token_created", &t)}
	if err := p.commit(ctx, batch); err != nil {
		return "", parley.Token{}, err
	}
	return secret, shown(t), nil
}

// mayCreate refuses tokens that the caller may not make, and such as cannot be.
func (c Caller) mayCreate(n *NewToken) error {
	switch n.Kind {
	case parley.TokenUser:
	case parley.TokenChannel, parley.TokenJoin:
		if !c.owner() {
			return parley.Errorf(parley.CodeForbidden, "only an owner may make tokens of kind %s", n.Kind)
		}
	case parley.TokenOwner, parley.TokenDevice:
		return parley.Errorf(parley.CodeForbidden, "tokens of kind %s are not made by request; sign in with parley login, or make a user token", n.Kind)
	default:
		return parley.Errorf(parley.CodeInvalid, "token kind %q is not known; it must be user, channel or join", n.Kind)
	}
	switch {
	case n.Kind == parley.TokenChannel && n.Namespace == "":
		return parley.Errorf(parley.CodeInvalid, "a token of kind channel needs a namespace: the name of the channel, such as telegram")
	case n.Kind != parley.TokenChannel && n.Namespace != "":
		return parley.Errorf(parley.CodeInvalid, "only a token of kind channel has a namespace")
	case n.Kind == parley.TokenJoin && n.Agent == "":
		return parley.Errorf(parley.CodeInvalid, "a token of kind join needs an agent: the one it lets people in to")
	case n.Kind == parley.TokenJoin && n.For != "":
		return parley.Errorf(parley.CodeInvalid, "a token of kind join is for nobody in particular")
	case n.Kind != parley.TokenJoin && n.Agent != "":
		return parley.Errorf(parley.CodeInvalid, "only a token of kind join has an agent")
	case c.principal.Role == parley.RoleGuest:
		return parley.Errorf(parley.CodeForbidden, "guests may not make tokens; ask an owner")
	case !c.owner() && !slices.Contains(c.identities, n.For):
		return parley.Errorf(parley.CodeForbidden, "only an owner may make tokens for others")
	case n.TTL < 0:
		return parley.Errorf(parley.CodeInvalid, "a token cannot be over before it is made; give a time to live that is positive")
	}
	return nil
}

// channelAccount gives a channel's token its account, and stores it if it is not known.
func (p *People) channelAccount(ctx context.Context, t *parley.Token, b *parley.Batch) error {
	// Sessions of these namespaces are of many people, and no platform vouches for them.
	if reserved(t.Namespace) || slices.Contains([]string{"cli", "web", "api", "acp", "schedule", "unified"}, t.Namespace) {
		return parley.Errorf(parley.CodeInvalid, "%q is no channel; its accounts are Parley's own", t.Namespace)
	}
	if t.Identity == "" {
		t.Identity = parley.IdentityID(t.Namespace + ":bot")
	}
	if _, err := NewChannel(t.Namespace, parley.Principal{Identity: t.Identity}); err != nil {
		return err
	}
	who, err := p.person(ctx, t.Identity)
	if err != nil {
		return err
	}
	if who.account.CreatedAt.IsZero() {
		who.account.Bot = true
		b.Expect = []parley.Expectation{parley.IdentityIs{Identity: t.Identity}}
		b.Identities = []parley.IdentityChange{{Identity: p.made(who.account)}}
	}
	return nil
}

// reserved reports whether accounts of the channel are made by Parley alone.
func reserved(channel string) bool {
	return slices.Contains([]string{"local", "user", markChannel}, channel)
}

// Tokens gives tokens by id, those after the given one, also those that are over: an
// owner sees all, others their own. The hashes are left out.
func (p *People) Tokens(ctx context.Context, by Caller, after parley.TokenID, limit int) ([]parley.Token, error) {
	if err := by.themselves("see tokens"); err != nil {
		return nil, err
	}
	of := by.identities
	if by.owner() {
		of = []parley.IdentityID{""}
	}
	var all []parley.Token
	for _, id := range of {
		some, err := p.store.Tokens(ctx, id, after, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b parley.Token) int { return strings.Compare(string(a.ID), string(b.ID)) })
	all = all[:min(len(all), parley.PageSize(limit))]
	for i := range all {
		all[i] = shown(all[i])
	}
	return all, nil
}

// Revoke ends a token for good, and the streams under it. Owners end every token,
// others their own; another is [parley.CodeNotFound]. Once more changes nothing.
func (p *People) Revoke(ctx context.Context, by Caller, id parley.TokenID) error {
	if err := by.themselves("revoke tokens"); err != nil {
		return err
	}
	t, found, err := p.token(ctx, id)
	switch {
	case err != nil:
		return err
	case !found || !by.owner() && !slices.Contains(by.identities, t.Identity):
		return parley.Errorf(parley.CodeNotFound, "there is no token %q", id)
	case !t.RevokedAt.IsZero():
		return nil
	}
	return p.commit(ctx, parley.Batch{
		Tokens: []parley.TokenChange{{ID: id, Revoke: true}}, Audit: []parley.AuditEntry{tokenEntry(by, "token_revoked", &t)},
	})
}

// token finds a token by its id: the list goes by id, and what shares all but the last
// byte stands beside it.
func (p *People) token(ctx context.Context, id parley.TokenID) (t parley.Token, found bool, err error) {
	if id == "" {
		return parley.Token{}, false, nil
	}
	for t, err := range p.tokensAfter(ctx, "", id[:len(id)-1]) {
		if err != nil || t.ID >= id {
			return t, err == nil && t.ID == id, err
		}
	}
	return parley.Token{}, false, nil
}

// tokensOf gives all tokens of an account.
func (p *People) tokensOf(ctx context.Context, of parley.IdentityID) iter.Seq2[parley.Token, error] {
	return p.tokensAfter(ctx, of, "")
}

func (p *People) tokensAfter(ctx context.Context, of parley.IdentityID, after parley.TokenID) iter.Seq2[parley.Token, error] {
	return func(yield func(parley.Token, error) bool) {
		for {
			page, err := p.store.Tokens(ctx, of, after, 0)
			if err != nil {
				yield(parley.Token{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			after = page[len(page)-1].ID
		}
	}
}

// newToken completes a token that is made now, and gives its secret.
func (p *People) newToken(t parley.Token) (secret string, made parley.Token) {
	secret, t.Hash = newSecret(t.Kind)
	t.ID = parley.TokenID("tok_" + newID())
	t.CreatedAt = p.clock.Now()
	return secret, t
}

// shown is a token as people see it.
func shown(t parley.Token) parley.Token {
	t.Hash = [32]byte{}
	return t
}

// tokenEntry is a line of the audit about a token.
func tokenEntry(by Caller, action string, t *parley.Token) parley.AuditEntry {
	detail := string(t.Kind) + " token"
	switch {
	case t.Agent != "":
		detail += " for the agent " + t.Agent
	case t.Identity != "":
		detail += " of " + string(t.Identity)
	}
	return entry(by, action, string(t.ID), detail)
}

// newID makes the rest of an id that nobody guesses, though it is no secret.
func newID() string {
	return hex.EncodeToString(randomBytes(8))
}
