package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley/config"
)

// put writes a file into a folder and gives its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigInit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "not", "yet")
	path := filepath.Join(dir, "parley.yaml")
	run := func(args ...string) outcome { return parleyRun(t, home, append(args, "--data", dir)...) }
	run("config", "check").says(t, 0, "ok: 1 agent, 0 channels, 0 routes.", "There is no file")
	run("config", "init").says(t, 0, path)
	data, err := os.ReadFile(path)
	if err != nil || string(data) != config.Template() {
		t.Errorf("the file is not the template: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	run("config", "check").says(t, 0, "ok: ", path+" sets 0 values")
	put(t, dir, "parley.yaml", "session: {busy: steer}\n")
	run("config", "init").complains(t, 1, path, "--force", "(conflict)")
	run("config", "show").says(t, 0, "steer")
	run("config", "init", "--force").says(t, 0, path)
	if data, err := os.ReadFile(path); err != nil || string(data) != config.Template() {
		t.Errorf("the file was not replaced: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("something is left over: %v, %v", left, err)
	}
	other := filepath.Join(home, "other.yaml")
	run("config", "init", "--config", other).says(t, 0, other, "parley config check --config "+other+"\n")
	for _, force := range []string{"--force=false", "--force"} {
		run("config", "init", force, "--config", dir).complains(t, 1, dir+" is a folder", filepath.Join(dir, "parley.yaml"), "(invalid)")
	}
	run("config", "check", "--config", other).says(t, 0, other)
	run("config", "init", "--config", filepath.Join(path, "below")).complains(t, 1, "cannot write", "(unavailable)")
	run("config", "int").complains(t, 2, "did you mean 'parley config init'?")
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := put(t, dir, "parley.yaml", "session:\n  busy: qeue\n  identity_links: {alice: [\"7\"]}\nlimits: {queue: 0}\nchannels: {telegram: {token: hunter2}}\n")
	run := func(args ...string) outcome { return parleyRun(t, t.TempDir(), append(args, "--data", dir)...) }
	got := run("config", "check")
	got.says(t, 1, path+`:2:9: error: session.busy is "qeue"`, path+":4:17: error: limits.queue", path+":5:30: error: channels.telegram.token",
		path+`:3:28: warning: session.identity_links.alice[0]`, "3 errors, 1 warning.")
	if strings.Contains(got.out, "hunter2") {
		t.Errorf("the secret is told:\n%s", got.out)
	}
	var report struct {
		File             string
		OK               bool
		Errors, Warnings []config.Problem
	}
	asJSON := run("config", "check", "--json")
	if err := json.Unmarshal([]byte(asJSON.out), &report); err != nil {
		t.Fatal(err)
	}
	if asJSON.status != 1 || report.OK || report.File != path || len(report.Errors) != 3 || len(report.Warnings) != 1 || report.Errors[0].Line != 2 || report.Errors[0].File != path {
		t.Errorf("got %+v", report)
	}
	// Whatever needs the configuration says in one line what is wrong.
	for _, args := range [][]string{{"config", "show"}, {"doctor"}, {"backup", "x"}, {"restore", "x", "--to", "y"}, {"encrypt", "on"}} {
		run(args...).complains(t, 1, path+":2:9", "and 2 more; see 'parley config check'", "(invalid)")
	}
	run("config", "check", "--config", filepath.Join(dir, "none.yaml")).complains(t, 1, "there is no configuration file", "(not_found)")
	run("config", "check", "--config", dir).complains(t, 1, "is a folder", "(invalid)")
	run("version").says(t, 0, "parley")

	path = put(t, dir, "parley.yaml", "agents: {ops: {}}\nchannels: {telegram: {token: env:T}}\nserve: {listen: \":80\"}\n")
	run("config", "check").says(t, 0, path+":3:17: warning: ", "ok: 2 agents, 1 channel, 0 routes.", path+" sets 2 values; variables set 0.")
	good := run("config", "check", "--json")
	good.says(t, 0, `"ok": true`, `"errors": []`)
}

func TestConfigShow(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := put(t, dir, "parley.yaml", "session: {busy: steer, stop: suspend}\nchannels: {telegram: {token: file:bot.token}}\n")
	put(t, dir, "bot.token", "open sesame")
	env := []string{"PARLEY_SESSION_BUSY=collect", "PARLEY_LIMITS_BLOB=1GiB"}
	text := parleyRunEnv(t, home, env, "config", "show", "--data", dir)
	text.says(t, 0)
	got := parleyRunEnv(t, home, env, "config", "show", "--json", "--data", dir)
	got.says(t, 0)
	if strings.Contains(text.out+got.out, "sesame") {
		t.Error("the secret is shown")
	}
	var shown struct {
		File   string
		Values []struct {
			Path, Origin, Variable string
			Value                  any
			Line                   int
		}
	}
	if err := json.Unmarshal([]byte(got.out), &shown); err != nil || shown.File != path {
		t.Fatalf("got %v, file %s", err, shown.File)
	}
	lines := map[string]string{}
	for line := range strings.Lines(text.out) {
		words := strings.Fields(line)
		lines[words[0]] = strings.Join(words[1:], " ")
	}
	if len(lines) != len(shown.Values) {
		t.Errorf("%d lines for %d values", len(lines), len(shown.Values))
	}
	want := map[string]struct{ line, origin string }{
		"session.busy":            {"collect PARLEY_SESSION_BUSY", "env"},
		"session.stop":            {"suspend " + path + ":1:30", "file"},
		"session.unified":         {"false default", "default"},
		"limits.blob":             {"1GiB PARLEY_LIMITS_BLOB", "env"},
		"channels.telegram.token": {"file:bot.token " + path + ":2:30", "file"},
	}
	for _, v := range shown.Values {
		w, ok := want[v.Path]
		if ok && (v.Origin != w.origin || lines[v.Path] != w.line) {
			t.Errorf("%s is %q from %s, want %q from %s", v.Path, lines[v.Path], v.Origin, w.line, w.origin)
		}
		delete(want, v.Path)
	}
	if len(want) > 0 {
		t.Errorf("not shown: %v", want)
	}
}

// TestStoreSettings holds that commands use store.path and store.key: a flag
// before a variable before the file before the default.
func TestStoreSettings(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), makeStore(t)
	run := func(env []string, args ...string) outcome {
		return parleyRunEnv(t, home, env, append(args, "--data", dir)...)
	}
	elsewhere := filepath.Join(t.TempDir(), "talk.db")
	if err := os.Rename(filepath.Join(dir, "parley.db"), elsewhere); err != nil {
		t.Fatal(err)
	}
	run(nil, "doctor").complains(t, 1, "there is no store at "+filepath.Join(dir, "parley.db"))
	put(t, dir, "parley.yaml", "store: {path: '"+elsewhere+"', key: file.key}\n")
	run(nil, "doctor").says(t, 0, elsewhere, "All is well")
	run([]string{"PARLEY_STORE_PATH=nowhere.db"}, "doctor").complains(t, 1, "there is no store at "+filepath.Join(dir, "nowhere.db"))

	run(nil, "encrypt", "on").says(t, 0, "file.key")
	if _, err := os.Stat(filepath.Join(dir, "file.key")); err != nil {
		t.Errorf("the key is not where the file says: %v", err)
	}
	run(nil, "doctor").says(t, 0, "All is well")
	run([]string{"PARLEY_STORE_KEY=env.key"}, "doctor").complains(t, 1, "env.key")
	run([]string{"PARLEY_STORE_KEY=env.key"}, "doctor", "--key", filepath.Join(dir, "file.key")).says(t, 0, "All is well")
	run(nil, "doctor", "--key", "flag.key").complains(t, 1, "flag.key")
	var report struct{ Key, Store string }
	rotated := run(nil, "encrypt", "rotate", "--json")
	if err := json.Unmarshal([]byte(rotated.out), &report); err != nil || report.Key != filepath.Join(dir, "file.key") || report.Store != elsewhere {
		t.Errorf("got %s, %v", rotated.out, err)
	}

	to, file := filepath.Join(home, "to"), filepath.Join(home, "a.backup")
	run(nil, "backup", file).says(t, 0, file)
	run(nil, "restore", file, "--to", to, "--key", filepath.Join(dir, "file.key")).says(t, 0, to)
	if _, err := os.Stat(filepath.Join(to, "talk.db")); err != nil {
		t.Errorf("the store was not restored under its name: %v", err)
	}
}

// TestResolve_Configured holds that questions are answered as the configuration
// says, and that a line overrides it.
func TestResolve_Configured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "parley.yaml", "agents: {ops: {}}\nsession: {dimensions: [chat, sender], identity_links: {alice: [\"telegram:7\"]}}\n"+
		"routes: [{match: {channel: telegram, chat: \"group:-1001\"}, agent: ops}]\n")
	const question = `{"context":{"channel":"telegram","chat_type":"group","chat_id":"-1001","sender_id":"7"}}`
	got := parleyFeed(t, question+"\n"+strings.Replace(question, "{", `{"dimensions":[],"agent_id":"main",`, 1)+"\n", "resolve", "--data", dir)
	got.says(t, 0)
	var signatures []string
	for line := range strings.Lines(got.out) {
		var answer struct{ Signature string }
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		signatures = append(signatures, answer.Signature)
	}
	want := []string{"v=1|agent=ops|channel=telegram|account=default|chat=group:-1001|sender=alice", "v=1|agent=main|channel=telegram|account=default"}
	if !slices.Equal(signatures, want) {
		t.Errorf("got %q, want %q", signatures, want)
	}
	put(t, dir, "parley.yaml", "session: {dimensions: [moon]}\n")
	parleyFeed(t, question+"\n", "resolve", "--data", dir).complains(t, 1, "session.dimensions[0]", "(invalid)")
}

// TestConfig_CheckNeeds: what a start would fail for is found, with its place.
func TestConfig_CheckNeeds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "there.md", "Be kind.")
	put(t, dir, "parley.yaml", `agents:
  main: {system: "file:there.md"}
  other: {system: "file:nope.md"}
serve: {tls_cert: nope.pem}
store: {path: /no/such/folder/x.db}
channels:
  discord: {token: env:X}
  slack: {session: {reset: {mode: none}}}
`)
	run := onFolder(t, dir)
	got := run("config", "check")
	got.says(t, 1, "parley.yaml:3:", "nope.md is not there; write the prompt", "serve.tls_cert", "/no/such/folder is not there", "channels.discord.token: this program has no adapter", "4 errors")
	var found struct {
		OK     bool
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal([]byte(run("config", "check", "--json").out), &found); err != nil || found.OK || len(found.Errors) != 4 {
		t.Errorf("%+v, %v", found, err)
	}
}
