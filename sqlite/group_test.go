package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestGroupTakesInWhoComes: batches that come while a group is applied are committed
// with it.
func TestGroupTakesInWhoComes(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commits, err := sqlite.CountTransactions(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	release := sqlite.HoldWritingGroup(s)
	const together = 20
	var all sync.WaitGroup
	for i := range together {
		all.Go(func() {
			source := parley.Source{Kind: "web"}
			if _, err := s.Commit(t.Context(), parley.Batch{At: instant, Sessions: []parley.SessionChange{{
				Session: parley.SessionID(fmt.Sprintf("web:%d", i)),
				Create:  &parley.NewSession{Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: source},
				Events:  []parley.Draft{{Body: &parley.Started{Agent: "main", Source: source}}},
			}}}); err != nil {
				t.Error(err)
			}
		})
	}
	for tick := time.NewTicker(time.Millisecond); sqlite.QueuedRequests(s) < together && !t.Failed(); <-tick.C {
	}
	release()
	all.Wait()
	if n := commits.Load(); n != 1 {
		t.Errorf("%d transactions were committed, not 1", n)
	}
}
