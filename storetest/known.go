package storetest

import (
	"context"

	"github.com/parley-run/parley"
)

// known gives every name that leads to something in the store, and those a batch
// would add.
func (f *fixture) known(b parley.Batch) universe {
	f.Helper()
	names := newNames()
	names.addBatch(b)
	for _, s := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Session, error) {
		return allSessions(ctx, s, all, parley.SessionQuery{IncludeInactive: true, Limit: parley.MaxPageSize})
	}) {
		names.sessions[s.ID] = true
		names.names[string(s.Key)] = true
		names.agents[s.Agent.Name] = true
	}
	for id := range names.sessions {
		f.addEvents(names, id)
	}
	for _, t := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Turn, error) {
		return s.OpenTurns(ctx, all, "")
	}) {
		names.turns[t.ID] = true
	}
	for _, u := range get(f, func(ctx context.Context, s parley.Store) ([]parley.User, error) {
		return allUsers(ctx, s, parley.MaxPageSize)
	}) {
		names.users[u.ID] = true
	}
	for _, i := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Identity, error) {
		return allIdentities(ctx, s, parley.MaxPageSize)
	}) {
		names.identities[i.ID] = true
	}
	f.addCredentials(names)
	for _, b := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Blob, error) {
		return allBlobs(ctx, s, parley.MaxPageSize)
	}) {
		names.blobs[b.Handle] = true
	}
	return names.universe()
}

// addCredentials adds the hashes of tokens and passcodes, and what the audit names.
// Codes are in no list, so all hashes are asked for that tests use.
func (f *fixture) addCredentials(names *nameSets) {
	f.Helper()
	for _, hash := range hashes {
		names.hashes[hash] = true
	}
	for _, t := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Token, error) {
		return allTokens(ctx, s, "", parley.MaxPageSize)
	}) {
		names.hashes[t.Hash] = true
		names.identities[t.Identity] = true
	}
	for _, e := range get(f, func(ctx context.Context, s parley.Store) ([]parley.AuditEntry, error) {
		return allAudit(ctx, s, parley.AuditQuery{Limit: parley.MaxPageSize})
	}) {
		names.actions[e.Action] = true
		names.identities[e.Actor] = true
	}
}

// addEvents adds the names in the log of a session, if it is there.
func (f *fixture) addEvents(names *nameSets, id parley.SessionID) {
	f.Helper()
	events, err := allEvents(f.Context(), f.store, all, id, parley.MaxPageSize)
	if err != nil {
		return
	}
	for _, e := range events {
		names.turns[e.Turn] = true
		names.identities[e.Identity] = true
		body, err := e.Decode()
		if err != nil {
			f.Errorf("event %d of %s: %v", e.Seq, id, err)
			continue
		}
		switch body := body.(type) {
		case *parley.Admitted:
			names.refs[parley.InputRef{Origin: body.Origin, ID: body.ID}] = true
		case *parley.ParticipantChanged:
			names.identities[body.Identity] = true
		}
	}
}

// nameSets collects names.
type nameSets struct {
	sessions   map[parley.SessionID]bool
	turns      map[parley.TurnID]bool
	names      map[string]bool
	refs       map[parley.InputRef]bool
	users      map[parley.UserID]bool
	identities map[parley.IdentityID]bool
	hashes     map[[32]byte]bool
	actions    map[string]bool
	blobs      map[parley.BlobHandle]bool
	agents     map[string]bool
}

func newNames() *nameSets {
	return &nameSets{
		sessions: map[parley.SessionID]bool{}, turns: map[parley.TurnID]bool{}, names: map[string]bool{},
		refs: map[parley.InputRef]bool{}, users: map[parley.UserID]bool{}, identities: map[parley.IdentityID]bool{},
		hashes: map[[32]byte]bool{}, actions: map[string]bool{}, blobs: map[parley.BlobHandle]bool{}, agents: map[string]bool{},
	}
}

func (n *nameSets) addBatch(b parley.Batch) {
	for _, c := range b.Sessions {
		n.addChange(c)
	}
	for _, k := range b.Keys {
		n.names[string(k.Key)] = true
	}
	for _, a := range b.Aliases {
		n.names[string(a.Alias)] = true
		n.names[string(a.Key)] = true
	}
	for _, u := range b.Users {
		n.users[u.User.ID] = true
	}
	for _, c := range b.Blobs {
		n.blobs[c.Handle] = true
	}
	for _, i := range b.Identities {
		n.identities[i.Identity.ID] = true
		n.users[i.Identity.User] = true
	}
	for _, c := range b.Tokens {
		if c.New != nil {
			n.hashes[c.New.Hash] = true
			n.identities[c.New.Identity] = true
		}
	}
	for _, c := range b.Passcodes {
		n.hashes[c.Use] = true
		if c.New != nil {
			n.hashes[c.New.Hash] = true
		}
	}
	for _, e := range b.Audit {
		n.actions[e.Action] = true
		n.identities[e.Actor] = true
	}
}

func (n *nameSets) addChange(c parley.SessionChange) {
	n.sessions[c.Session] = true
	if c.Create != nil {
		n.names[string(c.Create.Key)] = true
		n.agents[c.Create.Agent.Name] = true
	}
	for _, in := range c.Admit {
		n.refs[in.Ref] = true
	}
	for _, in := range c.Inputs {
		n.refs[in.Ref] = true
	}
	for _, t := range c.Turns {
		n.turns[t.ID] = true
	}
	for _, call := range c.Calls {
		n.turns[call.Turn] = true
	}
}

func (n *nameSets) universe() universe {
	return universe{
		sessions: namesIn(n.sessions), turns: namesIn(n.turns), names: namesIn(n.names), refs: namesIn(n.refs),
		users: namesIn(n.users), identities: namesIn(n.identities), hashes: namesIn(n.hashes), actions: namesIn(n.actions),
		blobs:   namesIn(n.blobs),
		agents:  namesIn(n.agents),
		queries: []parley.SessionQuery{{IncludeInactive: true}},
	}
}

// namesIn gives the members of a set; nothing has no name.
func namesIn[T comparable](set map[T]bool) []T {
	var none T
	var list []T
	for name := range set {
		if name != none {
			list = append(list, name)
		}
	}
	return list
}
