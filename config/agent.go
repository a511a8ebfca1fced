package config

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// SecretRef is where a secret is; see [secret.Ref].
type SecretRef = secret.Ref

// MainAgent is the agent that is always there.
const MainAgent = "main"

// Agent is who answers.
type Agent struct {
	Model           string         `yaml:"model" is:"model" doc:"The model, as provider/model. Without one it is the first that the variables ANTHROPIC_API_KEY and OPENAI_API_KEY allow, else the offline model scripted."`
	Fallback        []string       `yaml:"fallback" default:"" is:"model" doc:"The models to try next, in this order, when one is down."`
	System          string         `yaml:"system" doc:"The system prompt: the text itself, or file:PATH, relative to the data folder."`
	MaxTokens       int            `yaml:"max_tokens" default:"0" min:"0" max:"10000000" doc:"How many tokens an answer may have; 0 leaves it to the model."`
	Tools           []string       `yaml:"tools" default:"" enum:"files,run_command,http_request,git_commit" doc:"The tools it has."`
	MCP             map[string]MCP `yaml:"mcp" names:"server" doc:"Servers of the Model Context Protocol whose tools it has, by name." example:"search:\n  command: [search-server, --stdio]\n  env: {API_KEY: {secret: 'env:SEARCH_KEY'}}\nwiki:\n  url: https://wiki.example.com/mcp\n  headers: {Authorization: {text: 'Bearer ', secret: 'env:WIKI_TOKEN'}}"`
	Access          string         `yaml:"access" default:"private" enum:"private,protected,public" doc:"What strangers get: nothing but a pairing code, a way to join with a token, or the rights of a guest."`
	FSScope         string         `yaml:"fs_scope" default:"sandboxed" enum:"sandboxed,project,full" doc:"Which files its tools reach."`
	Dir             string         `yaml:"dir" is:"folder" doc:"The folder its files, commands and commits are in; relative to the data folder. Needed for the scope project. Without one, sandboxed has a folder of its own in the data folder, and full starts in the user's home."`
	AllowedCommands [][]string     `yaml:"allowed_commands" default:"" doc:"The commands it may run, each as a list that the command line has to start with; a $ as the last element allows no further arguments."`
	HTTP            HTTP           `yaml:"http" doc:"What http_request reaches, and as whom."`
	Git             Git            `yaml:"git" doc:"How git_commit commits."`
	Approval        Approval       `yaml:"approval" doc:"Questions to a person whether a tool may run."`
	Policy          []Rule         `yaml:"policy" default:"" doc:"Who may have which tool run. Of the rules that fit the strictest counts: deny before approve before allow. If none fits, guests have no tool, users all but files, commands and commits, owners all. Commits need an approval, unless a rule that names git_commit and whom it is about allows them." example:"- {tool: http_request, roles: [user], effect: approve}"`
}

// Models gives the agent's chain: its model and those it falls back to.
func (a Agent) Models() []string {
	if a.Model == "" {
		return a.Fallback
	}
	return append([]string{a.Model}, a.Fallback...)
}

// ToolGroups gives the names that policies know its tools by: those of its tools and
// of its servers, in this order.
func (a Agent) ToolGroups() []string {
	return slices.Concat([]string{}, a.Tools, slices.Sorted(maps.Keys(a.MCP)))
}

// MCP is a server of the Model Context Protocol: a command that is started, or
// an address.
type MCP struct {
	Command []string           `yaml:"command" default:"" doc:"The command to start, and its arguments."`
	URL     string             `yaml:"url" is:"url" doc:"The address of a server that runs already. An address in numbers may be any; a name must lead to public addresses, or to those of allow."`
	Env     map[string]Setting `yaml:"env" names:"variable" doc:"Variables that the command gets, besides PATH, HOME and LANG."`
	Headers map[string]Setting `yaml:"headers" names:"header" doc:"Headers that are sent to the url."`
	Allow   []string           `yaml:"allow" default:"" is:"network" doc:"Addresses or networks that the name in the url may lead to although they are not public, such as 10.0.0.0/8."`
}

// Setting is a value that may have a secret in it: the text, and behind it the
// secret.
type Setting struct {
	Text   string    `yaml:"text" doc:"The value, or what stands before the secret."`
	Secret SecretRef `yaml:"secret" doc:"The secret."`
}

// HTTP is what an agent reaches over the network.
type HTTP struct {
	Allow       []string              `yaml:"allow" default:"" is:"network" doc:"Addresses or networks that may be reached although they are not public, on any port, such as 127.0.0.1."`
	Deny        []string              `yaml:"deny" default:"" is:"network" doc:"Addresses or networks that may not be reached in any case."`
	Credentials map[string]Credential `yaml:"credentials" names:"host" doc:"What identifies the agent, by host. The model does not see it." example:"api.example.org: {key: 'env:EXAMPLE_KEY'}"`
}

// Credential identifies an agent at a host.
type Credential struct {
	Key    SecretRef `yaml:"key" doc:"The secret."`
	Header string    `yaml:"header" default:"Authorization" is:"header" doc:"The header it stands in."`
	Format string    `yaml:"format" doc:"The header's value, with %s for the secret. Without one it is Bearer %s in Authorization, else the secret alone."`
}

// Git is how commits are made.
type Git struct {
	Name  string `yaml:"name" default:"Parley" is:"author" doc:"The name of author and committer."`
	Email string `yaml:"email" default:"parley@localhost" is:"author" doc:"Their address."`
	Hooks bool   `yaml:"hooks" default:"false" doc:"Run the hooks of the repository."`
}

// Approval is how long a question to a person waits, and what holds then.
type Approval struct {
	Deadline time.Duration `yaml:"deadline" default:"10m" min:"1s" doc:"How long the question waits for an answer."`
	Default  string        `yaml:"default" default:"deny" enum:"approve,deny" doc:"The answer if nobody gives one, and at once where nobody can be asked."`
}

// Rule says who may have a tool run.
type Rule struct {
	Tool   string        `yaml:"tool" is:"required" doc:"The name of a tool or of a group of tools, such as files or an MCP server; * is all."`
	Roles  []parley.Role `yaml:"roles" default:"" enum:"owner,user,guest" doc:"The roles it is about. Without roles and users it is about everybody."`
	Users  []string      `yaml:"users" default:"" is:"id" doc:"The users it is about, instead of roles."`
	Effect string        `yaml:"effect" is:"required" enum:"allow,approve,deny" doc:"What happens: it runs, a person is asked, it is refused."`
}

// Provider is where models are.
type Provider struct {
	Kind    string    `yaml:"kind" enum:"anthropic,openai" doc:"The protocol it speaks. That of a built-in provider is known."`
	BaseURL string    `yaml:"base_url" is:"url" doc:"Its address, if that is not the usual one."`
	Key     SecretRef `yaml:"key" doc:"Its key."`
}

// Model is what is to be known about a model. A price that is not given is
// unknown; 0 is free.
type Model struct {
	Context            int    `yaml:"context" min:"0" max:"100000000" default:"0" doc:"How many tokens it takes; 0 is unknown."`
	MaxOutput          int    `yaml:"max_output" min:"0" max:"100000000" default:"0" doc:"How many tokens an answer can have; 0 is unknown."`
	InputMicroUSDPerM  *int64 `yaml:"input_microusd_per_m" min:"0" doc:"What a million tokens of input cost, in micro-dollars; 0 is free."`
	OutputMicroUSDPerM *int64 `yaml:"output_microusd_per_m" min:"0" doc:"What a million tokens of output cost, in micro-dollars; 0 is free."`
	Effort             string `yaml:"effort" is:"id" doc:"How much it does for an answer, in the provider's words, such as low or high."`
	Thinking           int    `yaml:"thinking" min:"0" max:"1000000" default:"0" doc:"For the protocol of anthropic: show what it thinks. Models that take a budget get this many tokens, at least 1024."`
	NoImages           bool   `yaml:"no_images" default:"false" doc:"For the protocol of openai: it takes no images."`
	NoUsage            bool   `yaml:"no_usage" default:"false" doc:"For the protocol of openai: the server refuses stream_options, so tokens are not counted."`
	Script             string `yaml:"script" is:"file" doc:"For scripted/NAME: the file with its script, relative to the data folder."`
}

// Priced reports whether the model's price is given.
func (m Model) Priced() bool { return m.InputMicroUSDPerM != nil && m.OutputMicroUSDPerM != nil }
