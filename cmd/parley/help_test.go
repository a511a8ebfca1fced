package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// helpOf gives the help of a command and of those below it.
func helpOf(t *testing.T, path ...string) string {
	t.Helper()
	got := parleyRun(t, t.TempDir(), append(path, "--help")...)
	got.says(t, 0)
	if lines := strings.Count(got.out, "\n"); lines > 30 {
		t.Errorf("the help of parley %s is not short: %d lines", strings.Join(path, " "), lines)
	}
	text := fmt.Sprintf("$ parley %s --help\n%s\n", strings.Join(path, " "), got.out)
	_, commands, _ := strings.Cut(got.out, "\nCommands:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		if name := strings.Fields(line)[0]; name != "completion" {
			text += helpOf(t, append(slices.Clip(path), name)...)
		}
	}
	return text
}

// TestHelp_Golden holds the help of every command. PARLEY_UPDATE=1 writes it anew.
func TestHelp_Golden(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "help.txt")
	got := helpOf(t)
	if os.Getenv("PARLEY_UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the help is not that of %s; if it should change, run the test with PARLEY_UPDATE=1. It is\n%s", path, got)
	}
}

func TestDeskUsage(t *testing.T) {
	t.Parallel()
	for line, has := range map[string]string{
		"sessions shwo x":               "did you mean 'parley sessions show'?",
		"sessions search x":             "there is no command 'parley sessions search'",
		"sessions export x":             "there is no command 'parley sessions export'",
		"sessions show":                 "the id of a session",
		"sessions show a b":             "the id of a session",
		"sessions show x --messages -1": "--messages",
		"sessions rename x":             "a title",
		"sessions redact x":             "the numbers of events",
		"sessions redact x one":         `"one" is no number`,
		"sessions redact x 0":           `"0" is no number`,
		"sessions rewind x --turns 0":   "--turns",
		"sessions fork x --at -1":       "--at",
		"sessions tail x -n -1":         "--events",
		"sessions ls extra":             `"extra"`,
		"sessions ls --status asleep":   "idle, running, awaiting_approval or inactive",
		"sessions ls --since yesterday": "--since must be how long ago",
		"sessions ls --limit 0":         "--limit",
		"users frob":                    "there is no command 'parley users frob'",
		"users add":                     "a name",
		"users add Ada --role king":     "owner, user or guest",
		"users role Ada":                "a role",
		"users role Ada king":           "owner, user or guest",
		"users link a b":                "a code",
		"users pair":                    "the code",
		"users pair X --role king":      "owner, user or guest",
		"tokens add --kind owner":       "user, channel or join",
		"tokens add --ttl soon":         "90m, 24h or 30d",
		"tokens add --ttl 0d":           "--ttl",
		"tokens add --ttl -1h":          "--ttl",
		"tokens revoke":                 "the id of a token",
		"audit --limit -5":              "--limit",
		"login extra":                   `"extra"`,
		"status --jsn":                  "--jsn",
		"ps extra":                      `"extra"`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			parleyRun(t, t.TempDir(), strings.Fields(line)...).complains(t, 2, has)
		})
	}
}

// hostile is a text that tries to command a terminal, to forge a line, and to turn
// itself around.
const hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\r\nfake  idle  now  cli:forged\u202egnp.exe\u009b5n"

// TestHostileTexts: what others wrote cannot command the terminal.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sender := &parley.Sender{ID: "7", Name: "Eve\u202e\u2066"}
	_, err = store.Commit(t.Context(), parley.Batch{
		At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Sessions: []parley.SessionChange{{
			Session: "telegram:evil",
			Create: &parley.NewSession{
				Key: "evil", Type: parley.SessionGroup, Title: parley.Title{Text: "nice\u202etitle"},
				Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "channel", Platform: "telegram"},
			},
			Events: []parley.NewEvent{{Identity: "telegram:7", Body: &parley.Message{
				ID: "m1", Role: parley.MessageUser, Sender: sender, Parts: []parley.Part{parley.TextPart(hostile)},
			}}},
		}, {
			Session: "telegram:untitled",
			Create:  &parley.NewSession{Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "channel"}},
			Events:  []parley.NewEvent{{Body: &parley.Message{ID: "m1", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(hostile)}}}},
		}},
		Keys: []parley.KeyChange{{Key: "evil", Session: "telegram:evil"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, run runner) {
		t.Helper()
		for _, line := range []string{
			"sessions", "sessions show telegram:evil", "sessions show telegram:untitled", "sessions tail telegram:evil", "sessions tail telegram:untitled",
			"sessions why telegram:evil", "audit",
		} {
			got := run(strings.Fields(line)...)
			if got.status != 0 {
				t.Errorf("%s: %s", line, got.err)
			}
			for _, r := range got.out {
				if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
					t.Errorf("%s prints %U:\n%q", line, r, got.out)
					break
				}
			}
			if line == "sessions" && strings.Count(got.out, "\n") != 3 {
				t.Errorf("the list has another line:\n%s", got.out)
			}
		}
	}
	run := onFolder(t, dir)
	check(t, run)
	serveFolder(t, dir)
	check(t, run)
	got := run("__complete", "sessions", "show", "telegram:")
	if strings.ContainsAny(got.out, "\x1b\u202e\u009b") || strings.Count(got.out, "telegram:") != 2 {
		t.Errorf("the completion is %q", got.out)
	}
}

func TestCompletion_Dynamic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	run.talk(t, "--new", "--session", "cli:work", "hello")
	var made struct{ Token parley.Token }
	run("tokens", "add", "--name", "ci", "--json").decode(t, &made)
	complete := func(args ...string) string {
		t.Helper()
		got := run(append([]string{"__complete"}, args...)...)
		if got.status != 0 {
			t.Errorf("completing %v: %d, %s", args, got.status, got.err)
		}
		return got.out
	}
	if got := complete("sessions", "show", ""); strings.Contains(got, "cli:work") || !strings.HasSuffix(got, ":36\n") {
		t.Errorf("without a daemon there is %q", got)
	}
	serveFolder(t, dir)
	for _, c := range []struct {
		line, has string
	}{
		{"sessions show ''", "cli:work\tHello"},
		{"sessions redact cli:", "cli:work\t"},
		{"chat --session c", "cli:work\t"},
		{"audit --session c", "cli:work\t"},
		{"users role ''", "owner\towner (owner)"},
		{"users role owner ''", "guest"},
		{"users unlink l", "local:owner"},
		{"tokens add --for o", "owner\t"},
		{"tokens revoke tok", string(made.Token.ID) + "\tci (user, local:owner)"},
		{"tokens add --kind ''", "channel"},
		{"tokens add --agent ''", "main"},
		{"sessions ls --status ''", "awaiting_approval"},
		{"sessions ''", "redact\tTake away"},
		{"''", "sessions\tBrowse"},
	} {
		args := strings.Fields(c.line)
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		if got := complete(args...); !strings.Contains(got, c.has) {
			t.Errorf("%s gives %q, want %q in it", c.line, got, c.has)
		}
	}
	if got := complete("sessions", "show", "cli:work", ""); strings.Contains(got, "cli:work") {
		t.Errorf("a second session is offered: %q", got)
	}
	if got := complete("sessions", "show", "web:"); strings.Contains(got, "cli:work") {
		t.Errorf("what does not fit is offered: %q", got)
	}
}

// TestCompletion_Scripts: the scripts are ones that their shells can read.
func TestCompletion_Scripts(t *testing.T) {
	t.Parallel()
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path := put(t, t.TempDir(), "script", parleyRun(t, t.TempDir(), "completion", shell).out)
			if _, err := exec.LookPath(shell); err != nil {
				soak.SkipOrFail(t, "there is no %s to read the script: make shells", shell)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if out, err := exec.CommandContext(ctx, shell, append(check, path)...).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
