package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestSpentGoesByAnIndex looks at how queries for usage are carried out: none
// may read rows of others, or a day would take as long as all days.
func TestSpentGoesByAnIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	if err := openStore(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, test := range map[string]struct {
		query parley.SpentQuery
		want  string
	}{
		"days":                 {parley.SpentQuery{}, "SEARCH usage USING INDEX usage_day (day>? AND day<?)"},
		"agent":                {parley.SpentQuery{Agent: "a"}, "SEARCH usage USING PRIMARY KEY (agent=? AND day>? AND day<?)"},
		"identity":             {parley.SpentQuery{Identity: "i"}, "SEARCH usage USING INDEX usage_identity (identity=? AND day>? AND day<?)"},
		"user":                 {parley.SpentQuery{User: "u"}, "SEARCH usage USING INDEX usage_identity (identity=? AND day>? AND day<?)"},
		"user and agent":       {parley.SpentQuery{User: "u", Agent: "a"}, "SEARCH usage USING INDEX usage_identity (identity=? AND day>? AND day<?)"},
		"agent and identity":   {parley.SpentQuery{Identity: "i", Agent: "a"}, "SEARCH usage USING INDEX usage_identity (identity=? AND day>? AND day<?)"},
		"user and an identity": {parley.SpentQuery{User: "u", Identity: "i"}, "SEARCH usage USING INDEX usage_identity (identity=? AND day>? AND day<?)"},
	} {
		s, _, err := c.Prepare("EXPLAIN QUERY PLAN " + sqlite.SpentSQL(test.query))
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for s.Step() {
			plan = append(plan, s.ColumnText(3))
		}
		if err := s.Close(); err != nil || len(plan) == 0 || plan[0] != test.want || strings.Contains(strings.Join(plan, ";"), "SCAN") {
			t.Errorf("%s: plan %q, %v; want %q first and no scan", name, plan, err, test.want)
		}
	}
}

// TestUsageOfAnOlderStore upgrades a store that has no such table: what its log
// says is in it afterwards.
func TestUsageOfAnOlderStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	completed := func(at time.Time, by parley.IdentityID, n int64) parley.NewEvent {
		u := parley.Usage{InputTokens: n, OutputTokens: 2 * n, CacheReadTokens: 3 * n, CacheWriteTokens: 4 * n, CostMicroUSD: 5 * n}
		return parley.NewEvent{At: at, Identity: by, Body: &parley.TurnCompleted{StopReason: parley.StopDone, Usage: u}}
	}
	day := time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
	b := said("cli:a", "hello")
	b.Sessions[0].Events = append(b.Sessions[0].Events,
		completed(day, "web:anna", 1), completed(day.Add(-time.Microsecond), "web:anna", 10), completed(day, "web:ben", 100),
		completed(day.AddDate(0, 0, 1), "", 1_000), completed(time.Time{}, "web:anna", 10_000), completed(time.Time{}, "web:anna", 20_000),
		completed(day.AddDate(5, 0, 0), "web:ben", 0))
	commit(t, s, b)
	queries := []parley.SpentQuery{
		{}, {Identity: "web:anna"}, {Identity: "web:ben"}, {Until: day}, {From: day, Until: day.AddDate(0, 0, 1)}, {Agent: b.Sessions[0].Create.Agent.Name},
	}
	spent := func(s *sqlite.Store) (list []parley.Usage) {
		for _, q := range queries {
			u, err := s.Spent(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, u)
		}
		return list
	}
	want := spent(s)
	if want[0].CostMicroUSD != 5*31_111 {
		t.Fatalf("spent %+v", want[0])
	}
	if err := s.Rebuild(t.Context(), "cli:a"); err != nil {
		t.Fatal(err)
	}
	if got := spent(s)[0]; got != want[0] {
		t.Errorf("%+v after a rebuild, %+v before", got, want[0])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	migrateTo(t, path, 5)
	s = openStore(t, path)
	for i, got := range spent(s) {
		if got != want[i] {
			t.Errorf("%+v: %+v after the upgrade, %+v before", queries[i], got, want[i])
		}
	}
}
