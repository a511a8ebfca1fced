package storetest

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/parley-run/parley"
)

// testIdleIsFree: many sessions that nobody uses take no goroutine and no file, and make no read cost more, and neither does a long log. A few
// pages more are what a deeper tree takes.
func testIdleIsFree(f *fixture) {
	const (
		few, many = 100, 2000
		deeper    = 8 // pages
	)
	f.change(newSession(home))
	grow := func(from, to int) {
		const together = 50
		for i := from; i < to; i += together {
			var b parley.Batch
			long := appendTo(home)
			for n := i; n < i+together; n++ {
				id, key := parley.SessionID(fmt.Sprintf("cli:idle%d", n)), parley.Key(fmt.Sprintf("sk_v1_idle%d", n))
				b.Sessions = append(b.Sessions, keyedSession(id, key, reply("m", "hello")))
				long.Events = append(long.Events, reply(fmt.Sprint("m", n), "hello"))
				b.Keys = append(b.Keys, parley.KeyChange{Key: key, Session: id})
				b.Aliases = append(b.Aliases, parley.AliasChange{Alias: parley.Alias(fmt.Sprintf("idle %d", n)), Key: key})
			}
			b.Sessions = append(b.Sessions, long)
			f.commit(b)
		}
	}
	reads := map[string]func(ctx context.Context, s parley.Store) error{
		"a page of sessions": func(ctx context.Context, s parley.Store) error {
			_, err := s.Sessions(ctx, all, parley.SessionQuery{Limit: 20})
			return err
		},
		"an alias": func(ctx context.Context, s parley.Store) error {
			_, err := s.Lookup(ctx, all, "idle 7")
			return err
		},
		"a session": func(ctx context.Context, s parley.Store) error {
			_, err := s.Session(ctx, all, "cli:idle7")
			return err
		},
		"the end of a log": func(ctx context.Context, s parley.Store) error {
			_, err := s.Events(ctx, all, home, parley.EventQuery{Last: true, Limit: 20})
			return err
		},
	}
	measure := func() (costs map[string]int64, goroutines, files int) {
		costs = map[string]int64{}
		for name, read := range reads {
			f.reopen() // what is kept in memory would hide what a read costs
			if err := read(f.Context(), f.store); err != nil {
				f.Fatal(err)
			}
			if f.h.Cost != nil {
				costs[name] = f.h.Cost(f.store)
			}
		}
		list, err := os.ReadDir("/proc/self/fd") // where there is such a thing
		if err != nil {
			list = nil
		}
		return costs, runtime.NumGoroutine(), len(list)
	}
	grow(0, few)
	before, goroutines, files := measure()
	grow(few, many)
	after, moreGoroutines, moreFiles := measure()
	f.Logf("with %d: %v; with %d: %v", few, before, many, after)
	for name, cost := range after {
		if cost > before[name]+deeper {
			f.Errorf("%s costs %d with %d sessions, and %d with %d", name, cost, many, before[name], few)
		}
	}
	if moreGoroutines > goroutines || moreFiles > files {
		f.Errorf("%d sessions have %d goroutines and %d files, %d have %d and %d", many, moreGoroutines, moreFiles, few, goroutines, files)
	}
}
