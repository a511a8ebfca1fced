package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/parley-run/parley"
)

var openCloseTests = []test{
	{"everything is there after a reopen", func(f *fixture) {
		expectedWorld(f)
		f.change(fork("cli:fork", home, 2, say("m", "x")))
		f.change(redact(home, 1))
		unchanged := f.watch(parley.Batch{})
		f.reopen()
		unchanged()
		f.crash()
		unchanged()
	}},
	{"nothing works after Close", func(f *fixture) {
		visibleWorld(f)
		s := f.store
		f.reopen()
		_, err := s.Commit(f.Context(), parley.Batch{At: startOfTime, Sessions: []parley.SessionChange{newSession(away)}})
		f.code("Commit", parley.CodeUnavailable, err)
		err = s.View(f.Context(), func(context.Context) error { return errors.New("it was called") })
		f.code("View", parley.CodeUnavailable, err)
		called := map[string]bool{"Commit": true, "View": true, "Close": true}
		for _, q := range questions(f.known(parley.Batch{}), all) {
			called[q.method] = true
			if _, err := q.ask(f.Context(), s); !errors.Is(err, parley.ErrUnavailable) {
				f.Errorf("%v after Close: error %s, want code %s", q, shown(err), parley.CodeUnavailable)
			}
		}
		for _, read := range []func() error{
			func() error { _, err := s.User(f.Context(), "anna"); return err },
			func() error { _, err := s.Identities(f.Context(), "anna"); return err },
		} {
			f.code("a read of people after Close", parley.CodeUnavailable, read())
		}
		called["User"], called["Identities"] = true, true
		for m := range reflect.TypeFor[parley.Store]().Methods() {
			if !called[m.Name] {
				f.Errorf("%s was not called after Close", m.Name)
			}
		}
		_, err = f.store.Session(f.Context(), all, away)
		f.code("Session of what was committed after Close", parley.CodeNotFound, err)
	}},
	{"an epoch is the store's own and stays", func(f *fixture) {
		epoch := func(s parley.Store) string {
			head, err := s.Head(f.Context())
			f.code("Head", "", err)
			return head.Epoch
		}
		first := epoch(f.store)
		if first == "" {
			f.Error("the epoch is empty")
		}
		f.change(newSession(home))
		f.equal("epoch after a commit", first, epoch(f.store))
		f.reopen()
		f.equal("epoch after a reopen", first, epoch(f.store))
		f.crash()
		f.equal("epoch after a crash", first, epoch(f.store))
		if other := newFixture(f.T, f.h); epoch(other.store) == first {
			f.Errorf("two stores have the epoch %q", first)
		}
	}},
	{"Close may be called twice, also at once", func(f *fixture) {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { errs[i] = f.store.Close() })
		}
		wg.Wait()
		f.code("Close", "", errors.Join(errs...))
		f.code("Close again", "", f.store.Close())
	}},
	{"what was acknowledged before Close is there, the rest is not", closeWhileWritten},
	{"a context that ended before the commit writes nothing", func(f *fixture) {
		f.change(newSession(home))
		b := parley.Batch{At: f.now, Sessions: []parley.SessionChange{appendTo(home, say("m", "x")), newSession(away)}}
		unchanged := f.watch(b)
		ctx, cancel := context.WithCancel(f.Context())
		cancel()
		_, err := f.store.Commit(ctx, b)
		if err == nil || errors.Is(err, parley.ErrOutcomeUnknown) {
			f.Errorf("Commit: error %v, want one whose outcome is known", err)
		}
		unchanged()
	}},
	{"a batch belongs to the caller again after the commit", func(f *fixture) {
		in := post("1", "one")
		m := say("m1", "hello").Body.(*parley.Message)
		c := newSession(home, parley.NewEvent{Body: m})
		c.Create.Metadata = map[string]string{"k": "v"}
		c.Create.Agent.Config = []byte(`{"n":1}`)
		c.Admit = []parley.Input{in}
		f.change(c)
		unchanged := f.watch(parley.Batch{})
		m.Parts[0].Text, in.Parts[0].Text, c.Create.Metadata["k"] = "changed", "changed", "changed"
		copy(c.Create.Agent.Config, `{"n":2}`)
		unchanged()
	}},
}

// closeWhileWritten closes the store while commits are under way.
func closeWhileWritten(f *fixture) {
	f.change(newSession(home))
	errs := make([]error, writers)
	name := func(i int) string { return fmt.Sprintf("m%d", i) }
	store := f.store
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			_, errs[i] = store.Commit(f.Context(), parley.Batch{
				At: startOfTime, Sessions: []parley.SessionChange{appendTo(home, say(name(i), "x"))},
			})
		})
	}
	f.reopen()
	wg.Wait()
	there := map[string]bool{}
	for _, e := range f.events(home) {
		there[messageID(f, e)] = true
	}
	for i, err := range errs {
		switch {
		case errors.Is(err, parley.ErrOutcomeUnknown):
		case err != nil:
			f.code("Commit", parley.CodeUnavailable, err)
			fallthrough
		default:
			f.equal(fmt.Sprintf("message %d is there (error %v)", i, err), err == nil, there[name(i)])
		}
	}
}
