package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parley-run/parley"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		run.talk(t, "hello")
		run("users").says(t, 0, "NAME", "owner", "local:owner")
		run("users", "add", "Ada", "--id", "ada", "--identity", "telegram:7").says(t, 0, "Ada (ada) has the role user", "telegram:7")
		run("users", "add", "Bob", "--id", "adam", "--role", "guest").says(t, 0, "user:adam")
		run("users", "add", "Other", "--id", "ada").complains(t, 1, "(conflict)")
		run("users", "role", "ad", "guest").complains(t, 1, `"ad" may be the user ada or adam`, "(invalid)")
		run("users", "role", "ada", "owner").says(t, 0, "the role owner")
		run("users", "role", "Ada", "user").says(t, 0, "the role user")
		run("users", "role", "owner", "user").complains(t, 1, "(conflict)")
		run("users", "rename", "telegram:7", "Ada Lovelace").says(t, 0, "Ada Lovelace (ada)")
		var list struct {
			Users []struct {
				parley.User
				Identities []parley.Identity
			}
		}
		run("users", "ls", "--json").decode(t, &list)
		if len(list.Users) != 3 || list.Users[0].Name != "Ada Lovelace" || len(list.Users[0].Identities) != 1 || list.Users[1].Role != parley.RoleGuest {
			t.Errorf("users are %+v", list.Users)
		}
		run("users", "rm", "ada").complains(t, 2, "--yes")
		run("users", "rm", "ada", "--yes").says(t, 0, "Removed Ada Lovelace (ada)")
		run("users", "rm", "owner", "--yes").complains(t, 1, "(conflict)")
		run("users", "rm", "nobody", "--yes").complains(t, 1, `there is no user "nobody"`, "(not_found)")
		run("audit").says(t, 0, "user_added", "role_changed", "user_removed", "local:owner")
		var audit struct{ Entries []parley.AuditEntry }
		run("audit", "--action", "role_changed", "--json").decode(t, &audit)
		if len(audit.Entries) != 2 || audit.Entries[0].Nr < audit.Entries[1].Nr || audit.Entries[0].Subject != "ada" {
			t.Errorf("the audit has %+v", audit.Entries)
		}
		run("audit", "--limit", "1", "--json").decode(t, &audit)
		if len(audit.Entries) != 1 {
			t.Errorf("--limit 1 gives %d lines", len(audit.Entries))
		}
		run("audit", "--actor", "telegram:7", "--session", "cli:gone", "--json").decode(t, &audit)
		if len(audit.Entries) != 0 {
			t.Errorf("the audit of nobody has %+v", audit.Entries)
		}
	})
}

func TestUsers_Codes(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		run.talk(t, "hello")
		got := run("users", "link")
		if code := strings.TrimSpace(got.out); len(code) != 9 || code[4] != '-' || !strings.Contains(got.err, "ten minutes") {
			t.Errorf("the code is %q, told with %q", got.out, got.err)
		}
		run("users", "link", "AAAA-AAAA").complains(t, 1, "(not_found)")
		run("users", "pair", "AAAA-AAAA").complains(t, 1, "(not_found)")
		run("users", "unlink", "telegram:9").complains(t, 1, "(not_found)")
		run("users", "unlink", "nonsense").complains(t, 1)
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		run.talk(t, "hello")
		run("users", "add", "Ada", "--id", "ada").says(t, 0)
		got := run("tokens", "add", "--for", "ada", "--name", "a script", "--ttl", "90d")
		secret := strings.TrimSuffix(got.out, "\n")
		if !strings.HasPrefix(secret, "ply_u_") || strings.ContainsAny(secret, " \n") || !strings.Contains(got.err, "user:ada") || strings.Contains(got.err, secret) {
			t.Errorf("the secret is %q, told with %q", got.out, got.err)
		}
		var made struct {
			Secret string
			Token  parley.Token
		}
		run("tokens", "add", "--kind", "channel", "--namespace", "telegram", "--json").decode(t, &made)
		if made.Token.Namespace != "telegram" || !strings.HasPrefix(made.Secret, "ply_c_") {
			t.Errorf("the token is %+v", made)
		}
		run("tokens", "add", "--kind", "join", "--agent", "main").says2(t, "agent main")
		list := run("tokens")
		list.says(t, 0, "a script", "user:ada", "channel telegram", "agent main", "never")
		if strings.Contains(list.out, secret) {
			t.Error("the list shows a secret")
		}
		run("tokens", "revoke", string(made.Token.ID)[:len(made.Token.ID)-4]).says(t, 0, "Revoked "+string(made.Token.ID))
		if got := run("tokens"); strings.Contains(got.out, string(made.Token.ID)) {
			t.Errorf("a revoked token is listed:\n%s", got.out)
		}
		run("tokens", "--all").says(t, 0, string(made.Token.ID), "revoked")
		run("tokens", "revoke", "nope").complains(t, 1, `there is no token "nope"`, "(not_found)")
		run("tokens", "add", "--for", "nobody").complains(t, 1, "(not_found)")
		run("tokens", "add", "--kind", "channel").complains(t, 2, "--namespace")
		run("tokens", "add", "--kind", "join").complains(t, 2, "--agent")
	})
}

// says2 fails unless the program ended well and said all of these on standard error.
func (o outcome) says2(t *testing.T, has ...string) {
	t.Helper()
	for _, text := range has {
		if o.status != 0 || !strings.Contains(o.err, text) {
			t.Errorf("status is %d, standard error %q, want %q in it", o.status, o.err, text)
		}
	}
}

// TestTokens_Work: a token that the command line makes is good at the daemon, whether
// it was made before or while that runs, until it is revoked.
func TestTokens_Work(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	run.talk(t, "hello")
	var before, after struct {
		Secret string
		Token  parley.Token
	}
	run("tokens", "add", "--json").decode(t, &before)
	daemon := serveFolder(t, dir)
	run("tokens", "add", "--json").decode(t, &after)
	run("tokens", "revoke", string(after.Token.ID)).says(t, 0)
	for secret, want := range map[string]int{before.Secret: http.StatusOK, after.Secret: http.StatusUnauthorized, "": http.StatusUnauthorized} {
		if got, err := get(t.Context(), daemon.URL+"/api/me", secret); err != nil || got != want {
			t.Errorf("the status is %d, %v, want %d", got, err, want)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	daemon := serveFolder(t, dir)
	got := run("login")
	link := strings.TrimSpace(got.out)
	if !strings.HasPrefix(link, daemon.URL+"/login?code=") || !strings.Contains(got.err, "ten minutes") {
		t.Fatalf("login printed %q and %q", got.out, got.err)
	}
	if status, err := get(t.Context(), link, ""); err != nil || status != http.StatusOK {
		t.Errorf("the link gives %d, %v", status, err)
	}
	var linked struct{ URL, Code string }
	run("login", "--url", "https://parley.example.com/", "--json").decode(t, &linked)
	if linked.URL != "https://parley.example.com/login?code="+linked.Code || linked.Code == "" {
		t.Errorf("the link is %+v", linked)
	}
	run("login", "--url", "parley.example.com").complains(t, 2, "https://")
}
