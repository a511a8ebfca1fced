package storetest

import (
	"context"

	"github.com/parley-run/parley"
)

var forkTests = []test{
	{"a fork shows the shared events and counts on", func(f *fixture) {
		f.change(newSession(home, says(5)...))
		res := f.change(fork(away, home, 3, reply("m4", "elsewhere")))
		f.equal("result", []parley.SessionResult{{FirstSeq: 4, LastSeq: 4}}, res.Sessions)
		parent, events := f.events(home), f.events(away)
		f.equal("events", 4, len(events))
		for i, e := range events[:3] {
			e.Session = home
			f.equal("shared event", parent[i], e)
		}
		for _, e := range events {
			f.equal("session of an event", away, e.Session)
		}
		s := f.session(away)
		f.equal("parent", &parley.ForkPoint{Session: home, Seq: 3}, s.Parent)
		f.equal("counters", parley.Counters{Messages: 1}, s.Counters)
		f.equal("last seq", uint64(4), s.LastSeq)
		f.change(appendTo(home, say("m6", "on")))
		f.equal("events of the fork", 4, len(f.events(away)))
		f.equal("events of the parent", 6, len(f.events(home)))
	}},
	{"the log has a shared event once, under the parent", func(f *fixture) {
		f.change(newSession(home, says(3)...))
		f.change(fork(away, home, 3, say("m4", "x")))
		var owners []parley.SessionID
		for _, e := range f.log() {
			owners = append(owners, e.Session)
		}
		f.equal("sessions in the log", []parley.SessionID{home, home, home, away}, owners)
	}},
	{"a fork may start anywhere", func(f *fixture) {
		f.change(newSession(home, says(2)...))
		f.change(fork("cli:none", home, 0), fork("cli:all", home, 2))
		f.equal("nothing shared", 0, len(f.events("cli:none")))
		f.equal("all shared", 2, len(f.events("cli:all")))
		f.equal("first seq", uint64(1), f.change(appendTo("cli:none", say("m", "x"))).Sessions[0].FirstSeq)
		f.change(appendTo(home, say("m3", "three")), fork("cli:same", home, 3))
		f.equal("an event of the same batch", 3, len(f.events("cli:same")))
	}},
	{"a fork needs a parent with that event", func(f *fixture) {
		f.change(newSession(home, says(2)...))
		f.refuseChange(parley.CodeInvalid, fork(away, home, 3))
		f.refuseChange(parley.CodeInvalid, fork(away, home, 1<<62))
		f.refuseChange(parley.CodeNotFound, fork(away, nobody, 0))
		f.refuseChange(parley.CodeNotFound, fork(away, away, 0))
		f.refuseChange(parley.CodeNotFound, drop(home), fork(away, home, 1))
		f.refuseChange(parley.CodeConflict, fork(home, home, 1))
	}},
	{"a fork of a fork shares what both share", func(f *fixture) {
		f.change(newSession(home, says(4)...))
		f.change(fork("cli:child", home, 3, say("c4", "child 4"), say("c5", "child 5")))
		f.change(fork("cli:grandchild", "cli:child", 4, say("g5", "grandchild 5")), fork("cli:early", "cli:child", 2))
		f.equal("texts", []string{"message 1", "message 2", "message 3", "child 4", "grandchild 5"}, texts(f, "cli:grandchild"))
		f.equal("texts", []string{"message 1", "message 2"}, texts(f, "cli:early"))
		f.change(fork("cli:deep", "cli:grandchild", 5, say("d6", "deep 6")))
		for _, q := range []struct {
			query parley.EventQuery
			want  []uint64
		}{
			{parley.EventQuery{Last: true, Limit: 2}, []uint64{5, 6}},
			{parley.EventQuery{Last: true, Limit: 4, Before: 6}, []uint64{2, 3, 4, 5}},
			{parley.EventQuery{After: 2, Limit: 3}, []uint64{3, 4, 5}},
		} {
			var seqs []uint64
			for _, e := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
				return s.Events(ctx, all, "cli:deep", q.query)
			}) {
				seqs = append(seqs, e.Seq)
			}
			f.equal("events over three logs, "+describe(q.query), q.want, seqs)
		}
	}},
	{"who takes part in the parent takes no part in the fork", func(f *fixture) {
		f.change(newSession(home, join(anna), say("m", "x")))
		f.change(fork(away, home, 2, join(ben)))
		f.equal("participants", []parley.IdentityID{ben}, participants(f, away))
		_, err := f.store.Session(f.Context(), parley.SeeAs(anna), away)
		f.code("Session", parley.CodeNotFound, err)
		_, err = f.store.Session(f.Context(), parley.SeeAs(ben), home)
		f.code("Session", parley.CodeNotFound, err)
		events, err := f.store.Events(f.Context(), parley.SeeAs(ben), away, parley.EventQuery{})
		f.code("Events", "", err)
		f.equal("events that the fork's participant sees", 3, len(events))
	}},
	{"a fork starts with the preview of what it shares", func(f *fixture) {
		f.change(newSession(home, reply("m1", "first"), reply("m2", "second"), join(anna), reply("m4", "fourth")))
		f.change(fork(away, home, 3), fork("cli:none", home, 0))
		f.equal("preview", "second", f.session(away).Preview)
		f.equal("preview", "", f.session("cli:none").Preview)
		f.equal("last activity", f.now, f.session(away).UpdatedAt)
		f.change(appendTo(away, reply("m4", "own")))
		f.equal("preview", "own", f.session(away).Preview)
		f.change(redact(away, 4))
		f.equal("preview after its own message is redacted", "second", f.session(away).Preview)
		f.change(redact(home, 2))
		f.equal("preview after a shared one is redacted", "first", f.session(away).Preview)
	}},
	{"deleting the parent keeps what the fork shares", func(f *fixture) {
		f.change(newSession(home, says(5)...))
		f.change(fork("cli:child", home, 3, say("c4", "child 4")))
		f.change(fork("cli:grandchild", "cli:child", 4))
		before := f.events("cli:grandchild")
		f.change(drop(home))
		f.equal("texts of the child", []string{"message 1", "message 2", "message 3", "child 4"}, texts(f, "cli:child"))
		f.equal("its parent", &parley.ForkPoint{Session: home, Seq: 3}, f.session("cli:child").Parent)
		f.equal("preview", "child 4", f.session("cli:child").Preview)
		f.change(drop("cli:child"))
		f.reopen()
		f.equal("events of the grandchild", before, f.events("cli:grandchild"))
		f.equal("log", 0, len(f.log()))
		f.change(drop("cli:grandchild"))
		f.equal("sessions", 0, len(f.list(parley.SessionQuery{IncludeInactive: true})))
		f.equal("log", 0, len(f.log()))
	}},
	{"an id that is used again has none of the old events", func(f *fixture) {
		f.change(newSession(home, says(3)...))
		f.change(fork(away, home, 2))
		f.change(drop(home))
		f.change(newSession(home, say("m", "another")))
		f.equal("texts", []string{"another"}, texts(f, home))
		f.equal("texts of the fork", []string{"message 1", "message 2"}, texts(f, away))
		f.equal("log", 1, len(f.log()))
	}},
}

// texts gives the texts of a session's messages and inputs; "(gone)" where one
// was redacted.
func texts(f *fixture, id parley.SessionID) []string {
	f.Helper()
	var list []string
	for _, e := range f.events(id) {
		body, err := e.Decode()
		f.code("Decode", "", err)
		switch body := body.(type) {
		case *parley.Message:
			list = append(list, parley.PlainText(body.Parts))
		case *parley.Admitted:
			list = append(list, parley.PlainText(body.Parts))
		case *parley.Tombstone:
			list = append(list, "(gone)")
		}
	}
	return list
}
