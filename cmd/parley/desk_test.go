package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// served is a daemon on a data folder.
type served struct {
	URL string
	PID int

	cmd *exec.Cmd
	log *strings.Builder
}

// serveFolder starts a daemon on a free port and waits until it is ready. It ends with
// the test.
func serveFolder(t *testing.T, dir string) *served {
	t.Helper()
	s := &served{log: &strings.Builder{}}
	s.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), os.Getenv("PARLEY_TEST_PROGRAM"), "serve", "--data", dir, "--listen", "127.0.0.1:0")
	s.cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(t, os.Interrupt) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !s.ready(ctx, dir) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the daemon does not get ready")
		}
	}
	return s
}

// ready reports whether the daemon can be talked to.
func (s *served) ready(ctx context.Context, dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "daemon.json"))
	if err != nil || json.Unmarshal(data, s) != nil || s.PID != s.cmd.Process.Pid {
		return false
	}
	status, _ := get(ctx, s.URL+"/readyz", "")
	return status == http.StatusOK
}

// anyServer talks to whatever has the address.
var anyServer = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the tests make certificates that nobody knows
}}

// get asks for something with a token, and gives 0 if nobody answers.
func get(ctx context.Context, url, token string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := anyServer.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// end ends the daemon, if it still runs.
func (s *served) end(t *testing.T, with os.Signal) {
	t.Helper()
	if s.cmd.ProcessState != nil {
		return
	}
	if err := s.cmd.Process.Signal(with); err != nil {
		t.Error(err)
	}
	if err := s.cmd.Wait(); err != nil && with == os.Interrupt {
		t.Errorf("the daemon ended with %v:\n%s", err, s.log)
	}
}

// runner runs commands on a data folder.
type runner func(args ...string) outcome

func onFolder(t *testing.T, dir string) runner {
	t.Helper()
	return func(args ...string) outcome {
		t.Helper()
		return parleyRunEnv(t, t.TempDir(), []string{"PARLEY_DATA=" + dir}, args...)
	}
}

// bothWays runs a test on a store alone, and with a daemon.
func bothWays(t *testing.T, test func(t *testing.T, dir string, run runner)) {
	t.Helper()
	for name, daemon := range map[string]bool{"store": false, "daemon": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if daemon {
				serveFolder(t, dir)
			}
			test(t, dir, onFolder(t, dir))
		})
	}
}

// talk says something and gives the session.
func (run runner) talk(t *testing.T, args ...string) parley.SessionID {
	t.Helper()
	var said struct {
		Session parley.SessionID `json:"session_id"`
		Text    string
	}
	got := run(append([]string{"chat", "--json"}, args...)...)
	got.decode(t, &said)
	if said.Text == "" {
		t.Fatalf("nobody answered: %+v", got)
	}
	return said.Session
}

// decode reads the JSON of a run that went well.
func (o outcome) decode(t *testing.T, v any) {
	t.Helper()
	if o.status != 0 {
		t.Fatalf("status is %d: %s", o.status, o.err)
	}
	if err := json.Unmarshal([]byte(o.out), v); err != nil {
		t.Fatalf("%v: %s", err, o.out)
	}
}

type listedSessions struct {
	Sessions []struct {
		ID     parley.SessionID
		Title  string
		Agent  string
		Status parley.Status
	}
	Cursor string
}

func TestSessions(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		first := run.talk(t, "hello")
		run("sessions").says(t, 0, "TITLE", string(first), "idle", "now")
		run("sessions", "rename", string(first), "Trip to Rome").says(t, 0, string(first), `"Trip to Rome"`)
		run("sessions", "show", last(first)).says(t, 0, "Trip to Rome", string(first), "#", "    hello\n", "local:owner", "main (scripted/")
		if got := run("sessions", "show", string(first), "-n", "0"); strings.Contains(got.out, "hello") {
			t.Errorf("no messages were asked for:\n%s", got.out)
		}
		run("sessions", "why", last(first)).says(t, 0, "it is the current session of the key sk_v1_", "come from cli", `chat "direct:owner"`, "local:owner takes part")

		forked := strings.TrimSpace(run("sessions", "fork", last(first), "--at", "3").out)
		run("sessions", "why", forked).says(t, 0, "forked from "+string(first)+" at event 3", "no key leads to it")
		run("sessions", "fork", string(first), "--at", "999").complains(t, 1, "there is no event 999", "(invalid)")
		run("sessions", "rewind", string(first)).says(t, 0, "Took back 1 turn", "hello")

		next := strings.TrimSpace(run("sessions", "reset", string(first), "--title", "Again").out)
		run("sessions", "why", string(first)).says(t, 0, "leads to "+next, "ended on")
		var list, all listedSessions
		run("sessions", "ls", "--json").decode(t, &list)
		run("sessions", "--all", "--json").decode(t, &all)
		if len(list.Sessions) != 2 || len(all.Sessions) != 3 || list.Sessions[0].Title != "Again" || list.Sessions[0].Agent != "main" {
			t.Errorf("the lists are %+v and %+v", list, all)
		}
		run("sessions", "delete", forked).complains(t, 2, "--yes")
		run("sessions", "delete", forked, "--yes").says(t, 0, "Removed "+forked)
		run("sessions", "show", forked).complains(t, 1, "there is no session", forked, "(not_found)")
		run("sessions", "purge", string(first), "--yes", "--json").says(t, 0, `"deleted": true`)
		run("sessions", "ls", "--all").says(t, 0, next)
	})
}

// last gives an abbreviation of an id.
func last(id parley.SessionID) string { return string(id[strings.LastIndexByte(string(id), '_')+1:]) }

// TestWholeIDs: what is not there is not taken for something whose name begins the same, and
// nothing is removed by an abbreviation without a question.
func TestWholeIDs(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		run.talk(t, "--new", "--session", "cli:proj-archive", "hello")
		run("chat", "--session", "cli:proj", "hello").complains(t, 1, "there is no session cli:proj; --new makes it")
		run("chat", "--session", "other", "--new", "hello").complains(t, 2, "cli:work", `"other"`)
		run.talk(t, "--new", "--session", "cli:proj", "hello")
		run("sessions", "delete", "proj-a", "--yes").complains(t, 2, "whole id", "cli:proj-archive")
		run("sessions", "redact", "proj-a", "1", "--yes").complains(t, 2, "whole id", "cli:proj-archive")
		run("sessions", "delete", "cli:proj", "--yes").says(t, 0, "Removed cli:proj.")
		run("sessions", "delete", "cli:proj", "--yes").complains(t, 1, "there is no session", "(not_found)")
		run("sessions", "show", "proj-a").says(t, 0, "cli:proj-archive")
		run("users", "add", "Ann", "--id", "u_first")
		run("users", "add", "Annabel", "--id", "u_second")
		run("users", "rm", "u_fi", "--yes").complains(t, 2, "whole id", "u_first")
		run("users", "rm", "Ann", "--yes").says(t, 0, "Removed Ann ")
		run("users", "rm", "Ann", "--yes").complains(t, 1, "there is no user")
		run("users", "role", "Anna", "guest").complains(t, 1, "there is no user")
		run("users", "role", "sec", "guest").says(t, 0, "Annabel")
	})
}

func TestSessions_Filters(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		for _, id := range []string{"cli:a1", "cli:a2", "cli:b"} {
			run.talk(t, "--new", "--session", id, "hello")
		}
		count := func(args ...string) (list listedSessions) {
			t.Helper()
			run(append([]string{"sessions", "ls", "--json"}, args...)...).decode(t, &list)
			return list
		}
		for flags, want := range map[string]int{
			"--agent main": 3, "--agent other": 0, "--source cli": 3, "--source web": 0, "--status idle": 3, "--status inactive": 0,
			"--since 1d": 3, "--since 2100-01-01": 0, "--since 2100-01-01T00:00:00Z": 0,
		} {
			if got := count(strings.Fields(flags)...); len(got.Sessions) != want || got.Cursor != "" {
				t.Errorf("%s gives %d sessions, want %d", flags, len(got.Sessions), want)
			}
		}
		page := count("--limit", "2")
		rest := count("--limit", "2", "--cursor", page.Cursor)
		if len(page.Sessions) != 2 || len(rest.Sessions) != 1 || rest.Cursor != "" || rest.Sessions[0].ID != "cli:a1" {
			t.Errorf("the pages are %+v and %+v", page, rest)
		}
		run("sessions", "show", "a").complains(t, 1, `"a" may be cli:a2, cli:a1`, "give more", "(invalid)")
		run("sessions", "show", "b").says(t, 0, "cli:b")
		run("sessions", "ls", "--cursor", "nonsense").complains(t, 1, "(invalid)")
		if got := run("sessions", "--agent", "main", "--limit", "2"); got.status != 0 || !strings.Contains(got.err, "there are more: --cursor ") {
			t.Errorf("a list that is cut says %q", got.err)
		}
		run("sessions", "--status", "asks").says(t, 0)
		run("sessions", "--status", "ended").complains(t, 2, "--all")
		run("sessions", "--limit", "many").complains(t, 2, `"many"`, "a whole number is needed")
		run("sessions", "rewind", "cli:b", "--turns", "1", "--to", "2").complains(t, 2, "--turns", "--to")
		var audit struct {
			Entries []parley.AuditEntry
			Cursor  string
		}
		run("users", "add", "Ada")
		run("users", "add", "Bob")
		run("audit", "--limit", "1", "--json").decode(t, &audit)
		run("audit", "--limit", "1", "--cursor", audit.Cursor, "--json").decode(t, &audit)
		if got := run("audit", "--limit", "1"); len(audit.Entries) != 1 || !strings.Contains(got.err, "there may be more: --cursor ") {
			t.Errorf("%+v, and a list that is cut says %q", audit, got.err)
		}
	})
}

func TestSessions_RedactAndTail(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, _ string, run runner) {
		id := run.talk(t, "the password is swordfish")
		tail := run("sessions", "tail", string(id))
		tail.says(t, 0, "#1 ", "started", "message", "swordfish", "turn_completed", "stop; ")
		if n := strings.Count(run("sessions", "tail", string(id), "-n", "2").out, "\n"); n != 2 {
			t.Errorf("tail -n 2 has %d lines", n)
		}
		var seqs []string
		for line := range strings.Lines(run("sessions", "tail", string(id), "-n", "1000", "--json").out) {
			var e parley.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if strings.Contains(string(e.Data), "swordfish") {
				seqs = append(seqs, jsonText(t, e.Seq))
			}
		}
		if len(seqs) == 0 {
			t.Fatal("no event has what was said")
		}
		redact := append([]string{"sessions", "redact", string(id), "--reason", "a password"}, seqs...)
		run(redact...).complains(t, 2, "--yes")
		run(append(redact, "--yes")...).says(t, 0, "Redacted ", string(id))
		run("sessions", "tail", string(id)).says(t, 0, "(taken away)", "a password")
		for _, args := range [][]string{{"sessions", "show", string(id)}, {"sessions", "tail", string(id)}, {"sessions", "ls", "--json"}} {
			if got := run(args...); strings.Contains(got.out, "swordfish") {
				t.Errorf("%v still shows it:\n%s", args, got.out)
			}
		}
	})
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDesk_Same: what a command prints for programs is the same whether a daemon runs
// or not.
func TestDesk_Same(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	id := run.talk(t, "hello")
	run("sessions", "rename", string(id), "a <title>").says(t, 0)
	run("users", "add", "Ada", "--identity", "telegram:7").says(t, 0, "telegram:7")
	commands := [][]string{
		{"sessions", "ls", "--json"},
		{"sessions", "show", string(id), "--json"},
		{"sessions", "why", string(id), "--json"},
		{"users", "--json"},
		{"ps", "--json"},
		{"audit", "--json"},
		{"sessions"},
		{"sessions", "show", string(id)},
		{"sessions", "tail", string(id)},
	}
	var before []string
	for _, args := range commands {
		got := run(args...)
		got.says(t, 0)
		before = append(before, got.out)
	}
	serveFolder(t, dir)
	for i, args := range commands {
		if got := run(args...); got.out != before[i] {
			t.Errorf("%v gives\n%s\nwithout a daemon, and with one\n%s%s", args, before[i], got.out, got.err)
		}
	}
}

// TestTail_Follow: what happens is shown while it happens, and Ctrl-C is a good end.
func TestTail_Follow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	id := run.talk(t, "hello")
	run("sessions", "tail", string(id), "--follow").complains(t, 1, "parley serve", "(unavailable)")
	serveFolder(t, dir)
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "sessions", "tail", string(id), "-f", "-n", "1", "--json", "--data", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() { // the last event before it follows
		t.Fatal("tail shows nothing")
	}
	run.talk(t, "and again")
	var types []parley.EventType
	for lines.Scan() {
		var e parley.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		types = append(types, e.Type)
		if e.Type == parley.EventTurnCompleted {
			break
		}
	}
	if len(types) < 4 || types[0] != parley.EventInput {
		t.Errorf("tail saw %v", types)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("tail ended with %v", err)
	}
}

// TestDaemon_Gone: a daemon that was killed, or whose number another process has, is
// none.
func TestDaemon_Gone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	daemon := serveFolder(t, dir)
	run("status").says(t, 0, "Parley v1.2.3 runs as process", daemon.URL, "store", "ok; ", "free", "0 messages waiting")
	var status struct {
		OK     bool
		Daemon *struct{ PID int }
		Ready  struct{ Ready bool }
		Bytes  int64 `json:"store_bytes"`
	}
	run("status", "--json").decode(t, &status)
	if !status.OK || status.Daemon == nil || status.Daemon.PID != daemon.PID || !status.Ready.Ready || status.Bytes == 0 {
		t.Errorf("the status is %+v", status)
	}
	daemon.end(t, syscall.SIGKILL)
	if _, err := os.Stat(filepath.Join(dir, "daemon.json")); err != nil {
		t.Fatal(err)
	}
	run("status").says(t, 0, "No daemon runs on "+dir, "parley serve", "ok; ")
	run("sessions").says(t, 0)
	run("login").complains(t, 1, "parley serve", "(unavailable)")
	// The same file with the number of a process that lives.
	put(t, dir, "daemon.json", `{"pid":`+jsonText(t, os.Getpid())+`,"url":"http://127.0.0.1:1","version":"v0"}`)
	run("status").says(t, 0, "No daemon runs on "+dir)
	run("users").says(t, 0, "local:owner")
	serveFolder(t, dir)
	run("status").says(t, 0, "runs as process")
	// A token that is lost is told, and comes back with a restart.
	if err := os.Remove(filepath.Join(dir, "owner.token")); err != nil {
		t.Fatal(err)
	}
	run("users").complains(t, 1, "there is no owner.token in "+dir, "(unauthorized)")
	run("status").says(t, 1, "runs as process", "It is not well: there is no owner.token")
	put(t, dir, "owner.token", "ply_o_wrong\n")
	run("users").complains(t, 1, "owner.token is not good any more; start the daemon again", "(unauthorized)")
}

// TestDaemon_WrongConfiguration: commands talk to a daemon that runs, whatever has become of the
// configuration meanwhile; what is wrong with the folder is said.
func TestDaemon_WrongConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	serveFolder(t, dir)
	put(t, dir, "parley.yaml", "modles: x\n")
	run("sessions").says(t, 0)
	run("chat", "hello").says2(t, "offline model")
	run("users").says(t, 0, "local:owner")
	run("status").says(t, 1, "runs as process", "It is not well", "modles")
	put(t, dir, "daemon.json", "garbage")
	run("sessions").complains(t, 1, "daemon.json is damaged; remove it")
	onFolder(t, filepath.Join(dir, "parley.yaml"))("sessions").complains(t, 1, "is no folder", "--data")
}

// TestOwnerToken_Revoked: who revokes the owner's own token gets another with the next start.
func TestOwnerToken_Revoked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	daemon := serveFolder(t, dir)
	before, err := os.ReadFile(filepath.Join(dir, "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tokens []parley.Token }
	run("tokens", "--json").decode(t, &list)
	if len(list.Tokens) != 1 {
		t.Fatalf("%+v", list)
	}
	run("tokens", "revoke", string(list.Tokens[0].ID)).says(t, 0, "Revoked")
	run("sessions").complains(t, 1, "start the daemon again", "(unauthorized)")
	daemon.end(t, os.Interrupt)
	serveFolder(t, dir)
	run("sessions").says(t, 0)
	after, err := os.ReadFile(filepath.Join(dir, "owner.token"))
	if err != nil || bytes.Equal(after, before) {
		t.Errorf("the token is the same, %v", err)
	}
}

// certificate makes one that nobody knows, with its key in the same file.
func certificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plain := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"parley.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, plain, plain, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, name, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))+
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}

// TestDesk_TLS: the daemon is known by its certificate, whoever signed it, and nobody
// else gets the owner's token.
func TestDesk_TLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	certificate(t, dir, "own.pem")
	certificate(t, dir, "other.pem")
	put(t, dir, "parley.yaml", "serve: {tls_cert: own.pem}\n")
	daemon := serveFolder(t, dir)
	if !strings.HasPrefix(daemon.URL, "https://") {
		t.Fatalf("the daemon is at %s", daemon.URL)
	}
	run("users").says(t, 0, "local:owner")
	run.talk(t, "hello")
	other := put(t, t.TempDir(), "other.yaml", "serve: {tls_cert: other.pem}\n")
	run("users", "--config", other).complains(t, 1, "cannot be reached", "another certificate than serve.tls_cert", "(unavailable)")
}

func TestDesk_NoStore(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "data")
	for _, line := range []string{"sessions", "sessions show x", "sessions why x", "users", "users add Ada", "tokens", "tokens add", "audit", "status", "ps"} {
		parleyRun(t, home, append(strings.Fields(line), "--data", dir)...).complains(t, 1, "there is no folder "+dir, "parley serve", "--data", "(not_found)")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
	parleyRun(t, home, "sessions", "--data", home).complains(t, 1, "there is no store in "+home, "(not_found)")
	// None is to be made where there is a part of one.
	part := put(t, home, "parley.db-wal", "what was said last")
	for _, line := range []string{"sessions", "sessions why x", "users", "status"} {
		parleyRun(t, home, append(strings.Fields(line), "--data", home)...).complains(t, 1, "a part of it is, "+part, "put the store back", "(invalid)")
	}
}

// TestDesk_NoCredential: who only looks needs no model.
func TestDesk_NoCredential(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	id := run.talk(t, "hello")
	put(t, dir, "parley.yaml", "agents: {main: {model: anthropic/claude-sonnet-4-5}}\n")
	run("chat", "hello").complains(t, 1, "ANTHROPIC_API_KEY")
	run("sessions").says(t, 0, string(id))
	run("sessions", "rename", string(id), "Still here").says(t, 0, "Still here")
	// A conversation that starts over has the agent as it is configured by then.
	next := strings.TrimSpace(run("sessions", "reset", string(id)).out)
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Session(t.Context(), parley.SeeAll(), parley.SessionID(next))
	if err := errors.Join(err, store.Close()); err != nil || !strings.Contains(string(s.Agent.Config), "claude-sonnet-4-5") {
		t.Errorf("the agent is %s, %v", s.Agent.Config, err)
	}
}

// TestDesk_InUse: a store that another process has is not opened a second time.
func TestDesk_InUse(t *testing.T) {
	t.Parallel()
	dir := makeStore(t)
	run := onFolder(t, dir)
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	run("sessions").complains(t, 1, "in use by process "+jsonText(t, os.Getpid()), "(unavailable)")
	run("sessions", "why", "cli:work").says(t, 0, "the current session of the key sk_v1_work", "nothing is stored about what the key stands for", "nobody takes part")
	run("status").says(t, 0, "No daemon")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	run("sessions").says(t, 0, "cli:work", "hello")
}
