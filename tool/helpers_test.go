package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

// fake is a tool that does what it is told.
type fake struct {
	name, schema string
	run          func(ctx context.Context, call parley.ToolCall) (parley.ToolResult, error)
}

const anyObject = `{"type": "object"}`

func (f fake) Spec() parley.ToolSpec {
	schema := f.schema
	if schema == "" {
		schema = anyObject
	}
	return parley.ToolSpec{Name: f.name, Description: "does " + f.name, Schema: json.RawMessage(schema)}
}

func (f fake) Run(ctx context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	if f.run == nil {
		return parley.ToolResult{Text: "ran " + string(call.Arguments)}, nil
	}
	return f.run(ctx, call)
}

func group(name string, tools ...string) tool.Group {
	g := tool.Group{Name: name}
	for _, t := range tools {
		g.Tools = append(g.Tools, fake{name: t})
	}
	return g
}

// usual are groups as an agent has them.
func usual() []tool.Group {
	return []tool.Group{
		group("files", "read_file", "write_file"), group("run_command", "run_command"), group("http_request", "http_request"),
		group("git_commit", "git_commit"), group("search", "search_find"),
	}
}

func who(role parley.Role, user parley.UserID) parley.Principal {
	return parley.Principal{Identity: "test:1", User: user, Role: role}
}

// only gives the tools of an agent that has one.
func only(t *testing.T, f fake, cfg tool.Config, p parley.Principal) *tool.Set {
	t.Helper()
	r, err := tool.New([]tool.Group{{Name: f.name, Tools: []parley.Tool{f}}}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.For(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runOne runs a call of an agent whose only tool is the given one, as its owner.
func runOne(ctx context.Context, t *testing.T, f fake, cfg tool.Config, arguments string) (parley.ToolResult, error) {
	t.Helper()
	p := who(parley.RoleOwner, "")
	return only(t, f, cfg, p).Run(ctx, parley.ToolCaller{Principal: p}, parley.ToolCall{ID: "c1", Name: f.name, Arguments: json.RawMessage(arguments)})
}

func wantCode(t *testing.T, err error, code parley.Code, text string) {
	t.Helper()
	if parley.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("got %v (%s), want %s with %q", err, parley.CodeOf(err), code, text)
	}
}
