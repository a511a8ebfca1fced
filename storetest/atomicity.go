package storetest

import "github.com/parley-run/parley"

// refused are changes that no store can apply to the sessions of [expectedWorld],
// one for each part of a batch that can fail.
var refused = []struct {
	name  string
	code  parley.Code
	spoil func(b *parley.Batch)
}{
	{"a session that exists", parley.CodeConflict, addChange(newSession(away))},
	{"a session that does not", parley.CodeNotFound, addChange(appendTo(nobody, say("m", "x")))},
	{"a fork of nothing", parley.CodeNotFound, addChange(fork("cli:fork", nobody, 1))},
	{"a fork beyond the end", parley.CodeInvalid, addChange(fork("cli:fork", home, 1000))},
	{"an input of another session", parley.CodeNotFound, addChange(parley.SessionChange{
		Session: away, Inputs: []parley.InputChange{{Ref: post("1", "").Ref, State: parley.InputDone}},
	})},
	{"a turn that did not start", parley.CodeNotFound, addChange(parley.SessionChange{
		Session: away, Turns: []parley.TurnChange{{ID: "t1", Cancel: true}},
	})},
	{"a call without a turn", parley.CodeNotFound, addChange(journal(away, "t1", "c1", parley.CallStarted, ""))},
	{"an approval without a turn", parley.CodeNotFound, addChange(askFor(away, "t1", "c1"))},
	{"a delivery that exists", parley.CodeConflict, addChange(parley.SessionChange{
		Session: away, Deliveries: []parley.DeliveryChange{delivery("d1", 0, "x")},
	})},
	{"a notice that is gone", parley.CodeNotFound, addChange(consume(away, "n1"))},
	{"a redaction of nothing", parley.CodeNotFound, addChange(redact(away, 1))},
	{"a key to nowhere", parley.CodeNotFound, func(b *parley.Batch) {
		b.Keys = append(b.Keys, parley.KeyChange{Key: theme, Session: nobody})
	}},
	{"an alias of nothing", parley.CodeNotFound, func(b *parley.Batch) {
		b.Aliases = append(b.Aliases, parley.AliasChange{Alias: "a", Key: "sk_v1_none"})
	}},
	{"a token that exists", parley.CodeConflict, func(b *parley.Batch) {
		b.Tokens = append(b.Tokens, tokenFor("one", 7, ben))
	}},
	{"a token that does not", parley.CodeNotFound, func(b *parley.Batch) {
		b.Tokens = append(b.Tokens, parley.TokenChange{ID: "none", Revoke: true})
	}},
	{"a code of which the hash is taken", parley.CodeConflict, func(b *parley.Batch) {
		b.Passcodes = append(b.Passcodes, passcodeFor(pair, 1, ben), passcodeFor(login, 1, ben))
	}},
	{"a code that is gone", parley.CodeNotFound, func(b *parley.Batch) {
		b.Passcodes = append(b.Passcodes, usePasscode(7))
	}},
	{"an input with another content", parley.CodeConflict, addChange(admit(away, post("1", "changed")))},
	{"a body that cannot be stored", parley.CodeInvalid, addChange(appendTo(away, parley.NewEvent{
		Body: &parley.Message{ID: "m", Role: "nobody"},
	}))},
}

func addChange(c parley.SessionChange) func(*parley.Batch) {
	return func(b *parley.Batch) { b.Sessions = append(b.Sessions, c) }
}

var atomicityTests = []test{
	{"a batch that fails at its end leaves nothing of its beginning", func(f *fixture) {
		expectedWorld(f)
		for _, r := range refused {
			b := wideBatch(f)
			r.spoil(&b)
			f.Logf("with %s", r.name)
			f.refuse(r.code, b)
		}
		f.commit(wideBatch(f)) // it was only ever the last part that failed
	}},
	{"a refused batch does not spoil its neighbours", func(f *fixture) {
		expectedWorld(f)
		before := f.session(home).LastSeq
		won := race(f, 64, func(i int) parley.Batch {
			b := parley.Batch{Sessions: []parley.SessionChange{appendTo(home, say("m", "x"))}}
			if i%2 == 0 {
				refused[i/2%len(refused)].spoil(&b)
			}
			return b
		})
		f.equal("batches that were applied", 32, len(won))
		f.equal("events", before+32, f.session(home).LastSeq)
		f.equal("events of the other session", uint64(0), f.session(away).LastSeq)
	}},
	{"a refused batch uses up no seq", func(f *fixture) {
		f.change(newSession(home, says(1)...))
		f.refuse(parley.CodeNotFound, parley.Batch{
			Sessions: []parley.SessionChange{appendTo(home, says(5)...)}, Keys: []parley.KeyChange{{Key: theme, Session: nobody}},
		})
		f.equal("next seq", uint64(2), f.change(appendTo(home, says(1)...)).Sessions[0].FirstSeq)
	}},
}

// wideBatch changes everything that can be changed in [expectedWorld] but the
// session away, which is left for what fails.
func wideBatch(f *fixture) parley.Batch {
	c := appendTo(home, say("m9", "nine"), join(anna))
	c.Claim = true
	c.Patch = parley.SessionPatch{Status: new(parley.StatusIdle), Metadata: map[string]string{"k": "v"}}
	c.Admit = []parley.Input{post("9", "nine")}
	c.Inputs = []parley.InputChange{{Ref: post("1", "").Ref, State: parley.InputDone}}
	c.Turns = []parley.TurnChange{{ID: "t1", Attempt: new(2)}, {ID: "t2", Start: true}}
	c.Calls = journal(home, "t1", "c1", parley.CallStarted, "").Calls
	c.Approvals = settle(home, "t1", "c1", parley.ApprovalDenied).Approvals
	c.Deliveries = []parley.DeliveryChange{delivery("d9", 0, "nine"), {ID: "d1", State: new(parley.DeliverySent)}}
	c.Notices = notice(home, "n9").Notices
	c.Redact = []uint64{1}
	return parley.Batch{
		Sessions:   []parley.SessionChange{newSession("cli:first", says(3)...), c, fork("cli:fork9", home, 2)},
		Keys:       []parley.KeyChange{{Key: "sk_v1_9", Session: home}, {Key: theme, Session: "cli:first"}},
		Aliases:    []parley.AliasChange{{Alias: "nine", Key: "sk_v1_9"}, {Alias: "a b"}},
		Users:      []parley.UserChange{{User: person("ben")}, {User: parley.User{ID: "anna"}, Remove: true}},
		Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: ben, User: "ben", CreatedAt: f.now}}},
		Tokens:     []parley.TokenChange{{ID: "one", Revoke: true, Used: f.now}, tokenFor("nine", 1, ben)},
		Passcodes:  []parley.PasscodeChange{usePasscode(0), passcodeFor(login, 2, ben)},
		Audit:      []parley.AuditEntry{{Action: "sign_in", Actor: ben, Subject: "nine"}},
	}
}
