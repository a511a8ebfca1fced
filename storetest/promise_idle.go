package storetest

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/parley-run/parley"
)

// testIdleIsFree: many sessions that nobody uses take no goroutine and no file, and make no read cost more, and neither does a long log. A few
// pages more are what a deeper tree takes. Sessions that were used are idle, too: what a store keeps of them for the next use is bounded.
func testIdleIsFree(f *fixture) {
	const (
		few, many   = 100, 2000
		morePages   = 8       // pages
		moreHandles = 8       // goroutines, and files, that a store begins to need only after a while
		moreBytes   = 2 << 20 // bytes of memory that a store may keep for sessions that were used
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
	costsOfReads := func() map[string]int64 {
		costs := map[string]int64{}
		for name, read := range reads {
			f.reopen() // what is kept in memory would hide what a read costs
			if err := read(f.Context(), f.store); err != nil {
				f.Fatal(err)
			}
			if f.h.Cost != nil {
				costs[name] = f.h.Cost(f.store)
			}
		}
		return costs
	}
	use := func(from, to int) {
		for i := from; i < to; i++ {
			id := parley.SessionID(fmt.Sprintf("cli:idle%d", i))
			f.change(appendTo(id, reply("used", "hello again")))
			f.session(id)
		}
	}
	grow(0, few)
	before := costsOfReads()
	use(0, few)
	ofFew := takeFootprint()
	grow(few, many)
	use(few, many)
	ofMany := takeFootprint()
	after := costsOfReads()
	f.Logf("with %d: %v, %+v; with %d: %v, %+v", few, before, ofFew, many, after, ofMany)
	for name, cost := range after {
		if cost > before[name]+morePages {
			f.Errorf("%s costs %d with %d sessions, and %d with %d", name, cost, many, before[name], few)
		}
	}
	if ofMany.goroutines > ofFew.goroutines+moreHandles || ofMany.files > ofFew.files+moreHandles || ofMany.memory > ofFew.memory+moreBytes {
		f.Errorf("%d sessions that were used hold %+v, %d hold %+v", many, ofMany, few, ofFew)
	}
}

// footprint is what a process holds.
type footprint struct {
	goroutines, files int
	memory            uint64 // bytes, without what is garbage
}

func takeFootprint() footprint {
	list, err := os.ReadDir("/proc/self/fd") // where there is such a thing
	if err != nil {
		list = nil
	}
	runtime.GC()
	runtime.GC() // what pools have kept goes at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), len(list), m.HeapAlloc}
}
