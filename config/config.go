package config

import (
	"time"

	"github.com/parley-run/parley"
)

// Config is everything that can be configured. Its tags are the schema:
//
//	yaml     the key; ",inline" if the field's own keys stand in its place
//	default  the value if nothing is said, as in a variable; lists with commas
//	enum     the values it can have
//	keys     the names a map can have
//	names    a rule for the names of a map
//	min,max  the least and the greatest
//	is       a rule for the value, or those in a list, by its name in the table rules
//	doc      what it is for
//	example  how an entry of a map or a list looks, in YAML
type Config struct {
	Agents    map[string]Agent    `yaml:"agents" names:"agent" doc:"The agents, by name. The agent main is always there, and answers where no route says otherwise." example:"main:\n  model: anthropic/claude-sonnet-4-5\n  fallback: [openai/gpt-5]\n  system: file:prompt.md\n  tools: [files, run_command]\n  allowed_commands: [[git, status]]"`
	Providers map[string]Provider `yaml:"providers" names:"name" doc:"Where models are, by name. anthropic, openai and scripted are built in." example:"openrouter:\n  kind: openai\n  base_url: https://openrouter.ai/api/v1\n  key: env:OPENROUTER_KEY"`
	Models    map[string]Model    `yaml:"models" names:"model" doc:"What is to be known about models that are not built in, by provider/model." example:"openai/my-model:\n  context: 128000\n  input_microusd_per_m: 500000\n  output_microusd_per_m: 1500000"`
	Limits    Limits              `yaml:"limits" doc:"How much is too much."`
	Budget    Budget              `yaml:"budget" doc:"How much may be spent, in micro-dollars: 1000000 is one dollar, 0 is no limit. It needs models whose price is known."`
	Session   Session             `yaml:"session" doc:"Which messages share a conversation, and how long one lasts."`
	Owner     Owner               `yaml:"owner" doc:"Who owns this installation."`
	Groups    Groups              `yaml:"groups" doc:"Conversations of several people."`
	Routes    []Route             `yaml:"routes" default:"" doc:"Which agent answers where. The first route that matches counts." example:"- match: {channel: telegram, chat: 'group:-1001'}\n  agent: main\n  dimensions: [chat, sender]"`
	Channels  map[string]Channel  `yaml:"channels" names:"name" doc:"Chat platforms, by name, such as telegram. Routing knows any; a token is for those that parley channels lists." example:"telegram:\n  token: env:TELEGRAM_TOKEN\n  session: {reset: {mode: none}}"`
	Store     Store               `yaml:"store" doc:"Where conversations are kept."`
	Serve     Serve               `yaml:"serve" doc:"The daemon."`
}

// Limits are the bounds of turns, queues and media.
type Limits struct {
	MaxTurns     int           `yaml:"max_turns" default:"1000" min:"1" max:"1000000" doc:"Turns of one session; those of automations and recovery do not count."`
	ToolRounds   int           `yaml:"tool_rounds" default:"16" min:"1" max:"1000" doc:"Rounds of tool calls in one turn."`
	TurnTimeout  time.Duration `yaml:"turn_timeout" default:"30m" min:"1s" doc:"How long a turn may work. Waiting for an approval or for a model that is down does not count."`
	Queue        int           `yaml:"queue" default:"32" min:"1" max:"10000" doc:"Messages of one session that may wait."`
	RunningTurns int           `yaml:"running_turns" default:"64" min:"1" max:"10000" doc:"Turns that run at once, over all sessions."`
	Outage       time.Duration `yaml:"outage" default:"30m" min:"0s" doc:"How long a turn waits for a model that is down before it fails."`
	Blob         Size          `yaml:"blob" default:"25MiB" min:"1KiB" doc:"The largest picture or file."`
	HoldAfter    time.Duration `yaml:"hold_after" default:"1h" min:"1m" doc:"How old a reply to a chat may become before it is held, and a person asked whether it is still wanted."`
}

// Budget is what may be spent, in micro-dollars; 0 is no limit.
type Budget struct {
	Turn          int64  `yaml:"turn" default:"0" min:"0" doc:"One turn."`
	Session       int64  `yaml:"session" default:"0" min:"0" doc:"One session."`
	UserDay       int64  `yaml:"user_day" default:"0" min:"0" doc:"One user in a day."`
	AgentMonth    int64  `yaml:"agent_month" default:"0" min:"0" doc:"One agent in a month."`
	AutomationRun int64  `yaml:"automation_run" default:"0" min:"0" doc:"One run of an automation."`
	WarnAt        int    `yaml:"warn_at" default:"80" min:"0" max:"100" doc:"The percentage of a budget at which people are warned; 0 is never."`
	OnExceed      string `yaml:"on_exceed" default:"stop" enum:"stop,warn" doc:"What happens at the end of a budget: stop ends the turn, warn says so and goes on."`
}

// Set reports whether anything is limited.
func (b Budget) Set() bool {
	return b.Turn > 0 || b.Session > 0 || b.UserDay > 0 || b.AgentMonth > 0 || b.AutomationRun > 0
}

// Owner says who owns the installation.
type Owner struct {
	Identities []parley.IdentityID `yaml:"identities" default:"" is:"identity" doc:"The owner's accounts on chat platforms, each as channel:id, such as telegram:7."`
}

// Groups is about conversations of several people.
type Groups struct {
	OwnerAlways bool `yaml:"owner_always" default:"true" doc:"The owner's messages always get an answer; otherwise the owner has to mention the agent like everybody else."`
}

// Channel is a chat platform.
type Channel struct {
	Bot `yaml:",inline"`

	Accounts map[string]Bot `yaml:"accounts" names:"account" doc:"Further bots on the platform, by a name for each, which routes know as the account." example:"work: {token: env:TELEGRAM_WORK_TOKEN}"`
	Burst    time.Duration  `yaml:"burst" default:"1500ms" min:"0s" max:"8s" doc:"How long a message waits for another of the same person, so that both get one answer; 0 answers each."`
	Session  ChannelSession `yaml:"session" doc:"What is different for sessions of this channel."`
}

// Bot is an account of ours on a chat platform.
type Bot struct {
	Token   SecretRef `yaml:"token" doc:"The bot's token."`
	Webhook bool      `yaml:"webhook" default:"false" doc:"Let the platform bring messages to serve.public_url, in place of asking it for them."`
	BaseURL string    `yaml:"base_url" is:"url" doc:"The address of the platform's API, if that is not the usual one, such as a Bot API server of your own."`
	Allow   []string  `yaml:"allow" default:"" is:"id" doc:"Who may talk to it as a user without being let in: ids of people, or of chats as type:id, such as group:-1001."`
}

// ChannelSession is what a channel's sessions have of their own.
type ChannelSession struct {
	Reset *Reset `yaml:"reset" doc:"When conversations start anew, in place of session.reset as a whole: what is not said here is the default."`
}

// Store says where conversations are kept.
type Store struct {
	Path string `yaml:"path" default:"parley.db" is:"path" doc:"The store's file; relative to the data folder."`
	Key  string `yaml:"key" default:"keyring" is:"keyplace" doc:"Where the key of an encrypted store is: keyring, or the path of a file, relative to the data folder. Whether the store is encrypted it knows itself."`
}

// Serve is the daemon.
type Serve struct {
	Listen         string        `yaml:"listen" default:"127.0.0.1:7788" is:"listen" doc:"The address to listen on, as host:port; port 0 picks one."`
	PublicURL      string        `yaml:"public_url" is:"url" doc:"The address under which others reach it, such as https://parley.example.com."`
	TrustedProxies []string      `yaml:"trusted_proxies" default:"" is:"network" doc:"Addresses or networks of proxies whose word counts on who a client is, such as 10.0.0.0/8."`
	TLSCert        string        `yaml:"tls_cert" is:"file" doc:"The certificate for https, with its chain, in a PEM file; relative to the data folder."`
	TLSKey         string        `yaml:"tls_key" is:"file" doc:"The certificate's key, in a PEM file; relative to the data folder. Without one it is in the file of tls_cert."`
	CORS           []string      `yaml:"cors" default:"" is:"origin" doc:"Web pages of other sites that may use the API with a token, such as https://app.example.com."`
	Drain          time.Duration `yaml:"drain" default:"30s" min:"0s" doc:"How long running turns may take to finish when it stops."`
	Metrics        bool          `yaml:"metrics" default:"true" doc:"Offer metrics for Prometheus."`
	MetricsListen  string        `yaml:"metrics_listen" is:"listener" doc:"An address for the metrics alone, as host:port, where no token is asked for. Without one they are at /metrics, for owners."`
	Log            string        `yaml:"log" default:"text" enum:"text,json" doc:"The form of the log."`
	LogLevel       string        `yaml:"log_level" default:"info" enum:"debug,info,warn,error" doc:"From which level on something is logged."`
	Tracing        string        `yaml:"tracing" default:"off" enum:"off,otlp" doc:"Where traces go: nowhere, or to a collector that the OTEL_EXPORTER_OTLP variables name."`
}
