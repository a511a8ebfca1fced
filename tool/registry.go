package tool

import (
	"context"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// Group is one or several tools under the name by which a configuration and a
// policy speak of them, such as files, or the name of an MCP server.
type Group struct {
	Name  string
	Tools []parley.Tool
}

// Config is what a registry can be told. The zero value of each field is its
// default.
type Config struct {
	// Rules say who may have which tool run. Of those that fit the strictest
	// counts; see [Rule].
	Rules []Rule
	// Scrubber takes secrets out of what tools give back. Nil: nothing is taken out.
	Scrubber *secret.Scrubber
	// KeepFunc stores the whole of a result that is too long for the model, such
	// as the Put of a blob store. Nil: what is too long is cut, and the rest is lost.
	KeepFunc func(ctx context.Context, r io.Reader) (parley.Blob, error)
	// MaxResult is how many bytes of a result a model gets. 0: 16 KiB.
	MaxResult int
	// PanicFunc is told of a tool that panicked, without secrets. Nil: nobody is.
	PanicFunc func(ctx context.Context, tool, value string, stack []byte)
}

// Limits of what a registry takes.
const (
	MaxArguments  = 256 << 10 // bytes of the arguments of a call
	MaxSchema     = 64 << 10  // bytes of a tool's schema
	defaultResult = 16 << 10
	minResult     = 1 << 10
	maxResult     = parley.MaxBodyBytes / 2
)

// Registry has the tools of an agent. It does not change, and may be used by many
// goroutines at once.
type Registry struct {
	cfg    Config
	tools  map[string]*entry
	groups map[string][]string // the names of a group's tools
}

// entry is a tool with what is known about it.
type entry struct {
	tool      parley.Tool
	spec      parley.ToolSpec
	group     string
	arguments *checker
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New makes a registry of all tools of an agent. It fails with
// [parley.CodeInvalid] for names that are there twice or that no model takes, for
// schemas that are not those of an object or cannot be used, and for rules that
// make no sense.
func New(groups []Group, cfg Config) (*Registry, error) {
	if cfg.MaxResult == 0 {
		cfg.MaxResult = defaultResult
	}
	if cfg.MaxResult < minResult || cfg.MaxResult > maxResult {
		return nil, parley.Errorf(parley.CodeInvalid, "the limit of tool results must be between %d and %d bytes, not %d", minResult, maxResult, cfg.MaxResult)
	}
	cfg.Rules = slices.Clone(cfg.Rules)
	for i := range cfg.Rules {
		if err := cfg.Rules[i].validate(); err != nil {
			return nil, err
		}
	}
	r := &Registry{cfg: cfg, tools: map[string]*entry{}, groups: map[string][]string{}}
	for _, g := range groups {
		if err := r.add(g); err != nil {
			return nil, err
		}
	}
	// Else a rule that names one would be about the other as well.
	for name, e := range r.tools {
		if _, ok := r.groups[name]; ok && e.group != name {
			return nil, parley.Errorf(parley.CodeInvalid, "%s is the name of a group and of a tool in the group %s; rename one of them", name, e.group)
		}
	}
	return r, nil
}

func (r *Registry) add(g Group) error {
	if !validName.MatchString(g.Name) {
		return parley.Errorf(parley.CodeInvalid, "a group of tools cannot be called %s; use up to 64 letters, digits, _ and -", quote(g.Name))
	}
	if _, ok := r.groups[g.Name]; ok {
		return parley.Errorf(parley.CodeInvalid, "there are two groups of tools called %s", g.Name)
	}
	r.groups[g.Name] = []string{}
	for _, t := range g.Tools {
		spec := t.Spec()
		switch other := r.tools[spec.Name]; {
		case !validName.MatchString(spec.Name):
			return parley.Errorf(parley.CodeInvalid, "a tool of the group %s cannot be called %s; use up to 64 letters, digits, _ and -", g.Name, quote(spec.Name))
		case other != nil:
			return parley.Errorf(parley.CodeInvalid, "there are two tools called %s, in the groups %s and %s", spec.Name, other.group, g.Name)
		case !utf8.ValidString(spec.Description) || strings.ContainsRune(spec.Description, 0):
			return parley.Errorf(parley.CodeInvalid, "the description of the tool %s is not plain text", spec.Name)
		}
		arguments, err := newChecker(spec.Schema, r.scrub)
		if err != nil {
			return &parley.Error{Code: parley.CodeInvalid, Message: "the schema of the tool " + spec.Name + " cannot be used", Err: err}
		}
		spec.Schema = arguments.raw
		r.tools[spec.Name] = &entry{tool: t, spec: spec, group: g.Name, arguments: arguments}
		r.groups[g.Name] = append(r.groups[g.Name], spec.Name)
	}
	return nil
}

// Names gives the names of all tools and groups, sorted.
func (r *Registry) Names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(r.tools)), maps.Keys(r.groups))
	slices.Sort(names)
	return slices.Compact(names)
}

// Unmatched gives the rules that name no tool and no group of the agent: they may
// be mistyped, or be about tools that are not there at the moment.
func (r *Registry) Unmatched() []Rule {
	var list []Rule
	for _, rule := range r.cfg.Rules {
		if !r.has(rule.Tool) && rule.Tool != everyTool {
			list = append(list, rule)
		}
	}
	return list
}

func (r *Registry) has(name string) bool {
	_, isGroup := r.groups[name]
	return isGroup || r.tools[name] != nil
}

// For gives the tools as one person has them. Only narrows them to those tools
// and groups, for a session; nil means all, and an empty list none. It never
// gives more than the policy does. A name in it that the agent does not have is
// [parley.CodeInvalid], and so is a role that does not exist.
func (r *Registry) For(p parley.Principal, only []string) (*Set, error) {
	switch p.Role {
	case parley.RoleOwner, parley.RoleUser, parley.RoleGuest:
	default:
		return nil, parley.Errorf(parley.CodeInvalid, "the role %s is not known", quote(string(p.Role)))
	}
	for _, name := range only {
		if !r.has(name) {
			return nil, parley.Errorf(parley.CodeInvalid, "the agent has no tool and no group of tools called %s%s", quote(name), meant(name, r.Names()))
		}
	}
	s := &Set{registry: r, principal: p, judged: make(map[string]judgement, len(r.tools))}
	for name, e := range r.tools {
		if only != nil && !slices.Contains(only, name) && !slices.Contains(only, e.group) {
			s.judged[name] = judgement{parley.ToolDeny, "the tool " + name + " is not a part of this session"}
			continue
		}
		s.judged[name] = r.judge(p, e)
	}
	for name, j := range s.judged {
		if j.effect != parley.ToolDeny {
			s.names = append(s.names, name)
		}
	}
	slices.Sort(s.names)
	return s, nil
}

// Specs describes the tools that may be run, also those that need an approval,
// sorted by name. The same tools always give the same bytes.
func (s *Set) Specs() []parley.ToolSpec {
	specs := make([]parley.ToolSpec, 0, len(s.names))
	for _, name := range s.names {
		spec := s.registry.tools[name].spec
		spec.Schema = slices.Clone(spec.Schema)
		specs = append(specs, spec)
	}
	return specs
}
