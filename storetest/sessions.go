package storetest

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

var sessionTests = []test{
	{"a new session has what it was created with", func(f *fixture) {
		n := parley.NewSession{
			Key:   theme,
			Agent: parley.AgentSnapshot{Name: "helper", Config: []byte(`{"temperature":0.10}`)},
			Source: parley.Source{
				Kind: "channel", Platform: "telegram", Interactive: true, Trigger: "mention",
			},
			Type: parley.SessionGroup, Title: parley.Title{Text: "Über uns"},
			Metadata: map[string]string{"team": "red", "note": "two\nlines"},
		}
		res := f.change(parley.SessionChange{Session: home, Create: &n})
		f.equal("result", parley.Result{Sessions: []parley.SessionResult{{FirstSeq: 1}}}, res)
		f.equal("session", parley.Session{
			ID: home, Key: n.Key, Agent: n.Agent, Source: n.Source, Type: n.Type, Title: n.Title, Metadata: n.Metadata,
			Status: parley.StatusIdle, Recovery: parley.Recovery{State: parley.RecoveryNone},
			CreatedAt: f.now, UpdatedAt: f.now,
		}, f.session(home))
	}},
	{"an id that is taken is a conflict", func(f *fixture) {
		f.change(newSession(home))
		f.refuseChange(parley.CodeConflict, newSession(home, say("m1", "again")))
	}},
	{"ids are compared byte by byte", func(f *fixture) {
		f.change(newSession("cli:a"), newSession("cli:A"), newSession("cli:á"), newSession("cli:a\u0301"))
		f.equal("sessions", 4, len(f.list(parley.SessionQuery{})))
	}},
	{"a session that is not there is not found", func(f *fixture) {
		f.refuseChange(parley.CodeNotFound, appendTo(home, say("m1", "hello")))
		f.refuseChange(parley.CodeNotFound, drop(home))
		_, err := f.store.Session(f.Context(), all, home)
		f.code("Session", parley.CodeNotFound, err)
	}},
	{"a patch changes the fields that are set", patchFields},
	{"metadata is merged, and an empty value removes its name", func(f *fixture) {
		c := newSession(home)
		c.Create.Metadata = map[string]string{"a": "1", "b": "2"}
		f.change(c)
		f.change(parley.SessionChange{Session: home, Patch: parley.SessionPatch{
			Metadata: map[string]string{"b": "", "c": "3", "never": ""},
		}})
		f.equal("metadata", map[string]string{"a": "1", "c": "3"}, f.session(home).Metadata)
	}},
	{"a session moves to another key, and the old one goes with its last session", func(f *fixture) {
		c := newSession(home)
		c.Create.Key = "sk_v1_old"
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{c}, Keys: []parley.KeyChange{{Key: "sk_v1_old", Session: home}},
			Aliases: []parley.AliasChange{{Alias: "old name", Key: "sk_v1_old"}},
		})
		move := parley.SessionChange{Session: home, Patch: parley.SessionPatch{Key: new(parley.Key("sk_v1_new"))}}
		f.commit(parley.Batch{Sessions: []parley.SessionChange{move}, Keys: []parley.KeyChange{{Key: "sk_v1_new", Session: home}}})
		f.equal("key", parley.Key("sk_v1_new"), f.session(home).Key)
		for _, name := range []string{"sk_v1_old", "old name", "sk_v1_new"} {
			entry, err := f.store.Lookup(f.Context(), all, name)
			f.code("Lookup "+name, "", err)
			f.equal("where "+name+" leads", home, entry.Current)
		}
		f.commit(parley.Batch{Sessions: []parley.SessionChange{
			{Session: home, Patch: parley.SessionPatch{Key: new(parley.Key("sk_v1_other"))}},
		}, Keys: []parley.KeyChange{{Key: "sk_v1_old"}}})
		f.commit(parley.Batch{Sessions: []parley.SessionChange{{Session: home, Delete: true}}})
		for _, name := range []string{"sk_v1_new", "sk_v1_other"} {
			_, err := f.store.Lookup(f.Context(), all, name)
			f.code("Lookup "+name+" after the deletion", parley.CodeNotFound, err)
		}
	}},
	{"an ending without a time makes the session not ended", func(f *fixture) {
		f.change(newSession(home))
		ending := parley.Ending{At: f.now, Reason: "reset"}
		f.change(parley.SessionChange{Session: home, Patch: parley.SessionPatch{Ended: &ending}})
		f.equal("ended", &ending, f.session(home).Ended)
		f.change(parley.SessionChange{Session: home, Patch: parley.SessionPatch{Ended: &parley.Ending{}}})
		f.equal("ended", (*parley.Ending)(nil), f.session(home).Ended)
	}},
	{"a claim raises the fence by one", func(f *fixture) {
		c := newSession(home)
		c.Claim = true
		f.equal("first fence", parley.Fence(1), f.change(c).Sessions[0].Fence)
		f.equal("second fence", parley.Fence(2), f.change(parley.SessionChange{Session: home, Claim: true}).Sessions[0].Fence)
		f.equal("fence of a batch without a claim", parley.Fence(2), f.change(appendTo(home, say("m", "x"))).Sessions[0].Fence)
		f.equal("stored fence", parley.Fence(2), f.session(home).Fence)
	}},
	{"times are instants in UTC, exact to the microsecond", func(f *fixture) {
		zone := time.FixedZone("somewhere", 5*60*60+30*60)
		at := time.Date(2031, 2, 3, 4, 5, 6, 789_012_000, zone)
		f.commit(parley.Batch{At: at, Sessions: []parley.SessionChange{newSession(home, say("m1", "hello"))}})
		s := f.session(home)
		for what, got := range map[string]time.Time{
			"CreatedAt": s.CreatedAt, "UpdatedAt": s.UpdatedAt, "event": f.events(home)[0].At,
		} {
			if !got.Equal(at) || got.Location() != time.UTC {
				f.Errorf("%s is %v, want %v", what, got, at.UTC())
			}
		}
	}},
	{"participants are those who joined and did not leave", func(f *fixture) {
		f.change(newSession(home, join(ben), join(anna), join("web:x"), leave("web:x"), leave("web:never")))
		f.equal("participants", []parley.IdentityID{ben, anna}, participants(f, home))
		f.change(appendTo(home, leave(ben), join("web:x"), join("web:x")))
		f.equal("participants", []parley.IdentityID{anna, "web:x"}, participants(f, home))
		f.change(appendTo(home, join(ben), leave(anna), leave("web:x")))
		f.equal("participants", []parley.IdentityID{ben}, participants(f, home))
	}},
	{"an empty batch changes nothing", func(f *fixture) {
		f.change(newSession(home))
		unchanged := f.watch(parley.Batch{})
		f.equal("result", parley.Result{}, f.commit(parley.Batch{}))
		unchanged()
	}},
}

func patchFields(f *fixture) {
	f.change(newSession(home))
	want := f.session(home)
	recovery := parley.Recovery{
		State: parley.RecoverySuspended, Reason: "restart_timeout", At: startOfTime.Add(time.Hour), Strikes: 3,
	}
	for _, step := range []struct {
		name  string
		patch parley.SessionPatch
		apply func(*parley.Session)
	}{
		{"status", parley.SessionPatch{Status: new(parley.StatusRunning)}, func(s *parley.Session) {
			s.Status = parley.StatusRunning
		}},
		{"recovery", parley.SessionPatch{Recovery: &recovery}, func(s *parley.Session) { s.Recovery = recovery }},
		{"recovery over", parley.SessionPatch{Recovery: &parley.Recovery{State: parley.RecoveryNone}}, func(s *parley.Session) {
			s.Recovery = parley.Recovery{State: parley.RecoveryNone}
		}},
		{"title", parley.SessionPatch{Title: &parley.Title{Text: "a title"}}, func(s *parley.Session) {
			s.Title = parley.Title{Text: "a title"}
		}},
		{"no title", parley.SessionPatch{Title: &parley.Title{}}, func(s *parley.Session) { s.Title = parley.Title{} }},
		{"description", parley.SessionPatch{Description: new("two\nlines")}, func(s *parley.Session) {
			s.Description = "two\nlines"
		}},
		{"no description", parley.SessionPatch{Description: new("")}, func(s *parley.Session) { s.Description = "" }},
		{"busy mode", parley.SessionPatch{Busy: new(parley.BusySteer)}, func(s *parley.Session) { s.Busy = parley.BusySteer }},
		{"no busy mode", parley.SessionPatch{Busy: new(parley.BusyMode(""))}, func(s *parley.Session) { s.Busy = "" }},
		{"nothing", parley.SessionPatch{}, func(*parley.Session) {}},
	} {
		f.change(parley.SessionChange{Session: home, Patch: step.patch})
		step.apply(&want)
		f.equal("after patching "+step.name, want, f.session(home))
	}
}

func participants(f *fixture, id parley.SessionID) []parley.IdentityID {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.IdentityID, error) {
		return s.Participants(ctx, all, id)
	})
}
