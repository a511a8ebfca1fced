package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// problems gives what Check says of a store, in order.
func problems(ctx context.Context, s *sqlite.Store) (found []string, err error) {
	err = s.Check(ctx, func(p parley.Problem) {
		found = append(found, strings.TrimSpace(p.Kind+" "+string(p.Session))+": "+p.Detail)
	})
	slices.Sort(found)
	return found, err
}

// anyProblem says what Check says of a store that was changed by commits alone.
func anyProblem(ctx context.Context, s *sqlite.Store) error {
	found, err := problems(ctx, s)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("commits alone led to %q", found)
	}
	return err
}

// kindOf gives which of the queries for orphans spoke; empty: it was none of them.
func kindOf(problem string) string {
	detail, ok := strings.CutPrefix(problem, "orphan: ")
	if !ok {
		return ""
	}
	kind, _, _ := strings.Cut(detail, ": ")
	return kind
}

// harms are changes of a filled store behind its back, and all that Check says of each. Where a row is
// changed rather than added, that is so that no other check has something to say.
var harms = map[string]struct {
	sql  string
	want []string
}{
	"nothing": {sql: `UPDATE blobs SET type = 'image/jpeg'`},

	"a log beside the others": {
		`INSERT INTO events (pos, id, type, at, body) SELECT 1000, 99 << 32 | 1, type, at, body FROM events WHERE id = 1 << 32 | 1`,
		[]string{"orphan: a log that no session shows: 99"},
	},
	"no head": {`DELETE FROM heads WHERE nr = 3`, []string{"orphan: a session without its head: cli:plain"}},
	"no session of a head": {
		`DELETE FROM sessions WHERE id = 'cli:plain'`,
		[]string{"orphan: the head of a missing session: 3"},
	},
	"no agent": {
		`UPDATE sessions SET snapshot = 99 WHERE id = 'cli:plain'`,
		[]string{"orphan: a session whose agent is missing: cli:plain"},
	},
	"a key to nothing": {
		`UPDATE keys SET current = 'cli:gone' WHERE key = 'sk_v1_idle'`,
		[]string{"orphan: a key that leads to a missing session: sk_v1_idle"},
	},
	"no key": {
		`UPDATE sessions SET key = 'sk_v1_gone' WHERE id = 'cli:plain'`,
		[]string{"orphan: a session whose key is missing: cli:plain"},
	},
	"an alias of nothing": {`UPDATE aliases SET key = 99`, []string{"orphan: an alias of a missing key: work"}},
	"a share in no log": {
		`UPDATE session_logs SET log = 99 WHERE session = 4`,
		[]string{"orphan: a fork's share in a missing log: 99"},
	},
	"a share beyond the end of a log": {
		`UPDATE session_logs SET upto = 50 WHERE session = 5`,
		[]string{"orphan: a fork's share in a missing log: 2"},
	},
	"a share of nobody": {
		`INSERT INTO session_logs (session, log, upto) VALUES (99, 1, 3)`,
		[]string{"orphan: a missing session's share in a log: 1"},
	},
	"a participant of nothing": {
		`INSERT INTO participants (session, identity) VALUES (99, 'cli:eve')`,
		[]string{"orphan: a participant of a missing session: cli:eve"},
	},
	"an input that outlived its session": {
		`UPDATE inputs SET gone = NULL WHERE origin = 'cli/gone' AND id = '1'`,
		[]string{"orphan: an input of a missing session: cli/gone 1"},
	},
	"an input at no event": {
		`UPDATE inputs SET seq = 99 WHERE origin = 'cli/work' AND id = '4'`,
		[]string{"orphan: an input without its event: cli/work 4"},
	},
	"an input at another event": {
		`UPDATE inputs SET seq = 1 WHERE origin = 'cli/work' AND id = '4'`,
		[]string{"orphan: an input without its event: cli/work 4"},
	},
	"an input shown by nothing": {
		`UPDATE inputs SET shown = 99 WHERE origin = 'cli/work' AND id = '4'`,
		[]string{"orphan: an input without the message that shows it: cli/work 4"},
	},
	"an input shown by itself": {
		`UPDATE inputs SET shown = seq WHERE origin = 'cli/work' AND id = '4'`,
		[]string{"orphan: an input without the message that shows it: cli/work 4"},
	},
	"a redacted input at no event": {
		`INSERT INTO redacted_inputs (event, origin, id) VALUES (99 << 32 | 1, 'cli/work', '4')`,
		[]string{"orphan: a redacted input without its event: cli/work 4"},
	},
	"a redacted input at another event": {
		`INSERT INTO redacted_inputs (event, origin, id) VALUES (1 << 32 | 9, 'cli/work', '4')`,
		[]string{"orphan: a redacted input without its event: cli/work 4"},
	},
	"a turn of nothing": {
		`INSERT INTO turns (session, id, state, attempt, cancel, stop_reason, started_at, updated_at) VALUES (99, 't9', 'running', 1, 0, '', 1, 1)`,
		[]string{"orphan: a turn of a missing session: t9"},
	},
	"a call of no turn":             {`UPDATE calls SET turn = 't9' WHERE id = 'c1'`, []string{"orphan: a call of a turn that is not open: c1"}},
	"a call of a turn that is over": {`UPDATE calls SET turn = 't1' WHERE id = 'c1'`, []string{"orphan: a call of a turn that is not open: c1"}},
	"a call of another session":     {`UPDATE calls SET session = 3 WHERE id = 'c1'`, []string{"orphan: a call of a turn that is not open: c1"}},
	"an approval of no turn":        {`UPDATE approvals SET turn = 't9' WHERE turn = 't2'`, []string{"orphan: an approval of a missing turn: c1"}},
	"an approval of another session": {
		`UPDATE approvals SET session = 3 WHERE turn = 't2'`,
		[]string{"orphan: an approval of a missing turn: c1"},
	},
	"a delivery of nothing": {
		`UPDATE outbox SET session = 99 WHERE id = 't1.1'`,
		[]string{"orphan: a delivery of a missing session: t1.1"},
	},
	"a part of nothing":   {`UPDATE outbox SET first = 99 WHERE id = 't1.2'`, []string{"orphan: a part of a missing delivery: t1.2"}},
	"a notice of nothing": {`UPDATE notices SET session = 99 WHERE id = 't1'`, []string{"orphan: a notice of a missing session: t1"}},
	"a reference to nothing": {
		`INSERT INTO blob_refs (blob, event) SELECT 99, event FROM blob_refs`,
		[]string{"orphan: a reference to a missing blob: 1 11"},
	},
	"a reference of nothing": {
		`INSERT INTO blob_refs (blob, event) SELECT blob, 99 << 32 | 1 FROM blob_refs`,
		[]string{"orphan: a reference of a missing or redacted event: blob_shown"},
	},
	"a reference of what was redacted": {
		`UPDATE events SET body = '{"redacted":true}' WHERE id = (SELECT event FROM blob_refs)`,
		[]string{"orphan: a reference of a missing or redacted event: blob_shown"},
	},
	"a blob used by nothing": {
		`UPDATE blobs SET unused_since = NULL WHERE handle = 'blob_unused'`,
		[]string{"orphan: a blob that is said to be used by nothing: blob_unused"},
	},
	"a blob that is used after all": {
		`UPDATE blobs SET unused_since = 1 WHERE handle = 'blob_shown'`,
		[]string{"orphan: a blob that is said to be unused: blob_shown"},
	},
	"an identity of nobody": {
		`UPDATE identities SET user = 'eve' WHERE id = 'cli:guest'`,
		[]string{"orphan: an identity of a missing user: cli:guest"},
	},

	"an event behind the last one": {
		`UPDATE heads SET last_seq = 10 WHERE nr = 1`,
		[]string{"last_seq cli:work: the session says its last event is 10, its log says 11"},
	},
	"an index of something else": {
		`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '(session)', '(via)') WHERE name = 'audit_session'`,
		[]string{"damaged file: row 1 missing from index audit_session"},
	},
}

// TestCheck: each check finds what it is for, says so, and no other has anything to say of it.
func TestCheck(t *testing.T) {
	t.Parallel()
	filled := filledStore(t)
	for name, c := range harms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rawStore(t, filled, false, c.sql).write(t, dir)
			s := openWith(t, filepath.Join(dir, "store.db"), sqlite.Config{ReadOnly: true})
			found, err := problems(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, found, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheck_DamagedPage: what is wrong with a page is said line by line.
func TestCheck_DamagedPage(t *testing.T) {
	t.Parallel()
	const page = 4096
	dir := t.TempDir()
	filledStore(t).write(t, dir)
	path := filepath.Join(dir, "store.db")
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	root, err := strconv.ParseInt(column(t, c, `SELECT rootpage FROM sqlite_schema WHERE name = 'audit'`, 0)[0], 10, 64)
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, page), (root-1)*page)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := problems(t.Context(), openWith(t, path, sqlite.Config{ReadOnly: true}))
	if len(found) == 0 {
		t.Errorf("nothing was found, %v", err) // it may end there, because the rest cannot be read
	}
	for _, problem := range found {
		if !strings.HasPrefix(problem, "damaged file: ") || strings.ContainsAny(problem, "*\n") || problem == "damaged file: " {
			t.Errorf("it says %q", problem)
		}
	}
}

// TestCheck_AllAreTested: there is a harm for each query, and no two say the same, or a harm for one would do for both.
func TestCheck_AllAreTested(t *testing.T) {
	t.Parallel()
	var want, have []string
	for _, o := range sqlite.Orphans() {
		want = append(want, o.Kind)
	}
	for _, c := range harms {
		for _, problem := range c.want {
			if kind := kindOf(problem); kind != "" {
				have = append(have, kind)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, slices.Compact(have)); diff != "" {
		t.Errorf("what the queries say and what harms lead to (-want +got):\n%s", diff)
	}
}

// TestCheck_FilledStore: an empty table would keep a check from saying something wrong of a store that is well.
func TestCheck_FilledStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	filledStore(t).write(t, dir)
	c, err := sqlite3.Open(filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tables := column(t, c, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`, 0)
	if len(tables) == 0 {
		t.Error("there are no tables")
	}
	for _, table := range tables {
		if rows := column(t, c, `SELECT 1 FROM `+table, 0); len(rows) == 0 {
			t.Errorf("table %s is empty", table)
		}
	}
}

// TestCheck_Plans: each query goes through one table and looks up the rest, so that it takes as long as the table is.
func TestCheck_Plans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	filledStore(t).write(t, dir)
	c, err := sqlite3.Open(filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, o := range sqlite.Orphans() {
		plan := column(t, c, `EXPLAIN QUERY PLAN `+o.SQL, 3)
		scans := 0
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") {
				scans++
			}
		}
		if all := strings.Join(plan, "; "); scans > 1 || strings.Contains(all, "AUTOMATIC") || len(plan) == 0 {
			t.Errorf("%s: %s", o.Kind, all)
		}
	}
}
