package storetest

import "github.com/parley-run/parley"

var deletionTests = []test{
	{"nothing of a deleted session can be read", func(f *fixture) {
		expectedWorld(f)
		f.change(appendTo(home, say("m", "x"), join(anna)))
		f.change(notice(home, "n1"))
		res := f.change(drop(home))
		f.equal("result", parley.Result{Sessions: []parley.SessionResult{{FirstSeq: 6, LastSeq: 5, Fence: 2}}}, res)
		for _, v := range []parley.Visibility{all, parley.SeeAs(anna)} {
			for name, read := range readsOfHome {
				_, err := read(f.Context(), f.store, v)
				f.code(name, parley.CodeNotFound, err)
			}
		}
		f.equal("sessions", []parley.SessionID{away}, f.list(parley.SessionQuery{IncludeInactive: true}))
		f.equal("log", 0, len(f.log()))
		f.equal("deliveries", 0, len(f.deliveries(parley.DeliveryQuery{})))
		f.equal("open inputs", 0, len(f.openInputs("")))
		f.equal("pending approvals", 0, len(approvalsOf(f, "")))
		f.equal("open turns", 0, len(openTurnIDs(f, "")))
	}},
	{"its inputs stay as names, and its open ones are dropped", func(f *fixture) {
		done := post("2", "two")
		done.State = parley.InputDone
		f.change(newSession(home), newSession(away))
		f.change(admit(home, post("1", "one"), done))
		f.change(drop(home))
		for id, state := range map[string]parley.InputState{"1": parley.InputDropped, "2": parley.InputDone} {
			in := f.input(post(id, "").Ref)
			f.equal("state", state, in.State)
			f.equal("session", home, in.Session)
			if len(in.Parts) > 0 || in.Sender != (parley.Sender{}) {
				f.Errorf("input %s of a deleted session has content: %s", id, describe(in))
			}
			f.equal("the same again", in, f.duplicate(parley.Batch{
				Sessions: []parley.SessionChange{admit(away, post(id, map[string]string{"1": "one", "2": "two"}[id]))},
			}))
			f.refuseChange(parley.CodeConflict, admit(away, post(id, "other")))
			_, err := f.store.Input(f.Context(), parley.SeeAs(anna), in.Ref)
			f.code("Input for one who took part", parley.CodeNotFound, err)
		}
	}},
	{"an input of a session that was deleted is not one of its successor", func(f *fixture) {
		f.change(newSession(home, join(anna)))
		f.change(admit(home, post("1", "one")))
		f.change(drop(home))
		f.change(newSession(home, join(anna)))
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{
			Session: home, Inputs: []parley.InputChange{{Ref: post("1", "").Ref, State: parley.InputQueued}},
		})
		f.equal("queued", 0, f.session(home).Queued)
		_, err := f.store.Input(f.Context(), parley.SeeAs(anna), post("1", "").Ref)
		f.code("Input", parley.CodeNotFound, err)
	}},
	{"a key that loses its last session goes, with its aliases", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme)},
			Keys:     []parley.KeyChange{{Key: theme, Session: home}, {Key: "sk_v1_2", Session: home}},
			Aliases:  []parley.AliasChange{{Alias: "a", Key: theme}, {Alias: "b", Key: "sk_v1_2"}},
		})
		f.change(drop(home))
		for _, name := range []string{string(theme), "sk_v1_2", "a", "b"} {
			_, err := f.store.Lookup(f.Context(), all, name)
			f.code("Lookup of "+name, parley.CodeNotFound, err)
		}
		f.commit(parley.Batch{Expect: []parley.Expectation{parley.AliasIs{Alias: "a"}, parley.KeyIs{Key: theme}}})
		f.refuse(parley.CodeNotFound, parley.Batch{Aliases: []parley.AliasChange{{Alias: "a", Key: theme}}})
	}},
	{"a key that another session carries stays, without a current one", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme), keyedSession(away, theme)},
			Keys:     []parley.KeyChange{{Key: theme, Session: home, Scope: &parley.Scope{Version: 1}}},
			Aliases:  []parley.AliasChange{{Alias: "a", Key: theme}},
		})
		f.change(drop(home))
		want := parley.KeyEntry{Key: theme, Scope: &parley.Scope{Version: 1}}
		f.equal("entry", want, f.lookup("a"))
		f.change(drop(away))
		_, err := f.store.Lookup(f.Context(), all, "a")
		f.code("Lookup", parley.CodeNotFound, err)
	}},
	{"a key that leads to another session stays", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme), newSession(away)},
			Keys:     []parley.KeyChange{{Key: theme, Session: away}},
		})
		f.change(drop(home))
		f.equal("entry", parley.KeyEntry{Key: theme, Current: away}, f.lookup(string(theme)))
	}},
	{"a key that is pointed elsewhere in the same batch keeps its names", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme), newSession(away)},
			Keys:     []parley.KeyChange{{Key: theme, Session: home, Scope: &parley.Scope{Version: 1}}},
			Aliases:  []parley.AliasChange{{Alias: "a", Key: theme}},
		})
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{drop(home)}, Keys: []parley.KeyChange{{Key: theme, Session: away}},
		})
		f.equal("entry", parley.KeyEntry{
			Key: theme, Current: away, Scope: &parley.Scope{Version: 1},
		}, f.lookup("a"))
	}},
	{"its id can be used again, for a session of its own", func(f *fixture) {
		expectedWorld(f)
		f.change(drop(home))
		f.change(newSession(home))
		s := f.session(home)
		f.equal("session", parley.Session{
			ID: home, Agent: s.Agent, Source: s.Source, Type: s.Type, Status: parley.StatusIdle,
			Recovery: parley.Recovery{State: parley.RecoveryNone}, CreatedAt: f.now, UpdatedAt: f.now,
		}, s)
		f.equal("turns", 0, len(openTurnIDs(f, home)))
		f.equal("approvals", 0, len(approvalsOf(f, home)))
		f.change(startTurn(home, "t1"))
		f.change(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{delivery("d1", 0, "again")}})
	}},
	{"what a batch puts into a session it deletes is gone", func(f *fixture) {
		f.change(newSession(home))
		c := admit(home, post("1", "one"))
		c.Events, c.Delete = says(2), true
		res := f.change(c)
		f.equal("result", []parley.SessionResult{{FirstSeq: 1, LastSeq: 3}}, res.Sessions)
		f.equal("log", 0, len(f.log()))
		f.equal("state", parley.InputDropped, f.input(post("1", "").Ref).State)
	}},
}
