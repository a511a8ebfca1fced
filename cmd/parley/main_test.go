package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/sqlite"
)

// TestMain builds the program that the tests run.
func TestMain(m *testing.M) {
	status, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func buildAndRun(m *testing.M) (status int, err error) {
	dir, err := os.MkdirTemp("", "parley-test-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program := filepath.Join(dir, "parley")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-ldflags", "-X main.version=v1.2.3", "-o", program, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("build the program: %w", err)
	}
	if err := os.Setenv("PARLEY_TEST_PROGRAM", program); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// outcome is what a run of the program gave.
type outcome struct {
	status   int
	out, err string
}

// parleyRun runs the program with a home of its own.
func parleyRun(t *testing.T, home string, args ...string) outcome {
	t.Helper()
	return parleyRunEnv(t, home, nil, args...)
}

// parleyRunEnv does so with further variables.
func parleyRunEnv(t *testing.T, home string, env []string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), args...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm"}
	cmd.Env = append(cmd.Env, env...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// complains fails unless the program ended with the status and one line on
// standard error that has all of these in it.
func (o outcome) complains(t *testing.T, status int, has ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("status is %d, want %d; %s", o.status, status, o.err)
	}
	if !strings.HasPrefix(o.err, "parley: ") || strings.Count(o.err, "\n") != 1 || !strings.HasSuffix(o.err, "\n") {
		t.Errorf("standard error is not one line that starts with the program's name: %q", o.err)
	}
	for _, text := range has {
		if !strings.Contains(o.err, text) {
			t.Errorf("standard error is %q, want %q in it", o.err, text)
		}
	}
	if o.out != "" {
		t.Errorf("standard output is %q, want none", o.out)
	}
}

// says fails unless the program ended well and said all of these.
func (o outcome) says(t *testing.T, status int, has ...string) {
	t.Helper()
	if o.status != status || o.err != "" {
		t.Errorf("status is %d, want %d; standard error %q", o.status, status, o.err)
	}
	for _, text := range has {
		if !strings.Contains(o.out, text) {
			t.Errorf("standard output is\n%s\nwant %q in it", o.out, text)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got := parleyRun(t, home)
	got.says(t, 0, "Examples:", "Commands:", "doctor", "bench", "version", "--data")
	_, examples, _ := strings.Cut(got.out, "Examples:\n")
	examples, _, _ = strings.Cut(examples, "\n\n")
	if n := strings.Count(examples, "  parley "); n != 3 {
		t.Errorf("help has %d examples, want 3:\n%s", n, got.out)
	}
	if lines := strings.Count(got.out, "\n"); lines > 40 {
		t.Errorf("help is not short: %d lines", lines)
	}
	if strings.Contains(got.out, "probe") || strings.Contains(parleyRun(t, home, "bench", "--help").out, "probe") {
		t.Error("help shows what is for the program itself")
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		has  []string
	}{
		"unknown command":     {[]string{"frobnicate"}, []string{"'parley frobnicate'", "parley --help"}},
		"unknown shell":       {[]string{"completion", "csh"}, []string{"'parley completion csh'"}},
		"near miss":           {[]string{"docter"}, []string{"did you mean 'parley doctor'?"}},
		"unknown flag":        {[]string{"doctor", "--fix"}, []string{"--fix", "parley doctor --help"}},
		"unknown bench":       {[]string{"bench", "soup"}, []string{`"soup"`, "store", "feed"}},
		"two benches":         {[]string{"bench", "store", "all"}, []string{"one argument"}},
		"argument for none":   {[]string{"version", "now"}, []string{`"now"`}},
		"flag without value":  {[]string{"doctor", "--data"}, []string{"--data"}},
		"value of wrong type": {[]string{"bench", "--sessions", "many"}, []string{"many", "sessions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parleyRun(t, t.TempDir(), c.args...).complains(t, 2, c.has...)
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	parleyRun(t, t.TempDir(), "version").says(t, 0, "parley v1.2.3", runtime.Version())
	parleyRun(t, t.TempDir(), "--version").says(t, 0, "parley v1.2.3", runtime.Version())
	got := parleyRun(t, t.TempDir(), "version", "--json")
	var fields map[string]string
	if err := json.Unmarshal([]byte(got.out), &fields); err != nil {
		t.Fatal(err)
	}
	if fields["version"] != "v1.2.3" || fields["go"] != runtime.Version() || fields["os"] != runtime.GOOS || fields["arch"] != runtime.GOARCH {
		t.Errorf("version is %v", fields)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		parleyRun(t, t.TempDir(), "completion", shell).says(t, 0, "parley")
	}
	// What the scripts ask the program for.
	parleyRunIgnoringStderr(t, "__complete", "bench", "").says(t, 0, "store", "feed", "engine", "turn", "http", "chat", "all")
	parleyRunIgnoringStderr(t, "__complete", "bench", "--only", "").says(t, 0, "commit_64", "rss_idle", "feed_catchup", "engine_overhead", "cancel_tool_p99", "http_ack_p99", "chat_start")
}

// parleyRunIgnoringStderr is for completion, which talks to shells there.
func parleyRunIgnoringStderr(t *testing.T, args ...string) outcome {
	t.Helper()
	got := parleyRun(t, t.TempDir(), args...)
	got.err = ""
	return got
}

// makeStore makes a store with a little in it and gives its folder.
func makeStore(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Commit(t.Context(), parley.Batch{
		At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Sessions: []parley.SessionChange{{
			Session: "cli:work",
			Create: &parley.NewSession{
				Key: "sk_v1_work", Type: parley.SessionDirect,
				Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"},
			},
			Events: []parley.NewEvent{{Body: &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("hello")}}}},
		}},
		Keys: []parley.KeyChange{{Key: "sk_v1_work", Session: "cli:work"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func harm(t *testing.T, dir, sql string) {
	t.Helper()
	db, err := sqlite3.Open(filepath.Join(dir, "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(sql); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDoctor_NoStore(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "data")
	path := filepath.Join(dir, "parley.db")
	for _, args := range [][]string{{"doctor"}, {"doctor", "--rebuild"}, {"doctor", "--json"}} {
		parleyRun(t, home, append(args, "--data", dir)...).complains(t, 1, "there is no store at "+path, "--data", "(not_found)")
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("doctor made something: %v, %v", left, err)
	}
	// What is left of a store says more than that there is none.
	part := put(t, t.TempDir(), "parley.db-wal", "what was said last")
	for _, args := range [][]string{{"doctor"}, {"doctor", "--rebuild"}} {
		parleyRun(t, home, append(args, "--data", filepath.Dir(part))...).complains(t, 1, "a part of it is, "+part, "put the store back", "(invalid)")
	}
	// The same with the folder that is used if none is named.
	if runtime.GOOS == "linux" {
		parleyRun(t, home, "doctor").complains(t, 1, filepath.Join(home, ".local", "share", "parley", "parley.db"))
	}
}

func TestDoctor_NotAStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	text := []byte(strings.Repeat("this is a diary, not a database. ", 1000))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--rebuild"}} {
		parleyRun(t, t.TempDir(), append(args, "--data", dir)...).complains(t, 1, "is not a store", "(invalid)")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
		t.Errorf("doctor touched the file: %v", err)
	}
}

func TestDoctor_Well(t *testing.T) {
	t.Parallel()
	dir := makeStore(t)
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 0, "1 session ", "1 event ", "All is well.")

	var report struct {
		Store    string           `json:"store"`
		OK       bool             `json:"ok"`
		Sessions int              `json:"sessions"`
		Problems []map[string]any `json:"problems"`
	}
	got := parleyRun(t, t.TempDir(), "doctor", "--json", "--data", dir)
	got.says(t, 0)
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatal(err)
	}
	if !report.OK || report.Sessions != 1 || report.Problems == nil || len(report.Problems) > 0 || report.Store != filepath.Join(dir, "parley.db") {
		t.Errorf("report is %+v", report)
	}
}

func TestDoctor_Damaged(t *testing.T) {
	t.Parallel()
	dir := makeStore(t)
	harm(t, dir, `UPDATE heads SET messages = 7`)

	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 1,
		"session cli:work", "7 messages", "its log has 1", "parley doctor --rebuild", "1 left")
	parleyRun(t, t.TempDir(), "doctor", "--json", "--data", dir).says(t, 1,
		`"ok": false`, `"kind": "counters"`, `"rebuildable": true`, `"fixed": false`, `"remaining": 1`)
	parleyRun(t, t.TempDir(), "doctor", "--rebuild", "--data", dir).says(t, 0, "session cli:work", "(fixed)", "0 left")
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 0, "All is well.")

	harm(t, dir, `DELETE FROM events`)
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 1, "session cli:work")
}

func TestDoctor_Media(t *testing.T) {
	t.Parallel()
	dir := makeStore(t)
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	media, err := blob.New(filepath.Join(dir, "blobs", "plain"), store, blob.Config{Key: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := media.Put(t.Context(), strings.NewReader("a picture"))
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 0, "1 blob", "All is well.")
	if err := os.RemoveAll(filepath.Join(dir, "blobs", "plain")); err != nil {
		t.Fatal(err)
	}
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 1, "media_missing", string(b.Handle), "restore the folder of media")
}

func TestDoctor_InUse(t *testing.T) {
	t.Parallel()
	dir := makeStore(t)
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 0, "All is well.")
	parleyRun(t, t.TempDir(), "doctor", "--rebuild", "--data", dir).complains(t, 1, "in use", "(unavailable)")
}

func TestBench_JSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := parleyRun(t, t.TempDir(), "bench", "store", "--quick", "--json", "--sessions", "300", "--deep", "150", "--rounds", "1", "--dir", dir)
	if got.status > 1 || got.err != "" {
		t.Fatalf("status is %d, standard error %q", got.status, got.err)
	}
	var report struct {
		Machine map[string]any `json:"machine"`
		Results []struct {
			Name string `json:"name"`
			OK   bool   `json:"ok"`
		} `json:"results"`
	}
	dec := json.NewDecoder(strings.NewReader(got.out))
	if err := dec.Decode(&report); err != nil {
		t.Fatal(err)
	}
	var names []string
	well := true
	for _, r := range report.Results {
		names = append(names, r.Name)
		well = well && r.OK
	}
	want := []string{"commit_64", "commit_1", "commit_64_encrypted", "commit_deep", "window_deep", "list_page", "alias_lookup", "start_cold", "rss_idle"}
	if runtime.GOOS != "linux" {
		want = want[:len(want)-1]
	}
	if !slices.Equal(names, want) {
		t.Errorf("results are %v, want %v", names, want)
	}
	if well != (got.status == 0) {
		t.Errorf("all ok: %v, status: %d", well, got.status)
	}
	if report.Machine["cores"] == nil {
		t.Errorf("machine is %v", report.Machine)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
}

func TestBench_Table(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got := parleyRun(t, home, "bench", "--only", "alias_lookup", "--sessions", "300", "--deep", "150", "--rounds", "1")
	if got.status > 1 || got.err != "" {
		t.Fatalf("status is %d, standard error %q", got.status, got.err)
	}
	line := regexp.MustCompile(`(?m)^alias_lookup +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+x +≤ 2.00x +(ok|FAIL)$`)
	if !line.MatchString(got.out) || strings.Contains(got.out, "commit_64") {
		t.Errorf("the table is\n%s", got.out)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
}

func TestBench_Feed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got := parleyRun(t, home, "bench", "feed", "--quick", "--deep", "300", "--rounds", "1", "--subscribers", "20")
	if got.status > 1 || got.err != "" {
		t.Fatalf("status is %d, standard error %q", got.status, got.err)
	}
	for _, line := range []string{
		`(?m)^feed_catchup +[0-9,.]+ events/s +[0-9,.]+ events/s +≥ 100000 events/s +(ok|FAIL)$`,
		`(?m)^feed_fanout_p99 +[0-9.]+ ms +[0-9.]+ ms +≤ 50 ms +(ok|FAIL)$`,
	} {
		if !regexp.MustCompile(line).MatchString(got.out) {
			t.Errorf("the table is\n%s", got.out)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
}

func TestBench_HTTP(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("not all figures are there")
	}
	home := t.TempDir()
	got := parleyRunEnv(t, home, []string{"PARLEY_SERVE_LISTEN=nowhere"}, "bench", "http", "--quick", "--posts", "150", "--streams", "30")
	if got.status > 1 || got.err != "" {
		t.Fatalf("status is %d, standard error %q", got.status, got.err)
	}
	for _, line := range []string{
		`(?m)^http_ack_p99 +[0-9,.]+ ms +[0-9,.]+ ms +[0-9.]+x +≤ 4.00x +(ok|FAIL)$`,
		`(?m)^sse_fanout_p99 +[0-9,.]+ ms +[0-9,.]+ ms +≤ 250 ms +(ok|FAIL)$`,
		`(?m)^sse_idle_rss +-?[0-9.]+ MiB +[0-9.]+ MiB +≤ 200 MiB +(ok|FAIL)$`,
		`then 150 posts in a row, .* None was lost, none was answered twice\n`,
		`\n    30 streams, 8 events, 2 a second; `,
	} {
		if !regexp.MustCompile(line).MatchString(got.out) {
			t.Errorf("%s is not in\n%s", line, got.out)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
}

func TestBench_Chat(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		parleyRun(t, t.TempDir(), "bench", "chat").complains(t, 1, "Linux", "(unavailable)")
		return
	}
	home := t.TempDir()
	got := parleyRunEnv(t, home, []string{"PARLEY_SERVE_LISTEN=nowhere", "NO_COLOR=1", "TERM=dumb"}, "bench", "chat", "--quick", "--sessions", "300", "--rounds", "2")
	if got.status > 1 || got.err != "" {
		t.Fatalf("status is %d, standard error %q", got.status, got.err)
	}
	for _, line := range []string{
		`(?m)^300 sessions; medians of 2 rounds and more, `,
		`(?m)^chat_start +[0-9,.]+ ms +[0-9,.]+ ms +≤ 150 ms +(ok|FAIL)$`,
		`(?m)^chat_key_p99 +[0-9,.]+ ms +[0-9,.]+ ms +≤ 50 ms +(ok|FAIL)$`,
		`\n    2 starts without a daemon, median `,
		`\n    160 keys each, .* deltas a second; `,
	} {
		if !regexp.MustCompile(line).MatchString(got.out) {
			t.Errorf("%s is not in\n%s", line, got.out)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
}

func TestBench_EngineAndTurn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("not all figures are there")
	}
	for name, lines := range map[string][]string{
		"engine": {
			`(?m)^engine_overhead +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+x +≤ 3.00x +(ok|FAIL)$`,
			`(?m)^turns_concurrent +[0-9]+ turns/s +640 turns/s +[0-9.]+x +≥ 0.80x +(ok|FAIL)$`,
		},
		"turn": {
			`(?m)^cancel_stream_p99 +[0-9.]+ ms +[0-9.]+ ms +≤ 100 ms +(ok|FAIL)$`,
			`(?m)^cancel_tool_p99 +[0-9.]+ ms +[0-9.]+ ms +≤ 100 ms +(ok|FAIL)$`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			got := parleyRun(t, home, "bench", name, "--quick", "--rounds", "1")
			if got.status > 1 || got.err != "" {
				t.Fatalf("status is %d, standard error %q", got.status, got.err)
			}
			for _, line := range lines {
				if !regexp.MustCompile(line).MatchString(got.out) {
					t.Errorf("the table is\n%s", got.out)
				}
			}
			if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
				t.Errorf("the bench left %v, %v", left, err)
			}
		})
	}
}

func TestBench_Refuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	parleyRun(t, dir, "bench", "--only", "speed").complains(t, 1, `"speed"`, "commit_64", "(invalid)")
	parleyRun(t, dir, "bench", "--dir", filepath.Join(dir, "none")).complains(t, 1, "--dir", "(invalid)")
	parleyRun(t, dir, "bench", "--sessions", "999999999999").complains(t, 1, "GB free", "--quick", "(unavailable)")
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no such signal")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "bench", "--sessions", "100000", "--dir", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It is at work once it has made its folder.
	for entries := []os.DirEntry(nil); len(entries) == 0; {
		var err error
		if entries, err = os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 || stderr.String() != "parley: interrupted\n" {
		t.Errorf("%v, standard error %q", err, stderr.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the bench left %v, %v", left, err)
	}
}

// TestZones: a configuration names time zones, and the program has to know them
// on a machine that has no data of its own.
func TestZones(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile(os.Getenv("PARLEY_TEST_PROGRAM"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Europe/Berlin", "Pacific/Chatham"} {
		if !bytes.Contains(program, []byte(name)) {
			t.Errorf("the program does not have the zone %s with it", name)
		}
	}
}
