package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

var eventTests = []test{
	{"events are numbered by the store, inputs first", func(f *fixture) {
		c := newSession(home, say("m1", "one"), say("m2", "two"))
		c.Admit = []parley.Input{post("1", "first"), post("2", "second")}
		res := f.change(c)
		f.equal("result", []parley.SessionResult{{FirstSeq: 1, LastSeq: 4}}, res.Sessions)
		events := f.events(home)
		var types []parley.EventType
		for _, e := range events {
			types = append(types, e.Type)
		}
		f.equal("types", []parley.EventType{
			parley.EventInput, parley.EventInput, parley.EventMessage, parley.EventMessage,
		}, types)
		f.equal("pos of the last", events[3].Pos, res.Pos)
		res = f.change(appendTo(home, say("m3", "three")))
		f.equal("result", []parley.SessionResult{{FirstSeq: 5, LastSeq: 5}}, res.Sessions)
		res = f.change(parley.SessionChange{Session: home, Claim: true})
		f.equal("result without events", parley.Result{
			Sessions: []parley.SessionResult{{FirstSeq: 6, LastSeq: 5, Fence: 1}},
		}, res)
	}},
	{"an event comes back as it was written", func(f *fixture) {
		at := startOfTime.Add(-time.Hour)
		body := &parley.Message{
			ID: "m1", Role: parley.MessageTool, Model: "scripted/one",
			Sender: &parley.Sender{ID: "7", AltID: "+41", Name: "Anna", Bot: true},
			Parts: []parley.Part{
				{Kind: parley.PartReasoning, Text: "hm <b>&amp;</b>"},
				{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(photo), Type: "image/png", Name: "a.png", Size: 7}},
				{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "shell", Arguments: []byte(`{"n":1.50}`)}},
				{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c1", Text: "ok", IsError: true, Unknown: true}},
			},
		}
		data, err := parley.EncodeBody(body)
		if err != nil {
			f.Fatal(err)
		}
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{
			newSession(home, parley.NewEvent{Turn: "t1", Identity: anna, At: at, Body: body}),
		}})
		e := f.events(home)[0]
		f.equal("event", parley.Event{
			Session: home, Seq: 1, Pos: e.Pos, Type: parley.EventMessage, Turn: "t1", At: at, Identity: anna, Data: data,
		}, e)
		decoded, err := e.Decode()
		f.code("Decode", "", err)
		f.equal("body", body, decoded)
	}},
	{"every type of event is kept", func(f *fixture) {
		g := newGenerator(1, newOracle())
		f.change(newSession(home))
		for t, body := range plainBodies {
			want := body(g)
			f.change(appendTo(home, parley.NewEvent{Body: want}))
			last := get(f, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
				return s.Events(ctx, all, home, parley.EventQuery{Types: []parley.EventType{t}})
			})
			if len(last) != 1 {
				f.Fatalf("%d events of type %s, want 1", len(last), t)
			}
			got, err := last[0].Decode()
			f.code("Decode", "", err)
			f.equal(string(t), want, got)
		}
	}},
	{"queries choose events", chooseEvents},
	{"the log gives every event once, in the order of commits", func(f *fixture) {
		f.change(newSession(home, says(3)...), newSession(away, says(2)...))
		f.change(appendTo(away, say("m", "x")), appendTo(home, say("m", "x")))
		type place struct {
			id  parley.SessionID
			seq uint64
		}
		var got []place
		for _, e := range f.log() {
			got = append(got, place{e.Session, e.Seq})
		}
		f.equal("log", []place{{home, 1}, {home, 2}, {home, 3}, {away, 1}, {away, 2}, {away, 3}, {home, 4}}, got)
		for _, limit := range []int{1, 2, 6, 7, 8} {
			events, _, err := logAfter(f.Context(), f.store, all, 0, limit)
			f.code("Log", "", err)
			f.equal(fmt.Sprintf("log in pages of %d", limit), f.log(), events)
		}
		events, next, err := f.store.Log(f.Context(), all, f.log()[6].Pos, 0)
		f.code("Log", "", err)
		f.equal("events behind the end", 0, len(events))
		f.equal("position behind the end", f.log()[6].Pos, next)
	}},
	{"positions go on after a reopen", func(f *fixture) {
		before := f.change(newSession(home, says(3)...)).Pos
		f.reopen()
		if after := f.change(appendTo(home, say("m", "x"))).Pos; after <= before {
			f.Errorf("pos %d after %d", after, before)
		}
	}},
	{"what was read is the reader's", func(f *fixture) {
		f.change(newSession(home, says(3)...))
		want := f.events(home)
		for _, last := range []bool{false, true} {
			page, err := f.store.Events(f.Context(), all, home, parley.EventQuery{Last: last, Limit: 2})
			f.code("Events", "", err)
			clear(page[:cap(page)])
		}
		f.equal("events after others were changed", want, f.events(home))
	}},
	{"a batch may be big", func(f *fixture) {
		res := f.change(newSession(home, says(parley.MaxBatchEvents)...))
		f.equal("last seq", uint64(parley.MaxBatchEvents), res.Sessions[0].LastSeq)
		f.equal("events", parley.MaxBatchEvents, len(f.events(home)))
		f.equal("log", parley.MaxBatchEvents, len(f.log()))
	}},
}

func chooseEvents(f *fixture) {
	f.change(newSession(home, says(3)...))
	f.change(appendTo(home, join(anna), leave(anna), say("m6", "six"), join(ben)))
	message, participant := parley.EventMessage, parley.EventParticipant
	for _, q := range []struct {
		query parley.EventQuery
		want  []uint64
	}{
		{parley.EventQuery{}, []uint64{1, 2, 3, 4, 5, 6, 7}},
		{parley.EventQuery{After: 2}, []uint64{3, 4, 5, 6, 7}},
		{parley.EventQuery{After: 2, Limit: 2}, []uint64{3, 4}},
		{parley.EventQuery{After: 7}, nil},
		{parley.EventQuery{After: 1 << 62}, nil},
		{parley.EventQuery{Last: true}, []uint64{1, 2, 3, 4, 5, 6, 7}},
		{parley.EventQuery{Last: true, Limit: 2}, []uint64{6, 7}},
		{parley.EventQuery{Last: true, Limit: 2, Before: 6}, []uint64{4, 5}},
		{parley.EventQuery{Last: true, Before: 1}, nil},
		{parley.EventQuery{Last: true, Before: 100, Limit: 1}, []uint64{7}},
		{parley.EventQuery{Types: []parley.EventType{message}}, []uint64{1, 2, 3, 6}},
		{parley.EventQuery{Types: []parley.EventType{message}, After: 2, Limit: 2}, []uint64{3, 6}},
		{parley.EventQuery{Types: []parley.EventType{message}, Last: true, Limit: 2}, []uint64{3, 6}},
		{parley.EventQuery{Types: []parley.EventType{message, participant}, Last: true, Limit: 3, Before: 7}, []uint64{4, 5, 6}},
		{parley.EventQuery{Types: []parley.EventType{participant}, After: 4, Limit: 1}, []uint64{5}},
		{parley.EventQuery{Types: []parley.EventType{"app:none"}}, nil},
	} {
		var seqs []uint64
		for _, e := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
			return s.Events(ctx, all, home, q.query)
		}) {
			seqs = append(seqs, e.Seq)
		}
		f.equal("events of "+describe(q.query), q.want, seqs)
	}
}
