package storetest

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// oracle is a store in memory, made to be read and believed rather than to be
// fast: what can be computed is computed when it is asked for, a commit works on
// a copy of everything, and nothing is indexed. It is written from the comments
// of the root package alone and shares no code with any store.
//
// It keeps nothing beyond the process and is not safe for concurrent use.
type oracle struct {
	sessions   map[parley.SessionID]*oracleSession
	created    int           // sessions ever created
	events     []oracleEvent // the one with pos n is at n-1
	inputs     map[parley.InputRef]oracleInput
	keys       map[parley.Key]oracleKey
	aliases    map[parley.Alias]parley.Key
	approvals  []parley.Approval // in the order they were asked for
	deliveries []parley.Delivery // in the order they came
	users      map[parley.UserID]parley.User
	identities map[parley.IdentityID]parley.Identity
	tokens     map[parley.TokenID]parley.Token
	passcodes  map[[32]byte]parley.Passcode
	audit      []parley.AuditEntry // oldest first
	blobs      map[parley.BlobHandle]parley.Blob
	epoch      string

	// orphaned are the keys that a deletion of the running batch may have made
	// superfluous.
	orphaned []parley.Key
}

// oracleSession is a session with what belongs to it alone.
type oracleSession struct {
	row     parley.Session // without what events and inputs determine
	order   int            // tells it from an earlier session of that id, and old from new
	shows   []uint64       // the pos of each event it shows: seq n is at n-1
	shared  int            // how many of these a fork has from its parent
	turns   map[parley.TurnID]parley.Turn
	calls   []parley.Call   // in the order they started
	notices []parley.Notice // in the order they came
}

// oracleEvent is a stored event. Its Session is the one that wrote it.
type oracleEvent struct {
	parley.Event
	writer int    // the order of the session that wrote it
	agent  string // of that session
	body   parley.EventBody
}

// oracleInput is an input without its content, which stands in its event.
type oracleInput struct {
	row   parley.Input
	owner int // the order of its session
	event uint64
	hash  [32]byte
}

type oracleKey struct {
	current parley.SessionID
	scope   *parley.Scope
}

func newOracle() *oracle {
	return &oracle{
		sessions:   map[parley.SessionID]*oracleSession{},
		inputs:     map[parley.InputRef]oracleInput{},
		keys:       map[parley.Key]oracleKey{},
		aliases:    map[parley.Alias]parley.Key{},
		users:      map[parley.UserID]parley.User{},
		identities: map[parley.IdentityID]parley.Identity{},
		tokens:     map[parley.TokenID]parley.Token{},
		passcodes:  map[[32]byte]parley.Passcode{},
		blobs:      map[parley.BlobHandle]parley.Blob{},
		epoch:      rand.Text(),
	}
}

// clone copies everything that a commit can change. Values behind pointers,
// maps and bodies are never changed in place, so they can be shared.
func (o *oracle) clone() *oracle {
	c := *o
	c.sessions = make(map[parley.SessionID]*oracleSession, len(o.sessions))
	for id, s := range o.sessions {
		c.sessions[id] = s.clone()
	}
	c.events = slices.Clone(o.events)
	c.inputs = maps.Clone(o.inputs)
	c.keys = maps.Clone(o.keys)
	c.aliases = maps.Clone(o.aliases)
	c.approvals = slices.Clone(o.approvals)
	c.deliveries = slices.Clone(o.deliveries)
	c.users = maps.Clone(o.users)
	c.identities = maps.Clone(o.identities)
	c.tokens = maps.Clone(o.tokens)
	c.passcodes = maps.Clone(o.passcodes)
	c.audit = slices.Clone(o.audit)
	c.blobs = maps.Clone(o.blobs)
	c.orphaned = nil
	return &c
}

func (s *oracleSession) clone() *oracleSession {
	c := *s
	c.shows = slices.Clone(s.shows)
	c.turns = maps.Clone(s.turns)
	c.calls = slices.Clone(s.calls)
	c.notices = slices.Clone(s.notices)
	return &c
}

// Commit implements [parley.Store].
func (o *oracle) Commit(_ context.Context, b parley.Batch) (parley.Result, error) {
	if err := validate(&b); err != nil {
		return parley.Result{}, err
	}
	if dup, err := o.duplicate(&b); dup != nil || err != nil {
		return parley.Result{Duplicate: dup}, err
	}
	if err := o.expect(b.Expect); err != nil {
		return parley.Result{}, err
	}
	next := o.clone()
	res, err := next.apply(&b)
	if err != nil {
		return parley.Result{}, err
	}
	*o = *next
	return res, nil
}

// View implements [parley.Store]: nothing happens between its reads anyway.
func (o *oracle) View(ctx context.Context, f func(ctx context.Context) error) error { return f(ctx) }

// Close implements [parley.Store].
func (o *oracle) Close() error { return nil }

// validate is all that can be said about a batch without looking at the store.
func validate(b *parley.Batch) error {
	if err := b.Validate(); err != nil {
		return err
	}
	size := b.Size()
	for i := range b.Sessions {
		for _, body := range bodiesOf(&b.Sessions[i]) {
			data, err := parley.EncodeBody(body)
			if err != nil {
				return err
			}
			size += len(data)
		}
	}
	if size > parley.MaxBatchBytes {
		return parley.Errorf(parley.CodeTooLarge, "%d bytes", size)
	}
	return nil
}

// bodiesOf gives the bodies of the events a change appends, in their order.
func bodiesOf(c *parley.SessionChange) []parley.EventBody {
	var bodies []parley.EventBody
	for i := range c.Admit {
		bodies = append(bodies, c.Admit[i].Admitted())
	}
	for i := range c.Events {
		bodies = append(bodies, c.Events[i].Body)
	}
	return bodies
}

// duplicate looks for inputs that are there already. What an input was outlives
// its session as a hash; only a redaction takes that away, and then whatever
// comes counts as the same.
func (o *oracle) duplicate(b *parley.Batch) (*parley.Input, error) {
	for i := range b.Sessions {
		for j := range b.Sessions[i].Admit {
			in := &b.Sessions[i].Admit[j]
			known, ok := o.inputs[in.Ref]
			if !ok {
				continue
			}
			if known.hash != in.ContentHash() && !o.redacted(known) {
				return nil, parley.Errorf(parley.CodeConflict, "input %v is there with another content", in.Ref)
			}
			present := o.input(known)
			return &present, nil
		}
	}
	return nil, nil
}

func (o *oracle) apply(b *parley.Batch) (parley.Result, error) {
	var res parley.Result
	before := len(o.events)
	if err := o.changeBlobs(b); err != nil {
		return res, err
	}
	for i := range b.Sessions {
		r, err := o.changeSession(b.At, &b.Sessions[i])
		if err != nil {
			return res, err
		}
		res.Sessions = append(res.Sessions, r)
	}
	for _, k := range b.Keys {
		if err := o.changeKey(k); err != nil {
			return res, err
		}
	}
	for _, a := range b.Aliases {
		clash, err := o.changeAlias(a)
		if err != nil {
			return res, err
		}
		if clash != nil {
			res.Clashes = append(res.Clashes, *clash)
		}
	}
	for _, u := range b.Users {
		o.changeUser(u)
	}
	for _, i := range b.Identities {
		if err := o.changeIdentity(i); err != nil {
			return res, err
		}
	}
	if err := o.changeCredentials(b); err != nil {
		return res, err
	}
	o.dropOrphanedKeys()
	o.settleBlobs(b.At)
	if len(o.events) > before {
		res.Pos = uint64(len(o.events))
	}
	return res, nil
}

// session gives a session or [parley.CodeNotFound].
func (o *oracle) session(id parley.SessionID) (*oracleSession, error) {
	if s, ok := o.sessions[id]; ok {
		return s, nil
	}
	return nil, missing("session %s", id)
}

// event gives the event at a position.
func (o *oracle) event(pos uint64) *oracleEvent { return &o.events[pos-1] }

// alive reports whether the session with this id is still the one of that order.
func (o *oracle) alive(id parley.SessionID, order int) bool {
	s, ok := o.sessions[id]
	return ok && s.order == order
}

func missing(format string, args ...any) error {
	return parley.Errorf(parley.CodeNotFound, format+" is not there", args...)
}

func conflict(format string, args ...any) error {
	return parley.Errorf(parley.CodeConflict, format, args...)
}

// set changes a field if there is a value for it.
func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// instant is a time as a store keeps it.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
