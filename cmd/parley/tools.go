package main

import (
	"context"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/command"
	"github.com/parley-run/parley/tool/files"
	"github.com/parley-run/parley/tool/git"
	"github.com/parley-run/parley/tool/request"
	"github.com/parley-run/parley/turn"
)

// toolbox has the tools of an agent that are there without a server.
type toolbox struct {
	groups   []tool.Group
	cfg      tool.Config
	registry *tool.Registry // of the groups
}

// newToolbox makes the tools of an agent. What they hold open is closed with the
// setup.
func (in *installation) newToolbox(s *setup, ag *agent) (*toolbox, error) {
	b := &toolbox{cfg: tool.Config{
		Rules: policy(ag.cfg.Policy), Scrubber: in.sources.Scrubber, KeepFunc: in.keep,
		PanicFunc: func(_ context.Context, name, value string, stack []byte) {
			in.options.Log.Error("a tool broke", "agent", ag.name, "tool", name, "panic", value, "stack", string(stack))
		},
	}}
	for _, name := range ag.cfg.Tools {
		group, err := in.newTools(s, ag, name)
		if err != nil {
			return nil, err
		}
		b.groups = append(b.groups, group)
	}
	var err error
	if b.registry, err = tool.New(b.groups, b.cfg); err != nil {
		return nil, err
	}
	if err := in.checkServers(ag); err != nil {
		return nil, err
	}
	if len(ag.cfg.MCP) == 0 { // else the rule may be about a tool of a server
		for _, rule := range b.registry.Unmatched() {
			in.options.Log.Warn("a rule of the policy is about a tool that the agent does not have", "agent", ag.name, "tool", rule.Tool)
		}
	}
	return b, nil
}

// newTools makes one group of tools.
func (in *installation) newTools(s *setup, ag *agent, name string) (tool.Group, error) {
	group := tool.Group{Name: name}
	if name == "http_request" {
		t, err := request.New(in.requestConfig(ag.cfg.HTTP))
		group.Tools = []parley.Tool{t}
		return group, err
	}
	dir, err := in.agentDir(ag)
	if err != nil {
		return group, err
	}
	switch name {
	case "files":
		t, err := files.New(files.Config{Scope: files.Scope(ag.cfg.FSScope), Dir: dir, Hide: in.hidden(s, dir)})
		if err != nil {
			return group, err
		}
		s.closers = append(s.closers, t.Close)
		group.Tools = t.Tools()
	case "run_command":
		t, err := command.New(command.Config{Allowed: ag.cfg.AllowedCommands, Dir: dir})
		if err != nil {
			return group, err
		}
		s.closers = append(s.closers, t.Close)
		group.Tools = t.Tools()
	case "git_commit":
		t, err := git.New(git.Config{Dir: dir, Name: ag.cfg.Git.Name, Email: ag.cfg.Git.Email, Hooks: ag.cfg.Git.Hooks})
		if err != nil {
			return group, err
		}
		group.Tools = t.Tools()
	default:
		return group, parley.Errorf(parley.CodeInvalid, "there are no tools called %q", name)
	}
	return group, nil
}

// agentsDir is the folder, in the data folder, with a folder of each agent's own.
const agentsDir = "agents"

// agentDir gives the folder that an agent works in. Its own is made.
func (in *installation) agentDir(ag *agent) (string, error) {
	dir := ag.cfg.Dir
	switch {
	case dir != "" && !filepath.IsAbs(dir):
		dir = filepath.Join(in.dir, dir)
	case dir == "" && ag.cfg.FSScope == string(files.Full):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", parley.Errorf(parley.CodeInvalid, "the user has no home to start in; give agents.%s.dir", ag.name)
		}
		return home, nil
	case dir == "":
		dir = filepath.Join(in.dir, agentsDir, ag.name)
	}
	// Parley's own is nobody's to work in, except for what is there for agents.
	if rel, ok := below(in.dir, dir); ok && (rel == "." || !inside(filepath.Join(in.dir, agentsDir), dir)) {
		return "", parley.Errorf(parley.CodeInvalid, "agents.%s.dir is %s, which is part of the data folder; choose a folder outside of it, or leave it out", ag.name, dir)
	}
	if ag.cfg.FSScope != string(files.Sandboxed) {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", &parley.Error{Code: parley.CodeUnavailable, Message: "the folder of agent " + ag.name + " cannot be made", Err: err}
	}
	return dir, nil
}

// hidden gives what no agent may reach by its files: the data folder, and what the
// configuration leads to outside of it. An agent's own folder inside of the data
// folder is an exception, and shows nothing of the rest.
func (in *installation) hidden(s *setup, dir string) []string {
	var list []string
	add := func(path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(in.dir, path)
		}
		list = append(list, path)
	}
	if !inside(filepath.Join(in.dir, agentsDir), dir) {
		list = append(list, in.dir)
	}
	c := &s.loaded.Config
	add(c.Store.Path)
	if c.Store.Key != keyring {
		add(c.Store.Key)
	}
	if s.loaded.File != "" {
		add(s.loaded.File)
	}
	for _, v := range s.loaded.Values() {
		if ref, ok := v.Value.(secret.Ref); ok {
			if path, ok := strings.CutPrefix(ref.String(), "file:"); ok {
				add(path)
			}
		}
	}
	return list
}

// inside reports whether a path is below a folder, by whichever links.
func inside(folder, path string) bool {
	rel, ok := below(folder, path)
	return ok && rel != "."
}

// below gives the way from a folder to what is in it; "." is the folder itself.
func below(folder, path string) (rel string, ok bool) {
	for _, p := range []*string{&folder, &path} {
		if is, err := filepath.EvalSymlinks(*p); err == nil {
			*p = is
		}
	}
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// policy gives the rules of an agent.
func policy(rules []config.Rule) []tool.Rule {
	var list []tool.Rule
	for _, r := range rules {
		rule := tool.Rule{Tool: r.Tool, Roles: r.Roles, Effect: parley.ToolEffect(r.Effect)}
		for _, u := range r.Users {
			rule.Users = append(rule.Users, parley.UserID(u))
		}
		list = append(list, rule)
	}
	return list
}

// requestConfig gives what http_request reaches, and as whom.
func (in *installation) requestConfig(c config.HTTP) request.Config {
	cfg := request.Config{
		Guard:    tool.NewGuard(tool.GuardConfig{Allow: networks(c.Allow), Deny: networks(c.Deny)}),
		Scrubber: in.sources.Scrubber, KeepFunc: in.keep, UserAgent: "parley/" + version,
	}
	for host, cred := range c.Credentials {
		cfg.Credentials = append(cfg.Credentials, request.Credential{
			Host: host, Header: cred.Header, Format: cred.Format, ValueFunc: in.secretFunc(cred.Key),
		})
	}
	return cfg
}

// networks reads addresses and networks, which the configuration has checked.
func networks(list []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		} else if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return out
}

// secretFunc gives a secret at the last moment; nil: there is none.
func (in *installation) secretFunc(ref secret.Ref) func(context.Context) (secret.Value, error) {
	if ref.IsZero() {
		return nil
	}
	return func(ctx context.Context) (secret.Value, error) { return ref.Resolve(ctx, in.sources) }
}

// keep keeps what is too long for a model, or is no text.
func (in *installation) keep(ctx context.Context, r io.Reader) (parley.Blob, error) {
	return in.media.Put(ctx, r)
}

// turnTools gives the tools of a turn, as its person has them run, and what to call
// once the turn is done with them.
func (in *installation) turnTools(ctx context.Context, ag *agent, kept frozen, t parley.TurnContext) (turn.Tools, func(), error) {
	registry, release := ag.tools.registry, func() {}
	if len(ag.cfg.MCP) > 0 {
		group, done, err := in.serverTools(ctx, ag, kept, t.Session.ID)
		if err != nil {
			return nil, nil, err
		}
		release = done
		if registry, err = tool.New(slices.Concat(ag.tools.groups, group), ag.tools.cfg); err != nil {
			release()
			return nil, nil, err
		}
	}
	names := registry.Names()
	only := slices.DeleteFunc(slices.Clone(kept.Tools), func(name string) bool { return !slices.Contains(names, name) })
	if only == nil {
		only = []string{}
	}
	set, err := registry.For(t.Principal, only)
	if err != nil {
		release()
		return nil, nil, err
	}
	return set, release, nil
}
