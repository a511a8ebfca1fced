package sqlite_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// credentialBatches make, change and use up everything there is of credentials.
func credentialBatches() []parley.Batch {
	token := parley.Token{ID: "one", Kind: parley.TokenUser, Hash: [32]byte{1}, Identity: "web:anna"}
	code := parley.Passcode{Hash: [32]byte{1}, Kind: parley.PasscodeLink, Identity: "web:anna", ExpiresAt: instant.Add(time.Hour)}
	return []parley.Batch{
		{
			At: instant, Tokens: []parley.TokenChange{{New: &token}}, Passcodes: []parley.PasscodeChange{{New: &code}},
			Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: "web:anna"}}},
			Audit:      []parley.AuditEntry{{Action: "sign_in", Actor: "web:anna", Session: "cli:a"}},
		}, {
			At:        instant,
			Tokens:    []parley.TokenChange{{ID: "one", Revoke: true, Used: instant}, {ID: "one", Remove: true}},
			Passcodes: []parley.PasscodeChange{{Use: code.Hash}},
		},
	}
}

// TestCredentialsGoByAnIndex looks at how all that reads or writes credentials is
// carried out: nothing may look at every row, or sort.
func TestCredentialsGoByAnIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	for _, b := range credentialBatches() {
		commit(t, s, b)
	}
	ctx := t.Context()
	_, _ = s.TokenByHash(ctx, [32]byte{1})
	_, _ = s.Passcode(ctx, [32]byte{1}, instant)
	for _, of := range []parley.IdentityID{"", "web:anna"} {
		if _, err := s.Tokens(ctx, of, "", 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.AllIdentities(ctx, "", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Audit(ctx, parley.AuditQuery{}); err != nil {
		t.Fatal(err)
	}
	statements, err := sqlite.Statements(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	statements = append(statements, sqlite.ReadStatements(s)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ours := regexp.MustCompile(`\b(tokens|passcodes|audit|identities)\b`)
	looked := map[string]int{}
	for _, sql := range statements {
		if !ours.MatchString(sql) {
			continue
		}
		looked[ours.FindString(sql)]++
		steps := strings.Join(plan(t, c, sql), "; ")
		if strings.Contains(steps, "SCAN") || strings.Contains(steps, "TEMP B-TREE") {
			t.Errorf("%s\nis carried out by: %s", sql, steps)
		}
	}
	if looked["tokens"] < 8 || looked["passcodes"] < 6 || looked["audit"] < 2 || looked["identities"] < 2 {
		t.Errorf("looked at %v statements only", looked)
	}
}

// TestAuditGoesByTheBestIndex: what is asked for together is found by what has the
// fewest lines.
func TestAuditGoesByTheBestIndex(t *testing.T) {
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
	for _, test := range []struct {
		query parley.AuditQuery
		want  string
	}{
		{parley.AuditQuery{}, "USING INTEGER PRIMARY KEY (rowid<?)"},
		{parley.AuditQuery{Action: "a"}, "USING INDEX audit_action (action=? AND rowid<?)"},
		{parley.AuditQuery{Actor: "a:b"}, "USING INDEX audit_actor (actor=? AND rowid<?)"},
		{parley.AuditQuery{Actor: "a:b", Action: "a"}, "USING INDEX audit_actor_action (actor=? AND action=? AND rowid<?)"},
		{parley.AuditQuery{Session: "a:b"}, "USING INDEX audit_session (session=? AND rowid<?)"},
		{parley.AuditQuery{Session: "a:b", Action: "a"}, "USING INDEX audit_session (session=? AND rowid<?)"},
		{parley.AuditQuery{Session: "a:b", Actor: "a:b"}, "USING INDEX audit_session (session=? AND rowid<?)"},
		{parley.AuditQuery{Session: "a:b", Actor: "a:b", Action: "a"}, "USING INDEX audit_session (session=? AND rowid<?)"},
	} {
		if diff := cmp.Diff([]string{"SEARCH audit " + test.want}, plan(t, c, sqlite.AuditSQL(test.query))); diff != "" {
			t.Errorf("%+v: %s", test.query, diff)
		}
	}
}

// TestCredentialsOfAnOlderStore goes back to the format without credentials and
// up again: there are none, people are still there, and the tables work.
func TestCredentialsOfAnOlderStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, credentialBatches()[0])
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	migrateTo(t, path, 6)
	s = openStore(t, path)
	tokens, err := s.Tokens(t.Context(), "", "", 0)
	if err != nil || len(tokens) > 0 {
		t.Errorf("tokens %v, %v", tokens, err)
	}
	lines, err := s.Audit(t.Context(), parley.AuditQuery{})
	if err != nil || len(lines) > 0 {
		t.Errorf("audit %v, %v", lines, err)
	}
	people, err := s.AllIdentities(t.Context(), "", 0)
	if err != nil || len(people) != 1 {
		t.Errorf("identities %v, %v", people, err)
	}
	for _, b := range credentialBatches() {
		commit(t, s, b)
	}
}
