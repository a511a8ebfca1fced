package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/sqlite"
)

// chatRun runs chat on a data folder, with what comes through a pipe.
func chatRun(t *testing.T, dir, in string, env []string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), append([]string{"chat", "--data", dir}, args...)...)
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	if in != "" {
		cmd.Stdin = strings.NewReader(in)
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// answers fails unless chat ended with the status, with these in its answer.
func (o outcome) answers(t *testing.T, status int, has ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("status is %d, want %d; standard error %q", o.status, status, o.err)
	}
	for _, text := range has {
		if !strings.Contains(o.out, text) {
			t.Errorf("the answer is\n%s\nwant %q in it", o.out, text)
		}
	}
}

// told fails unless standard error has all of these.
func (o outcome) told(t *testing.T, has ...string) {
	t.Helper()
	for _, text := range has {
		if !strings.Contains(o.err, text) {
			t.Errorf("standard error is %q, want %q in it", o.err, text)
		}
	}
}

// chatJSON is what chat prints for programs.
type chatJSON struct {
	Session    string `json:"session_id"`
	State      string `json:"state"`
	Text       string `json:"text"`
	Model      string `json:"model"`
	Offline    bool   `json:"offline"`
	StopReason string `json:"stop_reason"`
	Usage      *struct {
		Output int64 `json:"output_tokens"`
		Cost   int64 `json:"cost_microusd"`
	} `json:"usage"`
	Error *struct{ Code string } `json:"error"`
}

func (o outcome) json(t *testing.T) chatJSON {
	t.Helper()
	var c chatJSON
	if err := json.Unmarshal([]byte(o.out), &c); err != nil {
		t.Fatalf("%v: %q, %q", err, o.out, o.err)
	}
	return c
}

// TestChat is the way of a new user: nothing is configured, and there is no key.
func TestChat(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first := chatRun(t, dir, "", nil, "hello")
	first.answers(t, 0, "offline model")
	first.told(t, "* scripted/demo is an offline model")
	if strings.Count(first.err, "\n") != 1 || !strings.HasSuffix(first.out, "\n") {
		t.Errorf("it says %q and %q", first.out, first.err)
	}
	if info, err := os.Stat(filepath.Join(dir, "owner.token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the owner's token: %v, %v", info, err)
	}
	chatRun(t, dir, "", nil, "and", "more").answers(t, 0)
	chatRun(t, dir, "what did I say?", nil).answers(t, 0, "hello", "and more")
	chatRun(t, dir, "what did I say?", nil, "-").answers(t, 0, "what did I say?")

	c := chatRun(t, dir, "", nil, "--json", "what did I say").json(t)
	if c.State != "done" || c.StopReason != "stop" || c.Model != "scripted/demo" || !c.Offline || c.Usage == nil || c.Usage.Output == 0 || !strings.Contains(c.Text, "hello") {
		t.Errorf("as JSON it is %+v", c)
	}
	fresh := chatRun(t, dir, "", nil, "--new", "--json", "what did I say").json(t)
	if fresh.Session == c.Session || strings.Contains(fresh.Text, "hello") {
		t.Errorf("a new conversation is %+v", fresh)
	}
	if again := chatRun(t, dir, "", nil, "--json", "what did I say").json(t); again.Session != fresh.Session {
		t.Errorf("it goes on in %s, and not in the new conversation %s", again.Session, fresh.Session)
	}

	// Sessions by name.
	last := fresh.Session[strings.LastIndex(fresh.Session, "_")+1:]
	for _, name := range []string{fresh.Session, last, last[:6]} {
		if got := chatRun(t, dir, "", nil, "--session", name, "--json", "/status").json(t); got.Session != fresh.Session || got.State != "command" || !strings.Contains(got.Text, fresh.Session) {
			t.Errorf("--session %s is %+v", name, got)
		}
	}
	chatRun(t, dir, "", nil, "--session", c.Session, "x").complains(t, 1, "not its key's current one", "(conflict)")
	chatRun(t, dir, "", nil, "--session", "cli", "x").complains(t, 1, `"cli" may be cli:`, "(invalid)")
	chatRun(t, dir, "", nil, "--session", "nothing", "x").complains(t, 1, `no session "nothing"`, "(not_found)")
	chatRun(t, dir, "", nil, "--session", "cli:work", "x").complains(t, 1, "no session cli:work", "--new", "(not_found)")
	chatRun(t, dir, "", nil, "--session", "cli:work", "--new", "hello").answers(t, 0, "offline model")
	chatRun(t, dir, "", nil, "--session", "cli:work", "--new", "hello").complains(t, 1, "--new", "(conflict)")
	chatRun(t, dir, "", nil, "--session", "cli:work", "--agent", "ops", "x").complains(t, 1, "agent main", "(invalid)")
	chatRun(t, dir, "", nil, "--agent", "ops", "x").complains(t, 1, `no agent "ops"`, "main", "(invalid)")
	chatRun(t, dir, "", nil).complains(t, 2, "there is no message")
	chatRun(t, dir, "\xff\xfe", nil).complains(t, 1, "UTF-8", "(invalid)")
	chatRun(t, dir, strings.Repeat("x", 1<<20+1), nil).complains(t, 1, "(too_large)")
	parleyRun(t, t.TempDir(), "doctor", "--data", dir).says(t, 0, "All is well.")
}

func TestChat_Commands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chatRun(t, dir, "", nil, "/help").answers(t, 0, "/new", "/stop")
	chatRun(t, dir, "", nil, "/new", "a trip").answers(t, 0, "a trip")
	chatRun(t, dir, "", nil, "/titel", "x").answers(t, 0, "/title")
	got := chatRun(t, dir, "", nil, "//help")
	got.answers(t, 0, "offline model")
}

// TestChat_Ends has the ways a turn can end.
func TestChat_Ends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "parley.yaml", "agents: {main: {}, short: {model: scripted/demo, max_tokens: 5}, tool: {tools: [files, git_commit]}}\n")
	failed := chatRun(t, dir, "", nil, "fail")
	failed.complains(t, 1, "(model_refused)")
	if got := chatRun(t, dir, "", nil, "--json", "fail"); got.json(t).Error == nil || got.json(t).Error.Code != "model_refused" || got.status != 1 {
		t.Errorf("as JSON a failure is %+v", got)
	}
	short := chatRun(t, dir, "", nil, "--agent", "short", "long")
	short.answers(t, 3, "Here")
	short.told(t, "parley: the answer was cut off")
	tool := chatRun(t, dir, "", nil, "--agent", "tool", "tool")
	tool.answers(t, 0, "list of the files")
	tool.told(t, `* list_files {"path":"."}`)
	asked := chatRun(t, dir, "", nil, "--agent", "tool", "approve")
	asked.answers(t, 0)
	asked.told(t, "git_commit needs an approval, and nobody can be asked: it is denied")
}

// TestChat_Interrupt: the first Ctrl-C stops the answer, which is kept.
func TestChat_Interrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir, "long")
	cmd.Env = []string{"HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(out)
	begin, err := reader.ReadString('\n') // while the rest is written
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status says
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(stderr.String(), "parley: stopped") {
		t.Errorf("status is %d, standard error %q", cmd.ProcessState.ExitCode(), stderr.String())
	}
	if words := len(strings.Fields(string(rest))); words >= 250 {
		t.Errorf("it went on for %d words", words)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	kept := messagesOf(t, store)
	if !strings.Contains(kept, strings.TrimSpace(begin)) {
		t.Errorf("what was said is not kept: %q", kept)
	}
}

// TestChat_Providers talks to the real SDKs over loopback.
func TestChat_Providers(t *testing.T) {
	t.Parallel()
	says := func(text string, status int) func(modelserver.Request) modelserver.Reply {
		return func(modelserver.Request) modelserver.Reply {
			if status != 0 {
				return modelserver.Reply{Status: status}
			}
			return modelserver.Reply{Text: []string{text[:2], text[2:]}, Usage: modelserver.Usage{Input: 10, Output: 5}}
		}
	}
	anthropic := modelserver.Anthropic(t, says("I am Claude.", 0))
	openai := modelserver.OpenAI(t, says("I am GPT.", 0))
	down := modelserver.Anthropic(t, says("", 529))
	refuses := modelserver.OpenAI(t, says("", 401))
	local := modelserver.OpenAILike(t, modelserver.OpenAIStyle{NoKey: true}, says("I am here.", 0))
	for name, c := range map[string]struct {
		config string
		env    []string
		status int
		out    string
		model  string
		err    string
	}{
		"by the variable": {env: []string{"OPENAI_API_KEY=sekrit-key", "OPENAI_BASE_URL=" + openai.URL + "/v1"}, out: "I am GPT.", model: "openai/gpt-5.4"},
		"the variable of anthropic comes first": {
			config: "providers: {anthropic: {base_url: '" + anthropic.URL + "'}}",
			env:    []string{"OPENAI_API_KEY=sekrit-key", "ANTHROPIC_API_KEY=sekrit-key"}, out: "I am Claude.", model: "anthropic/claude-sonnet-5-5",
		},
		"configured": {
			config: "agents: {main: {model: mine/some-model}}\nproviders: {mine: {kind: anthropic, base_url: '" + anthropic.URL + "', key: 'env:MINE'}}",
			env:    []string{"MINE=sekrit-key"}, out: "I am Claude.", model: "mine/some-model",
		},
		"without a key": {config: "agents: {main: {model: here/m}}\nproviders: {here: {kind: openai, base_url: '" + local.URL + "/v1'}}", out: "I am here.", model: "here/m"},
		"fallback": {
			config: "agents: {main: {model: down/m, fallback: [openai/gpt-5]}}\nproviders: {down: {kind: anthropic, base_url: '" + down.URL + "', key: 'env:MINE'}, openai: {base_url: '" + openai.URL + "/v1'}}",
			env:    []string{"MINE=sekrit-key", "OPENAI_API_KEY=sekrit-key"}, out: "I am GPT.", model: "openai/gpt-5",
		},
		"a key that is refused": {
			config: "agents: {main: {model: openai/gpt-5}}\nproviders: {openai: {base_url: '" + refuses.URL + "/v1'}}",
			env:    []string{"OPENAI_API_KEY=sekrit-key"}, status: 1, err: "(model_unauthorized)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "parley.yaml", c.config+"\n")
			got := chatRun(t, dir, "", c.env, "who are you?")
			got.answers(t, c.status, c.out)
			got.told(t, c.err)
			if strings.Contains(got.out+got.err, "sekrit") || strings.Contains(got.err, "offline") {
				t.Errorf("it says %q and %q", got.out, got.err)
			}
			if j := chatRun(t, dir, "", c.env, "--json", "once more").json(t); j.Model != c.model || j.Offline || j.Text != c.out {
				t.Errorf("as JSON it is %+v", j)
			}
		})
	}
}

// TestChat_WrongConfiguration: each is one line that says what to do.
func TestChat_WrongConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		has    []string
	}{
		"no key":             {"agents: {main: {model: anthropic/claude-sonnet-5-5}}", []string{"agents.main.model", "ANTHROPIC_API_KEY"}},
		"no key of fallback": {"agents: {main: {model: scripted, fallback: [openai/gpt-5]}}", []string{"agents.main.fallback", "OPENAI_API_KEY"}},
		"no key of another agent": {
			"agents: {ops: {model: mine/m}}\nproviders: {mine: {kind: openai, base_url: 'https://x.example', key: 'file:mine.key'}}", []string{"agents.ops.model", "mine.key"},
		},
		"no key at all":        {"agents: {main: {model: mine/m}}\nproviders: {mine: {kind: openai}}", []string{"providers.mine.key"}},
		"no script":            {"agents: {main: {model: scripted/weather}}", []string{"models.scripted/weather.script"}},
		"a script that is not": {"agents: {main: {model: scripted/weather}}\nmodels: {scripted/weather: {script: weather.yaml}}", []string{"no script", "weather.yaml"}},
		"no prompt":            {"agents: {main: {system: 'file:prompt.md'}}", []string{"agents.main.system", "prompt.md"}},
		"no project":           {"agents: {main: {tools: [files], fs_scope: project, dir: /nonexistent/project}}", []string{"agent main", "/nonexistent/project"}},
		"no such tool":         {"agents: {main: {tools: [file]}}", []string{"parley.yaml:1:25", "did you mean files?"}},
		"a rule without sense": {"agents: {main: {tools: [files], policy: [{tool: 'a b', effect: allow}]}}", []string{"agent main", "a b"}},
		"no price":             {"agents: {main: {model: mine/m}}\nproviders: {mine: {kind: openai, base_url: 'https://x.example'}}\nbudget: {turn: 5}", []string{"mine/m", "price"}},
		"budget, other server": {
			"agents: {main: {model: openai/gpt-5}}\nproviders: {openai: {base_url: 'https://x.example'}}\nbudget: {turn: 5}", []string{"openai/gpt-5", "price"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "parley.yaml", c.config+"\n")
			chatRun(t, dir, "", nil, "hello").complains(t, 1, append(c.has, "(invalid)")...)
			if _, err := os.Stat(filepath.Join(dir, "parley.db")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a store all the same: %v", err)
			}
		})
	}
}

func TestChat_Encrypted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "parley.yaml", "store: {key: my.key}\n")
	chatRun(t, dir, "", nil, "hello").answers(t, 0)
	parleyRun(t, t.TempDir(), "encrypt", "on", "--data", dir).says(t, 0, "encrypted")
	chatRun(t, dir, "", nil, "what did I say").answers(t, 0, "hello")
	if err := os.Remove(filepath.Join(dir, "my.key")); err != nil {
		t.Fatal(err)
	}
	chatRun(t, dir, "", nil, "hello").complains(t, 1, "my.key")
}

func TestChat_InUse(t *testing.T) {
	t.Parallel()
	dir := makeStore(t)
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	chatRun(t, dir, "", nil, "hello").complains(t, 1, "in use by process", "(unavailable)")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	// What a daemon left behind that was killed is no daemon.
	put(t, dir, "daemon.json", `{"pid":2147483646,"url":"http://127.0.0.1:1","started_at":"2026-01-01T00:00:00Z","version":"v1"}`)
	chatRun(t, dir, "", nil, "hello").answers(t, 0)
	put(t, dir, "daemon.json", `{"pid":`)
	chatRun(t, dir, "", nil, "hello").complains(t, 1, "daemon.json", "(unavailable)")
}

// messagesOf gives what all messages of a store say.
func messagesOf(t *testing.T, store parley.Store) string {
	t.Helper()
	page, err := store.Sessions(t.Context(), parley.SeeAll(), parley.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range page.Sessions {
		events, err := store.Events(t.Context(), parley.SeeAll(), s.ID, parley.EventQuery{Limit: parley.MaxPageSize})
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			body, err := events[i].Decode()
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := body.(*parley.Message); ok {
				b.WriteString(parley.PlainText(m.Parts) + "\n")
			}
		}
	}
	return b.String()
}
