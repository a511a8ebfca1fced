package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/sqlite"
)

// losses are what a store no longer has after it was taken to a format below the one that is named, and up again, because that
// could not hold it. They are statements that do the same to a store of the newest format.
var losses = []struct {
	format int // the first that can hold it
	sql    string
}{
	// Batches were not written down, so they are numbered from the start.
	{13, `UPDATE intents SET applied = 0`},
	// A delivery was text alone.
	{9, `UPDATE outbox SET media = ''`},
	// Before that it was a message that stood for itself. Its chat follows from its target, so that is as it was.
	{8, `UPDATE outbox SET kind = 'message', call = NULL, first = nr, markup = '', draft = 0, again = 0, attempted_at = NULL`},
	// Where a session was last spoken to from was not kept.
	{8, `UPDATE sessions SET chat = NULL`},
	// There were no such tables.
	{7, `DELETE FROM tokens; DELETE FROM passcodes; DELETE FROM audit`},
	// There was none, but it is added up from the logs of the sessions that are there. One that was deleted had this agent.
	{6, `DELETE FROM usage WHERE agent = 'fleeting'`},
	// There were no such tables.
	{5, `DELETE FROM blobs; DELETE FROM blob_refs`},
	{4, `DELETE FROM users; DELETE FROM identities`},
	{3, `DELETE FROM outbox`},
	// Nor these, though sessions still have the events of inputs and turns, and the count of those that wait.
	{2, `DELETE FROM inputs; DELETE FROM redacted_inputs; DELETE FROM turns; DELETE FROM calls; DELETE FROM approvals; DELETE FROM notices`},
	// There was nothing. The store is made anew, with an id and a secret.
	{1, `DELETE FROM meta WHERE name NOT IN ('store_id', 'secret'); DELETE FROM snapshots; DELETE FROM sessions; DELETE FROM sqlite_sequence;
		DELETE FROM heads; DELETE FROM events; DELETE FROM session_logs; DELETE FROM keys; DELETE FROM aliases; DELETE FROM participants;
		DELETE FROM usage`},
}

// madeAnew are columns that an upgrade to a format fills with what cannot be foretold.
var madeAnew = []struct {
	format int
	column tableColumn
}{
	// Random, so that files which another life of the store has left beside it do not count.
	{13, tableColumn{"intents", "id"}},
	// The order in which rows were added, which was not kept. Nobody asks for it.
	{12, tableColumn{"inputs", "nr"}},
	{12, tableColumn{"turns", "nr"}},
	// The id and the secret of a new store.
	{1, tableColumn{"meta", "value"}},
}

// TestMigrationsKeepEveryRow takes a store with something in every column to each older format and up again. Then it has what
// it had but for what the older format could not hold, and works like a store that never had that.
func TestMigrationsKeepEveryRow(t *testing.T) {
	t.Parallel()
	filled := filepath.Join(t.TempDir(), "parley.db")
	fillEveryTable(t, filled)
	checkEveryColumnVaries(t, filled)
	for format := sqlite.NewestVersion() - 1; format >= 0; format-- {
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) {
			t.Parallel()
			migrated, expected := copyAtRest(t, filled), copyAtRest(t, filled)
			migrateTo(t, migrated, format)
			if diff := cmp.Diff(shapeOf(t, emptyOfFormat(t, format)), shapeOf(t, migrated)); diff != "" {
				t.Errorf("on the way down it became another schema than on the way up (-want +got):\n%s", diff)
			}
			if format > 0 { // else there is nothing
				compareRows(t, "in the older format", expected, migrated, columnsOfBoth(t, expected, migrated))
			}

			if err := openStore(t, migrated).Close(); err != nil {
				t.Fatal(err)
			}
			for _, l := range losses {
				if l.format > format {
					execute(t, expected, l.sql)
				}
			}
			known := columnsKnown(t, expected, format)
			compareRows(t, "after the upgrade", expected, migrated, known)

			want, got := openStore(t, expected), openStore(t, migrated)
			compareReads(t, "after the upgrade", want, got)
			for i, b := range workAfterwards() {
				compareCommits(t, fmt.Sprintf("batch %d after the upgrade", i), want, got, b)
			}
			compareReads(t, "after more work", want, got)
			for _, s := range []*sqlite.Store{want, got} {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range []string{expected, migrated} { // what was written down besides depends on when it came
				execute(t, path, `UPDATE intents SET applied = 0`)
			}
			compareRows(t, "after more work", expected, migrated, known)
		})
	}
}

// checkEveryColumnVaries makes sure that every table of the newest format has rows, and every column more than one value: else a
// migration could leave it out, or set it to the same everywhere, and nobody would see.
func checkEveryColumnVaries(t *testing.T, path string) {
	t.Helper()
	columns := columnsOf(t, path)
	rows := rowsOf(t, path, columns)
	for _, c := range columns {
		if c.table == "intents" || c.table == "sqlite_sequence" {
			if len(rows[c.table]) != 1 {
				t.Errorf("%d rows in table %s, which has one", len(rows[c.table]), c.table)
			}
			continue
		}
		values := map[string]bool{}
		for _, row := range rows[c.table] {
			values[row[c.name]] = true
		}
		if len(values) < 2 {
			t.Errorf("%d different values in %s.%s; make rows with more, and say in losses what becomes of them", len(values), c.table, c.name)
		}
	}
}

// emptyOfFormat makes an empty store of a format, by the steps that lead up to it alone.
func emptyOfFormat(t *testing.T, format int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "empty.db")
	if err := openStore(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	migrateTo(t, path, 0, format)
	return path
}

// columnsOfBoth gives the columns that two stores have.
func columnsOfBoth(t *testing.T, one, other string) []tableColumn {
	t.Helper()
	there := columnsOf(t, other)
	return slices.DeleteFunc(columnsOf(t, one), func(c tableColumn) bool { return !slices.Contains(there, c) })
}

// columnsKnown gives the columns but for those that an upgrade from a format makes anew.
func columnsKnown(t *testing.T, path string, format int) []tableColumn {
	t.Helper()
	return slices.DeleteFunc(columnsOf(t, path), func(c tableColumn) bool {
		for _, m := range madeAnew {
			if m.format > format && m.column == c {
				return true
			}
		}
		return false
	})
}
