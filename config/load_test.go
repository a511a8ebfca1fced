package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/secret"
)

// refs compares references to secrets by what they say.
var refs = cmp.Comparer(func(a, b secret.Ref) bool { return a == b })

// contract is the configuration of the design, with every key there is.
const contract = `
agents:
  main:
    model: anthropic/claude-x
    fallback: [openai/y]
    system: file:prompt.md
    tools: [files, run_command, http_request, git_commit]
    mcp: {search: {command: [search-server, --stdio]}, wiki: {url: "https://wiki.example.com/mcp"}}
    access: private               # private, protected, public
    fs_scope: sandboxed
    allowed_commands: [["git", "status"]]
    approval: {deadline: 10m, default: deny}
    policy: [{tool: files, roles: [user], effect: approve}]
  ops: {}
providers: {openrouter: {kind: openai, base_url: "https://openrouter.example.com/v1", key: env:OPENROUTER_KEY}}
models: {openrouter/x: {context: 128000, input_microusd_per_m: 0, output_microusd_per_m: 0}}
limits: {max_turns: 1000, tool_rounds: 16, turn_timeout: 30m, queue: 32, running_turns: 64, outage: 30m, blob: 25MiB}
budget: {turn: 0, session: 0, user_day: 0, agent_month: 0, automation_run: 0, warn_at: 80, on_exceed: stop}
session:
  dimensions: [chat]
  group_sessions_per_user: false
  thread_sessions_per_user: false
  unified: false
  identity_links: {alice: ["telegram:7", "slack:U01"]}
  busy: queue
  stop: keep
  reset: {mode: both, at_hour: 4, idle_minutes: 1440, zone: "", notify: true, carry: tail, by_type: {group: {mode: none}}}
  resume: {freshness: 1h, strikes: 3}
  inactive_after: 30d
owner: {identities: []}
groups: {owner_always: true}
routes:
  - {match: {channel: telegram, account: "", space: "", chat: "group:-1001", topic: "", sender: ""}, agent: ops, dimensions: [chat, sender]}
channels:
  telegram: {token: env:TELEGRAM_TOKEN, session: {reset: {mode: none}}}
store: {path: parley.db, key: keyring}
serve: {listen: "127.0.0.1:7788", public_url: "", trusted_proxies: [], drain: 30s, metrics: true, tracing: off}
`

func TestLoad_Contract(t *testing.T) {
	t.Parallel()
	l := load(t, contract)
	if len(l.Warnings) > 0 {
		t.Errorf("warnings: %v", l.Warnings)
	}
	free := int64(0)
	want := config.Default()
	ref, err := secret.Parse("env:OPENROUTER_KEY")
	if err != nil {
		t.Fatal(err)
	}
	token, err := secret.Parse("env:TELEGRAM_TOKEN")
	if err != nil {
		t.Fatal(err)
	}
	main := want.Agents["main"]
	want.Agents["ops"] = main
	main.Model, main.Fallback, main.System = "anthropic/claude-x", []string{"openai/y"}, "file:prompt.md"
	main.Tools = []string{"files", "run_command", "http_request", "git_commit"}
	main.MCP = map[string]config.MCP{"search": {Command: []string{"search-server", "--stdio"}}, "wiki": {URL: "https://wiki.example.com/mcp"}}
	main.AllowedCommands = [][]string{{"git", "status"}}
	main.Policy = []config.Rule{{Tool: "files", Roles: []parley.Role{parley.RoleUser}, Effect: "approve"}}
	want.Agents["main"] = main
	want.Providers = map[string]config.Provider{"openrouter": {Kind: "openai", BaseURL: "https://openrouter.example.com/v1", Key: ref}}
	want.Models = map[string]config.Model{"openrouter/x": {Context: 128000, InputMicroUSDPerM: &free, OutputMicroUSDPerM: &free}}
	want.Session.IdentityLinks = map[string][]string{"alice": {"telegram:7", "slack:U01"}}
	never := want.Session.Reset.Policy
	never.Mode = "none"
	want.Session.Reset.ByType = map[string]config.Policy{"group": never}
	want.Routes = []config.Route{{
		Match: config.Match{Channel: "telegram", Chat: "group:-1001"}, Agent: "ops",
		Dimensions: []parley.Dimension{parley.DimensionChat, parley.DimensionSender},
	}}
	want.Channels = map[string]config.Channel{"telegram": {Bot: config.Bot{Token: token}, Burst: 1500 * time.Millisecond, Session: config.ChannelSession{Reset: &config.Reset{Policy: never}}}}
	if diff := cmp.Diff(want, l.Config, refs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !l.Config.Models["openrouter/x"].Priced() || (config.Model{Context: 1}).Priced() {
		t.Error("a price of 0 is not known, or none is")
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	c := config.Default()
	for _, test := range []struct {
		what      string
		got, want any
	}{
		{"limits.max_turns", c.Limits.MaxTurns, 1000},
		{"limits.blob", c.Limits.Blob, config.Size(25 << 20)},
		{"limits.turn_timeout", c.Limits.TurnTimeout, 30 * time.Minute},
		{"session.inactive_after", c.Session.InactiveAfter, 30 * 24 * time.Hour},
		{"session.dimensions", c.Session.Dimensions[0], parley.DimensionChat},
		{"session.reset.at_hour", c.Session.Reset.AtHour, 4},
		{"session.busy", c.Session.Busy, parley.BusyQueue},
		{"agents.main.approval.default", c.Agents["main"].Approval.Default, "deny"},
		{"agents.main.approval.deadline", c.Agents["main"].Approval.Deadline, 10 * time.Minute},
		{"groups.owner_always", c.Groups.OwnerAlways, true},
		{"store.key", c.Store.Key, "keyring"},
		{"serve.listen", c.Serve.Listen, "127.0.0.1:7788"},
	} {
		if test.got != test.want {
			t.Errorf("%s is %v, want %v", test.what, test.got, test.want)
		}
	}
	l, err := config.Load(config.Options{})
	if err != nil || len(l.Warnings) > 0 {
		t.Errorf("nothing at all gives %v, %v", err, l.Warnings)
	}
	if diff := cmp.Diff(c, l.Config, refs); diff != "" {
		t.Errorf("nothing at all is not the default:\n%s", diff)
	}
}

// TestLoad_Forms has files that are unusual and right.
func TestLoad_Forms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		busy parley.BusyMode
	}{
		"empty":            {"", "queue"},
		"blank":            {"\n  \n\n", "queue"},
		"comments":         {"# nothing\n", "queue"},
		"one empty":        {"---\n", "queue"},
		"marks":            {"---\nsession: {busy: steer}\n...\n", "steer"},
		"version":          {"%YAML 1.2\n---\nsession: {busy: steer}\n", "steer"},
		"BOM":              {"\ufeffsession: {busy: steer}\n", "steer"},
		"CRLF":             {"session:\r\n  busy: steer\r\n  stop: keep\r\n", "steer"},
		"quotes":           {"session: {'busy': \"steer\"}", "steer"},
		"anchor and alias": {"session: {busy: &b steer, reset: {zone: ''}}\nagents: {main: {system: *b}}\n", "steer"},
		"empty section":    {"session:\nserve:\n", "queue"},
		"null":             {"session: {busy: ~}", "queue"},
		"tab after text":   {"session:\t{busy: steer}\t# so\n", "steer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := load(t, test.text).Config.Session.Busy; got != test.busy {
				t.Errorf("session.busy is %s, want %s", got, test.busy)
			}
		})
	}
}

func TestLoad_Units(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour,
		"1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour, "'30m'": 30 * time.Minute,
	} {
		if got := load(t, "serve: {drain: "+text+"}").Config.Serve.Drain; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"5", "d", "1x", "1e9d", "999999d", "1d-1h", "-1d", "-5m", "1d 2h", "NaNd", "106751d2000000h", "yes"} {
		if got := problems(t, "serve: {drain: "+text+"}"); len(got) != 1 || !strings.HasPrefix(got[0], "f:1:16: serve.drain is ") {
			t.Errorf("%s: got %q", text, got)
		}
	}
	for text, want := range map[string]config.Size{
		"2048": 2048, "25MiB": 25 << 20, "1 GiB": 1 << 30, "10MB": 10e6, "2kB": 2000, "4096B": 4096, "1TiB": 1 << 40,
	} {
		if got := load(t, "limits: {blob: "+text+"}").Config.Limits.Blob; got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"MiB", "1.5MiB", "-1MiB", "1mib", "9999999TiB", "99999999999999999999", "1B"} {
		if got := problems(t, "limits: {blob: "+text+"}"); len(got) != 1 || !strings.HasPrefix(got[0], "f:1:16: limits.blob is ") {
			t.Errorf("%s: got %q", text, got)
		}
	}
	for size, want := range map[config.Size]string{0: "0B", 1: "1B", 1024: "1KiB", 1500: "1500B", 25 << 20: "25MiB", 3 << 40: "3TiB"} {
		if size.String() != want {
			t.Errorf("%d is %s, want %s", size, size, want)
		}
	}
}

// TestLoad_Nothing tells apart what is not given and what is given as nothing.
func TestLoad_Nothing(t *testing.T) {
	t.Parallel()
	l := load(t, "routes: [{match: {chat: a}}, {match: {chat: b}, dimensions: []}]\nsession: {dimensions: []}\n")
	if r := l.Config.Route().Routes; r[0].Dimensions != nil || r[1].Dimensions == nil || len(r[1].Dimensions) != 0 {
		t.Errorf("dimensions of routes are %#v and %#v", r[0].Dimensions, r[1].Dimensions)
	}
	if d := l.Config.Route().Dimensions; d == nil || len(d) != 0 {
		t.Errorf("dimensions are %#v", d)
	}
}

func TestLoad_Files(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("# 345678\n", 10<<20/9)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file string
		code parley.Code
		says string
	}{
		{filepath.Join(dir, "none.yaml"), parley.CodeNotFound, "parley config init"},
		{dir, parley.CodeInvalid, "is a folder"},
		{os.DevNull, parley.CodeInvalid, "not a plain file"},
		{big, parley.CodeTooLarge, "more than 1MiB"},
		{filepath.Join(big, "below"), parley.CodeUnavailable, "cannot read"},
	} {
		l, err := config.Load(config.Options{File: test.file})
		if parley.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s and %q", test.file, err, test.code, test.says)
		}
		if l == nil || l.Config.Session.Busy != parley.BusyQueue {
			t.Errorf("%s: no defaults came with the error", test.file)
		}
	}
}

func TestLoad_Precedence(t *testing.T) {
	t.Parallel()
	l := load(t, "session: {busy: steer, stop: suspend}\nagents: {a: {access: public}, b: {}}\n",
		"PARLEY_SESSION_BUSY=reject", "PARLEY_SESSION_STOP=", `PARLEY_AGENTS={"c": {"access": "protected"}}`, "OTHER=x", "PARLEY_SERVICE_HOST=10.0.0.1", "PARLEY_DATA=/x")
	if len(l.Warnings) > 0 {
		t.Errorf("warnings: %v", l.Warnings)
	}
	got := map[string]string{}
	for _, v := range l.Values() {
		got[v.Path] = v.Text() + " " + string(v.Origin)
		if v.Origin != config.FromDefault {
			got[v.Path] += " " + strings.Replace(v.Place.String(), l.File, "f", 1)
		}
	}
	for path, want := range map[string]string{
		"session.busy":         "reject env PARLEY_SESSION_BUSY",
		"session.stop":         "suspend file f:1:30",
		"session.unified":      "false default",
		"agents.c.access":      "protected env PARLEY_AGENTS:1:18",
		"agents.c.model":       `"" default`,
		"agents.main.access":   "private default",
		"agents.a.access":      "",
		"session.dimensions":   `["chat"] default`,
		"session.reset.carry":  "tail default",
		"limits.blob":          "25MiB default",
		"limits.turn_timeout":  "30m default",
		"serve.public_url":     `"" default`,
		"session.reset.notify": "true default",
	} {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
}

// TestValues_JSON holds what programs read.
func TestValues_JSON(t *testing.T) {
	t.Parallel()
	l := load(t, "channels: {telegram: {token: env:TELEGRAM_TOKEN}}\n", "PARLEY_SERVE_DRAIN=90s")
	want := map[string]string{
		"channels.telegram.token":         `{"path":"channels.telegram.token","value":"env:TELEGRAM_TOKEN","origin":"file","file":"f","line":1,"column":30}`,
		"channels.telegram.session.reset": `{"path":"channels.telegram.session.reset","value":null,"origin":"default"}`,
		"serve.drain":                     `{"path":"serve.drain","value":"1m30s","origin":"env","variable":"PARLEY_SERVE_DRAIN","line":1,"column":1}`,
		"limits.blob":                     `{"path":"limits.blob","value":"25MiB","origin":"default"}`,
		"limits.queue":                    `{"path":"limits.queue","value":32,"origin":"default"}`,
		"routes":                          `{"path":"routes","value":[],"origin":"default"}`,
		"providers":                       `{"path":"providers","value":{},"origin":"default"}`,
	}
	for _, v := range l.Values() {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := want[v.Path]
		if got := strings.Replace(string(data), l.File, "f", 1); ok && got != w {
			t.Errorf("got %s, want %s", got, w)
		}
		delete(want, v.Path)
	}
	if len(want) > 0 {
		t.Errorf("no values for %v", want)
	}
}
