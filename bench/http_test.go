package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// eventsOf makes the events of a session: a post and its answer for each word, where
// "-x" is a post without an answer, and "+x" an answer more.
func eventsOf(words ...string) []seenEvent {
	var events []seenEvent
	add := func(t parley.EventType, turn, data string) {
		events = append(events, seenEvent{Type: t, Seq: uint64(len(events) + 1), Turn: parley.TurnID(turn), Data: json.RawMessage(data)})
	}
	answer := func(id string) {
		add(parley.EventMessage, id, fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","text":%q}]}`, httpAnswer))
	}
	add(parley.EventStarted, "", `{}`)
	for _, w := range words {
		if more, ok := strings.CutPrefix(w, "+"); ok {
			answer(more)
			continue
		}
		id, silent := strings.CutPrefix(w, "-")
		add(parley.EventInput, id, fmt.Sprintf(`{"input_id":%q}`, id))
		add(parley.EventMessage, id, fmt.Sprintf(`{"role":"user","input_ids":[%q],"parts":[{"type":"text","text":"%s and more"}]}`, id, id))
		if !silent {
			answer(id)
		}
		add(parley.EventTurnCompleted, id, `{"stop_reason":"stop"}`)
	}
	return events
}

func TestAnsweredOnce(t *testing.T) {
	t.Parallel()
	want := []string{"post-0", "post-1"}
	change := func(i int, f func(e *seenEvent)) []seenEvent {
		events := eventsOf("post-0", "post-1")
		f(&events[i])
		return events
	}
	for name, c := range map[string]struct {
		events []seenEvent
		ok     bool
	}{
		"all":          {eventsOf("post-0", "post-1"), true},
		"one is lost":  {eventsOf("post-0"), false},
		"one is twice": {eventsOf("post-0", "post-1", "post-1"), false},
		"other order":  {eventsOf("post-1", "post-0"), false},
		"no answer":    {eventsOf("post-0", "-post-1"), false},
		"two answers":  {eventsOf("post-0", "post-1", "+post-1"), false},
		"nothing":      {nil, false},
		"a gap":        {change(4, func(e *seenEvent) { e.Seq++ }), false},
		"shorter text": {change(2, func(e *seenEvent) { e.Data = json.RawMessage(strings.ReplaceAll(string(e.Data), "and", "")) }), true},
		"another's text": {change(2, func(e *seenEvent) {
			e.Data = json.RawMessage(strings.ReplaceAll(string(e.Data), "post-0 and", "post-7 and"))
		}), false},
		"other answer": {change(3, func(e *seenEvent) { e.Data = json.RawMessage(strings.ReplaceAll(string(e.Data), "done", "not")) }), false},
		"failed":       {change(4, func(e *seenEvent) { e.Data = json.RawMessage(`{"stop_reason":"error"}`) }), false},
	} {
		if err := answeredOnce("api:a", c.events, want); (err == nil) != c.ok || err != nil && !errors.Is(err, parley.ErrInternal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeqOf(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]uint64{
		`{"type":"session:updated","session_id":"api:a","seq":42,"at":"…"}`: 42,
		`{"type":"session:updated","session_id":"api:a","seq":7}`:           7,
		`{"type":"session:delta","session_id":"api:a"}`:                     0,
		``: 0,
	} {
		if got := seqOf([]byte(data)); got != want {
			t.Errorf("%s: %d", data, got)
		}
	}
}

// askLoad has a server asked, job by job, and gives the last answer.
func askLoad(t *testing.T, handler http.HandlerFunc, jobs ...loadJob) loadAnswer {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	var in, out bytes.Buffer
	for _, job := range jobs {
		job.URL, job.Token = server.URL, "secret"
		if err := json.NewEncoder(&in).Encode(job); err != nil {
			t.Fatal(err)
		}
	}
	if err := Load(t.Context(), &in, &out); err != nil {
		t.Fatal(err)
	}
	var last loadAnswer
	answers := json.NewDecoder(&out)
	for i := range jobs {
		if err := answers.Decode(&last); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
	return last
}

// TestGenerator_Closed: a connection that the daemon closes while it is free is not used again, and a
// request whose connection ends without an answer fails.
func TestGenerator_Closed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	g := generator{host: server.Listener.Addr().String()}
	free := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.idle)
	}
	ask := func(method string) error {
		return g.ask(t.Context(), g.request(method, "/", "*/*", nil), http.StatusOK)
	}
	for range 3 {
		for range 2 {
			if err := ask(http.MethodGet); err != nil || free() != 1 {
				t.Fatalf("%v, %d connections are free", err, free())
			}
		}
		server.CloseClientConnections()
		for tick := time.NewTicker(time.Millisecond); free() > 0; <-tick.C {
		}
	}
	if err := ask(http.MethodDelete); err == nil || !strings.Contains(err.Error(), "no whole answer") || free() != 0 {
		t.Errorf("%v, %d connections are free", err, free())
	}
	if err := ask(http.MethodGet); err != nil {
		t.Error(err)
	}
	g.close() // it waits for who reads
}

func TestLoad_Posts(t *testing.T) {
	t.Parallel()
	job := loadJob{Post: &postJob{Sessions: []string{"api:a", "api:b"}, From: 3, Count: 10, Every: time.Millisecond}}
	for name, c := range map[string]struct {
		status int
		answer string
		ok     bool
	}{
		"well":         {202, `{"input_id":%q,"duplicate":false}`, true},
		"a repeat":     {202, `{"input_id":%q,"duplicate":true}`, false},
		"another's":    {202, `{"input_id":"x%s","duplicate":false}`, false},
		"refused":      {503, `{"error":{"code":"unavailable","message":%q}}`, false},
		"not answered": {202, ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var posts atomic.Int64
			got := askLoad(t, func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					ID   string `json:"input_id"`
					Text string `json:"text"`
				}
				err := json.NewDecoder(r.Body).Decode(&body)
				if err != nil || r.Header.Get("Authorization") != "Bearer secret" || !strings.HasPrefix(body.Text, body.ID+" ") {
					t.Errorf("%v posted %+v, %v", r.Header, body, err)
				}
				posts.Add(1)
				w.WriteHeader(c.status)
				if c.answer != "" {
					_, _ = fmt.Fprintf(w, c.answer, body.ID)
				}
			}, job)
			if (got.Error == nil) != c.ok || posts.Load() == 0 {
				t.Errorf("%d posts came, and the load says %+v", posts.Load(), got.Error)
			}
			if c.ok && (posts.Load() != 10 || len(got.Took) != 10 || got.Took[9] <= 0) {
				t.Errorf("%d posts came, which took %v", posts.Load(), got.Took)
			}
		})
	}
}

// streaming is a server of events: each PATCH gives every stream the next of the
// lines.
type streaming struct {
	lines []string
	next  []chan struct{} // closed when a line may be written
	made  atomic.Int64
}

func (s *streaming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPatch {
		_, _ = fmt.Fprint(w, `{}`)
		close(s.next[s.made.Add(1)-1])
		return
	}
	_, _ = fmt.Fprint(w, ": hello\n\n")
	_ = http.NewResponseController(w).Flush()
	for i, line := range s.lines {
		select {
		case <-s.next[i]:
		case <-r.Context().Done():
			return
		}
		_, _ = fmt.Fprint(w, line)
		_ = http.NewResponseController(w).Flush()
	}
	<-r.Context().Done()
}

func TestLoad_Follows(t *testing.T) {
	t.Parallel()
	event := func(seq int) string {
		return fmt.Sprintf("event: session:updated\ndata: {\"type\":\"session:updated\",\"session_id\":\"api:a\",\"seq\":%d}\nid: x\n\n", seq)
	}
	for name, c := range map[string]struct {
		lines []string
		ok    bool
	}{
		"well":        {[]string{event(8), event(9), ":\n\n" + event(10), event(11), event(12)}, true},
		"one is lost": {[]string{event(8), event(9), event(11), event(12), event(13)}, false},
		"one twice":   {[]string{event(8), event(9), event(10), event(10), event(11)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &streaming{lines: c.lines}
			for range c.lines {
				s.next = append(s.next, make(chan struct{}))
			}
			got := askLoad(t, s.ServeHTTP,
				loadJob{Follow: &followJob{Sessions: []string{"api:a"}, Clients: 20, After: 7, Events: len(c.lines)}},
				loadJob{Fan: &fanJob{Session: "api:a", Every: time.Millisecond}})
			if (got.Error == nil) != c.ok {
				t.Errorf("the load says %+v", got.Error)
			}
			if got.Error == nil && (len(got.Took) != len(c.lines)-sseWarmUp || got.Took[0] <= 0 || len(got.Alone) != len(got.Took)) {
				t.Errorf("events took %v, and their requests %v", got.Took, got.Alone)
			}
		})
	}
}

func TestLoad_RefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]loadJob{"nothing": {}, "nobody follows": {Fan: &fanJob{}}} {
		if got := askLoad(t, func(http.ResponseWriter, *http.Request) {}, job); got.Error == nil || got.Error.Code != parley.CodeInvalid {
			t.Errorf("%s: %+v", name, got.Error)
		}
	}
}

func TestHTTP_NeedsADaemon(t *testing.T) {
	t.Parallel()
	open := func(context.Context, string) (parley.Store, error) { return nil, errors.New("not called") }
	if _, err := HTTP(t.Context(), Config{OpenFunc: open, Dir: t.TempDir()}); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("without a daemon: %v", err)
	}
	cfg := Config{
		OpenFunc: open, Dir: t.TempDir(), Only: []string{HTTPAck},
		ServeFunc: func(ctx context.Context, _ string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), "BENCH_BROKEN=there is no disk") // it ends at once
			return cmd
		},
		LoadFunc: func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, os.Args[0], "-test.run=^$") },
	}
	if _, err := HTTP(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "there is no disk") {
		t.Errorf("the daemon ended at once, and the run says %v", err)
	}
	left, err := os.ReadDir(cfg.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("the run left %v, %v", left, err)
	}
}
