package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/engine"
)

// bed is an installation that runs, for a test.
type bed struct {
	*installation

	t     *testing.T
	app   *app
	env   map[string]string
	owner access.Caller
}

// newBed starts an installation with a configuration and variables, NAME=value.
func newBed(t *testing.T, text string, environ ...string) *bed {
	t.Helper()
	return newBedWith(t, map[string]string{config.FileName: text}, environ...)
}

// newBedWith does so with these files in the data folder.
func newBedWith(t *testing.T, files map[string]string, environ ...string) *bed {
	t.Helper()
	b := &bed{t: t, env: map[string]string{}}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		b.env[name] = value
	}
	b.app = &app{
		in: strings.NewReader(""), out: io.Discard, err: io.Discard, data: t.TempDir(),
		getenv: func(name string) string { return b.env[name] }, environ: func() []string { return nil },
	}
	for name, text := range files {
		b.write(name, text)
	}
	in, err := b.app.install(t.Context(), installOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.installation = in
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- in.run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the engine ended with %v", err)
		}
		if err := in.close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	<-in.engine.Ready()
	if b.owner, err = in.people.Local(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// write writes a file into the data folder.
func (b *bed) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.app.data, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// load reads another configuration.
func (b *bed) load(text string) *config.Loaded {
	b.t.Helper()
	b.write(config.FileName, text)
	b.app.loaded = nil
	loaded, err := b.app.loadConfig()
	if err != nil {
		b.t.Fatal(err)
	}
	return loaded
}

// reloads does so and applies it.
func (b *bed) reloads(text string) reloaded {
	b.t.Helper()
	done, err := b.reload(b.t.Context(), b.load(text))
	if err != nil {
		b.t.Fatal(err)
	}
	return done
}

// session starts a session.
func (b *bed) session(name, agent string) parley.SessionID {
	b.t.Helper()
	snapshot, _, err := b.start(agent)
	if err != nil {
		b.t.Fatal(err)
	}
	opened, err := b.engine.As(b.owner).Open(b.t.Context(), engine.Opening{ID: parley.SessionID("test:" + name), Session: parley.NewSession{
		Agent: snapshot, Type: parley.SessionDirect, Source: parley.Source{Kind: "test", Interactive: true},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	return opened.Session.ID
}

// ask says something and gives what became of it.
func (b *bed) ask(id parley.SessionID, text string) engine.Answer {
	b.t.Helper()
	return b.askAs(b.owner, id, text)
}

func (b *bed) askAs(who access.Caller, id parley.SessionID, text string) engine.Answer {
	b.t.Helper()
	h := b.engine.As(who)
	ref := parley.InputRef{Origin: "test", ID: text}
	if _, err := h.Post(b.t.Context(), id, parley.Input{Ref: ref, Parts: []parley.Part{parley.TextPart(text)}, Mentioned: true}); err != nil {
		b.t.Fatal(err)
	}
	answer, err := h.Answer(b.t.Context(), id, ref)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

// says gives what the agent said last, or what went wrong.
func (b *bed) says(id parley.SessionID, text string) string {
	b.t.Helper()
	a := b.ask(id, text)
	if a.Completed != nil && a.Completed.Error != nil {
		return a.Completed.Error.Code + ": " + a.Completed.Error.Message
	}
	if a.Message == nil {
		return ""
	}
	return parley.PlainText(a.Message.Parts)
}

// events gives the bodies of a session's log.
func (b *bed) bodies(id parley.SessionID) []parley.EventBody {
	b.t.Helper()
	events, err := b.engine.As(b.owner).Log(b.t.Context(), id, 0, parley.MaxPageSize)
	if err != nil {
		b.t.Fatal(err)
	}
	var list []parley.EventBody
	for i := range events {
		body, err := events[i].Decode()
		if err != nil {
			b.t.Fatal(err)
		}
		list = append(list, body)
	}
	return list
}

// script has a model say what it was told and offered.
const script = `rules:
  - when: {starts: tools}
    say: "${tools}"
  - say: "you said ${user}"
`

func TestInstall_DefaultModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		env    []string
		want   []string
	}{
		"nothing":          {"", nil, []string{offlineModel}},
		"anthropic":        {"", []string{"ANTHROPIC_API_KEY=secret-key"}, []string{defaultAnthropic}},
		"openai":           {"", []string{"OPENAI_API_KEY=secret-key"}, []string{defaultOpenAI}},
		"openai elsewhere": {"", []string{"OPENAI_API_KEY=secret-key", "OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, []string{defaultOpenAI}},
		"address alone":    {"", []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, []string{offlineModel}},
		"both":             {"", []string{"OPENAI_API_KEY=secret-key", "ANTHROPIC_API_KEY=secret-key"}, []string{defaultAnthropic}},
		"configured":       {"agents: {main: {model: scripted}}", []string{"ANTHROPIC_API_KEY=secret-key"}, []string{"scripted"}},
		"a server of one's own": {
			"agents: {main: {model: here/m, fallback: [scripted/demo]}}\nproviders: {here: {kind: openai, base_url: 'http://127.0.0.1:1/v1'}}", nil, []string{"here/m", "scripted/demo"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, c.config, c.env...)
			id := b.session("a", "")
			s, err := b.engine.As(b.owner).Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.modelNames(s); !slices.Equal(got, c.want) {
				t.Errorf("the models are %q, want %q", got, c.want)
			}
		})
	}
}

// TestFrozen holds what a session keeps of its agent, and what it does not.
func TestFrozen(t *testing.T) {
	t.Parallel()
	const before = `
models: {scripted/old: {script: old.yaml}, scripted/new: {script: new.yaml}}
agents: {main: {model: scripted/old, system: Be old., tools: [files, http_request]}}
`
	b := newBedWith(t, map[string]string{
		config.FileName: before, "old.yaml": script, "new.yaml": strings.ReplaceAll(script, "you said", "you have said"),
	})
	old := b.session("old", "")
	if got := b.says(old, "hello"); got != "you said hello" {
		t.Errorf("it says %q", got)
	}
	done := b.reloads(strings.NewReplacer("model: scripted/old", "model: scripted/new", "Be old.", "Be new.", "[files, http_request]", "[files, run_command]", "agents: {", "agents: {other: {}, ").Replace(before))
	if len(done.Restart) > 0 || !slices.Contains(done.Applied, "agents.main.model") || !slices.Contains(done.Applied, "agents.main.system") {
		t.Errorf("the reload gave %+v", done)
	}
	fresh := b.session("new", "")
	if got := b.says(old, "again"); got != "you said again" {
		t.Errorf("the session that was there says %q", got)
	}
	if got := b.says(fresh, "hi"); got != "you have said hi" {
		t.Errorf("the new session says %q", got)
	}
	// What the agent lost is gone, and what it got is for new sessions.
	if got := b.says(old, "tools please"); strings.Contains(got, "run_command") || strings.Contains(got, "http_request") || !strings.Contains(got, "read_file") {
		t.Errorf("the session that was there is offered %s", got)
	}
	if got := b.says(fresh, "tools now"); !strings.Contains(got, "run_command") || strings.Contains(got, "http_request") {
		t.Errorf("the new session is offered %s", got)
	}
	for id, want := range map[parley.SessionID]string{old: "Be old.", fresh: "Be new."} {
		s, err := b.engine.As(b.owner).Session(t.Context(), id)
		if err != nil || b.systemOf(s) != want {
			t.Errorf("%s has the prompt %q, %v", id, b.systemOf(s), err)
		}
	}
	// What the agent may do is as it is configured at the time.
	b.reloads(strings.Replace(before, "tools: [files", "policy: [{tool: write_file, effect: deny}], tools: [files", 1))
	if got := b.says(old, "tools at last"); strings.Contains(got, "write_file") || !strings.Contains(got, "read_file") {
		t.Errorf("under the policy it is offered %s", got)
	}
	// A model that cannot be had any more is replaced.
	b.reloads("models: {scripted/new: {script: new.yaml}}\nagents: {main: {model: scripted/new}}")
	if got := b.says(old, "bye"); got != "you have said bye" {
		t.Errorf("without its model it says %q", got)
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	const first = "agents: {main: {tools: [files]}}\nlimits: {queue: 5}\n"
	b := newBed(t, first)
	before, release := b.use()
	if done := b.reloads(first); len(done.Applied)+len(done.Restart) > 0 {
		t.Errorf("the same again changed %+v", done)
	}
	done := b.reloads("agents: {main: {tools: [files], approval: {deadline: 1m}}, b: {}}\nlimits: {queue: 6, tool_rounds: 3}\nserve: {listen: '127.0.0.1:1'}\nroutes: [{match: {channel: x}, agent: b}]\n")
	if want := []string{"agents.b", "agents.main.approval.deadline", "limits.tool_rounds", "routes"}; !slices.Equal(done.Applied, want) {
		t.Errorf("applied was %v, want %v", done.Applied, want)
	}
	if want := []string{"limits.queue", "serve.listen"}; !slices.Equal(done.Restart, want) {
		t.Errorf("after a restart holds %v, want %v", done.Restart, want)
	}
	// It is still another one than the program was started with.
	if done := b.reloads("limits: {queue: 6}"); !slices.Equal(done.Restart, []string{"limits.queue"}) {
		t.Errorf("after a restart holds %v", done.Restart)
	}
	if len(before.closers) == 0 {
		t.Error("what a turn under way uses was closed")
	}
	release()
	if len(before.closers) > 0 {
		t.Error("what nobody uses any more is open")
	}
	// What cannot be changes nothing.
	present := b.current()
	_, err := b.reload(t.Context(), b.load("agents: {main: {model: anthropic/claude-sonnet-5-5}}"))
	if parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") || b.current() != present {
		t.Errorf("a model without a key gave %v", err)
	}
	if got := b.says(b.session("a", ""), "hello"); !strings.Contains(got, "offline model") {
		t.Errorf("it says %q", got)
	}
}

func TestReload_PromptInFile(t *testing.T) {
	t.Parallel()
	const text = "agents: {main: {system: 'file:prompt.md'}}"
	b := newBedWith(t, map[string]string{config.FileName: text, "prompt.md": "Be kind.\n"})
	b.write("prompt.md", "Be kinder.\n")
	if done := b.reloads(text); !slices.Equal(done.Applied, []string{"agents.main.system"}) {
		t.Errorf("the reload gave %+v", done)
	}
	if got := b.current().agents["main"].frozen.System; got != "Be kinder." {
		t.Errorf("the prompt is %q", got)
	}
}

// TestAgentGone holds that people are told when their agent is not there any more.
func TestAgentGone(t *testing.T) {
	t.Parallel()
	b := newBed(t, "agents: {main: {}, ops: {access: public}}")
	id := b.session("a", "ops")
	if _, door, err := b.start("ops"); err != nil || door != access.DoorPublic {
		t.Errorf("its door is %q, %v", door, err)
	}
	b.reloads("")
	if got := b.says(id, "hello"); !strings.HasPrefix(got, "agent_missing: ") || !strings.Contains(got, "ops") {
		t.Errorf("it says %q", got)
	}
	if _, _, err := b.start("ops"); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "main") {
		t.Errorf("starting with it gave %v", err)
	}
}

// TestChosenModel holds that a person chooses within the chain.
func TestChosenModel(t *testing.T) {
	t.Parallel()
	b := newBedWith(t, map[string]string{
		config.FileName: "models: {scripted/a: {script: a.yaml}, scripted/b: {script: b.yaml}}\nagents: {main: {model: scripted/a, fallback: [scripted/b]}}",
		"a.yaml":        "rules: [{say: first}]", "b.yaml": "rules: [{say: second}]",
	})
	id := b.session("a", "")
	for _, step := range [][2]string{{"one", "first"}, {"/model b", "scripted/b"}, {"two", "second"}, {"/model default", "scripted/a"}, {"three", "first"}, {"/model c", "scripted/b"}} {
		if got := b.says(id, step[0]); !strings.Contains(got, step[1]) {
			t.Errorf("%s gave %q, want %q in it", step[0], got, step[1])
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	const models = "models: {scripted/a: {script: a.yaml}}\n"
	b := newBedWith(t, map[string]string{config.FileName: models + "agents: {main: {model: scripted/a}}\nbudget: {session: 100}", "a.yaml": script})
	if got := b.says(b.session("free", ""), "hello"); got != "you said hello" {
		t.Errorf("a free model says %q", got)
	}
	ledger := b.current().ledger
	b.reloads(models + "agents: {main: {model: scripted/a, max_tokens: 9}}\nbudget: {session: 100}")
	if b.current().ledger != ledger {
		t.Error("the ledger was forgotten, though the budgets are the same")
	}
	b.reloads(models)
	if b.current().ledger != nil {
		t.Error("there is a ledger without a budget")
	}
}
