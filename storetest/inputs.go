package storetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

var inputTests = []test{
	{"an input comes back as it was admitted", func(f *fixture) {
		in := parley.Input{
			Ref:  parley.InputRef{Origin: "telegram/main/-100 7", ID: "42"},
			Kind: parley.InputCommand, Mentioned: true, ReplyTo: "41", MessageID: "42",
			Target: &parley.Target{Channel: "telegram", Account: "main", Chat: "-100 7", Topic: "3", ReplyTo: "42"},
			Parts: []parley.Part{
				parley.TextPart("/status <x>"), {Kind: parley.PartMedia, Media: &parley.Media{Handle: string(photo), Type: "image/png"}},
			},
			Sender:    parley.Sender{ID: "7", AltID: "+41", Name: "Anna", Bot: true},
			Principal: parley.Principal{Identity: anna, User: "anna", Role: parley.RoleOwner, Via: "channel"},
			Busy:      parley.BusySteer, State: parley.InputCarriedOut, Decision: "at once",
			NotBefore: startOfTime.Add(time.Hour), Turn: "t1",
		}
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{newSession(home, says(2)...)}})
		f.change(admit(home, in))
		want := in
		want.Session, want.Seq, want.At = home, 3, f.now
		f.equal("input", want, f.input(in.Ref))
		e := f.events(home)[2]
		data, err := parley.EncodeBody(in.Admitted())
		f.code("EncodeBody", "", err)
		f.equal("event", parley.Event{
			Session: home, Seq: 3, Pos: e.Pos, Type: parley.EventInput, Turn: "t1", At: f.now, Identity: anna, Data: data,
		}, e)
		f.reopen()
		f.equal("input after a reopen", want, f.input(in.Ref))
	}},
	{"the same input again gives the first", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(admit(home, post("1", "line\nend")))
		first := f.input(post("1", "").Ref)
		again := post("1", " line\r\nend\n")
		again.Sender.Name, again.Decision, again.State = "Annie", "other", parley.InputLogged
		f.equal("same session", first, f.duplicate(parley.Batch{Sessions: []parley.SessionChange{admit(home, again)}}))
		f.equal("another session", first, f.duplicate(parley.Batch{Sessions: []parley.SessionChange{
			appendTo(home, say("m", "x")), admit(away, post("2", "two"), again),
		}}))
		f.equal("a session that is not there", first,
			f.duplicate(parley.Batch{Sessions: []parley.SessionChange{admit(nobody, again)}}))
		f.equal("an expectation that fails", first, f.duplicate(parley.Batch{
			Expect:   []parley.Expectation{parley.FenceIs{Session: home, Fence: 9}},
			Sessions: []parley.SessionChange{admit(home, again)},
		}))
		f.change(parley.SessionChange{Session: home, Inputs: []parley.InputChange{{Ref: first.Ref, State: parley.InputDone}}})
		first.State = parley.InputDone
		f.equal("as it stands", first, f.duplicate(parley.Batch{Sessions: []parley.SessionChange{admit(home, again)}}))
	}},
	{"the same id with another content is a conflict", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(admit(home, post("1", "one")))
		f.refuseChange(parley.CodeConflict, admit(home, post("1", "two")))
		f.refuseChange(parley.CodeConflict, admit(away, post("1", "two")))
		other := post("1", "one")
		other.Sender.ID = "8"
		f.refuseChange(parley.CodeConflict, admit(home, other))
		other = post("1", "one")
		other.Kind = parley.InputCommand
		f.refuseChange(parley.CodeConflict, admit(home, other))
		elsewhere := post("1", "two")
		elsewhere.Ref.Origin = "telegram/main/8"
		f.change(admit(home, elsewhere))
	}},
	{"it is known across a reset of its key", inputAcrossReset},
	{"of many that come at once one is admitted", concurrentPosts},
	{"a change moves an input", func(f *fixture) {
		f.change(newSession(home))
		f.change(admit(home, post("1", "one")))
		want := f.input(post("1", "").Ref)
		later := startOfTime.Add(time.Hour)
		for _, c := range []struct {
			change parley.InputChange
			apply  func(*parley.Input)
		}{
			{parley.InputChange{State: parley.InputRunning, Turn: "t1"}, func(in *parley.Input) { in.Turn = "t1" }},
			{parley.InputChange{State: parley.InputQueued, Decision: "busy", NotBefore: &later}, func(in *parley.Input) {
				in.Decision, in.NotBefore = "busy", later
			}},
			{parley.InputChange{State: parley.InputDone, NotBefore: &time.Time{}}, func(in *parley.Input) {
				in.NotBefore = time.Time{}
			}},
		} {
			c.change.Ref = want.Ref
			f.change(parley.SessionChange{Session: home, Inputs: []parley.InputChange{c.change}})
			want.State = c.change.State
			c.apply(&want)
			f.equal("after "+describe(c.change), want, f.input(want.Ref))
		}
	}},
	{"only an input of the session can be changed", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(admit(home, post("1", "one")))
		for _, c := range []struct {
			session parley.SessionID
			ref     parley.InputRef
		}{{away, post("1", "").Ref}, {home, post("2", "").Ref}, {home, parley.InputRef{Origin: "other", ID: "1"}}} {
			f.refuseChange(parley.CodeNotFound, parley.SessionChange{
				Session: c.session, Inputs: []parley.InputChange{{Ref: c.ref, State: parley.InputDone}},
			})
		}
	}},
	{"the queued are counted", func(f *fixture) {
		logged := post("3", "three")
		logged.State = parley.InputLogged
		f.change(newSession(home))
		f.change(admit(home, post("1", "one"), post("2", "two"), logged))
		f.equal("queued", 2, f.session(home).Queued)
		f.change(parley.SessionChange{Session: home, Inputs: []parley.InputChange{
			{Ref: post("1", "").Ref, State: parley.InputRunning},
		}})
		f.equal("queued", 1, f.session(home).Queued)
		f.change(parley.SessionChange{Session: home, Inputs: []parley.InputChange{
			{Ref: post("1", "").Ref, State: parley.InputQueued}, {Ref: post("3", "").Ref, State: parley.InputQueued},
		}})
		f.equal("queued", 3, f.session(home).Queued)
	}},
	{"open inputs come by session and as they were admitted", openInputOrder},
	{"a message says which inputs it shows", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(admit(home, post("1", "one"), post("2", "two"), post("3", "three")))
		f.change(appendTo(home, say("m1", "one two", post("1", "").Ref, post("2", "").Ref)))
		f.equal("shown 1", uint64(4), f.input(post("1", "").Ref).Shown)
		f.equal("shown 2", uint64(4), f.input(post("2", "").Ref).Shown)
		f.equal("shown 3", uint64(0), f.input(post("3", "").Ref).Shown)
		c := admit(home, post("4", "four"))
		c.Events = []parley.NewEvent{say("m2", "four", post("4", "").Ref)}
		f.change(c)
		f.equal("shown 4, in its own batch", uint64(6), f.input(post("4", "").Ref).Shown)
	}},
	{"a message shows inputs of its session, each once", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(admit(home, post("1", "one"), post("2", "two")))
		f.change(appendTo(home, say("m1", "one", post("1", "").Ref)))
		f.change(fork("cli:fork", home, 3))
		second := post("2", "").Ref
		for _, c := range []struct {
			code    parley.Code
			session parley.SessionID
			refs    []parley.InputRef
		}{
			{parley.CodeConflict, home, []parley.InputRef{second, post("1", "").Ref}},
			{parley.CodeConflict, home, []parley.InputRef{second, second}},
			{parley.CodeNotFound, home, []parley.InputRef{second, strangeRef}},
			{parley.CodeNotFound, away, []parley.InputRef{second}},
			{parley.CodeNotFound, "cli:fork", []parley.InputRef{second}},
		} {
			f.refuseChange(c.code, appendTo(c.session, say("m2", "two", c.refs...)))
		}
		f.refuseChange(parley.CodeConflict, appendTo(home, say("m2", "two", second), say("m3", "two", second)))
		f.change(appendTo(home, say("m2", "two", second)))
	}},
}

// inputAcrossReset posts an input again after its key has got another session.
func inputAcrossReset(f *fixture) {
	f.commit(parley.Batch{
		Sessions: []parley.SessionChange{keyedSession(home, theme)}, Keys: []parley.KeyChange{{Key: theme, Session: home}},
	})
	f.change(admit(home, post("1", "one")))
	old := appendTo(home, parley.NewEvent{Body: &parley.Ended{Reason: "reset", Next: away}})
	old.Patch = parley.SessionPatch{
		Status: new(parley.StatusInactive), Ended: &parley.Ending{At: startOfTime, Reason: "reset"},
	}
	successor := keyedSession(away, theme, parley.NewEvent{Body: &parley.Reset{From: home, Reason: "daily"}})
	f.commit(parley.Batch{
		Expect:   []parley.Expectation{parley.KeyIs{Key: theme, Session: home}},
		Sessions: []parley.SessionChange{old, successor},
		Keys:     []parley.KeyChange{{Key: theme, Session: away}},
	})
	dup := f.duplicate(parley.Batch{
		Expect:   []parley.Expectation{parley.KeyIs{Key: theme, Session: away}},
		Sessions: []parley.SessionChange{admit(away, post("1", "one"))},
	})
	f.equal("its session", home, dup.Session)
	f.refuseChange(parley.CodeConflict, admit(away, post("1", "other")))
	f.change(admit(away, post("2", "two")))
}

// concurrentPosts posts the same input from many goroutines, to two sessions.
func concurrentPosts(f *fixture) {
	const posters = 64
	f.change(newSession(home), newSession(away))
	results := make([]parley.Result, posters)
	errs := make([]error, posters)
	var wg sync.WaitGroup
	for i := range posters {
		wg.Go(func() {
			results[i], errs[i] = f.store.Commit(f.Context(), parley.Batch{
				At: startOfTime, Sessions: []parley.SessionChange{admit([]parley.SessionID{home, away}[i%2], post("1", "one"))},
			})
		})
	}
	wg.Wait()
	admitted := 0
	for i := range posters {
		f.code("Commit", "", errs[i])
		if results[i].Duplicate == nil {
			admitted++
			continue
		}
		f.equal("duplicate", f.input(post("1", "").Ref), *results[i].Duplicate)
	}
	f.equal("admitted", 1, admitted)
	f.equal("events", 1, len(f.log()))
}

func openInputOrder(f *fixture) {
	f.change(newSession("web:first"), newSession("cli:second"), newSession("api:third"))
	ids := []parley.SessionID{"api:third", "web:first", "cli:second"}
	for i := range 12 {
		f.change(admit(ids[i%3], post(fmt.Sprint(i), "x")))
	}
	f.change(parley.SessionChange{Session: "web:first", Inputs: []parley.InputChange{
		{Ref: post("4", "").Ref, State: parley.InputDone}, {Ref: post("7", "").Ref, State: parley.InputRunning},
	}})
	want := []string{"1", "7", "10", "2", "5", "8", "11", "0", "3", "6", "9"}
	for _, limit := range []int{0, 1, 2, 11} {
		list := get(f, func(ctx context.Context, s parley.Store) ([]parley.Input, error) {
			return allOpenInputs(ctx, s, all, "", limit)
		})
		f.equal(fmt.Sprintf("open inputs in pages of %d", limit), want, idsOf(list))
	}
	f.equal("of one session", []string{"2", "5", "8", "11"}, idsOf(f.openInputs("cli:second")))

	// Working through a page closes what the next one starts behind.
	f.change(parley.SessionChange{Session: "cli:second", Inputs: []parley.InputChange{
		{Ref: post("5", "").Ref, State: parley.InputDone},
	}})
	rest := get(f, func(ctx context.Context, s parley.Store) ([]parley.Input, error) {
		return s.OpenInputs(ctx, all, "", post("5", "").Ref, 3)
	})
	f.equal("behind one that was closed", []string{"8", "11", "0"}, idsOf(rest))
	_, err := f.store.OpenInputs(f.Context(), all, nobody, parley.InputRef{}, 0)
	f.code("OpenInputs of a session that is not there", parley.CodeNotFound, err)
}

func idsOf(inputs []parley.Input) []string {
	var ids []string
	for _, in := range inputs {
		ids = append(ids, in.Ref.ID)
	}
	return ids
}
