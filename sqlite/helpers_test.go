package sqlite_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/sqlite"
)

var instant = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// said is a batch that makes a session with one message.
func said(id parley.SessionID, text string) parley.Batch {
	return parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: id,
		Create: &parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect,
		},
		Events: []parley.NewEvent{{Body: &parley.Message{
			ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text)},
		}}},
	}}}
}

func commit(t testing.TB, s parley.Store, b parley.Batch) parley.Result {
	t.Helper()
	result, err := s.Commit(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// newcomer makes a session of a number.
func newcomer(i int) parley.Batch {
	source := parley.Source{Kind: "web"}
	return parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: parley.SessionID(fmt.Sprintf("web:%d", i)),
		Create:  &parley.NewSession{Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: source},
		Events:  []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}},
	}}}
}

func redact(id parley.SessionID, seqs ...uint64) parley.Batch {
	return parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: id, Redact: seqs}}}
}

// words reads the messages of a session as a turn does.
func words(ctx context.Context, t testing.TB, s parley.Store, id parley.SessionID) []parley.Event {
	t.Helper()
	events, err := s.Events(ctx, parley.SeeAll(), id, parley.EventQuery{Types: []parley.EventType{parley.EventMessage}, Limit: parley.MaxPageSize})
	if err != nil {
		t.Error(err)
	}
	for i, e := range events {
		if e.Session != id || i > 0 && e.Seq <= events[i-1].Seq {
			t.Errorf("event %d of %s comes as %d of %q", e.Seq, id, i, e.Session)
		}
	}
	return events
}

// useVFS registers a VFS for the time of the test and gives a config for it.
func useVFS(t *testing.T, v vfs.VFS) sqlite.Config {
	t.Helper()
	name := fmt.Sprintf("test_%p", v)
	vfs.Register(name, v)
	t.Cleanup(func() { vfs.Unregister(name) })
	return sqlite.WithVFS(sqlite.Config{}, name)
}

// unsynced is a config for checks of what survived. There are many, and real syncs would make
// them wait for the disk without proving more.
func unsynced(t *testing.T) sqlite.Config {
	t.Helper()
	return useVFS(t, faultvfs.NewDisk(0))
}

// plan gives how a statement is carried out.
func plan(t *testing.T, c *sqlite3.Conn, sql string) (steps []string) {
	t.Helper()
	s, _, err := c.Prepare("EXPLAIN QUERY PLAN " + sql)
	if err != nil {
		t.Fatal(err)
	}
	for s.Step() {
		steps = append(steps, s.ColumnText(3))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return steps
}

// column gives one column of what a statement gives.
func column(t *testing.T, c *sqlite3.Conn, sql string, i int) (values []string) {
	t.Helper()
	s, _, err := c.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	for s.Step() {
		values = append(values, s.ColumnText(i))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return values
}

// crowdTally counts what the parts of a test have committed in a crowd.
type crowdTally struct {
	parts, commits atomic.Int64
}

func (c *crowdTally) add(commits int) {
	c.parts.Add(1)
	c.commits.Add(int64(commits))
}

// wantCrowds fails a test in the end if it has committed nothing in a crowd, and all its parts have run.
func wantCrowds(t *testing.T, parts int) *crowdTally {
	t.Helper()
	c := &crowdTally{}
	t.Cleanup(func() {
		t.Logf("%d commits in a crowd", c.commits.Load())
		if c.parts.Load() == int64(parts) && c.commits.Load() == 0 {
			t.Error("nothing was committed in a crowd")
		}
	})
	return c
}
