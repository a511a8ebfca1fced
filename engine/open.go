package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

// Keys opens conversations by their keys.
type Keys struct {
	store parley.Store
	clock parley.Clock
}

// NewKeys makes a Keys over a store.
func NewKeys(store parley.Store, clock parley.Clock) *Keys { return &Keys{store: store, clock: clock} }

// OpenRequest asks for the current session of a key.
type OpenRequest struct {
	// To is where the message goes. Required.
	To route.Resolution
	// By is who asks. A session that is made has it as a participant.
	By parley.Principal
	// Session is how a session starts, if one has to be made; its key is set
	// here.
	Session parley.NewSession
	// Namespace begins the id of a session that is made. Empty: the channel.
	Namespace string
}

// Opened is what opening a key gave.
type Opened struct {
	Session parley.Session
	// Created is set if the session was made.
	Created bool
	// Promoted is the alias through which an older session was found that
	// became the key's current one.
	Promoted parley.Alias
	// Clashes are aliases that the key wanted and another has. They are told
	// once, by the commit that made or promoted the session; if its outcome is
	// unknown, not at all.
	Clashes []parley.AliasClash
	// Declined says of each older session that was found and not promoted why.
	Declined []Declined
}

// Declined is an older session that an alias led to, and why it was left alone.
type Declined struct {
	Alias   parley.Alias
	Session parley.SessionID
	Reason  string
}

// maxAttempts bounds how often an opening starts over because others changed the
// key meanwhile.
const maxAttempts = 20

// Open gives the current session of a key. If there is none, an older session
// that an alias leads to becomes it, if it is the same conversation; else one is
// made. Both are one commit: however many ask at once, all get the same session.
//
// What cannot be opened is [parley.CodeInvalid]; a name that was given, leads
// nowhere and is not free to be made is [parley.CodeNotFound]. Whether the caller may see the
// session is not decided here: a key is not a permission.
func (k *Keys) Open(ctx context.Context, o OpenRequest) (Opened, error) {
	if err := o.To.Refusal(); err != nil {
		return Opened{}, err
	}
	for range maxAttempts {
		opened, err := k.attempt(ctx, o)
		if err == nil || !changedMeanwhile(err) {
			return opened, err
		}
	}
	return Opened{}, parley.Errorf(parley.CodeUnavailable, "the conversation changes all the time; try again")
}

// changedMeanwhile reports whether err says that somebody else was faster.
func changedMeanwhile(err error) bool {
	_, expected := errors.AsType[*parley.ExpectError](err)
	return expected || errors.Is(err, errMoved)
}

// errMoved says that what was found is gone by now.
var errMoved = errors.New("the key's session is gone")

func (k *Keys) attempt(ctx context.Context, o OpenRequest) (Opened, error) {
	entry, err := k.lookup(ctx, string(o.To.Key))
	if err != nil {
		return Opened{}, err
	}
	if entry.Current != "" {
		return k.session(ctx, entry.Current, Opened{})
	}
	if entry.Key != "" {
		o.To.Key = entry.Key // the name was an alias
	} else if !o.To.Creatable {
		// It is the name that routing would give to somebody's messages: who
		// only knows it must not be in their conversation before they are.
		return Opened{}, parley.Errorf(parley.CodeNotFound, "there is no conversation %q", o.To.Key)
	}
	opened, err := k.promote(ctx, o)
	if err != nil || opened.Session.ID != "" {
		return opened, err
	}
	return k.create(ctx, o, opened.Declined)
}

// lookup finds a key or an alias; one that is unknown leads nowhere.
func (k *Keys) lookup(ctx context.Context, name string) (parley.KeyEntry, error) {
	entry, err := k.store.Lookup(ctx, parley.SeeAll(), name)
	if errors.Is(err, parley.ErrNotFound) {
		return parley.KeyEntry{}, nil
	}
	return entry, err
}

// session reads a session that a key leads to.
func (k *Keys) session(ctx context.Context, id parley.SessionID, opened Opened) (Opened, error) {
	s, err := k.store.Session(ctx, parley.SeeAll(), id)
	if errors.Is(err, parley.ErrNotFound) {
		return Opened{}, fmt.Errorf("read session %s: %w", id, errMoved)
	}
	opened.Session = s
	return opened, err
}

// promote makes an older session the current one of the key, if an alias leads
// to one that is the same conversation.
func (k *Keys) promote(ctx context.Context, o OpenRequest) (Opened, error) {
	var opened Opened
	for _, alias := range o.To.Aliases {
		entry, err := k.lookup(ctx, string(alias))
		if err != nil {
			return Opened{}, err
		}
		if entry.Current == "" || entry.Key == o.To.Key {
			continue // it leads nowhere else
		}
		people, err := k.store.Participants(ctx, parley.SeeAll(), entry.Current)
		if errors.Is(err, parley.ErrNotFound) {
			return Opened{}, fmt.Errorf("read session %s: %w", entry.Current, errMoved)
		}
		if err != nil {
			return Opened{}, err
		}
		ok, reason := o.To.MayPromote(route.Found{Alias: alias, Scope: entry.Scope, Participants: people})
		if !ok {
			opened.Declined = append(opened.Declined, Declined{Alias: alias, Session: entry.Current, Reason: reason})
			continue
		}
		result, err := k.repoint(ctx, o, alias, entry)
		if err != nil {
			return Opened{}, err
		}
		opened.Promoted, opened.Clashes = alias, result.Clashes
		return k.session(ctx, entry.Current, opened)
	}
	return opened, nil
}

// repoint makes the session that the alias leads to the key's own: the key leads
// to it, it has the key, and the names that belong to the key lead there too. So
// nobody else, such as another account in the same chat, finds it as an older
// session again. The name it had before still leads to it.
func (k *Keys) repoint(ctx context.Context, o OpenRequest, alias parley.Alias, entry parley.KeyEntry) (parley.Result, error) {
	b := parley.Batch{
		At: k.clock.Now(),
		Expect: []parley.Expectation{
			parley.KeyIs{Key: o.To.Key},
			parley.KeyIs{Key: entry.Key, Session: entry.Current},
		},
		Sessions: []parley.SessionChange{{
			Session: entry.Current,
			Patch:   parley.SessionPatch{Key: &o.To.Key},
			Events:  []parley.NewEvent{{Identity: o.By.Identity, Body: &parley.Promoted{Key: o.To.Key, Alias: alias}}},
		}},
		Keys: []parley.KeyChange{{Key: o.To.Key, Session: entry.Current, Scope: &o.To.Scope}},
	}
	if string(entry.Key) != string(alias) { // else the name is that of the key itself
		b.Expect = append(b.Expect, parley.AliasIs{Alias: alias, Key: entry.Key})
		b.Aliases = append(b.Aliases, parley.AliasChange{Alias: alias})
	}
	b.Aliases = append(b.Aliases, claims(o)...)
	return k.store.Commit(ctx, b)
}

// claims are the names that the key asks for.
func claims(o OpenRequest) []parley.AliasChange {
	list := make([]parley.AliasChange, len(o.To.Claims))
	for i, alias := range o.To.Claims {
		list[i] = parley.AliasChange{Alias: alias, Key: o.To.Key}
	}
	return list
}

// create makes a session and points the key at it.
func (k *Keys) create(ctx context.Context, o OpenRequest, declined []Declined) (Opened, error) {
	now := k.clock.Now()
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	namespace := o.Namespace
	if namespace == "" {
		namespace = o.To.Scope.Channel
	}
	id := parley.NewSessionID(namespace, now, random)
	start := o.Session
	start.Key = o.To.Key
	events := []parley.NewEvent{{Identity: o.By.Identity, Body: &parley.Started{Agent: start.Agent.Name, Source: start.Source}}}
	if o.By.Identity != "" {
		events = append(events, parley.NewEvent{Identity: o.By.Identity, Body: &parley.ParticipantChanged{Identity: o.By.Identity}})
	}
	key := parley.KeyChange{Key: o.To.Key, Session: id}
	if !o.To.Explicit { // a name that somebody chose has no scope
		key.Scope = &o.To.Scope
	}
	b := parley.Batch{
		At:       now,
		Expect:   []parley.Expectation{parley.KeyIs{Key: o.To.Key}},
		Sessions: []parley.SessionChange{{Session: id, Create: &start, Events: events}},
		Keys:     []parley.KeyChange{key},
		Aliases:  claims(o),
	}
	result, err := k.store.Commit(ctx, b)
	if err != nil {
		return Opened{}, err
	}
	return k.session(ctx, id, Opened{Created: true, Clashes: slices.Clone(result.Clashes), Declined: declined})
}
