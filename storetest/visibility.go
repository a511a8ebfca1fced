package storetest

import (
	"context"
	"fmt"
	"reflect"

	"github.com/parley-run/parley"
)

// reader asks for something of one session, as somebody.
type reader func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error)

// readsOfHome are all reads that name a session, or something in it, for the
// session home. To one who may not see it each says that nothing is there.
var readsOfHome = map[string]reader{
	"Session": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Session(ctx, v, home)
	},
	"Participants": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Participants(ctx, v, home)
	},
	"Events": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Events(ctx, v, home, parley.EventQuery{})
	},
	"OpenInputs": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.OpenInputs(ctx, v, home, parley.InputRef{}, 0)
	},
	"Turn": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Turn(ctx, v, home, "t1")
	},
	"OpenTurns": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.OpenTurns(ctx, v, home)
	},
	"Calls": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Calls(ctx, v, home, "t1")
	},
	"Approvals": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Approvals(ctx, v, home)
	},
	"Deliveries": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Deliveries(ctx, v, parley.DeliveryQuery{Session: home})
	},
	"Notices": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Notices(ctx, v, home)
	},
}

// namedReads are the reads that lead to the session of [visibleWorld] by another
// name than its own.
var namedReads = map[string]reader{
	"Input": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Input(ctx, v, post("1", "").Ref)
	},
	"Lookup": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Lookup(ctx, v, "a b")
	},
	"Aliases": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Aliases(ctx, v, theme)
	},
	"Blob": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Blob(ctx, v, photo)
	},
	"Lookup by key": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Lookup(ctx, v, string(theme))
	},
}

// listReads are the reads over all sessions: they leave out what is hidden.
var listReads = map[string]reader{
	"Sessions": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return allSessions(ctx, s, v, parley.SessionQuery{IncludeInactive: true, Limit: 1})
	},
	"Log": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		events, _, err := logAfter(ctx, s, v, 0, 1)
		return events, err
	},
	"OpenInputs of all": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.OpenInputs(ctx, v, "", parley.InputRef{}, 0)
	},
	"OpenTurns of all": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.OpenTurns(ctx, v, "")
	},
	"Approvals of all": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Approvals(ctx, v, "")
	},
	"Deliveries of all": func(ctx context.Context, s parley.Store, v parley.Visibility) (any, error) {
		return s.Deliveries(ctx, v, parley.DeliveryQuery{})
	},
}

var visibilityTests = []test{
	{"the tests know every read that takes a visibility", func(f *fixture) {
		for m := range reflect.TypeFor[parley.Store]().Methods() {
			if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[parley.Visibility]() {
				continue
			}
			if readsOfHome[m.Name] == nil && namedReads[m.Name] == nil && listReads[m.Name] == nil {
				f.Errorf("no test of visibility calls %s", m.Name)
			}
		}
	}},
	{"who takes part sees, who does not finds nothing", func(f *fixture) {
		visibleWorld(f)
		for _, c := range []struct {
			v    parley.Visibility
			sees bool
		}{
			{parley.SeeAll(), true},
			{parley.SeeAs(anna), true},
			{parley.SeeAs("web:nobody", anna), true},
			{parley.Visibility{All: true, Namespace: "cli"}, true},
			{parley.Visibility{Identities: []parley.IdentityID{anna}, Namespace: "cli"}, true},
			{parley.Visibility{}, false},
			{parley.SeeAs(), false},
			{parley.SeeAs(ben), false},
			{parley.SeeAs("telegram:77", "telegram:", "telegram:_", "telegram:%", "TELEGRAM:7"), false},
			{parley.Visibility{Namespace: "cli"}, false},
			{parley.Visibility{All: true, Namespace: "web"}, false},
			{parley.Visibility{Identities: []parley.IdentityID{anna}, Namespace: "web"}, false},
			{parley.Visibility{All: true, Namespace: "cl"}, false},
			{parley.Visibility{All: true, Namespace: "cl_"}, false},
			{parley.Visibility{All: true, Namespace: "%"}, false},
			{parley.Visibility{All: true, Namespace: "CLI"}, false},
			{parley.Visibility{All: true, Namespace: "cli:"}, false},
			{parley.Visibility{All: true, Namespace: "cli:home"}, false},
		} {
			f.checkSees(c.v, c.sees)
		}
	}},
	{"joining and leaving changes what is seen", func(f *fixture) {
		visibleWorld(f)
		f.checkSees(parley.SeeAs("web:x"), false)
		f.change(appendTo(home, join("web:x")))
		f.checkSees(parley.SeeAs("web:x"), true)
		f.change(appendTo(home, leave("web:x")))
		f.checkSees(parley.SeeAs("web:x"), false)
		f.checkSees(parley.SeeAs(anna), true)
		f.reopen()
		f.checkSees(parley.SeeAs("web:x"), false)
		f.checkSees(parley.SeeAs(anna), true)
	}},
	{"lists hold what is seen and nothing else", func(f *fixture) {
		for i := range 12 {
			id := parley.SessionID(fmt.Sprintf("%s:%d", []string{"cli", "web"}[i%2], i))
			c := newSession(id, join([]parley.IdentityID{anna, ben, "web:x"}[i%3]), say("m", "x"))
			c.Admit = []parley.Input{post(fmt.Sprint(i), "x")}
			f.change(c)
		}
		for _, c := range []struct {
			v    parley.Visibility
			want []parley.SessionID
		}{
			{parley.SeeAs(anna), []parley.SessionID{"web:9", "cli:6", "web:3", "cli:0"}},
			{parley.SeeAs(anna, ben), []parley.SessionID{
				"cli:10", "web:9", "web:7", "cli:6", "cli:4", "web:3", "web:1", "cli:0",
			}},
			{parley.Visibility{Identities: []parley.IdentityID{anna}, Namespace: "cli"}, []parley.SessionID{"cli:6", "cli:0"}},
			{parley.Visibility{All: true, Namespace: "web"}, []parley.SessionID{
				"web:11", "web:9", "web:7", "web:5", "web:3", "web:1",
			}},
		} {
			sessions, err := allSessions(f.Context(), f.store, c.v, parley.SessionQuery{Limit: 1})
			f.code("Sessions", "", err)
			var ids []parley.SessionID
			for _, s := range sessions {
				ids = append(ids, s.ID)
			}
			f.equal("sessions for "+describe(c.v), c.want, ids)
			for _, limit := range []int{1, 2, 0} {
				events, _, err := logAfter(f.Context(), f.store, c.v, 0, limit)
				f.code("Log", "", err)
				f.equal("events for "+describe(c.v), 3*len(c.want), len(events))
				inputs, err := allOpenInputs(f.Context(), f.store, c.v, "", limit)
				f.code("OpenInputs", "", err)
				f.equal("inputs for "+describe(c.v), len(c.want), len(inputs))
			}
		}
	}},
	{"a key that leads nowhere is found by who sees everything", func(f *fixture) {
		f.change(keyedSession(home, theme, join(anna)))
		f.lookup(string(theme))
		for _, v := range []parley.Visibility{{}, parley.SeeAs(anna), {Namespace: "cli"}} {
			_, err := f.store.Lookup(f.Context(), v, string(theme))
			f.code("Lookup for "+describe(v), parley.CodeNotFound, err)
		}
	}},
}

// checkSees makes sure that v sees all of the session of [visibleWorld], or
// nothing, by whichever way.
func (f *fixture) checkSees(v parley.Visibility, sees bool) {
	f.Helper()
	f.checkSeesIn(f.Context(), v, sees)
	// Nor does it help that somebody else has just looked in the same view.
	f.code("View", "", f.store.View(f.Context(), func(ctx context.Context) error {
		if _, err := f.store.Session(ctx, all, home); err != nil {
			return err
		}
		f.checkSeesIn(ctx, v, sees)
		return nil
	}))
}

func (f *fixture) checkSeesIn(ctx context.Context, v parley.Visibility, sees bool) {
	f.Helper()
	for _, reads := range []map[string]reader{readsOfHome, namedReads} {
		for name, read := range reads {
			_, err := read(ctx, f.store, v)
			code := parley.CodeNotFound
			if sees {
				code = ""
			}
			f.code(fmt.Sprintf("%s for %s", name, describe(v)), code, err)
		}
	}
	for name, read := range listReads {
		list, err := read(ctx, f.store, v)
		f.code(fmt.Sprintf("%s for %s", name, describe(v)), "", err)
		if n := reflect.ValueOf(list).Len(); (n > 0) != sees {
			f.Errorf("%s for %s gives %d, want some: %v", name, describe(v), n, sees)
		}
	}
}

// visibleWorld makes one session that anna takes part in, with something for
// every read to find.
func visibleWorld(f *fixture) {
	f.Helper()
	c := keyedSession(home, theme, join(anna), say("m1", "hello"), showing("m2", photo))
	c.Admit = []parley.Input{post("1", "one")}
	c.Turns = []parley.TurnChange{{ID: "t1", Start: true}}
	c.Calls = []parley.CallChange{{Turn: "t1", ID: "c1", Tool: "shell", State: parley.CallStarted}}
	c.Approvals = askFor(home, "t1", "c1").Approvals
	c.Deliveries = []parley.DeliveryChange{delivery("d1", 0, "hello")}
	c.Notices = notice(home, "n1").Notices
	f.commit(parley.Batch{
		Blobs:    register(photo),
		Sessions: []parley.SessionChange{c},
		Keys:     []parley.KeyChange{{Key: theme, Session: home}},
		Aliases:  []parley.AliasChange{{Alias: "a b", Key: theme}},
	})
}
