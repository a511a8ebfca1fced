package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/mcp"
)

// TestStillWorks: servers that do not keep to the protocol, and can be used all
// the same.
func TestStillWorks(t *testing.T) {
	t.Parallel()
	for kind, warning := range map[string]string{
		"errflood": "",
		"greeting": "it writes lines to its output that are no messages; the first one: Welcome to my server, [secret]!",
		"twice":    `no messages; the first one: {"jsonrpc":"2.0","id":null,"error"`,
		"batch":    "", "flood": "", "stubborn": "", "orphans": "",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind, func(c *mcp.Config) { c.StopTimeout = 200 * time.Millisecond })
			for range 3 {
				got := call(t.Context(), t, tools(t, p.Server)["test_do"], `{}`)
				if diff := cmp.Diff(parley.ToolResult{Text: "answer"}, got); diff != "" {
					t.Error(diff)
				}
			}
			if got := p.warned.all(); !strings.Contains(got, warning) || (got == "") != (warning == "") {
				t.Errorf("warned of %q, want %q", got, warning)
			}
			if kind == "stubborn" || kind == "orphans" {
				p.noted(t, "sleeping")
				if n := len(p.processes(t)); n != 2 {
					t.Errorf("there are %d processes, want the server and its child", n)
				}
			}
		})
	}
}

// TestCannotStart: servers that never get so far.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*mcp.Config)
		code   parley.Code
		want   []string
	}{
		"exit":      {nil, parley.CodeUnavailable, []string{"MCP server test is not available", "exit status 7", "no licence for [secret] or [secret]"}},
		"lastwords": {nil, parley.CodeUnavailable, []string{"exit status 9", "not the last word\nthe last word"}},
		"garbage":   {nil, parley.CodeInvalid, []string{"it writes things to its output that are no messages"}},
		"mute":      {func(c *mcp.Config) { c.ConnectTimeout = 200 * time.Millisecond }, parley.CodeUnavailable, []string{"it was not ready within 200ms"}},
		"none":      {func(c *mcp.Config) { c.Command = []string{"/does/not/exist"} }, parley.CodeUnavailable, []string{"cannot start /does/not/exist", "no such file"}},
		"dir":       {func(c *mcp.Config) { c.Dir = "/does/not/exist" }, parley.CodeUnavailable, []string{"cannot start", "no such file"}},
	}
	for kind, test := range tests {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind, test.change)
			err := p.Connect(t.Context())
			wantError(t, err, test.code, test.want...)
			if n := len(err.Error()); n > mcp.MaxTail+1024 {
				t.Errorf("the error has %d bytes", n)
			}
			_, err = p.Tools(t.Context())
			wantError(t, err, test.code, test.want...)
			if left := p.processes(t); left != nil {
				t.Errorf("processes are left before it is closed: %v", left)
			}
		})
	}
}

// TestSlowStart: who cannot wait goes, and the start goes on for the others.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	p := start(t, "mute", func(c *mcp.Config) { c.ConnectTimeout = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Connect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Tools(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- p.Connect(context.Background()) }()
	eventually(t, "the process", func() bool { return len(p.processes(t)) == 1 })
	p.end(t)
	wantError(t, <-waiting, parley.CodeUnavailable, "is closed")
}

// TestCallFails: calls that get no answer that can be used.
func TestCallFails(t *testing.T) {
	t.Parallel()
	const unknown = "unknown whether the call took effect"
	tests := map[string][]string{
		"unreadable": {`unrecognized content type "hologram"`, unknown},
		"noresult":   {"failed while the call ran", unknown},
		"closeout":   {"failed while the call ran", unknown},
		"silent":     {"did not answer within 500ms", unknown},
	}
	for kind, parts := range tests {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind, func(c *mcp.Config) { c.Timeout = 500 * time.Millisecond })
			all := tools(t, p.Server)
			want(t, call(t.Context(), t, all["test_do"], `{}`), true, parts...)
			if err := p.Connect(t.Context()); err != nil {
				t.Errorf("it cannot be used any more: %v", err)
			}
			if kind == "silent" {
				p.noted(t, "cancelled")
			}
		})
	}
}

// TestDeaf: a server that does not read keeps nobody.
func TestDeaf(t *testing.T) {
	t.Parallel()
	p := start(t, "deaf", func(c *mcp.Config) { c.StopTimeout = 200 * time.Millisecond })
	all := tools(t, p.Server)
	p.noted(t, "deaf")
	large, err := json.Marshal(map[string]string{"a": strings.Repeat("x", 1<<20)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // the second one waits behind the first
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err = all["test_do"].Run(ctx, parley.ToolCaller{}, parley.ToolCall{Arguments: large})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("call %d: got %v", i, err)
		}
	}
}

// TestHuge runs alone, as it counts what is allocated: a message without end does
// not get into memory.
func TestHuge(t *testing.T) { //nolint:paralleltest // see above
	p := start(t, "huge", nil)
	all := tools(t, p.Server)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := call(t.Context(), t, all["test_do"], `{}`)
	runtime.ReadMemStats(&after)
	want(t, got, true, fmt.Sprintf("it sent a message of more than %d bytes", mcp.MaxMessage), "unknown")
	// A buffer that grows to the limit takes about five times as much, bit by bit.
	if used := after.TotalAlloc - before.TotalAlloc; used > 6*mcp.MaxMessage {
		t.Errorf("%d bytes were allocated", used)
	}
	if err := p.Connect(t.Context()); err != nil {
		t.Errorf("it cannot be used any more: %v", err)
	}
}

// TestOddTools: what cannot be used is left out, and somebody is told.
func TestOddTools(t *testing.T) {
	t.Parallel()
	p := start(t, "odd", nil)
	group, err := p.Group(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.New([]tool.Group{group}, tool.Config{}); err != nil {
		t.Errorf("a registry does not take them: %v", err)
	}
	got := map[string]string{}
	for _, one := range group.Tools {
		got[one.Spec().Name] = string(one.Spec().Schema)
		if d := one.Spec().Description; len(d) > mcp.MaxDescription || strings.Contains(d, hidden) || strings.Contains(d, "\x00") {
			t.Errorf("the description of %s is %q", one.Spec().Name, d)
		}
	}
	const plain = `{"type":"object"}`
	if diff := cmp.Diff(map[string]string{
		"test_good": `{"properties":{"a":{"type":"string"}},"type":"object"}`, "test_none": plain, "test_null": plain,
		"test_untyped": `{"required":["a"],"type":"object"}`, "test_both": plain, "test_wordy": plain, "test_a_b_c": plain,
		"test_nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn_4e9d8231": plain,
	}, got); diff != "" {
		t.Error(diff)
	}
	told := p.warned.all()
	for _, part := range []string{
		`the tool "text" was left out: its schema is of type "string"`, `the tool "list" was left out: its schema is not an object`,
		`the tool "away" was left out: its schema cannot be used`, `the tool "pattern" was left out: its schema cannot be used`,
		`the tool "nul" was left out: its schema has a NUL in it`, `the tool "fat" was left out: its schema has more than 65536 bytes`,
		`the tool "deep" was left out: its schema is nested more than 64 deep`, `the description of the tool "wordy" was cut to 4096 bytes`,
		`the tool "good" was left out: there is one of that name`, `its name "" cannot be used`, `its name "nnnn`, `excluding nil tool`,
		`the tool "secret" was left out: its schema is of type "0123456[secret]"`, `mm[secret]" cannot be used`,
	} {
		if !strings.Contains(told, part) {
			t.Errorf("nobody was told that %s; but:\n%s", part, told)
		}
	}
	if strings.Contains(told, hidden[:6]) {
		t.Errorf("a part of a secret is shown:\n%s", told)
	}
}

func TestListLimits(t *testing.T) {
	t.Parallel()
	for kind, test := range map[string]struct {
		tools int
		told  string
	}{
		"endless":  {mcp.MaxPages, "its list of tools has more than 64 pages"},
		"circle":   {1, "its list of tools goes round in circles"},
		"many":     {mcp.MaxTools, "it has more than 256 tools"},
		"toolless": {0, ""},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind, nil)
			if got := len(tools(t, p.Server)); got != test.tools {
				t.Errorf("got %d tools, want %d", got, test.tools)
			}
			if told := p.warned.all(); !strings.Contains(told, test.told) {
				t.Errorf("told of %q, want %q", told, test.told)
			}
		})
	}
}
