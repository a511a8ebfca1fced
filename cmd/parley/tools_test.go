package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/internal/modelserver"
)

// TestFiles holds where an agent's files are, and that Parley's own are hidden.
func TestFiles(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	b := newBed(t, `agents:
  main: {tools: [files]}
  project: {tools: [files], fs_scope: project, dir: `+project+`}
  full: {tools: [files, run_command], fs_scope: full, dir: `+project+`, allowed_commands: [[pwd]]}
`)
	main := b.session("main", "main")
	b.says(main, `call write_file {"path": "note.txt", "content": "mine"}`)
	if data, err := os.ReadFile(filepath.Join(b.dir, "agents", "main", "note.txt")); err != nil || string(data) != "mine" {
		t.Errorf("the sandbox has %q, %v", data, err)
	}
	if got := b.says(main, `call read_file {"path": "../../parley.db"}`); strings.Contains(got, "SQLite") {
		t.Errorf("the store can be read: %q", got)
	}
	b.says(b.session("project", "project"), `call write_file {"path": "note.txt", "content": "ours"}`)
	if data, err := os.ReadFile(filepath.Join(project, "note.txt")); err != nil || string(data) != "ours" {
		t.Errorf("the project has %q, %v", data, err)
	}
	full := b.session("full", "full")
	if got := b.says(full, `call read_file {"path": "note.txt"}`); !strings.Contains(got, "ours") {
		t.Errorf("a file of the project reads %q", got)
	}
	if got := b.says(full, `call run_command {"argv": ["pwd"]}`); !strings.Contains(got, project) {
		t.Errorf("commands run in %q", got)
	}
	for _, secret := range []string{"owner.token", config.FileName, "agents/main/note.txt"} {
		if got := b.says(full, `call read_file {"path": "`+filepath.Join(b.dir, secret)+`"}`); strings.Contains(got, "mine") || strings.Contains(got, "ply_") || strings.Contains(got, "fs_scope") {
			t.Errorf("%s can be read: %q", secret, got)
		}
	}
}

// TestDataFolderAsSandbox: a sandbox that would be the data folder, or hold a part of
// Parley's own, is refused.
func TestDataFolderAsSandbox(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "blobs", "agents"} {
		b := newBed(t, "")
		_, err := b.reload(t.Context(), b.load("agents: {main: {tools: [files], dir: "+dir+"}}"))
		if parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("the folder %s gave %v", dir, err)
		}
	}
}

// TestPolicy holds that rules and roles are those of the configuration.
func TestPolicy(t *testing.T) {
	t.Parallel()
	b := newBed(t, "agents: {main: {tools: [files, http_request], policy: [{tool: list_files, users: [ann], effect: allow}]}}")
	user, err := b.people.AddUser(t.Context(), b.owner, access.NewUser{ID: "ann", Identity: "test:ann", Name: "Ann", Role: parley.RoleUser})
	if err != nil {
		t.Fatal(err)
	}
	id := b.session("a", "")
	ann := access.NewCaller(parley.Principal{Identity: "test:ann", User: user.ID, Role: parley.RoleUser, Via: "test"})
	if err := b.engine.As(b.owner).SetParticipant(t.Context(), id, "test:ann", true); err != nil {
		t.Fatal(err)
	}
	answer := b.askAs(ann, id, "help")
	text := parley.PlainText(answer.Message.Parts)
	if strings.Contains(text, "write_file") || !strings.Contains(text, "http_request") || !strings.Contains(text, "list_files") {
		t.Errorf("a user is offered %s", text)
	}
}

type pageIn struct {
	Title string `json:"title"`
}

// wiki is an MCP server by HTTP.
func wiki(t *testing.T) (address string, headers func() []string) {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "wiki", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "page", Description: "Gives a page."}, func(_ context.Context, _ *sdk.CallToolRequest, in pageIn) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the page " + in.Title + ", for wiki-secret-token"}}}, nil, nil
	})
	var mu sync.Mutex
	var seen []string
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("Authorization"))
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return seen }
}

func TestServers(t *testing.T) {
	t.Parallel()
	address, headers := wiki(t)
	b := newBed(t, `agents:
  main:
    mcp:
      wiki: {url: "`+address+`", headers: {Authorization: {text: "Bearer ", secret: "env:WIKI_TOKEN"}}}
      gone: {command: [/nonexistent/program]}
`, "WIKI_TOKEN=wiki-secret-token")
	id := b.session("a", "")
	got := b.says(id, `call wiki_page {"title": "Go"}`)
	if !strings.Contains(got, "the page Go") || strings.Contains(got, "wiki-secret-token") {
		t.Errorf("it says %q", got)
	}
	for _, h := range headers() {
		if h != "Bearer wiki-secret-token" {
			t.Errorf("the server was asked with %q", h)
		}
	}
	s, done, err := b.servers.Use(t.Context(), id, mustVersion(t, b.config().Agents["main"].MCP), func(context.Context) (*servers, error) {
		t.Error("the servers were not kept for the next turn")
		return &servers{}, nil
	})
	if err != nil || len(s.list) != 2 {
		t.Fatalf("the session has %v, %v", s, err)
	}
	done()
	b.servers.Forget(id)
}

func mustVersion(t *testing.T, wanted map[string]config.MCP) string {
	t.Helper()
	v, err := versionOf(wanted)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLongResult holds that what is too long for a model is kept as media.
func TestLongResult(t *testing.T) {
	t.Parallel()
	b := newBed(t, "agents: {main: {tools: [files]}}")
	id := b.session("a", "")
	if err := os.WriteFile(filepath.Join(b.dir, "agents", "main", "long.txt"), []byte(strings.Repeat("a long line\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.says(id, `call read_file {"path": "long.txt"}`)
	found := false
	for _, body := range b.bodies(id) {
		m, ok := body.(*parley.Message)
		if !ok || m.Role != parley.MessageTool {
			continue
		}
		r := m.Parts[0].Result
		found = r.Media != nil && strings.Contains(r.Text, "the whole result is kept as "+r.Media.Handle)
	}
	if !found {
		t.Error("the result is not kept as a whole")
	}
}

// TestSecrets holds that keys do not come back from a model, and are asked for at the
// last moment.
func TestSecrets(t *testing.T) {
	t.Parallel()
	server := modelserver.OpenAI(t, func(modelserver.Request) modelserver.Reply {
		return modelserver.Reply{Text: []string{"the key is sekrit-", "key-of-mine, is it?"}}
	})
	b := newBedWith(t, map[string]string{
		config.FileName: "agents: {main: {model: mine/m}}\nproviders: {mine: {kind: openai, base_url: '" + server.URL + "/v1', key: 'file:mine.key'}}",
		"mine.key":      "sekrit-key-of-mine\n",
	})
	id := b.session("a", "")
	if got := b.says(id, "hello"); got != "the key is [secret], is it?" {
		t.Errorf("it says %q", got)
	}
	b.write("mine.key", "sekrit-key-of-later\n")
	b.says(id, "again")
	asked := server.Requests()
	if len(asked) != 2 || asked[0].Header.Get("Authorization") != "Bearer sekrit-key-of-mine" || asked[1].Header.Get("Authorization") != "Bearer sekrit-key-of-later" {
		t.Errorf("the server was asked %d times, not with the key of the moment", len(asked))
	}
}

// TestBudget_Warns holds that people are told of a budget that is nearly used up, and
// that it ends turns.
func TestBudget_Warns(t *testing.T) {
	t.Parallel()
	server := modelserver.Anthropic(t, func(modelserver.Request) modelserver.Reply {
		return modelserver.Reply{Text: []string{"dear"}, Usage: modelserver.Usage{Input: 400, Output: 400}}
	})
	b := newBed(t, `agents: {main: {model: mine/m, max_tokens: 400}}
providers: {mine: {kind: anthropic, base_url: '`+server.URL+`', key: 'env:MINE'}}
models: {mine/m: {input_microusd_per_m: 1000000, output_microusd_per_m: 1000000}}
budget: {session: 2500, warn_at: 25}
`, "MINE=sekrit-key")
	id := b.session("a", "")
	if got := b.says(id, "hello"); got != "dear" {
		t.Fatalf("it says %q", got)
	}
	warned := false
	for _, body := range b.bodies(id) {
		if m, ok := body.(*parley.Message); ok && m.Hidden {
			warned = warned || strings.Contains(parley.PlainText(m.Parts), "session")
		}
	}
	if !warned {
		t.Error("nobody was warned")
	}
	last := ""
	for _, text := range []string{"2", "3", "4"} {
		last = b.says(id, text)
	}
	if !strings.HasPrefix(last, "budget_exceeded: ") {
		t.Errorf("beyond the budget it says %q", last)
	}
}
