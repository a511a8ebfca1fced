package config

import (
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
	Tools           []string       `yaml:"tools" default:"" is:"name" doc:"The tools it has, such as files, run_command, http_request, git_commit."`
	MCP             map[string]MCP `yaml:"mcp" names:"name" doc:"Servers of the Model Context Protocol whose tools it has, by name." example:"search: {command: [search-server, --stdio]}"`
	Access          string         `yaml:"access" default:"private" enum:"private,protected,public" doc:"What strangers get: nothing but a pairing code, a way to join with a token, or the rights of a guest."`
	FSScope         string         `yaml:"fs_scope" default:"sandboxed" enum:"sandboxed,project,full" doc:"Which files its tools reach."`
	AllowedCommands [][]string     `yaml:"allowed_commands" default:"" doc:"The commands it may run, each as a list that the command line has to start with; a $ as the last element allows no further arguments."`
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

// MCP is a server of the Model Context Protocol: a command that is started, or
// an address.
type MCP struct {
	Command []string `yaml:"command" default:"" doc:"The command to start, and its arguments."`
	URL     string   `yaml:"url" is:"url" doc:"The address of a server that runs already."`
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
	InputMicroUSDPerM  *int64 `yaml:"input_microusd_per_m" min:"0" doc:"What a million tokens of input cost, in micro-dollars; 0 is free."`
	OutputMicroUSDPerM *int64 `yaml:"output_microusd_per_m" min:"0" doc:"What a million tokens of output cost, in micro-dollars; 0 is free."`
}

// Priced reports whether the model's price is given.
func (m Model) Priced() bool { return m.InputMicroUSDPerM != nil && m.OutputMicroUSDPerM != nil }
