package client_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/parleytest"
)

// agent is a runner that does what it is told: "hold" waits until the test lets it
// go, "ask" asks whether a call may run, "count N" says N numbers, each when the
// test takes a step, and everything else it repeats.
type agent struct {
	mu    sync.Mutex
	steps map[parley.SessionID]chan struct{}
	over  chan struct{} // closed when the test is: nobody takes steps any more
}

// step gives the channel that a session's agent takes its steps from.
func (a *agent) step(id parley.SessionID) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.steps == nil {
		a.steps = map[parley.SessionID]chan struct{}{}
	}
	if a.steps[id] == nil {
		a.steps[id] = make(chan struct{})
	}
	return a.steps[id]
}

func (a *agent) wait(ctx context.Context, id parley.SessionID) bool {
	select {
	case <-a.step(id):
		return true
	case <-a.over:
		return false
	case <-ctx.Done():
		return false
	}
}

func (a *agent) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	said := ""
	for _, m := range t.Window.Turn {
		if m.Role == parley.MessageUser {
			said = parley.PlainText(m.Parts)
		}
	}
	stream, answer := string(t.Turn.ID)+"_m", "you said: "+said
	var count int
	switch n, _ := fmt.Sscanf(said, "count %d", &count); {
	case n == 1:
		var text strings.Builder
		for i := 1; ; i++ {
			if !a.wait(ctx, t.Session.ID) {
				return stopped(ctx, stream)
			}
			if i > count {
				break // once the last was read: the message takes the place of the reply
			}
			piece := fmt.Sprintf("%d,", i)
			text.WriteString(piece)
			t.Journal.Delta(stream, i, parley.PartText, piece)
		}
		answer = text.String()
	case said == "hold":
		if !a.wait(ctx, t.Session.ID) {
			return stopped(ctx, stream)
		}
	case said == "ask":
		return ask(ctx, t, stream)
	}
	return end(answer, stream, parley.StopDone), nil
}

func stopped(ctx context.Context, stream string) (parley.TurnEnd, error) {
	if context.Cause(ctx) == parley.ErrCanceled { //nolint:errorlint // it is the cause itself
		return end("stopped", stream, parley.StopAborted), nil
	}
	return parley.TurnEnd{}, parley.ErrSuspended
}

func end(text, id string, why parley.StopReason) parley.TurnEnd {
	return parley.TurnEnd{
		Last:      &parley.Message{ID: id, Role: parley.MessageAssistant, Model: "test/agent", Parts: []parley.Part{parley.TextPart(text)}},
		Completed: parley.TurnCompleted{StopReason: why, Usage: parley.Usage{InputTokens: 3, OutputTokens: 2, CostMicroUSD: 7}},
	}
}

func ask(ctx context.Context, t parley.TurnContext, stream string) (parley.TurnEnd, error) {
	call := parley.ToolCall{ID: parley.CallID(string(t.Turn.ID) + "_c"), Name: "danger"}
	err := t.Journal.Say(ctx, parley.Said{
		Message: parley.Message{ID: string(t.Turn.ID) + "_a", Role: parley.MessageAssistant, Parts: []parley.Part{{Kind: parley.PartToolCall, Call: &call}}},
		Ask:     []parley.CallQuestion{{Call: call.ID, Deadline: 10 * time.Minute, Default: parley.ApprovalDenied}},
	})
	if err != nil {
		return parley.TurnEnd{}, err
	}
	result, err := t.Journal.Call(ctx, call, func(context.Context) (parley.ToolResult, error) {
		return parley.ToolResult{CallID: call.ID, Text: "done"}, nil
	})
	if err != nil {
		return parley.TurnEnd{}, err
	}
	return end("the tool said: "+result.Text, stream, parley.StopDone), nil
}

// world is a server on a loopback port with an engine behind it, a proxy before it,
// and the owner's client.
type world struct {
	*client.Client
	near   *parleytest.World
	t      testing.TB
	agent  *agent
	people *access.People
	swap   *swap
	proxy  *proxy
	token  string
}

// swap is a handler that can be replaced: a server that was started again.
type swap struct {
	mu      sync.Mutex
	handler *httpapi.Server
}

func (s *swap) get() *httpapi.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handler
}

func (s *swap) set(h *httpapi.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = h
}

func (s *swap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.get().ServeHTTP(w, r)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, agent: &agent{over: make(chan struct{})}, swap: &swap{}}
	w.near = parleytest.New(t, parleytest.Config{Engine: engine.Config{Runner: w.agent}})
	t.Cleanup(func() { close(w.agent.over) })
	w.people = access.NewPeople(w.near.Store, access.PeopleConfig{Clock: w.near.Clock})
	t.Cleanup(w.people.Close)
	var err error
	if w.token, err = w.people.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.New(filepath.Join(t.TempDir(), "blobs"), w.near.Store, blob.Config{Key: bytes.Repeat([]byte{7}, 32), Limit: 4 << 20, Clock: w.near.Clock})
	if err != nil {
		t.Fatal(err)
	}
	w.restart(blobs)
	url := serve(t, w.swap)
	t.Cleanup(func() { w.stop() })
	w.proxy = newProxy(t, url)
	w.Client = w.client(client.Config{})
	return w
}

// restart puts another server in the place of the present one.
func (w *world) restart(blobs *blob.Store) {
	w.t.Helper()
	outbox, err := channel.New(w.near.Store, channel.Config{Clock: w.near.Clock})
	if err != nil {
		w.t.Fatal(err)
	}
	server, err := httpapi.New(w.near.Engine, httpapi.Config{
		People: w.people, Blobs: blobs, Outbox: outbox, HeadFunc: w.near.Store.Head, Clock: w.near.Clock, Version: "test",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.swap.set(server)
}

// stop ends the server's streams.
func (w *world) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := w.swap.get().Close(ctx); err != nil {
		w.t.Errorf("streams did not end: %v", err)
	}
}

// client makes a client of the world's proxy; the owner's, if there is no token.
func (w *world) client(cfg client.Config) *client.Client {
	w.t.Helper()
	if cfg.Token == "" {
		cfg.Token = w.token
	}
	cfg.URL = w.proxy.url
	if cfg.Pause == 0 {
		cfg.Pause, cfg.MaxPause = time.Millisecond, 20*time.Millisecond
	}
	return newClient(w.t, cfg)
}

func newClient(t testing.TB, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// session opens a session of the owner.
func (w *world) session(name string) parley.SessionID {
	w.t.Helper()
	o, err := w.Open(w.t.Context(), client.Opening{ID: parley.SessionID("cli:" + name), Source: &parley.Source{Kind: "cli", Interactive: true}})
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Session.ID
}

// person adds a user, and gives a client of theirs.
func (w *world) person(name string) (*client.Client, parley.IdentityID) {
	w.t.Helper()
	_, ids, err := w.AddUser(w.t.Context(), client.NewUser{ID: parley.UserID(name), Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	secret, _, err := w.CreateToken(w.t.Context(), client.NewToken{For: ids[0].ID})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.client(client.Config{Token: secret}), ids[0].ID
}

func text(s string) parley.Input { return parley.Input{Parts: []parley.Part{parley.TextPart(s)}} }

// wantCode fails unless err has the code.
func wantCode(t testing.TB, err error, code parley.Code) {
	t.Helper()
	if got := parley.CodeOf(err); got != code {
		t.Fatalf("code %q, want %q: %v", got, code, err)
	}
}
