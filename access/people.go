package access

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// PeopleStore is what [People] needs of a store.
type PeopleStore interface {
	Commit(ctx context.Context, b parley.Batch) (parley.Result, error)
	View(ctx context.Context, f func(ctx context.Context) error) error
	parley.PeopleReader
	parley.CredentialReader
}

// PeopleConfig is what the configuration says about people.
type PeopleConfig struct {
	Clock parley.Clock // nil: the machine's
	// Owner are accounts of the owner.
	Owner []parley.IdentityID
	// Links are accounts of one person each, by a name for the person. The first of
	// them that belongs to a user says who it is, unless one belongs to an owner.
	Links map[string][]parley.IdentityID
	Log   *slog.Logger // nil: nothing is logged
}

// People knows users, their accounts and their credentials. Its methods may be called
// from many goroutines. What they change is in the store, and in its audit, when they
// return; a failed one has changed nothing, unless [parley.ErrOutcomeUnknown] is in
// the chain.
//
// One People at a time changes the people of a store.
type People struct {
	store PeopleStore
	clock parley.Clock
	log   *slog.Logger
	owner []parley.IdentityID
	links [][]parley.IdentityID // in the order of their names

	change  sync.Mutex // held from reading people to the commit that rests on it
	holds   holds
	writer  writer
	guesses guesses
	// Pairing codes that were asked for, by stranger and all in all.
	asked, askedAll *Throttle
}

// NewPeople makes the people of a store. Nothing is read or written before
// [People.Setup].
func NewPeople(store PeopleStore, cfg PeopleConfig) *People {
	p := &People{store: store, clock: cfg.Clock, log: cfg.Log, owner: cfg.Owner}
	if p.clock == nil {
		p.clock = parley.SystemClock{}
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	names := make([]string, 0, len(cfg.Links))
	for name := range cfg.Links {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.links = append(p.links, cfg.Links[name])
	}
	p.guesses.per = NewThrottle(ThrottleConfig{Clock: p.clock})
	p.asked = NewThrottle(ThrottleConfig{Clock: p.clock, Rate: 1.0 / 60, Burst: 3})
	p.askedAll = NewThrottle(ThrottleConfig{Clock: p.clock, Rate: 1, Burst: 60})
	return p
}

// Close waits for what is written in the background. It may be called twice; after it
// nothing more is written there.
func (p *People) Close() { p.writer.close() }

// person is an account and who it belongs to, as it is stored.
type person struct {
	account  parley.Identity   // has its id alone if it is not stored
	user     parley.User       // zero: nobody
	accounts []parley.Identity // the user's
}

// person reads who an account belongs to.
func (p *People) person(ctx context.Context, id parley.IdentityID) (person, error) {
	for range 3 { // the user may go between two reads
		account, err := p.store.Identity(ctx, id)
		if errors.Is(err, parley.ErrNotFound) {
			return person{account: parley.Identity{ID: id}}, nil
		}
		if err != nil || account.User == "" || isMark(account) {
			account.User = "" // a mark has a user who cannot act by it
			return person{account: account}, err
		}
		user, err := p.store.User(ctx, account.User)
		if errors.Is(err, parley.ErrNotFound) {
			continue
		}
		if err != nil {
			return person{}, err
		}
		accounts, err := p.accounts(ctx, user.ID)
		return person{account: account, user: user, accounts: accounts}, err
	}
	return person{}, parley.Errorf(parley.CodeUnavailable, "accounts are being changed; try again")
}

// accounts reads the accounts of a user.
func (p *People) accounts(ctx context.Context, user parley.UserID) ([]parley.Identity, error) {
	all, err := p.store.Identities(ctx, user)
	return slices.DeleteFunc(all, isMark), err
}

// made gives an account as it is stored: what is not there yet is made now.
func (p *People) made(account parley.Identity) parley.Identity {
	if account.CreatedAt.IsZero() {
		account.CreatedAt = p.clock.Now()
	}
	return account
}

// principal gives the person as the account asks, authenticated in a way.
func (w *person) principal(via string) parley.Principal {
	return parley.Principal{Identity: w.account.ID, User: w.user.ID, Role: w.user.Role, Via: via}
}

// ids gives the names of the person's accounts.
func (w *person) ids() []parley.IdentityID {
	ids := make([]parley.IdentityID, len(w.accounts))
	for i := range w.accounts {
		ids[i] = w.accounts[i].ID
	}
	return ids
}

// caller makes the caller that asks as this person, with the credential of c.
func (w *person) caller(c Caller) (Caller, error) {
	principal := w.principal(c.principal.Via)
	if c.namespace != "" {
		return NewChannel(c.namespace, principal, w.ids()...)
	}
	return NewCaller(principal, w.ids()...), nil
}

// commit writes a batch, and ends the streams of these users.
func (p *People) commit(ctx context.Context, b parley.Batch, users ...parley.UserID) error {
	if b.At.IsZero() {
		b.At = p.clock.Now()
	}
	_, err := p.store.Commit(ctx, b)
	if err != nil && !errors.Is(err, parley.ErrOutcomeUnknown) {
		return err
	}
	tokens := make([]parley.TokenID, 0, len(b.Tokens))
	for i := range b.Tokens {
		if b.Tokens[i].Revoke {
			tokens = append(tokens, b.Tokens[i].ID)
		}
	}
	p.holds.end(users, tokens)
	return err
}

// entry is a line of the audit about what a caller did.
func entry(by Caller, action, subject, detail string) parley.AuditEntry {
	return parley.AuditEntry{Action: action, Actor: by.principal.Identity, Via: by.principal.Via, Subject: subject, Detail: detail}
}

// themselves refuses who has no credential of their own: a channel speaks for people
// in chats, and does not handle their accounts and credentials.
func (c Caller) themselves(does string) error {
	if err := c.known(); err != nil {
		return err
	}
	if c.namespace != "" {
		return parley.Errorf(parley.CodeForbidden, "the credential of a channel may not %s", does)
	}
	return nil
}

// ownerThemselves refuses everybody but an owner with a credential of their own.
func (c Caller) ownerThemselves(does string) error {
	if err := c.themselves(does); err != nil {
		return err
	}
	if !c.owner() {
		return parley.Errorf(parley.CodeForbidden, "only an owner may %s", does)
	}
	return nil
}

// rank orders roles; nobody has none.
func rank(r parley.Role) int {
	return slices.Index([]parley.Role{parley.RoleGuest, parley.RoleUser, parley.RoleOwner}, r)
}

// atMost gives a role, or the other if that is less.
func atMost(role, most parley.Role) parley.Role {
	if rank(role) > rank(most) {
		return most
	}
	return role
}

// maxShownName is how long names are that come from platforms and browsers.
const maxShownName = 200

// TidyName makes a name that can be stored, on one line, of what a platform, a browser or
// a person calls somebody or something.
func TidyName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	if len(name) > maxShownName {
		cut := maxShownName
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut]
	}
	return strings.TrimSpace(name)
}
