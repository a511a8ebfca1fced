package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/turn"
)

// agent is an agent of the configuration, made ready.
type agent struct {
	name     string
	cfg      config.Agent
	frozen   frozen // what a session keeps that starts at present
	snapshot parley.AgentSnapshot
	tools    *toolbox
}

// frozen is what a session keeps of its agent from its start on: who the agent is to
// the people in it. What the agent may do (policy, approvals, folders, commands,
// networks, limits, budgets) is never frozen: that is as it is configured at the
// time, for all sessions alike.
type frozen struct {
	Version int `json:"version"`
	// Models is the chain. Empty: none is configured, and the session has what is
	// there when a turn runs.
	Models []string `json:"models,omitempty"`
	// System is the text of the system prompt.
	System string `json:"system,omitempty"`
	// Tools are the groups it has, MCP servers among them. A group that the agent
	// loses later is gone here as well.
	Tools     []string `json:"tools"`
	MaxTokens int      `json:"max_tokens,omitempty"`
}

const frozenVersion = 1

// newAgent makes an agent ready, and checks that its models can be used, unless nothing
// will run.
func (in *installation) newAgent(ctx context.Context, s *setup, name string, cfg config.Agent) (*agent, error) {
	system, err := in.systemText(name, cfg.System)
	if err != nil {
		return nil, err
	}
	ag := &agent{name: name, cfg: cfg, frozen: frozen{
		Version: frozenVersion, Models: cfg.Models(), System: system, Tools: cfg.ToolGroups(), MaxTokens: cfg.MaxTokens,
	}}
	data, err := json.Marshal(ag.frozen)
	if err != nil {
		return nil, err
	}
	if len(data) > parley.MaxSnapshotBytes {
		return nil, parley.Errorf(parley.CodeTooLarge, "agents.%s.system is too long; an agent has at most %d bytes", name, parley.MaxSnapshotBytes)
	}
	ag.snapshot = parley.AgentSnapshot{Name: name, Config: data}
	if in.options.Idle {
		return ag, nil
	}
	if err := s.models.check(ctx, ag); err != nil {
		return nil, err
	}
	if ag.tools, err = in.newToolbox(s, ag); err != nil {
		code := parley.CodeOf(err)
		if code == parley.CodeNotFound {
			code = parley.CodeInvalid // a folder or a program that the configuration names
		}
		return nil, &parley.Error{Code: code, Message: "the tools of agent " + name + " cannot be used", Err: err}
	}
	return ag, nil
}

// maxSystem is how many bytes a system prompt has at most.
const maxSystem = 512 << 10

// systemText gives the text of a system prompt, from its file if it is in one.
func (in *installation) systemText(agent, text string) (string, error) {
	path, ok := strings.CutPrefix(text, "file:")
	if !ok {
		return text, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.dir, path)
	}
	info, err := os.Stat(path)
	var data []byte
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxSystem {
		data, err = os.ReadFile(path) //nolint:gosec // G304: whoever runs Parley names the file
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", parley.Errorf(parley.CodeInvalid, "agents.%s.system is the file %s, and there is none; write the prompt into it", agent, path)
	case err != nil:
		return "", &parley.Error{Code: parley.CodeUnavailable, Message: "cannot read agents." + agent + ".system", Err: err}
	case !info.Mode().IsRegular() || len(data) > maxSystem || info.Size() > maxSystem:
		return "", parley.Errorf(parley.CodeInvalid, "agents.%s.system is %s, which is no plain file of at most %d bytes", agent, path, maxSystem)
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", parley.Errorf(parley.CodeInvalid, "agents.%s.system is the file %s, which is not text in UTF-8", agent, path)
	}
	return strings.TrimSpace(string(data)), nil
}

// start gives the agent that a session starts with, and its door; main if none is
// named. One that is not configured is [parley.CodeInvalid].
func (in *installation) start(name string) (parley.AgentSnapshot, access.Door, error) {
	name = cmp.Or(name, config.MainAgent)
	ag := in.current().agents[name]
	if ag == nil {
		return parley.AgentSnapshot{}, "", parley.Errorf(parley.CodeInvalid, "there is no agent %q; the agents are %s", name, strings.Join(in.agentNames(), ", "))
	}
	return ag.snapshot, access.Door(ag.cfg.Access), nil
}

func (in *installation) agentNames() []string {
	var names []string
	for name := range in.current().agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// of gives the agent of a session, and what the session keeps of it. A session that
// keeps nothing has what is configured.
func (s *setup) of(session parley.Session) (*agent, frozen, error) {
	ag := s.agents[session.Agent.Name]
	if ag == nil {
		return nil, frozen{}, parley.Errorf(parley.CodeNotFound, "the agent %s is not configured any more", session.Agent.Name)
	}
	if len(session.Agent.Config) == 0 || string(session.Agent.Config) == "null" {
		return ag, ag.frozen, nil
	}
	var kept frozen
	if err := json.Unmarshal(session.Agent.Config, &kept); err != nil || kept.Version != frozenVersion {
		return ag, ag.frozen, nil //nolint:nilerr // of another program, or a later version of this one
	}
	return ag, kept, nil
}

// chain gives the names of the models of a session: those it keeps, as far as they
// can still be had, else those that are configured.
func (ag *agent) chain(kept frozen, m *models) []string {
	have := slices.DeleteFunc(slices.Clone(kept.Models), func(name string) bool {
		_, err := m.get(name)
		return err != nil
	})
	if len(have) > 0 {
		return have
	}
	return m.configured(ag)
}

// chosen puts the model that a person chose for a session before the others.
func chosen(chain []string, session parley.Session) []string {
	name := engine.ChosenModel(session)
	if !slices.Contains(chain, name) {
		return chain
	}
	rest := slices.DeleteFunc(slices.Clone(chain), func(other string) bool { return other == name })
	return append([]string{name}, rest...)
}

// modelNames gives the models that somebody can choose from in a session, in the
// order of the agent.
func (in *installation) modelNames(session parley.Session) []string {
	s := in.current()
	ag, kept, err := s.of(session)
	if err != nil {
		return nil
	}
	return ag.chain(kept, s.models)
}

// turnAgent gives what a turn runs with.
func (in *installation) turnAgent(ctx context.Context, t parley.TurnContext) (_ turn.Agent, err error) {
	s, release := in.use()
	defer func() {
		if err != nil {
			release()
		}
	}()
	ag, kept, err := s.of(t.Session)
	if err != nil {
		return turn.Agent{}, err
	}
	limits := s.loaded.Config.Limits
	out := turn.Agent{
		MaxTokens:   kept.MaxTokens,
		Approval:    turn.Approval{Deadline: ag.cfg.Approval.Deadline, Default: parley.ApprovalDenied},
		Limits:      turn.Limits{ToolRounds: limits.ToolRounds, Time: limits.TurnTimeout},
		ReleaseFunc: release,
	}
	if ag.cfg.Approval.Default == "approve" {
		out.Approval.Default = parley.ApprovalApproved
	}
	for _, name := range chosen(ag.chain(kept, s.models), t.Session) {
		model, err := s.models.get(name)
		if err != nil {
			return turn.Agent{}, err
		}
		out.Models = append(out.Models, model)
	}
	tools, freeTools, err := in.turnTools(ctx, ag, kept, t)
	if err != nil {
		return turn.Agent{}, err
	}
	out.Tools = tools
	out.ReleaseFunc = func() { freeTools(); release() }
	return out, nil
}

// boundRunner ends turns whose agent is gone with what to do about it.
type boundRunner struct {
	in   *installation
	next parley.Runner
}

// Run implements [parley.Runner].
func (r *boundRunner) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	if r.in.current().agents[t.Session.Agent.Name] == nil {
		return parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopError, Usage: t.Turn.Usage, Error: &parley.TurnError{
			Code: "agent_missing", Message: "The agent of this conversation, " + t.Session.Agent.Name + ", is not configured any more. Whoever runs Parley can put it back; or start a new conversation.",
		}}}, nil
	}
	return r.next.Run(ctx, t)
}

// agentAtPresent gives an agent for a session that starts because another was reset.
func (in *installation) agentAtPresent(name string) (parley.AgentSnapshot, bool) {
	snapshot, _, err := in.start(name)
	return snapshot, err == nil
}
