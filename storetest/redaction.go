package storetest

import (
	"context"
	"fmt"

	"github.com/parley-run/parley"
)

var redactionTests = []test{
	{"a tombstone stands where the body was", func(f *fixture) {
		f.change(newSession(home, says(3)...))
		before := f.events(home)
		res := f.change(redact(home, 2))
		f.equal("result", parley.Result{Sessions: []parley.SessionResult{{FirstSeq: 4, LastSeq: 3}}}, res)
		want := append([]parley.Event{}, before...)
		want[1].Data = parley.TombstoneData
		f.equal("events", want, f.events(home))
		f.equal("log", want, f.log())
		f.equal("counters", parley.Counters{Messages: 3}, f.session(home).Counters)
		f.reopen()
		f.equal("events after a reopen", want, f.events(home))
		unchanged := f.watch(parley.Batch{})
		f.change(redact(home, 2, 2))
		unchanged()
	}},
	{"only what somebody wrote can be redacted", func(f *fixture) {
		f.change(newSession(home))
		for _, t := range parley.EventTypes() {
			body, plain := plainBodies[t]
			if !plain {
				continue
			}
			seq := f.change(appendTo(home, parley.NewEvent{Body: body(newGenerator(1, newOracle()))})).Sessions[0].LastSeq
			f.refuseChange(parley.CodeInvalid, redact(home, seq))
		}
		seq := f.change(appendTo(home, join(anna))).Sessions[0].LastSeq
		f.refuseChange(parley.CodeInvalid, redact(home, seq))
		custom := parley.NewEvent{Body: &parley.Custom{Type: customType, Data: []byte(`"secret"`)}}
		seq = f.change(appendTo(home, custom)).Sessions[0].LastSeq
		f.change(redact(home, seq))
		f.equal("custom event", parley.TombstoneData, f.events(home)[seq-1].Data)
	}},
	{"an event that is not there is not found", func(f *fixture) {
		f.change(newSession(home, says(2)...))
		for _, seq := range []uint64{0, 3, 1 << 62} {
			f.refuseChange(parley.CodeNotFound, redact(home, 1, seq))
		}
	}},
	{"an event of the same batch can be redacted", func(f *fixture) {
		c := newSession(home, says(2)...)
		c.Redact = []uint64{2}
		f.change(c)
		f.equal("texts", []string{"message 1", "(gone)"}, texts(f, home))
	}},
	{"an input and the message that shows it go together", redactInputs},
	{"an input that was redacted is still known", func(f *fixture) {
		f.change(newSession(home))
		f.change(admit(home, post("1", "secret")))
		want := post("1", "")
		want.Session, want.Seq, want.At = home, 1, f.now
		want.Parts, want.Sender = nil, parley.Sender{}
		f.change(redact(home, 1))
		f.equal("input", want, f.input(want.Ref))
		f.equal("open inputs", []parley.Input{want}, f.openInputs(home))
		for _, text := range []string{"secret", "other"} { // nobody can tell them apart any more
			again := parley.Batch{Sessions: []parley.SessionChange{admit(home, post("1", text))}}
			f.equal("the input again", want, f.duplicate(again))
		}
	}},
	{"every copy of a message goes with it", redactCopies},
	{"what has no copy in it stays", func(f *fixture) {
		asks := reply("m2", "").Body.(*parley.Message)
		asks.Parts = []parley.Part{{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "shell"}}}
		c := newSession(home, reply("m1", "one"), parley.NewEvent{Turn: "t1", Body: asks})
		c.Turns = []parley.TurnChange{{ID: "t1", Start: true}}
		c.Calls = append(journal(home, "t1", "c1", parley.CallStarted, "").Calls,
			journal(home, "t1", "c1", parley.CallFinished, `"done"`).Calls...)
		c.Patch.Title = &parley.Title{Text: "of one", Seq: 1}
		c.Deliveries = []parley.DeliveryChange{delivery("d1", 1, "one"), delivery("d2", 0, "none")}
		f.change(c)
		f.change(redact(home, 2))
		s := f.session(home)
		f.equal("title", parley.Title{Text: "of one", Seq: 1}, s.Title)
		f.equal("preview", "one", s.Preview)
		for i, d := range f.deliveries(parley.DeliveryQuery{}) {
			f.equal("text", []string{"one", "none"}[i], d.Text)
		}
		f.equal("result of a call whose wish is redacted", `"done"`, string(f.calls("t1")[0].Result))
	}},
	{"a redaction of shared events is seen by all who share them", func(f *fixture) {
		for _, by := range []parley.SessionID{home, "cli:child", "cli:grandchild"} {
			parent := newSession(home, reply("m1", "one"), reply("m2", "two"), reply("m3", "three"))
			parent.Deliveries = []parley.DeliveryChange{delivery("d1", 2, "two")}
			parent.Create.Title = parley.Title{Text: "of two", Seq: 2}
			child, grandchild := fork("cli:child", home, 2), fork("cli:grandchild", "cli:child", 2)
			child.Deliveries = []parley.DeliveryChange{delivery("d2", 2, "two")}
			child.Create.Title = parley.Title{Text: "of two", Seq: 2}
			f.change(parent, child, grandchild)
			f.change(redact(by, 2))
			f.equal("parent", []string{"one", "(gone)", "three"}, texts(f, home))
			f.equal("title of the parent", parley.Title{}, f.session(home).Title)
			for _, id := range []parley.SessionID{"cli:child", "cli:grandchild"} {
				f.equal("texts", []string{"one", "(gone)"}, texts(f, id))
				f.equal("preview", "one", f.session(id).Preview)
				f.equal("title", parley.Title{}, f.session(id).Title)
			}
			for _, d := range f.deliveries(parley.DeliveryQuery{}) {
				f.equal(fmt.Sprintf("text of %s, redacted by %s", d.ID, by), "", d.Text)
			}
			f.change(drop(home), drop("cli:child"), drop("cli:grandchild"))
		}
	}},
	{"a fork can redact an input that its parent shows later", func(f *fixture) {
		for _, deleted := range []bool{false, true} {
			in := post("1", "secret")
			in.Ref.Origin += fmt.Sprint(deleted)
			f.change(newSession(home))
			f.change(admit(home, in))
			f.change(fork(away, home, 1))
			f.change(appendTo(home, say("m1", "secret", in.Ref)))
			if deleted {
				f.change(drop(home))
				f.change(redact(away, 1))
			} else {
				f.change(redact(away, 1))
				f.equal("texts of the parent", []string{"(gone)", "(gone)"}, texts(f, home))
				f.change(drop(home))
			}
			f.equal("texts", []string{"(gone)"}, texts(f, away))
			f.change(drop(away))
		}
	}},
	{"a fork can redact what a deleted parent left it", func(f *fixture) {
		f.change(newSession(home))
		f.change(admit(home, post("1", "secret"), post("2", "other")))
		f.change(appendTo(home, say("m1", "secret", post("1", "").Ref)))
		f.change(fork(away, home, 3))
		f.change(drop(home))
		f.equal("texts", []string{"secret", "other", "secret"}, texts(f, away))
		f.change(redact(away, 1))
		f.equal("texts", []string{"(gone)", "other", "(gone)"}, texts(f, away))
	}},
}

func redactInputs(f *fixture) {
	for _, c := range []struct {
		name   string
		redact []uint64
		want   []string
	}{
		{"an input", []uint64{1}, []string{"(gone)", "two", "three", "(gone)", "three"}},
		{"a message", []uint64{4}, []string{"(gone)", "(gone)", "three", "(gone)", "three"}},
		{"one of a pair", []uint64{5}, []string{"one", "two", "(gone)", "one\ntwo", "(gone)"}},
		{"both of a pair", []uint64{3, 5}, []string{"one", "two", "(gone)", "one\ntwo", "(gone)"}},
	} {
		refs := []parley.InputRef{post("1", "").Ref, post("2", "").Ref, post("3", "").Ref}
		for i := range refs {
			refs[i].Origin = c.name
		}
		one, two, three := post("1", "one"), post("2", "two"), post("3", "three")
		one.Ref, two.Ref, three.Ref = refs[0], refs[1], refs[2]
		f.change(newSession(home))
		f.change(admit(home, one, two, three))
		f.change(appendTo(home, say("m4", "one\ntwo", refs[0], refs[1]), say("m5", "three", refs[2])))
		f.change(redact(home, c.redact...))
		f.equal("texts after redacting "+c.name, c.want, texts(f, home))
		for i, ref := range refs {
			in := f.input(ref)
			if gone := c.want[i] == "(gone)"; gone != (len(in.Parts) == 0) || gone != (in.Sender == parley.Sender{}) {
				f.Errorf("after redacting %s: input %d is %s, want gone: %v", c.name, i+1, describe(in), gone)
			}
			f.equal("shown", []uint64{4, 4, 5}[i], in.Shown)
		}
		f.change(drop(home))
	}
}

func redactCopies(f *fixture) {
	c := newSession(home, reply("m1", "first"), reply("m2", "secret"))
	c.Turns = []parley.TurnChange{{ID: "t1", Start: true}, {ID: "t2", Start: true}}
	c.Patch.Title = &parley.Title{Text: "about the secret", Seq: 2}
	c.Deliveries = []parley.DeliveryChange{delivery("d1", 2, "sec"), delivery("d2", 2, "ret")}
	c.Deliveries[1].New.State = parley.DeliverySent
	for _, turn := range []parley.TurnID{"t1", "t2"} {
		for _, call := range []parley.CallID{"c1", "c2"} {
			c.Calls = append(c.Calls, parley.CallChange{Turn: turn, ID: call, Tool: "shell", State: parley.CallStarted})
		}
	}
	f.change(c)
	var done parley.SessionChange
	done.Session = home
	for _, call := range c.Calls {
		call.State, call.Result = parley.CallFinished, []byte(`"secret"`)
		done.Calls = append(done.Calls, call)
	}
	done.Events = []parley.NewEvent{{Turn: "t1", Body: &parley.Message{ID: "m3", Role: parley.MessageTool, Parts: []parley.Part{
		{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c1", Text: "secret"}},
	}}}}
	f.change(done)
	f.equal("preview before", "secret", f.session(home).Preview)

	f.change(redact(home, 2))
	s := f.session(home)
	f.equal("title", parley.Title{}, s.Title)
	f.equal("preview", "first", s.Preview)
	for _, state := range []parley.DeliveryState{parley.DeliveryPending, parley.DeliverySent} {
		for _, d := range f.deliveries(parley.DeliveryQuery{State: state}) {
			f.equal("text of "+string(d.ID), "", d.Text)
		}
	}
	var opaque parley.SessionChange
	opaque.Session = home
	for _, turn := range []parley.TurnID{"t1", "t2"} {
		opaque.Turns = append(opaque.Turns, parley.TurnChange{ID: turn, Opaque: []byte("secret")})
	}
	f.change(opaque)
	f.change(redact(home, 3))
	open := get(f, func(ctx context.Context, s parley.Store) ([]parley.Turn, error) { return s.OpenTurns(ctx, all, home) })
	f.equal("open turns", 2, len(open))
	for _, turn := range open {
		f.equal(fmt.Sprintf("%s has no opaque state", turn.ID), turn.ID == "t1", len(turn.Opaque) == 0)
	}
	for _, turn := range []parley.TurnID{"t1", "t2"} {
		for _, call := range f.calls(turn) {
			want := `"secret"`
			if turn == "t1" && call.ID == "c1" {
				want = ""
			}
			f.equal(fmt.Sprintf("result of %s %s", turn, call.ID), want, string(call.Result))
			f.equal("state", parley.CallFinished, call.State)
		}
	}
}
