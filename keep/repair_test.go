package keep_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/sqlite"
)

// A log that cannot be read cannot be added up. What waits for that is left, and says so.
func TestDoctor_CannotRebuild(t *testing.T) {
	t.Parallel()
	const queue = `(SELECT nr FROM sessions WHERE id = 'cli:queue')`
	for name, c := range map[string]struct {
		harm string
		want []string
	}{
		"forgotten inputs": {
			harm: `UPDATE events SET body = '{"agent":1}' WHERE id = ` + queue + ` << 32 | 1; UPDATE heads SET queued = 0 WHERE nr = ` + queue,
			want: []string{"cli:queue event", "cli:queue queued"},
		},
		"an event that is not read": {
			harm: `UPDATE events SET body = '{"id":1}' WHERE id = ` + queue + ` << 32 | 4; UPDATE heads SET last_seq = 3 WHERE nr = ` + queue,
			want: []string{"cli:queue last_seq"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := clinic(t)
			harm(t, path, c.harm)
			store := open(t, path, false)
			for _, rebuild := range []bool{false, true} {
				report := doctor(t, store, keep.Config{Rebuild: rebuild})
				if diff := cmp.Diff(c.want, named(report)); diff != "" || report.Fixed != 0 || report.Remaining != int64(len(c.want)) {
					t.Errorf("with a rebuild: %v, fixed %d, found (-want +got):\n%s", rebuild, report.Fixed, diff)
				}
				for _, f := range report.Findings {
					if told := strings.Contains(f.Detail, "rebuilding failed: "); f.Rebuildable && told != rebuild {
						t.Errorf("with a rebuild: %v, the finding is %+v", rebuild, f)
					}
				}
			}
		})
	}
}

// A session that a rebuild moves to a later page of the list is reported once.
func TestDoctor_RebuildMovesSession(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	store := open(t, path, false)
	const sessions = 1200
	for from := 0; from < sessions; from += 200 {
		commit(t, store, crowd(from, from+200))
	}
	long := parley.SessionChange{Session: "cli:old", Create: fresh("")}
	for range 3 {
		long.Events = append(long.Events, parley.NewEvent{Body: &parley.Updated{Fields: []string{"title"}}})
	}
	commit(t, store, parley.Batch{At: noon.Add(-time.Hour), Sessions: []parley.SessionChange{long}})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	const old = `(SELECT nr FROM sessions WHERE id = 'cli:old')`
	harm(t, path, `DELETE FROM events WHERE id = `+old+` << 32 | 2; UPDATE heads SET queued = 1, updated_at = updated_at + 1000000000000 WHERE nr = `+old)
	report := doctor(t, open(t, path, false), keep.Config{Rebuild: true, Workers: 1})
	if diff := cmp.Diff([]string{"cli:old gap", "cli:old queued"}, named(report)); diff != "" || report.Sessions != sessions+1 {
		t.Errorf("checked %d sessions, found (-want +got):\n%s", report.Sessions, diff)
	}
}

// shortList is a store whose list of sessions cannot be read.
type shortList struct{ *sqlite.Store }

func (shortList) Sessions(context.Context, parley.Visibility, parley.SessionQuery) (parley.SessionPage, error) {
	return parley.SessionPage{}, parley.Errorf(parley.CodeInternal, "a row is damaged")
}

// A session that the list does not give is rebuilt for what the store has found.
func TestDoctor_RebuildsUnlisted(t *testing.T) {
	t.Parallel()
	path := clinic(t)
	harm(t, path, `UPDATE heads SET last_seq = 3 WHERE nr = (SELECT nr FROM sessions WHERE id = 'cli:queue')`)
	store := open(t, path, false)
	report := doctor(t, shortList{store}, keep.Config{Rebuild: true})
	if diff := cmp.Diff([]string{" unreadable", "cli:queue last_seq"}, named(report)); diff != "" || report.Fixed != 1 || report.Remaining != 1 {
		t.Errorf("fixed %d, found (-want +got):\n%s", report.Fixed, diff)
	}
	if report := doctor(t, store, keep.Config{}); !report.OK() {
		t.Errorf("afterwards: %v", named(report))
	}
}
