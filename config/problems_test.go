package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProblems has one case for each kind of mistake, with the whole message.
func TestProblems(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("aB3d", 9)
	tests := []struct {
		name, text string
		env        []string
		want       []string
	}{
		{
			name: "unknown key", text: "sesion: {}\n",
			want: []string{"f:1:1: sesion is not known; did you mean session?"},
		},
		{
			name: "unknown key in a section", text: "session:\n  bussy: queue\n",
			want: []string{"f:2:3: session.bussy is not known; did you mean busy?"},
		},
		{
			name: "a key in the wrong place", text: "max_turns: 5\n",
			want: []string{"f:1:1: max_turns is not known; did you mean limits.max_turns?"},
		},
		{
			name: "a key like no other", text: "owner: {frobnicate: 1}\n",
			want: []string{"f:1:9: owner.frobnicate is not known; the keys in owner are identities"},
		},
		{
			name: "a key twice", text: "session:\n  busy: steer\n  stop: keep\n  busy: queue\n",
			want: []string{"f:4:3: session.busy is there twice, first in line 2; remove one of them"},
		},
		{
			name: "a tab", text: "session:\n\tbusy: steer\nserve:\n  \tdrain: 3s\n",
			want: []string{"f:2:1: the line is indented with a tab; use spaces", "f:4:3: the line is indented with a tab; use spaces"},
		},
		{
			name: "no YAML", text: "session: {busy: steer\nserve: {}\n",
			want: []string{"f:2:1: this is not YAML: ',' or '}' must be specified"},
		},
		{
			name: "a quote that stays open", text: "session:\n  busy: \"steer\n",
			want: []string{"f:2:9: this is not YAML: could not find end character of double-quoted text"},
		},
		{
			name: "a header with a secret", text: "channels: {telegram: {token: x}}\nagents:\n  main:\n    system: |hunter2\n",
			want: []string{"f:4:13: this is not YAML: invalid header option: …"},
		},
		{
			name: "two documents", text: "session: {}\n---\nserve: {}\n",
			want: []string{"f:2:1: a second document begins here; a configuration is one, so remove the line ---, or what is before it"},
		},
		{
			name: "text alone", text: "hello\n",
			want: []string{"f:1:1: the configuration is text; keys and their values are wanted"},
		},
		{
			name: "a list alone", text: "- a\n",
			want: []string{"f:1:1: the configuration is a list; keys and their values are wanted"},
		},
		{
			name: "not UTF-8", text: "session:\n  busy: \xff\xfe\n",
			want: []string{"f:2:9: there is a byte that is not UTF-8; save the file as UTF-8"},
		},
		{
			name: "a control character", text: "session:\n  busy: a\x00b\n",
			want: []string{"f:2:10: there is a control character, U+0000; remove it"},
		},
		{
			name: "a tag", text: "session: {busy: !!str steer}\n",
			want: []string{`f:1:17: tags have no use here; remove "!!str"`},
		},
		{
			name: "a merge", text: "session: &s {busy: steer}\nserve:\n  <<: *s\n",
			want: []string{"f:3:3: a key is a single word; lists, maps, merges and aliases cannot be keys"},
		},
		{
			name: "an alias of nothing", text: "session: *s\n",
			want: []string{`f:1:10: there is no anchor "s" before this`},
		},
		{
			name: "an alias in itself", text: "session: &s\n  reset: *s\n",
			want: []string{`f:2:10: the alias "s" stands inside what it repeats`},
		},
		{
			name: "wrong types", text: "session: [a]\nserve: {listen: {a: b}, metrics: 1, trusted_proxies: x}\nlimits: {queue: 1.5}\nagents: 5\n",
			want: []string{
				"f:1:10: session is a list; keys and their values are wanted",
				"f:2:17: serve.listen is a map; a single value is wanted, such as 127.0.0.1:7788",
				`f:2:34: serve.metrics is "1"; it must be true or false`,
				"f:2:54: serve.trusted_proxies is text; a list is wanted, such as [a, b]",
				`f:3:17: limits.queue is "1.5"; it must be a whole number, such as 32`,
				"f:4:9: agents is a whole number; names and what belongs to them are wanted",
			},
		},
		{
			name: "text for a number", text: "limits: {queue: \"32\", max_turns: many}\n",
			want: []string{
				`f:1:17: limits.queue is "32"; that is text; write it without quotes`,
				`f:1:34: limits.max_turns is "many"; it must be a whole number, such as 1000`,
			},
		},
		{
			name: "a truth for text", text: "agents: {main: {system: true}}\nserve: {tracing: false}\n",
			want: []string{
				`f:1:25: agents.main.system is "true"; that is no text; put it in quotes if you mean it`,
				`f:2:18: serve.tracing is "false"; that is no text; off or otlp`,
			},
		},
		{
			name: "out of range", text: "session: {reset: {at_hour: 24, idle_minutes: 0}}\nlimits: {turn_timeout: 10ms, blob: 1B, queue: 99999999999999999999}\n",
			want: []string{
				`f:1:28: session.reset.at_hour is "24"; it must be 0 to 23`,
				`f:1:46: session.reset.idle_minutes is "0"; it must be 1 to 5256000`,
				`f:2:24: limits.turn_timeout is "10ms"; it must be 1s or more`,
				`f:2:36: limits.blob is "1B"; it must be 1KiB or more`,
				`f:2:47: limits.queue is "99999999999999999999"; that is too far from zero`,
			},
		},
		{
			name: "units", text: "session: {inactive_after: 30, resume: {freshness: soon}}\nlimits: {blob: 5XB}\n",
			want: []string{
				`f:1:27: session.inactive_after is "30"; a unit is missing, as in 30s, 30m, 30h or 30d`,
				`f:1:51: session.resume.freshness is "soon"; it must be a duration, such as 1h; the units are d, h, m, s and ms`,
				`f:2:16: limits.blob is "5XB"; it must be a size, such as 25MiB; the units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB`,
			},
		},
		{
			name: "not one of few", text: "session: {busy: qeue, stop: never, dimensions: [chat, sendr], reset: {by_type: {gruop: {}}}}\n",
			want: []string{
				`f:1:17: session.busy is "qeue"; it must be queue, collect, steer, interrupt or reject; did you mean queue?`,
				`f:1:29: session.stop is "never"; it must be keep or suspend`,
				`f:1:55: session.dimensions[1] is "sendr"; it must be space, chat, topic or sender; did you mean sender?`,
				"f:1:81: session.reset.by_type.gruop is not known; it must be direct or group",
			},
		},
		{
			name: "a secret in place of a reference", text: "channels: {telegram: {token: hunter2}, slack: {token: [hunter2]}}\nproviders: {p: {kind: openai, key: " + token + "}}\n",
			want: []string{
				"f:1:30: channels.telegram.token: a secret is not written down but referred to: give env:NAME, file:PATH or keyring:NAME",
				"f:1:55: channels.slack.token is a list; a single value is wanted",
				"f:2:36: providers.p.key: this looks like a credential, and those are not written down here; put it into a variable, a file or the system's keyring, and give env:NAME, file:PATH or keyring:NAME where a secret is asked for",
			},
		},
		{
			name: "a credential anywhere", text: "agents: {main: {system: use " + token + "}, " + token + ": {}}\n" + token + ": 1\nserve: {listen: " + token + ", tracing: " + token + "}\n",
			want: []string{
				"f:1:25: agents.main.system: this looks like a credential, and those are not written down here; put it into a variable, a file or the system's keyring, and give env:NAME, file:PATH or keyring:NAME where a secret is asked for",
				"f:1:72: this key in agents looks like a credential, and those are not written down here; what is before a : is a name",
				"f:2:1: this key looks like a credential, and those are not written down here; what is before a : is a name",
				"f:3:17: serve.listen is (hidden, as it looks like a credential); it must be host:port, such as 127.0.0.1:7788",
				"f:3:68: serve.tracing is (hidden, as it looks like a credential); it must be off or otlp",
			},
		},
		{
			name: "a credential for an id", text: "owner: {identities: [" + token + "]}\nsession: {identity_links: {a: [" + token + "]}}\nroutes: [{match: {chat: x}, agent: " + token + "}]\n",
			want: []string{
				"f:1:22: owner.identities[0]: identity (hidden, as it looks like a credential) must be <channel>:<id>, such as telegram:7",
				"f:3:36: routes[0].agent: this looks like a credential, and those are not written down here; put it into a variable, a file or the system's keyring, and give env:NAME, file:PATH or keyring:NAME where a secret is asked for",
				"warning: f:2:32: session.identity_links.a[0]: the id (hidden, as it looks like a credential) has no channel, so it is the same person on every channel, and gives no rights; write it as channel:id",
			},
		},
		{
			name: "the key of the store", text: "store: {key: " + strings.Repeat("0f", 32) + "}\n",
			want: []string{"f:1:14: store.key: that is a key itself, and those are not written down here; put it into a file that only you can read, and give its path"},
		},
		{
			name: "a reference for the key of the store", text: "store: {key: file:/x, path: x/}\n",
			want: []string{
				"f:1:14: store.key: it must be keyring, or the path of a key file without file: before it",
				`f:1:29: store.path is "x/"; it must be the path of a file`,
			},
		},
		{
			name: "addresses", text: "serve: {listen: 7788, public_url: \"ftp://x\", trusted_proxies: [proxy]}\nproviders: {p: {kind: openai, base_url: \"https://me:pw@x\"}}\n",
			want: []string{
				`f:1:17: serve.listen is "7788"; it must be host:port, such as 127.0.0.1:7788`,
				"f:1:35: serve.public_url: it must be an address that starts with https:// or http://, such as https://example.com",
				`f:1:64: serve.trusted_proxies[0] is "proxy"; it must be an address or a network, such as 10.0.0.1 or 10.0.0.0/8`,
				"f:2:41: providers.p.base_url: an address must not hold a name or a password",
			},
		},
		{
			name: "a zone", text: "session: {reset: {zone: Mars/Olympus}}\n",
			want: []string{`f:1:25: session.reset.zone is "Mars/Olympus"; it must be a time zone, such as Europe/Berlin or UTC; without one it is the machine's`},
		},
		{
			name: "an empty entry", text: "owner: {identities: [~]}\nagents: {\"\": {}}\n",
			want: []string{"f:1:22: owner.identities[0] is empty; remove it, or write something", "f:2:10: a name in agents is empty"},
		},
		{
			name: "an agent's name", text: "agents: {Ops Team: {}}\n",
			want: []string{`f:1:10: agents."Ops Team": the name of an agent has small letters, digits, _ and, inside, -, and at most 64 of them`},
		},
		{
			name: "two links claim one id", text: "session:\n  identity_links:\n    alice: [\"telegram:7\"]\n    bob: [\"slack:1\", \"Telegram:7\"]\n",
			want: []string{`f:4:22: session.identity_links.bob[1]: the id "telegram:7" is claimed by "alice" too, with "telegram:7"; one sender cannot be two people, so remove one of them`},
		},
		{
			name: "a bare id", text: "session: {identity_links: {alice: [\"7\"]}}\n",
			want: []string{`warning: f:1:36: session.identity_links.alice[0]: the id "7" has no channel, so it is the same person on every channel, and gives no rights; write it as channel:id`},
		},
		{
			name: "an unknown agent", text: "agents: {ops: {}}\nroutes:\n  - {match: {channel: slack}, agent: opps}\n",
			want: []string{`f:3:38: routes[0].agent: there is no agent "opps"; there are: main, ops`},
		},
		{
			name: "a route that never matches", text: "routes:\n  - {match: {channel: slack}}\n  - {match: {channel: slack, chat: \"group:1\"}}\n",
			want: []string{"f:3:13: routes[1].match: the route can never match, because routes[0] matches all of its messages first; move it up, or remove it"},
		},
		{
			name: "a route that is not read hides none", text: "routes:\n  - {match: {chanel: slack}}\n  - {match: {channel: slack}}\n",
			want: []string{"f:2:14: routes[0].match.chanel is not known; did you mean channel?"},
		},
		{
			name: "nor is it hidden", text: "routes:\n  - {match: {channel: slack}}\n  - {match: {channel: slack, chat: [1]}}\n  - {match: {channel: slack, chat: \"1\"}}\n",
			want: []string{
				"f:3:36: routes[1].match.chat is a list; a single value is wanted",
				"f:4:13: routes[2].match: the route can never match, because routes[0] matches all of its messages first; move it up, or remove it",
			},
		},
		{
			name: "a switch in quotes", text: "serve: {metrics: \"false\"}\n",
			want: []string{`f:1:18: serve.metrics is "false"; that is text; write it without quotes`},
		},
		{
			name: "a budget without a price", text: "budget: {turn: 5}\nagents: {main: {model: openai/x, fallback: [scripted, openai/y]}}\nmodels: {openai/y: {input_microusd_per_m: 0, output_microusd_per_m: 1}}\n",
			want: []string{`f:2:24: agents.main.model: there is a budget, but the price of the model "openai/x" is not known; give models.openai/x.input_microusd_per_m and output_microusd_per_m, or remove the budget`},
		},
		{
			name: "a chain in a circle", text: "agents: {main: {model: openai/x, fallback: [openai/y, openai/x]}, b: {fallback: [openai/x]}}\n",
			want: []string{
				`f:1:55: agents.main.fallback[1]: the model "openai/x" stands in the chain before, so it would be tried in a circle; remove it`,
				"f:1:81: agents.b.fallback: there is no model that it could be the fallback of; give agents.b.model",
			},
		},
		{
			name: "providers and models", text: "agents: {main: {model: opnai/x}, b: {model: gpt}}\nproviders: {p: {}, scripted: {kind: openai}}\nmodels: {q/x: {}}\n",
			want: []string{
				`f:1:24: agents.main.model: the provider "opnai" is not known; did you mean openai?`,
				`f:1:45: agents.b.model is "gpt"; it must be provider/model, such as anthropic/claude-sonnet-4-5, or scripted`,
				"f:2:13: providers.p: its kind is missing; give anthropic or openai, whose protocol it speaks",
				"f:2:20: providers.scripted: that is the offline model's own; choose another name",
				`f:3:10: models.q/x: the provider "q" is not known; add it to providers`,
			},
		},
		{
			name: "a key over http", text: "providers: {p: {kind: openai, base_url: \"http://10.0.0.1/v1\", key: env:P}, q: {kind: openai, base_url: \"http://localhost/v1\", key: env:P}}\n",
			want: []string{"warning: f:1:41: providers.p.base_url: the key is sent over http, which others can read; use https"},
		},
		{
			name: "rules, commands and servers", text: "agents:\n  main:\n    policy: [{tool: x, roles: [user], users: [u], effect: allow}, {tool: x}, {effect: deny}]\n    allowed_commands: [[]]\n    mcp: {a: {}, b: {command: [x], url: \"https://x\"}}\n",
			want: []string{
				"f:3:14: agents.main.policy[0]: a rule is about roles or about users, not both; make it two rules",
				"f:3:67: agents.main.policy[1] lacks effect: allow, approve or deny",
				"f:3:78: agents.main.policy[2] lacks tool",
				"f:4:24: agents.main.allowed_commands[0]: it allows every command, as it is empty; name one, such as [git, status]",
				"f:5:11: agents.main.mcp.a: give a command or a url, and not both",
				"f:5:18: agents.main.mcp.b: give a command or a url, and not both",
			},
		},
		{
			name: "channels", text: "channels:\n  telegarm: {}\n  matrix: {token: env:X}\n  signal: {session: {reset: {mode: none}}}\n",
			want: []string{
				"f:2:3: channels.telegarm: there is no such channel; did you mean telegram?",
				"f:3:3: channels.matrix: there is no such channel that a token could be for; 'parley channels add --help' says which there are",
				"warning: f:4:3: channels.signal: there is no such channel; what is said here holds if a program brings in messages under this name",
			},
		},
		{
			name: "bots", text: "channels:\n  telegram:\n    webhook: true\n    accounts:\n      work: {}\n      default: {token: env:X}\n      home: {token: env:Y, webhook: true}\n",
			want: []string{
				"f:5:7: channels.telegram.accounts.work: its token is missing; give env:NAME, file:PATH or keyring:NAME",
				"f:6:7: channels.telegram.accounts.default: default is the bot that has no name, whose token stands beside accounts",
				"f:7:37: channels.telegram.accounts.home.webhook: where would the platform bring messages? give serve.public_url, an address that starts with https://",
				"warning: f:3:14: channels.telegram.webhook: it has no effect without a token",
			},
		},
		{
			name: "open to others", text: "serve: {listen: \":80\"}\n",
			want: []string{`warning: f:1:17: serve.listen: ":80" can be reached by others without encryption; the daemon refuses that unless it has serve.tls_cert, stands behind one of serve.trusted_proxies, or is told --insecure`},
		},
		{name: "open to others behind a proxy", text: "serve: {listen: \":80\", trusted_proxies: [10.0.0.0/8]}\n"},
		{name: "open to others by https", text: "serve: {listen: \":443\", tls_cert: both.pem}\n"},
		{
			name: "serve", text: "serve: {cors: [\"https://a/b\", \"HTTPS://A.example\", a], metrics_listen: 9090, tls_key: k.pem, log: xml}\n",
			want: []string{
				`f:1:16: serve.cors[0] is "https://a/b"; it must be the origin of a web page, such as https://app.example.com, without a path and in small letters`,
				`f:1:31: serve.cors[1] is "HTTPS://A.example"; it must be the origin of a web page, such as https://app.example.com, without a path and in small letters`,
				"f:1:52: serve.cors[2]: it must be an address that starts with https:// or http://, such as https://example.com",
				`f:1:72: serve.metrics_listen is "9090"; it must be host:port, such as 127.0.0.1:7788`,
				`f:1:99: serve.log is "xml"; it must be text or json`,
				"warning: f:1:87: serve.tls_key: it has no effect without serve.tls_cert",
			},
		},
		{
			name: "tools", text: "agents:\n  a:\n    tools: [file]\n    fs_scope: project\n    git: {name: \"<me>\"}\n    http: {allow: [home], credentials: {\"a/b\": {key: env:K}, x: {header: \"a b\", format: Bearer}}}\n",
			want: []string{
				`f:3:13: agents.a.tools[0] is "file"; it must be files, run_command, http_request or git_commit; did you mean files?`,
				"f:4:15: agents.a.fs_scope: which project? give its folder as agents.a.dir",
				`f:5:17: agents.a.git.name is "<me>"; it must be one line without < and >`,
				`f:6:20: agents.a.http.allow[0] is "home"; it must be an address or a network, such as 10.0.0.1 or 10.0.0.0/8`,
				"f:6:41: agents.a.http.credentials.a/b: it must be one host, such as api.example.org or api.example.org:8443",
				"f:6:62: agents.a.http.credentials.x: its key is missing; give env:NAME, file:PATH or keyring:NAME",
				`f:6:74: agents.a.http.credentials.x.header is "a b"; it must be the name of a header, such as Authorization`,
				"f:6:89: agents.a.http.credentials.x.format: it must have one %s, where the secret goes",
			},
		},
		{
			name: "servers", text: "agents:\n  a:\n    mcp:\n      a.b: {command: [x]}\n      files: {command: [x]}\n      x: {command: [x], env: {A-B: {text: c}}, allow: [10.0.0.1]}\n      y: {url: \"https://y\", env: {A: {text: b}}, headers: {\"a b\": {}}}\nmodels: {openai/x: {script: s.yaml}}\n",
			want: []string{
				`f:4:7: agents.a.mcp."a.b": the name of a server has letters, digits, _ and -, and at most 32 of them`,
				"f:5:7: agents.a.mcp.files: that is the name of other tools; choose another",
				"f:6:7: agents.a.mcp.x: headers and allow are for a url; a command has env",
				"f:6:31: agents.a.mcp.x.env.A-B: the name of a variable has letters, digits and _",
				"f:7:34: agents.a.mcp.y.env: variables are for a command; a url has headers",
				`f:7:60: agents.a.mcp.y.headers."a b": it must be the name of a header, such as Authorization`,
				"f:8:29: models.openai/x.script: only scripted models have a script; call it scripted/NAME",
			},
		},
		{name: "on another loopback", text: "serve: {listen: \"[::1]:80\"}\n"},
		{
			name: "variables", text: "session: {busy: qeue}\n",
			env: []string{
				"PARLEY_SESSION_BUSY=stear", "PARLEY_LIMITS_QUEUE=0", `PARLEY_OWNER_IDENTITIES=["a:1",` + "\n" + ` "x"]`, "PARLEY_ROUTES=[chat]",
				`PARLEY_AGENTS={"main":{"mode":"x"}`, "PARLEY_SERVE_DRAIN=\xff", `PARLEY_MODELS={} {}`, `PARLEY_CHANNELS={"slack":{},"slack":{}}`,
				"PARLEY_STORE_PAHT=x", "PARLEY_STORE_NOTHING=x", "PARLEY_AGENTS_MAIN_MODEL=x", "PARLEY_HOME=x",
			},
			want: []string{
				`f:1:17: session.busy is "qeue"; it must be queue, collect, steer, interrupt or reject; did you mean queue?`,
				"PARLEY_AGENTS:1:21: this is not JSON: a list or a map is not closed",
				"PARLEY_CHANNELS:1:13: channels.slack is there twice, first in line 1; remove one of them",
				`PARLEY_LIMITS_QUEUE: limits.queue is "0"; it must be 1 to 10000`,
				"PARLEY_MODELS:1:4: more follows after the end of the JSON; remove it",
				`PARLEY_OWNER_IDENTITIES:2:2: owner.identities[1]: identity "x" must be <channel>:<id>, such as telegram:7`,
				`PARLEY_ROUTES:1:2: this is not JSON; lists and maps in variables are written as JSON, such as ["a","b"] or {"a":1}`,
				"PARLEY_SERVE_DRAIN: serve.drain is not UTF-8",
				`PARLEY_SESSION_BUSY: session.busy is "stear"; it must be queue, collect, steer, interrupt or reject; did you mean steer?`,
				"warning: PARLEY_AGENTS_MAIN_MODEL: this variable is not known, and has no effect; set PARLEY_AGENTS, which is JSON",
				"warning: PARLEY_STORE_NOTHING: this variable is not known, and has no effect",
				"warning: PARLEY_STORE_PAHT: this variable is not known, and has no effect; did you mean PARLEY_STORE_PATH?",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := problems(t, test.text, test.env...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, line := range got {
				if strings.Contains(line, token) || strings.Contains(line, "hunter2") || strings.Contains(line, "0f0f") {
					t.Errorf("a secret is told: %s", line)
				}
			}
		})
	}
}

// TestProblems_Hostile has files that are small and would be much work.
func TestProblems_Hostile(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x, x]\n"
	for i := range 30 {
		n, m := string(rune('a'+i%26))+strings.Repeat("x", i/26+1), string(rune('a'+(i-1+26)%26))+strings.Repeat("x", (i+25)/26)
		if i == 0 {
			m = "a0"
		}
		bomb += n + ": &" + n + " [*" + m + ", *" + m + "]\n"
	}
	wide := strings.Builder{}
	for range 100_000 {
		wide.WriteString("x: 1\n")
	}
	for name, test := range map[string]struct{ text, says string }{
		"aliases of aliases": {bomb, "more than 50000 values"},
		"many keys":          {wide.String(), "more than 5000 keys"},
		"many signs":         {"x: [" + strings.Repeat("a,", 150_000) + "]", "words and signs"},
		"deep lists":         {strings.Repeat("[", 100_000), "nested more than 32 deep"},
		"deep maps":          {strings.Repeat("{a: ", 100_000), "nested more than 32 deep"},
		"deep entries":       {strings.Repeat("- ", 100_000) + "x", "nested more than 32 deep"},
		"deep blocks":        {deepBlock(200), "nested more than 32 deep"},
		"deep keys":          {strings.Repeat("? ", 100_000) + "x", "nested more than 32 deep"},
		"tags":               {strings.Repeat("!a ", 100_000) + "x", "nested more than 32 deep"},
		"anchors":            {strings.Repeat("&a ", 100_000) + "x", "nested more than 32 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := problems(t, test.text)
			if !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, test.says) }) {
				t.Errorf("got %.300q, want one that says %q", got, test.says)
			}
		})
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
