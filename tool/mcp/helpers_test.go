package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool/mcp"
)

const (
	kindEnv   = "PARLEY_TEST_SERVER" // makes this program a server of that kind
	fileEnv   = "PARLEY_TEST_FILE"   // where a server writes down what happened
	idsSuffix = ".ids"               // and, beside it, which process it is
	hidden    = "hunter2-is-the-password"
)

// warned collects warnings.
type warned struct {
	mu   sync.Mutex
	text []string
}

func (w *warned) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

func (w *warned) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.text, "\n")
}

// program is a server that is a process of its own.
type program struct {
	*mcp.Server
	warned *warned
	file   string
}

// start makes a server of a kind, and sees to it that nothing is left of it.
func start(t *testing.T, kind string, change func(*mcp.Config)) *program {
	t.Helper()
	p := &program{warned: &warned{}, file: filepath.Join(t.TempDir(), "file")}
	cfg := mcp.Config{
		Name: "test", Command: []string{os.Args[0]}, StopTimeout: 5 * time.Second, WarnFunc: p.warned.add,
		Env: map[string]mcp.Setting{kindEnv: {Text: kind}, fileEnv: {Text: p.file}, "TOKEN": {Text: "Bearer ", SecretFunc: secretOf(hidden)}},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if p.Server, err = mcp.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t) })
	return p
}

// end closes the server, twice, and looks for processes that are left.
func (p *program) end(t *testing.T) {
	t.Helper()
	for range 2 {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	// They were killed; but on a busy machine even that takes its time.
	eventually(t, "the end of all processes", func() bool { return p.processes(t) == nil })
}

// processes gives the ids of those processes that this server, or one that it
// started, is. Each has written its own down.
func (p *program) processes(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(p.file + idsSuffix)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var alive []string
	for id := range strings.FieldsSeq(string(data)) {
		stat, err := os.ReadFile("/proc/" + id + "/stat")
		if err != nil {
			continue // it is gone
		}
		// The state stands behind the name; a zombie waits for its parent only.
		if _, state, ok := strings.Cut(string(stat), ") "); ok && !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X") {
			alive = append(alive, id)
		}
	}
	return alive
}

// noted waits until the server has written down a line.
func (p *program) noted(t *testing.T, line string) {
	t.Helper()
	eventually(t, "the note "+line, func() bool {
		data, err := os.ReadFile(p.file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Contains("\n"+string(data), "\n"+line+"\n")
	})
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for limit := time.After(20 * time.Second); !ok(); {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("%s did not come", what)
		}
	}
}

func tools(t *testing.T, s *mcp.Server) map[string]parley.Tool {
	t.Helper()
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]parley.Tool, len(list))
	for _, one := range list {
		all[one.Spec().Name] = one
	}
	return all
}

// call runs a tool and gives its result.
func call(ctx context.Context, t *testing.T, one parley.Tool, arguments string) parley.ToolResult {
	t.Helper()
	if one == nil {
		t.Error("there is no such tool")
		return parley.ToolResult{}
	}
	result, err := one.Run(ctx, parley.ToolCaller{}, parley.ToolCall{ID: "c", Name: one.Spec().Name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Error(err)
	}
	return result
}

// want compares a result with a text that it has to be, or to hold.
func want(t *testing.T, got parley.ToolResult, isError bool, parts ...string) {
	t.Helper()
	if got.IsError != isError {
		t.Errorf("is an error: %v, want %v: %s", got.IsError, isError, got.Text)
	}
	for _, part := range parts {
		if !strings.Contains(got.Text, part) {
			t.Errorf("got %q, want %q in it", got.Text, part)
		}
	}
	if strings.Contains(got.Text, hidden) {
		t.Errorf("a secret is in %q", got.Text)
	}
}

func wantError(t *testing.T, err error, code parley.Code, parts ...string) {
	t.Helper()
	if err == nil || parley.CodeOf(err) != code {
		t.Errorf("got %v, want the code %s", err, code)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, want %q in it", err, part)
		}
	}
	if strings.Contains(err.Error(), hidden) {
		t.Errorf("a secret is in %q", err)
	}
}

func secretOf(text string) func(context.Context) (secret.Value, error) {
	return func(context.Context) (secret.Value, error) { return secret.NewValue(text), nil }
}
