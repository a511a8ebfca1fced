package storetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/parley-run/parley"
)

var sessionListTests = []test{
	{"the most recently active comes first, then the newest", func(f *fixture) {
		at := startOfTime
		f.commit(parley.Batch{At: at, Sessions: []parley.SessionChange{newSession("cli:1"), newSession("cli:2")}})
		f.commit(parley.Batch{At: at, Sessions: []parley.SessionChange{newSession("cli:3")}})
		f.equal("same time", []parley.SessionID{"cli:3", "cli:2", "cli:1"}, f.list(parley.SessionQuery{}))
		f.change(appendTo("cli:1", say("m", "hello")))
		f.equal("after a message", []parley.SessionID{"cli:1", "cli:3", "cli:2"}, f.list(parley.SessionQuery{Limit: 1}))
		f.change(appendTo("cli:2", join(anna)))
		f.equal("after what is no activity", []parley.SessionID{"cli:1", "cli:3", "cli:2"}, f.list(parley.SessionQuery{Limit: 2}))
	}},
	{"queries narrow the list", narrowLists},
	{"pages have the size that was asked for", func(f *fixture) {
		for i := range 60 {
			f.change(newSession(parley.SessionID(fmt.Sprintf("cli:%02d", i))))
		}
		for _, limit := range []int{-1, 0, 1, 7, 59, 60, 61, parley.MaxPageSize, parley.MaxPageSize + 1} {
			f.equal(fmt.Sprintf("sessions in pages of %d", limit), 60, len(f.list(parley.SessionQuery{Limit: limit})))
		}
	}},
	{"a cursor of another world is invalid", func(f *fixture) {
		f.change(newSession(home))
		for _, cursor := range []string{"x", "!", "\x00", "-1.2.3", "AAAA", "99999999999999999999999999.1", "' OR 1=1"} {
			_, err := f.store.Sessions(f.Context(), all, parley.SessionQuery{Cursor: cursor})
			f.code(fmt.Sprintf("Sessions with cursor %q", cursor), parley.CodeInvalid, err)
		}
	}},
	{"paging while sessions move", pageWhileSessionsMove},
	{"a cursor survives the session it came from", func(f *fixture) {
		for i := range 10 {
			f.change(newSession(parley.SessionID(fmt.Sprintf("cli:%d", i))))
		}
		first, err := f.store.Sessions(f.Context(), all, parley.SessionQuery{Limit: 4})
		if err != nil || len(first.Sessions) != 4 {
			f.Fatalf("Sessions: %d, error %v", len(first.Sessions), err)
		}
		f.change(drop(first.Sessions[3].ID))
		f.reopen()
		f.equal("rest", []parley.SessionID{"cli:5", "cli:4", "cli:3", "cli:2", "cli:1", "cli:0"},
			f.list(parley.SessionQuery{Limit: 4, Cursor: first.Cursor}))
	}},
}

func narrowLists(f *fixture) {
	a := keyedSession("cli:a", theme)
	a.Create.Metadata = map[string]string{"team": "red", "floor": "1"}
	b := newSession("cli:b")
	b.Create.Agent.Name, b.Create.Source.Kind = "coder", "web"
	b.Create.Metadata = map[string]string{"team": "red"}
	f.change(a)
	f.change(b)
	since := f.now
	c := keyedSession("cli:c", theme)
	c.Patch.Status = new(parley.StatusInactive)
	f.change(c)
	d := newSession("cli:d")
	d.Patch.Status = new(parley.StatusRunning)
	f.change(d)

	for _, q := range []struct {
		query parley.SessionQuery
		want  []parley.SessionID
	}{
		{parley.SessionQuery{}, []parley.SessionID{"cli:d", "cli:b", "cli:a"}},
		{parley.SessionQuery{IncludeInactive: true}, []parley.SessionID{"cli:d", "cli:c", "cli:b", "cli:a"}},
		{parley.SessionQuery{Status: parley.StatusIdle}, []parley.SessionID{"cli:b", "cli:a"}},
		{parley.SessionQuery{Status: parley.StatusIdle, IncludeInactive: true}, []parley.SessionID{"cli:b", "cli:a"}},
		{parley.SessionQuery{Status: parley.StatusInactive}, []parley.SessionID{"cli:c"}},
		{parley.SessionQuery{Status: parley.StatusAwaitingApproval}, nil},
		{parley.SessionQuery{Source: "web"}, []parley.SessionID{"cli:b"}},
		{parley.SessionQuery{Source: "%"}, nil},
		{parley.SessionQuery{Agent: "helper"}, []parley.SessionID{"cli:d", "cli:a"}},
		{parley.SessionQuery{Key: theme}, []parley.SessionID{"cli:a"}},
		{parley.SessionQuery{Key: theme, IncludeInactive: true}, []parley.SessionID{"cli:c", "cli:a"}},
		{parley.SessionQuery{Key: "sk_v1_none"}, nil},
		{parley.SessionQuery{ActiveSince: since}, []parley.SessionID{"cli:d", "cli:b"}},
		{parley.SessionQuery{ActiveSince: since.Add(time.Microsecond)}, []parley.SessionID{"cli:d"}},
		{parley.SessionQuery{Metadata: map[string]string{"team": "red"}}, []parley.SessionID{"cli:b", "cli:a"}},
		{parley.SessionQuery{Metadata: map[string]string{"team": "red", "floor": "1"}}, []parley.SessionID{"cli:a"}},
		{parley.SessionQuery{Metadata: map[string]string{"floor": ""}}, nil},
		{parley.SessionQuery{Agent: "helper", Status: parley.StatusRunning}, []parley.SessionID{"cli:d"}},
	} {
		for _, q.query.Limit = range []int{0, 1} {
			f.equal("list by "+describe(q.query), q.want, f.list(q.query))
		}
	}
}

// pageWhileSessionsMove reads a list while sessions are used, made and deleted.
// What is promised: a session that was there all the time and did not move is
// seen exactly once; one that moved, which is always to the front, is seen at
// most once.
func pageWhileSessionsMove(f *fixture) {
	const count = 100
	rng := rand.New(rand.NewPCG(fixedSeed, 1))
	for i := range count {
		f.change(newSession(parley.SessionID(fmt.Sprintf("cli:%d", i))))
	}
	moved, gone, seen := map[parley.SessionID]bool{}, map[parley.SessionID]bool{}, map[parley.SessionID]int{}
	q := parley.SessionQuery{Limit: 7}
	for page := 0; ; page++ {
		p, err := f.store.Sessions(f.Context(), all, q)
		if err != nil {
			f.Fatalf("Sessions: %v", err)
		}
		for _, s := range p.Sessions {
			seen[s.ID]++
		}
		if p.Cursor == "" {
			break
		}
		if page > count {
			f.Fatal("the list does not end")
		}
		q.Cursor = p.Cursor
		for range 3 {
			id := parley.SessionID(fmt.Sprintf("cli:%d", rng.IntN(count)))
			if gone[id] {
				continue
			}
			moved[id] = true
			f.change(appendTo(id, say("m", "hello")))
			if rng.IntN(10) == 0 {
				gone[id] = true
				f.change(drop(id))
			}
		}
		f.change(newSession(parley.SessionID(fmt.Sprintf("new:%d", page))))
	}
	for i := range count {
		id := parley.SessionID(fmt.Sprintf("cli:%d", i))
		if n := seen[id]; n > 1 || n == 0 && !moved[id] {
			f.Errorf("session %s was seen %d times (moved: %v)", id, n, moved[id])
		}
	}
}
