package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parley-run/parley"
)

// operation is one step of a sequence: a batch, or without one a reopen.
type operation struct {
	batch *parley.Batch
	crash bool // reopen without closing
}

func (op operation) String() string {
	switch {
	case op.batch != nil:
		return describe(*op.batch)
	case op.crash:
		return "crash and reopen"
	}
	return "close and reopen"
}

// sequence runs operations on a store and on the oracle side by side.
type sequence struct {
	t       testing.TB
	h       Harness
	dir     string
	store   parley.Store
	oracle  *oracle
	cover   *coverage
	refs    []parley.InputRef // asked for, besides the fixed names
	history []operation

	// positions leads from the oracle's positions to the store's, which may
	// leave some out. The tails are how far the log of each has been read.
	positions             map[uint64]uint64
	storeTail, oracleTail uint64
}

func newSequence(t testing.TB, h Harness, cover *coverage) *sequence {
	dir := scratchDir(t)
	return &sequence{
		t: t, h: h, dir: dir, store: h.Open(t, dir), oracle: newOracle(), cover: cover, positions: map[uint64]uint64{},
	}
}

// viewers are the visibilities under which states are compared.
var viewers = []parley.Visibility{
	parley.SeeAll(),
	parley.SeeAs("telegram:7"),
	parley.SeeAs("web:anna", "discord:9", "telegram:none"),
	{All: true, Namespace: "cli"},
	{Identities: []parley.IdentityID{"telegram:7", "cli:local"}, Namespace: "web"},
	{Namespace: "cli"},
	{},
}

// difference is where a store and the oracle disagree.
type difference struct {
	method string // of the store
	text   string
}

// step does one operation on both sides and gives the first difference, if any.
func (q *sequence) step(op operation) *difference {
	q.history = append(q.history, op)
	if op.batch == nil {
		return q.reopen(op.crash)
	}
	want, wantErr := q.oracle.Commit(q.t.Context(), *op.batch)
	got, gotErr := q.store.Commit(q.t.Context(), *op.batch)
	q.cover.commit(op.batch, want, wantErr)
	if d := diffErrors(wantErr, gotErr); d != "" {
		return &difference{"Commit", d}
	}
	wantPos, gotPos := want.Pos, got.Pos
	want.Pos, got.Pos = 0, 0
	if d := diff(want, got); d != "" {
		return &difference{"Commit", d}
	}
	if d := q.followLog(); d != nil {
		return d
	}
	at, there := q.positions[wantPos]
	if (wantPos == 0) != (gotPos == 0) || there && at != gotPos {
		return &difference{"Commit", fmt.Sprintf("the result says that the last event is at pos %d, the log %d", gotPos, at)}
	}
	return nil
}

// reopen opens the store again, after closing it and making sure that it is
// closed, or after a crash.
func (q *sequence) reopen(crash bool) *difference {
	if crash && q.h.Crash != nil {
		q.h.Crash(q.t, q.store)
	} else if d := q.close(); d != nil {
		return d
	}
	q.store = q.h.Open(q.t, q.dir)
	return nil
}

func (q *sequence) close() *difference {
	q.cover.method("Close")
	if err := q.store.Close(); err != nil {
		return &difference{"Close", err.Error()}
	}
	_, err := q.store.Commit(q.t.Context(), parley.Batch{At: startOfTime})
	q.cover.code(parley.CodeOf(err))
	if !errors.Is(err, parley.ErrUnavailable) {
		return &difference{"Commit", fmt.Sprintf("after Close: %v, want %s", err, parley.CodeUnavailable)}
	}
	return nil
}

// followLog reads what the last operation added to the log, and learns which
// positions the store gave to its events.
func (q *sequence) followLog() *difference {
	ctx := q.t.Context()
	want, oracleTail, err := logAfter(ctx, q.oracle, parley.SeeAll(), q.oracleTail, 0)
	if err != nil {
		return &difference{"Log", "the oracle fails: " + err.Error()}
	}
	got, storeTail, err := logAfter(ctx, q.store, parley.SeeAll(), q.storeTail, 0)
	if err != nil {
		return &difference{"Log", err.Error()}
	}
	if len(want) == len(got) {
		for i := range want {
			q.positions[want[i].Pos] = got[i].Pos
		}
	}
	q.oracleTail, q.storeTail = oracleTail, storeTail
	if d := diff(q.relabel(want), got); d != "" {
		return &difference{"Log", d}
	}
	return nil
}

// relabel gives the oracle's events with the positions the store has for them.
func (q *sequence) relabel(value any) any {
	events, ok := value.([]parley.Event)
	if !ok {
		return value
	}
	relabelled := make([]parley.Event, len(events))
	for i, e := range events {
		e.Pos = q.positions[e.Pos]
		relabelled[i] = e
	}
	return relabelled
}

// compare asks both sides, as v, the questions that choose takes, and gives the
// first difference, if any.
func (q *sequence) compare(v parley.Visibility, choose func(question) bool) *difference {
	return q.compareWith(q.t.Context(), v, choose)
}

// compareInView is compare in one view of the store.
func (q *sequence) compareInView(v parley.Visibility, choose func(question) bool) (d *difference) {
	q.cover.method("View")
	differs := errors.New("there is a difference")
	err := q.store.View(q.t.Context(), func(ctx context.Context) error {
		if d = q.compareWith(ctx, v, choose); d != nil {
			return differs
		}
		return nil
	})
	if d == nil && err != nil || d != nil && !errors.Is(err, differs) {
		return &difference{"View", fmt.Sprintf("the error is %v, after %v", err, d)}
	}
	return d
}

// compareWith asks the store with a context: that of a view, perhaps. The oracle has none.
func (q *sequence) compareWith(ctx context.Context, v parley.Visibility, choose func(question) bool) *difference {
	for _, question := range questions(q.universe(), v) {
		if !choose(question) {
			continue
		}
		q.cover.method(question.method)
		want, got := question.of(q.t.Context(), q.oracle), question.of(ctx, q.store)
		want.Value = q.relabel(want.Value)
		if d := diff(want, got); d != "" {
			return &difference{question.method, fmt.Sprintf("%v: %s", question, d)}
		}
	}
	return nil
}

// universe is what a sequence asks for: all names it uses, and some it does not.
func (q *sequence) universe() universe {
	u := universe{
		sessions:   append([]parley.SessionID{nobody}, sessionIDs...),
		turns:      append([]parley.TurnID{strangeTurn}, turnIDs...),
		names:      []string{"unknown", "%"},
		refs:       append([]parley.InputRef{strangeRef}, q.refs...),
		users:      append([]parley.UserID{"unknown"}, userIDs...),
		identities: append([]parley.IdentityID{"no:one"}, identityIDs...),
		hashes:     append([][32]byte{strangeHash}, hashes...),
		actions:    append([]string{"unknown"}, actionNames...),
		blobs:      append([]parley.BlobHandle{strangeBlob}, blobHandles...),
		agents:     []string{"helper", "coder", "nobody", "%"},
		queries: []parley.SessionQuery{
			{Limit: 3},
			{IncludeInactive: true, Limit: 1},
			{IncludeInactive: true, Limit: 100},
			{Status: parley.StatusIdle},
			{Status: parley.StatusInactive, Limit: 2},
			{Source: "cli", Limit: 2},
			{Agent: "coder", IncludeInactive: true},
			{Key: keyNames[0], Limit: 1},
			{Key: keyNames[3], IncludeInactive: true},
			{ActiveSince: startOfTime.Add(oneSequence / 8), Limit: 2},
			{Metadata: map[string]string{"team": "red"}, Limit: 1},
			{Metadata: map[string]string{"team": "blue", "note": "two\nlines"}, IncludeInactive: true},
		},
	}
	for _, k := range keyNames {
		u.names = append(u.names, string(k))
	}
	for _, a := range aliasNames {
		u.names = append(u.names, string(a))
	}
	return u
}

// compareSome asks a few questions as somebody.
func (q *sequence) compareSome(rng *rand.Rand) *difference {
	compare := q.compare
	if rng.IntN(4) == 0 {
		compare = q.compareInView
	}
	return compare(viewers[rng.IntN(len(viewers))], func(question) bool { return rng.IntN(10) == 0 })
}

// compareAll asks every question as one who sees everything, and a part of them
// as everybody else, who sees a part of the same.
func (q *sequence) compareAll(rng *rand.Rand) *difference {
	for _, v := range viewers {
		everything := v.All && v.Namespace == ""
		if d := q.compare(v, func(question) bool { return everything || rng.IntN(8) == 0 }); d != nil {
			return d
		}
	}
	return q.check()
}

// check has the store looked at below its reads.
func (q *sequence) check() *difference {
	if q.h.Check == nil {
		return nil
	}
	if err := q.h.Check(q.t.Context(), q.store); err != nil {
		return &difference{"Check", err.Error()}
	}
	return nil
}

// finish closes the store and forgets what it kept.
func (q *sequence) finish() {
	if err := q.store.Close(); err != nil {
		q.t.Errorf("Close: %v", err)
	}
	removeDir(q.t, q.dir)
}
