package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

// Config says how messages become conversations. The zero value is the default:
// one conversation per chat, and one per thread, all answered by the agent main.
type Config struct {
	// Agents are the names of the agents there are. None: any name is taken.
	Agents []string
	// DefaultAgent answers where no route names another. Empty: main.
	DefaultAgent string
	// Dimensions keep conversations apart, in this order. Nil: chat alone. An
	// empty list is none.
	Dimensions []parley.Dimension
	// GroupSessionsPerUser gives everybody in a group a conversation of their
	// own; ThreadSessionsPerUser does so in the group's threads as well.
	GroupSessionsPerUser  bool
	ThreadSessionsPerUser bool
	// Unified gives each user one conversation for the direct messages of all
	// channels.
	Unified bool
	// IdentityLinks are the names of people and the ids they have: channel:id.
	IdentityLinks map[string][]string
	// Routes give some messages another agent or other dimensions. The first
	// that matches counts.
	Routes []Route
}

// Route gives the messages it matches an agent or dimensions of their own.
type Route struct {
	Match Match
	// Agent answers. Empty: the default agent.
	Agent string
	// Dimensions are taken literally: nothing is added to them. Nil: those of
	// the configuration. An empty list is none.
	Dimensions []parley.Dimension
	// Bots lets messages of programs trigger turns.
	Bots bool
}

// Match says which messages a route is for. An empty field matches anything.
type Match struct {
	Channel string
	Account string
	Space   string // <type>:<id>, or the id alone
	Chat    string // <type>:<id>, or the id alone; its topics are part of it
	Topic   string
	Sender  string // a name of the identity links, channel:id, or the id alone
}

// Problem is something that is wrong with a configuration. Path leads to it by
// the keys of the configuration file; lists count from 0.
type Problem struct {
	Path    []string
	Message string
	Warning bool // it works, but perhaps not as meant
}

// String gives the path and the message.
func (p Problem) String() string {
	return pathText(p.Path) + ": " + p.Message
}

// pathText writes a path as people write it: routes[0].match.chat.
func pathText(path []string) string {
	var b strings.Builder
	for i, name := range path {
		if _, err := strconv.Atoi(name); err == nil && i > 0 {
			b.WriteString("[" + name + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}

// Router answers for one configuration. It never changes, and any number of
// goroutines may use it.
type Router struct {
	agent         string
	dimensions    []parley.Dimension
	group, thread bool
	unified       bool
	links         *Links
	routes        []compiledRoute
	mains         map[parley.Key]string // the agents by the keys of their own conversations
}

// New makes a router. A configuration that contradicts itself is
// [parley.CodeInvalid], with all that is wrong in the message; warnings do not
// count. See [Check].
func New(cfg Config) (*Router, error) {
	rt, problems := compile(cfg)
	var wrong []string
	for _, p := range problems {
		if !p.Warning {
			wrong = append(wrong, p.String())
		}
	}
	if len(wrong) > 0 {
		return nil, parley.Errorf(parley.CodeInvalid, "%s", strings.Join(wrong, "; "))
	}
	return rt, nil
}

// Check gives all that is wrong with a configuration, and all that looks odd: in
// the order of the file's keys as they stand in [Config].
func Check(cfg Config) []Problem {
	_, problems := compile(cfg)
	return problems
}

func compile(cfg Config) (*Router, []Problem) {
	rt := &Router{
		agent: token(cfg.DefaultAgent, defaultAgent),
		group: cfg.GroupSessionsPerUser, thread: cfg.ThreadSessionsPerUser, unified: cfg.Unified,
	}
	agents, problems := compileAgents(cfg)
	var wrong []Problem
	rt.dimensions, wrong = compileDimensions(cfg.Dimensions, "session", "dimensions")
	problems = append(problems, wrong...)
	if cfg.Dimensions == nil {
		rt.dimensions = []parley.Dimension{parley.DimensionChat}
	}
	rt.links, wrong = CompileLinks(cfg.IdentityLinks)
	problems = append(problems, wrong...)
	rt.routes, wrong = compileRoutes(cfg.Routes, rt.agent, agents, rt.links)
	rt.mains = map[parley.Key]string{}
	for _, r := range rt.routes {
		agents[r.agent] = true
	}
	agents[rt.agent] = true
	for agent := range agents {
		key, _ := Main(agent)
		rt.mains[key] = agent
	}
	return rt, append(problems, wrong...)
}

// compileAgents gives the agents by their normal names.
func compileAgents(cfg Config) (map[string]bool, []Problem) {
	var problems []Problem
	given := map[string]string{}
	agents := map[string]bool{}
	for _, name := range cfg.Agents {
		id := token(name, defaultAgent)
		if other, ok := given[id]; ok {
			problems = append(problems, Problem{
				Path:    []string{"agents", name},
				Message: fmt.Sprintf("agents %q and %q are both named %s in keys, so they would share conversations; rename one", other, name, id),
			})
			continue
		}
		given[id], agents[id] = name, true
	}
	if id := token(cfg.DefaultAgent, defaultAgent); len(agents) > 0 && !agents[id] {
		problems = append(problems, Problem{
			Path:    []string{"agents"},
			Message: fmt.Sprintf("the default agent %s is not among the agents: %s", id, names(agents)),
		})
	}
	return agents, problems
}

// compileDimensions gives the list without repeats, in normal form.
func compileDimensions(list []parley.Dimension, path ...string) ([]parley.Dimension, []Problem) {
	if list == nil {
		return nil, nil
	}
	var problems []Problem
	dims := make([]parley.Dimension, 0, len(list))
	for i, name := range list {
		d := parley.Dimension(text(string(name)))
		switch {
		case !known(d):
			problems = append(problems, Problem{
				Path:    append(slices.Clone(path), strconv.Itoa(i)),
				Message: unknownDimension(name),
			})
		case !slices.Contains(dims, d):
			dims = append(dims, d)
		}
	}
	return dims, problems
}

// names lists what a message may name, sorted.
func names(set map[string]bool) string {
	var list []string
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
