package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
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
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/parleytest"
)

// agent is a runner that does what it is told: "hold" waits until it is
// stopped, "ask" asks whether a call may run, "count N" says N numbers one by one, and
// everything else it repeats.
type agent struct {
	over  chan struct{} // closed when the test ends
	steps chan struct{} // has one for each number that may be said
}

func (a *agent) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	said := ""
	for _, m := range t.Window.Turn {
		if m.Role == parley.MessageUser {
			said = parley.PlainText(m.Parts)
		}
	}
	answer := "you said: " + said
	stream := string(t.Turn.ID) + "_m"
	var count int
	switch {
	case strings.HasPrefix(said, "hold"):
		select {
		case <-a.over:
		case <-ctx.Done():
			if context.Cause(ctx) == parley.ErrCanceled { //nolint:errorlint // it is the cause itself
				return end("stopped", stream, parley.StopAborted), nil
			}
			return parley.TurnEnd{}, parley.ErrSuspended
		}
	case said == "ask":
		return a.ask(ctx, t)
	default:
		if n, _ := fmt.Sscanf(said, "count %d", &count); n == 1 {
			return a.count(ctx, t, stream, count)
		}
	}
	return end(answer, stream, parley.StopDone), nil
}

func end(text, id string, why parley.StopReason) parley.TurnEnd {
	return parley.TurnEnd{
		Last:      &parley.Message{ID: id, Role: parley.MessageAssistant, Model: "test/agent", Parts: []parley.Part{parley.TextPart(text)}},
		Completed: parley.TurnCompleted{StopReason: why, Usage: parley.Usage{InputTokens: 3, OutputTokens: 2, CostMicroUSD: 7}},
	}
}

func (a *agent) ask(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
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
	return end("the tool said: "+result.Text, string(t.Turn.ID)+"_m", parley.StopDone), nil
}

// count says numbers, each once the test lets it.
func (a *agent) count(ctx context.Context, t parley.TurnContext, stream string, count int) (parley.TurnEnd, error) {
	var text strings.Builder
	for n := 1; n <= count; n++ {
		select {
		case <-a.steps:
		case <-a.over:
		case <-ctx.Done():
			return parley.TurnEnd{}, parley.ErrSuspended
		}
		piece := fmt.Sprintf("%d ", n)
		text.WriteString(piece)
		t.Journal.Delta(stream, n, parley.PartText, piece)
	}
	return end(text.String(), stream, parley.StopDone), nil
}

// world is a server on a loopback port, with an engine behind it.
type world struct {
	*parleytest.World
	t      testing.TB
	agent  *agent
	people *access.People
	outbox *channel.Outbox
	server *httpapi.Server
	url    string
	addr   string
	owner  string // the owner's token
	log    *logBuffer
	client *http.Client
	doors  map[string]access.Door
}

// logBuffer keeps what was logged.
type logBuffer struct {
	mu   sync.Mutex
	grew *sync.Cond
	buf  bytes.Buffer
}

func newLogBuffer() *logBuffer {
	b := &logBuffer{}
	b.grew = sync.NewCond(&b.mu)
	return b
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.grew.Broadcast()
	return b.buf.Write(p)
}

// await gives all that was logged, once the text is there: a request is logged when its
// answer is on its way.
func (b *logBuffer) await(text string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !bytes.Contains(b.buf.Bytes(), []byte(text)) {
		b.grew.Wait()
	}
	return b.buf.String()
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newWorld(t testing.TB, change ...func(*httpapi.Config)) *world {
	t.Helper()
	w := &world{t: t, agent: &agent{over: make(chan struct{}), steps: make(chan struct{}, 10_000)}, log: newLogBuffer(), doors: map[string]access.Door{
		"main": access.DoorPrivate, "public": access.DoorPublic, "protected": access.DoorProtected,
	}}
	w.World = parleytest.New(t, parleytest.Config{Engine: engine.Config{Runner: w.agent}})
	t.Cleanup(func() { close(w.agent.over) })
	w.people = access.NewPeople(w.Store, access.PeopleConfig{Clock: w.Clock})
	t.Cleanup(w.people.Close)
	var err error
	if w.owner, err = w.people.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.New(filepath.Join(t.TempDir(), "blobs"), w.Store, blob.Config{Key: bytes.Repeat([]byte{7}, 32), Limit: 1 << 20, Clock: w.Clock})
	if err != nil {
		t.Fatal(err)
	}
	if w.outbox, err = channel.New(w.Store, channel.Config{Clock: w.Clock}); err != nil {
		t.Fatal(err)
	}
	cfg := httpapi.Config{
		People: w.people, Blobs: blobs, Outbox: w.outbox, HeadFunc: w.Store.Head, Clock: w.Clock, Version: "test",
		Log: slog.New(slog.NewJSONHandler(w.log, nil)),
		AgentFunc: func(name string) (httpapi.Agent, bool) {
			door, ok := w.doors[name]
			return httpapi.Agent{Door: door, Snapshot: parley.AgentSnapshot{Name: name, Config: json.RawMessage(`{"system":"be secret"}`)}}, ok
		},
		Metrics: http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "parley_up 1\n") }),
	}
	for _, f := range change {
		f(&cfg)
	}
	if w.server, err = httpapi.New(w.Engine, cfg); err != nil {
		t.Fatal(err)
	}
	w.listen()
	return w
}

// listen serves on a port of its own, until the test ends.
func (w *world) listen() {
	w.t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	srv := httpapi.NewHTTPServer(w.server, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	w.addr, w.url = l.Addr().String(), "http://"+l.Addr().String()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := w.server.Close(ctx); err != nil {
			w.t.Errorf("streams did not end: %v", err)
		}
		transport.CloseIdleConnections()
		if err := srv.Shutdown(ctx); err != nil {
			_ = srv.Close()
		}
		<-done
	})
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// code gives the code of an error.
func (a answer) code() string { return a.get("error.code") }

// get gives a value of the body by its path, as text.
func (a answer) get(path string) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return ""
	}
	for name := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(at) {
				return ""
			}
			v = at[i]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	data, _ := json.Marshal(v)
	return string(data)
}

// request makes a request with a token ("": none). A body that is no text is sent
// as JSON.
func (w *world) request(method, path, token string, body any, header ...string) *http.Request {
	w.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	case io.Reader:
		reader = b
	default:
		data, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

func (w *world) do(method, path, token string, body any, header ...string) answer {
	w.t.Helper()
	return w.send(w.request(method, path, token, body, header...))
}

func (w *world) send(req *http.Request) answer {
	w.t.Helper()
	res, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{status: res.StatusCode, header: res.Header, body: data}
}

// must is do for what has to have a status.
func (w *world) must(status int, method, path, token string, body any, header ...string) answer {
	w.t.Helper()
	a := w.do(method, path, token, body, header...)
	if a.status != status {
		w.t.Fatalf("%s %s: got %s, want %d", method, path, a, status)
	}
	return a
}

// person adds a user and gives a token of theirs.
func (w *world) person(identity parley.IdentityID, role parley.Role) string {
	w.t.Helper()
	a := w.must(201, "POST", "/api/users", w.owner, map[string]any{"identity": identity, "role": role, "name": string(identity)})
	return w.tokenFor(parley.IdentityID(a.get("identities.0.id")))
}

func (w *world) tokenFor(identity parley.IdentityID) string {
	w.t.Helper()
	return w.must(201, "POST", "/api/tokens", w.owner, map[string]any{"for": identity}).get("secret")
}

func (w *world) channel(namespace string) string {
	w.t.Helper()
	return w.must(201, "POST", "/api/tokens", w.owner, map[string]any{"kind": "channel", "namespace": namespace}).get("secret")
}

// open opens a session by id and gives the id.
func (w *world) open(id, token string) string {
	w.t.Helper()
	a := w.do("POST", "/api/sessions", token, map[string]any{"session_id": id, "source": "web"})
	if a.status != 200 && a.status != 201 {
		w.t.Fatalf("open %s: %s", id, a)
	}
	return a.get("session.id")
}

// dial opens a connection of its own.
func (w *world) dial() net.Conn {
	w.t.Helper()
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(w.t.Context(), "tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// head is how far the store has come: a request that was refused leaves it there.
func (w *world) head() uint64 {
	w.t.Helper()
	h, err := w.Store.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return h.Pos
}
