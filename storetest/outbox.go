package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

var outboxTests = []test{
	{"a delivery comes back as it was put in", func(f *fixture) {
		d := parley.Delivery{
			ID: "d1", Turn: "t1", Kind: parley.DeliveryApproval, Call: "c1", Seq: 1, Part: 2, Text: "two\nlines",
			Markup: "[]", Media: []parley.Media{{Handle: string(photo), Type: "image/png", Name: "a.png", Size: 7}}, Draft: true, Again: true, AttemptedAt: startOfTime.Add(time.Minute),
			Target: parley.Target{Channel: "telegram", Account: "main", Chat: "-100 7", Topic: "3", ReplyTo: "41"},
			State:  parley.DeliverySending, Attempts: 2, NextAttempt: startOfTime.Add(time.Hour), PlatformID: "p 1", LastError: "429",
		}
		c := newSession(home, reply("m1", "two\nlines"))
		c.Deliveries = []parley.DeliveryChange{{New: &d}}
		f.change(c)
		want := d
		want.Session, want.CreatedAt = home, f.now
		f.equal("outbox", []parley.Delivery{want}, f.deliveries(parley.DeliveryQuery{}))
	}},
	{"a change sets the fields it has", func(f *fixture) {
		c := newSession(home)
		c.Deliveries = []parley.DeliveryChange{delivery("d1", 0, "hello")}
		f.change(c)
		want := f.deliveries(parley.DeliveryQuery{})[0]
		later := startOfTime.Add(time.Hour)
		for _, c := range []struct {
			change parley.DeliveryChange
			apply  func(*parley.Delivery)
		}{
			{parley.DeliveryChange{State: new(parley.DeliveryUnknown)}, func(d *parley.Delivery) {
				d.State = parley.DeliveryUnknown
			}},
			{parley.DeliveryChange{Text: new("hello\nyou")}, func(d *parley.Delivery) { d.Text = "hello\nyou" }},
			{parley.DeliveryChange{Markup: new("[1]")}, func(d *parley.Delivery) { d.Markup = "[1]" }},
			{parley.DeliveryChange{Media: &[]parley.Media{{Handle: string(photo), Type: "image/png"}}}, func(d *parley.Delivery) {
				d.Media = []parley.Media{{Handle: string(photo), Type: "image/png"}}
			}},
			{parley.DeliveryChange{Media: new([]parley.Media)}, func(d *parley.Delivery) { d.Media = nil }},
			{parley.DeliveryChange{Draft: new(true), Again: new(true)}, func(d *parley.Delivery) { d.Draft, d.Again = true, true }},
			{parley.DeliveryChange{Draft: new(false)}, func(d *parley.Delivery) { d.Draft = false }},
			{parley.DeliveryChange{AttemptedAt: &later}, func(d *parley.Delivery) { d.AttemptedAt = later }},
			{parley.DeliveryChange{Attempts: new(3)}, func(d *parley.Delivery) { d.Attempts = 3 }},
			{parley.DeliveryChange{NextAttempt: &later}, func(d *parley.Delivery) { d.NextAttempt = later }},
			{parley.DeliveryChange{NextAttempt: &time.Time{}}, func(d *parley.Delivery) { d.NextAttempt = time.Time{} }},
			{parley.DeliveryChange{PlatformID: new("99")}, func(d *parley.Delivery) { d.PlatformID = "99" }},
			{parley.DeliveryChange{LastError: new("429\nslow")}, func(d *parley.Delivery) { d.LastError = "429\nslow" }},
			{parley.DeliveryChange{LastError: new("")}, func(d *parley.Delivery) { d.LastError = "" }},
			{parley.DeliveryChange{}, func(*parley.Delivery) {}},
		} {
			c.change.ID = "d1"
			f.change(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{c.change}})
			c.apply(&want)
			f.equal("after "+describe(c.change), []parley.Delivery{want}, f.deliveries(parley.DeliveryQuery{}))
		}
	}},
	{"ids are unique in the store, changes stay in the session", func(f *fixture) {
		c := newSession(home)
		c.Deliveries = []parley.DeliveryChange{delivery("d1", 0, "hello")}
		f.change(c, newSession(away))
		for _, id := range []parley.SessionID{home, away} {
			f.refuseChange(parley.CodeConflict, parley.SessionChange{
				Session: id, Deliveries: []parley.DeliveryChange{delivery("d1", 0, "again")},
			})
		}
		sent := parley.DeliveryChange{ID: "d1", State: new(parley.DeliverySent)}
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{Session: away, Deliveries: []parley.DeliveryChange{sent}})
		sent.ID = "d2"
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{sent}})
	}},
	{"a delivery carries an event of its own commit", func(f *fixture) {
		c := newSession(home, reply("m1", "one"), reply("m2", "two"))
		c.Admit = []parley.Input{post("1", "hello")}
		c.Deliveries = []parley.DeliveryChange{delivery("d1", 0, "two"), delivery("d2", 0, "none")}
		c.Deliveries[0].Event = 2
		f.change(c)
		f.equal("seqs", []uint64{3, 0}, seqsOf(f.deliveries(parley.DeliveryQuery{})))
		f.change(parley.SessionChange{
			Session: home, Events: []parley.NewEvent{reply("m3", "three")},
			Deliveries: []parley.DeliveryChange{{ID: "d2", Event: 1, Text: new("three")}},
		})
		f.equal("seqs", []uint64{3, 4}, seqsOf(f.deliveries(parley.DeliveryQuery{})))
		f.change(parley.SessionChange{Session: home, Redact: []uint64{4}})
		f.equal("text of a redacted event", "", f.deliveries(parley.DeliveryQuery{ID: "d2"})[0].Text)
		beyond := delivery("d3", 0, "x")
		beyond.Event = 1
		f.refuseChange(parley.CodeInvalid, parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{beyond}})
	}},
	{"parts stand with the first of them", func(f *fixture) {
		part := func(id, of parley.DeliveryID, n int) parley.DeliveryChange {
			d := delivery(id, 1, string(id))
			d.New.Of, d.New.Part = of, n
			return d
		}
		c := newSession(home, reply("m1", "one"))
		c.Deliveries = []parley.DeliveryChange{delivery("d1", 1, "one"), delivery("d2", 0, "two")}
		f.change(c, newSession(away))
		f.change(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{part("d1.2", "d1", 2), part("d1.1", "d1", 1)}})
		ids := func(q parley.DeliveryQuery) (ids []parley.DeliveryID) {
			for _, d := range f.deliveries(q) {
				ids = append(ids, d.ID)
			}
			return ids
		}
		f.equal("outbox", []parley.DeliveryID{"d1", "d1.1", "d1.2", "d2"}, ids(parley.DeliveryQuery{}))
		f.equal("behind a part", []parley.DeliveryID{"d1.2", "d2"}, ids(parley.DeliveryQuery{After: "d1.1"}))
		f.change(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{{ID: "d1", State: new(parley.DeliverySent)}}})
		f.equal("behind one that was sent", []parley.DeliveryID{"d1.1", "d1.2", "d2"}, ids(parley.DeliveryQuery{After: "d1"}))
		f.equal("of", parley.DeliveryID("d1"), f.deliveries(parley.DeliveryQuery{})[0].Of)
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{part("d9", "d8", 1)}})
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{Session: away, Deliveries: []parley.DeliveryChange{part("d9", "d1", 1)}})
		f.change(parley.SessionChange{Session: home, Redact: []uint64{1}})
		for _, d := range f.deliveries(parley.DeliveryQuery{}) {
			f.equal("redacted part "+string(d.ID), d.ID != "d2", d.Text == "")
		}
	}},
	{"a session knows its chat", func(f *fixture) {
		c := newSession(home)
		c.Create.Chat = &parley.Target{Channel: "telegram", Chat: "7"}
		f.change(c, newSession(away))
		f.equal("chat", c.Create.Chat, f.session(home).Chat)
		f.equal("no chat", (*parley.Target)(nil), f.session(away).Chat)
		moved := &parley.Target{Channel: "slack", Account: "a", Chat: "8", Topic: "9"}
		f.change(parley.SessionChange{Session: home, Patch: parley.SessionPatch{Chat: moved}})
		f.equal("chat", moved, f.session(home).Chat)
	}},
	{"queries choose deliveries, oldest first", chooseDeliveries},
	{"notices are told once, oldest first", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(notice(home, "n2"), notice(away, "n2"))
		first := f.now
		f.change(notice(home, "n1"))
		want := []parley.Notice{
			{ID: "n2", Session: home, Kind: "restart", Text: "told\nonce", CreatedAt: first},
			{ID: "n1", Session: home, Kind: "restart", Text: "told\nonce", CreatedAt: f.now},
		}
		f.equal("notices", want, noticesOf(f, home))
		f.refuseChange(parley.CodeConflict, notice(home, "n1"))
		f.change(consume(home, "n2"))
		f.equal("notices", want[1:], noticesOf(f, home))
		f.refuseChange(parley.CodeNotFound, consume(home, "n2"))
		f.refuseChange(parley.CodeNotFound, consume(away, "n1"))
		f.equal("the other session's", 1, len(noticesOf(f, away)))
		f.change(notice(home, "n2"))
		f.equal("notices", 2, len(noticesOf(f, home)))
	}},
	{"of two turns one tells a notice", func(f *fixture) {
		f.change(newSession(home))
		f.change(notice(home, "n1"))
		won := race(f, 8, func(int) parley.Batch { return parley.Batch{Sessions: []parley.SessionChange{consume(home, "n1")}} })
		f.equal("consumed", 1, len(won))
	}},
}

func chooseDeliveries(f *fixture) {
	f.change(newSession(home), newSession(away))
	for i, state := range deliveryStates {
		for _, id := range []parley.SessionID{home, away} {
			d := delivery(parley.DeliveryID(fmt.Sprintf("%s-%d", id.Namespace(), i)), 0, "x")
			d.New.State = state
			if i > 0 {
				d.New.NextAttempt = startOfTime.Add(time.Duration(i) * time.Hour)
			}
			f.change(parley.SessionChange{Session: id, Deliveries: []parley.DeliveryChange{d}})
		}
	}
	for _, q := range []struct {
		query parley.DeliveryQuery
		want  []parley.DeliveryID
	}{
		{parley.DeliveryQuery{}, []parley.DeliveryID{"cli-0", "web-0", "cli-1", "web-1", "cli-3", "web-3"}},
		{parley.DeliveryQuery{Limit: 3}, []parley.DeliveryID{"cli-0", "web-0", "cli-1"}},
		{parley.DeliveryQuery{Session: away}, []parley.DeliveryID{"web-0", "web-1", "web-3"}},
		{parley.DeliveryQuery{State: parley.DeliverySent}, []parley.DeliveryID{"cli-2", "web-2"}},
		{parley.DeliveryQuery{State: parley.DeliveryDead, Session: home}, []parley.DeliveryID{"cli-5"}},
		{parley.DeliveryQuery{Due: startOfTime.Add(time.Hour)}, []parley.DeliveryID{"cli-0", "web-0", "cli-1", "web-1"}},
		{parley.DeliveryQuery{Due: startOfTime.Add(time.Hour - time.Microsecond)}, []parley.DeliveryID{"cli-0", "web-0"}},
		{parley.DeliveryQuery{Due: startOfTime, State: parley.DeliveryUnknown}, nil},
		{parley.DeliveryQuery{ID: "web-5", State: parley.DeliverySent}, []parley.DeliveryID{"web-5"}},
		{parley.DeliveryQuery{ID: "web-9"}, nil},
		{parley.DeliveryQuery{Chat: parley.Target{Channel: "telegram", Chat: "7", Topic: "any"}, Limit: 2}, []parley.DeliveryID{"cli-0", "web-0"}},
		{parley.DeliveryQuery{Chat: parley.Target{Channel: "telegram", Account: "other", Chat: "7"}}, nil},
		{parley.DeliveryQuery{State: parley.DeliveryHeld, Chat: parley.Target{Channel: "telegram", Chat: "7"}}, []parley.DeliveryID{"cli-4", "web-4"}},
		{parley.DeliveryQuery{Draft: new(true)}, nil},
		{parley.DeliveryQuery{Draft: new(false), After: "cli-1"}, []parley.DeliveryID{"web-1", "cli-3", "web-3"}},
	} {
		var ids []parley.DeliveryID
		for _, d := range f.deliveries(q.query) {
			ids = append(ids, d.ID)
		}
		f.equal("deliveries of "+describe(q.query), q.want, ids)
	}
	_, err := f.store.Deliveries(f.Context(), all, parley.DeliveryQuery{After: "web-9"})
	f.code("Deliveries after one that is not there", parley.CodeNotFound, err)
	_, err = f.store.Deliveries(f.Context(), all, parley.DeliveryQuery{Session: nobody})
	f.code("Deliveries of a session that is not there", parley.CodeNotFound, err)
}

func seqsOf(list []parley.Delivery) (seqs []uint64) {
	for _, d := range list {
		seqs = append(seqs, d.Seq)
	}
	return seqs
}

func notice(id parley.SessionID, n parley.NoticeID) parley.SessionChange {
	return parley.SessionChange{Session: id, Notices: []parley.NoticeChange{
		{Add: &parley.Notice{ID: n, Kind: "restart", Text: "told\nonce"}},
	}}
}

func consume(id parley.SessionID, n parley.NoticeID) parley.SessionChange {
	return parley.SessionChange{Session: id, Notices: []parley.NoticeChange{{Consume: n}}}
}

func noticesOf(f *fixture, id parley.SessionID) []parley.Notice {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Notice, error) { return s.Notices(ctx, all, id) })
}
