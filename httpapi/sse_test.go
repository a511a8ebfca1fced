package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/internal/soak"
)

// reader reads a stream of events.
type reader struct {
	t      testing.TB
	res    *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
	last   string // the last id
}

// frame is one event of a stream.
type frame struct {
	event, id, data string
	wire            wireEvent
}

// follow opens a stream, after an id ("": none).
func (w *world) follow(path, token, after string) *reader {
	w.t.Helper()
	req := w.request("GET", path, token, nil, "Accept", "text/event-stream")
	return w.stream(req, after)
}

func (w *world) stream(req *http.Request, after string) *reader {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	req = req.WithContext(ctx)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := w.client.Do(req) //nolint:bodyclose // the reader closes it
	if err != nil {
		w.t.Fatal(err)
	}
	r := &reader{t: w.t, res: res, lines: bufio.NewReader(res.Body), cancel: cancel, last: after}
	w.t.Cleanup(r.close)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Content-Encoding") != "" {
		body, _ := io.ReadAll(res.Body)
		w.t.Fatalf("no stream: %d %s", res.StatusCode, body)
	}
	return r
}

func (r *reader) close() {
	r.cancel()
	_ = r.res.Body.Close()
}

// next gives the next event, or false at the end.
func (r *reader) next() (frame, bool) {
	r.t.Helper()
	var f frame
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.t.Fatalf("the stream broke: %v", err)
			}
			return f, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "event":
			f.event = value
		case "id":
			f.id = value
		case "data":
			f.data = value
		case "":
			if line != "" || f.event == "" {
				continue // a comment, or what came before the first event
			}
			if err := json.Unmarshal([]byte(f.data), &f.wire); err != nil || f.wire.Type != f.event {
				r.t.Fatalf("event %q with %s: %v", f.event, f.data, err)
			}
			if f.id != "" {
				r.last = f.id
			}
			return f, true
		}
	}
}

// until reads to the first event of a type.
func (r *reader) until(event string) frame {
	r.t.Helper()
	for {
		f, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended without %s", event)
		}
		if f.event == event {
			return f
		}
	}
}

func TestStreamFromNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	r := w.follow("/api/sessions/web:s/events", w.owner, "")
	w.must(202, "POST", "/api/sessions/web:s/messages", w.owner, map[string]any{"text": "hello", "input_id": "i1"})
	if f, _ := r.next(); f.event != "session:input" || f.wire.Seq != 3 || f.id == "" {
		t.Errorf("first came %+v", f)
	}
	f := r.until("session:turn_completed")
	if !strings.Contains(f.data, `"cost_microusd":7}`) {
		t.Errorf("completed with %s", f.data)
	}
	// With after, what is there comes first.
	again := w.follow("/api/sessions/web:s/events?after=0", w.owner, "")
	for seq := uint64(1); seq <= f.wire.Seq; seq++ {
		if got, ok := again.next(); !ok || got.wire.Seq != seq {
			t.Fatalf("got %+v, want seq %d", got, seq)
		}
	}
	// An id wins over after, and nothing comes twice.
	later := w.follow("/api/sessions/web:s/events?after=0", w.owner, r.last)
	w.must(200, "PATCH", "/api/sessions/web:s", w.owner, map[string]any{"title": "Work"})
	if got, _ := later.next(); got.event != "session:updated" {
		t.Errorf("got %+v", got)
	}
}

// TestStreamResync asks for positions that cannot be continued: each is an event on
// an ordinary stream, after which the client can go on.
func TestStreamResync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	w.open("web:other", w.owner)
	w.must(200, "POST", "/api/sessions/web:other/messages?wait=20s", w.owner, map[string]any{"text": "hello"})
	foreign := w.follow("/api/sessions/web:other/events?after=0", w.owner, "")
	foreign.until("session:message")
	for _, test := range []struct{ name, path, id string }{
		{"nonsense", "/api/sessions/web:s/events", "nonsense"},
		{"of another session", "/api/sessions/web:s/events", foreign.last},
		{"from the future", "/api/sessions/web:s/events?after=999999", ""},
		{"an id from the future", "/api/sessions/web:s/events", "999999"},
		{"all, nonsense", "/api/events", "%%%"},
		{"all, of a session", "/api/events", foreign.last},
		{"all, from the future", "/api/events?after=999999999", ""},
	} {
		r := w.follow(test.path, w.owner, test.id)
		f := r.until("session:resync")
		if !strings.Contains(f.data, `"reason":"unknown_position"`) {
			t.Errorf("%s: %s", test.name, f.data)
		}
		if _, more := r.next(); more {
			t.Errorf("%s: the stream goes on", test.name)
		}
		path, _, _ := strings.Cut(test.path, "?")
		if f, _ := w.follow(path, w.owner, r.last).next(); f.event != "session:started" {
			t.Errorf("%s: after it came %+v, want the beginning", test.name, f)
		}
	}
}

// TestStreamCut follows one long reply, is cut off many times in it, and ends with
// the same text as one who was not.
func TestStreamCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(soak.Seed(t), 0))
	w.open("web:s", w.owner)
	numbers := 20 * soak.Count(100, 1000)
	whole := w.follow("/api/sessions/web:s/events", w.owner, "")
	w.must(202, "POST", "/api/sessions/web:s/messages", w.owner, map[string]any{"text": fmt.Sprintf("count %d", numbers)})
	var got reply
	r := w.follow("/api/sessions/web:s/events", w.owner, "2")
	for allowed, cuts := 0, 0; !got.done; cuts++ {
		if got.numbers() == allowed {
			more := min(1+rng.IntN(150), numbers-allowed)
			for range more {
				w.agent.steps <- struct{}{}
			}
			allowed += more
		}
		for n := rng.IntN(30); n >= 0 && !got.done && (got.numbers() < allowed || allowed == numbers); n-- {
			f, ok := r.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			got.add(f)
		}
		r.close()
		r = w.follow("/api/sessions/web:s/events", w.owner, r.last)
		if cuts > 100*numbers {
			t.Fatal("it never ends")
		}
	}
	var want reply
	for !want.done {
		f, ok := whole.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		want.add(f)
	}
	if got.text != want.text || got.wrong || want.wrong || got.numbers() != numbers {
		t.Errorf("the text differs: %d numbers, want %d\n%q\n%q", got.numbers(), numbers, tail(got.text), tail(want.text))
	}
	for i, seq := range got.stored {
		if seq != uint64(i)+3 {
			t.Fatalf("stored events came as %v", got.stored)
		}
	}
}

// reply is what a reader puts together of a turn.
type reply struct {
	text        string
	stored      []uint64
	done, wrong bool
}

func (a *reply) numbers() int { return len(strings.Fields(a.text)) }

func (a *reply) add(f frame) {
	switch f.event {
	case "session:delta":
		a.text += f.wire.Data.Text
	case "session:snapshot":
		a.text = parley.PlainText(f.wire.Data.Parts)
	case "session:message":
		// What was put together is the beginning of it; the rest need not come
		// piece by piece.
		if message := parley.PlainText(f.wire.Data.Parts); f.wire.Data.Role == "assistant" {
			a.wrong = a.wrong || !strings.HasPrefix(message, a.text)
			a.text = message
		}
	case "session:turn_completed":
		a.done = true
	}
	if f.wire.Seq > 0 {
		a.stored = append(a.stored, f.wire.Seq)
	}
}

func TestStreamAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.person("web:eve", parley.RoleUser)
	r := w.follow("/api/events", eve, "")
	w.open("web:theirs", w.owner)
	w.open("web:hers", eve)
	f, _ := r.next()
	if f.event != "session:started" || !strings.Contains(f.data, `"session_id":"web:hers"`) {
		t.Fatalf("got %+v", f)
	}
	r.close()
	w.must(200, "PATCH", "/api/sessions/web:hers", eve, map[string]any{"title": "Hers"})
	r = w.follow("/api/events", eve, r.last)
	if f := r.until("session:updated"); !strings.Contains(f.data, "web:hers") {
		t.Errorf("got %s", f.data)
	}
}

func TestStreamOfTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	post := func(body map[string]any) []string {
		t.Helper()
		r := w.stream(w.request("POST", "/api/sessions/web:s/messages", w.owner, body, "Accept", "text/event-stream"), "")
		var events []string
		for {
			f, ok := r.next()
			if !ok {
				return events
			}
			events = append(events, strings.TrimPrefix(f.event, "session:"))
		}
	}
	turn := "status input message turn_started message turn_completed"
	if got := strings.Join(post(map[string]any{"text": "hello", "input_id": "1"}), " "); !sameSet(got, turn) || !strings.HasSuffix(got, "turn_completed") {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(post(map[string]any{"text": "hello", "input_id": "1"}), " "); !sameSet(got, turn) {
		t.Errorf("the same again: %s", got)
	}
	if got := strings.Join(post(map[string]any{"text": "only noted", "trigger": false}), " "); got != "status input message" {
		t.Errorf("logged: %s", got)
	}
	if a := w.do("POST", "/api/sessions/web:none/messages", w.owner, map[string]any{"text": "x"}, "Accept", "text/event-stream"); a.status != 404 {
		t.Errorf("no session: %s", a)
	}
}

func sameSet(a, b string) bool {
	count := map[string]int{}
	for f := range strings.FieldsSeq(a) {
		count[f]++
	}
	for f := range strings.FieldsSeq(b) {
		count[f]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestWaitsAreLimited: requests that wait count as streams, and are answered when the
// server stops.
func TestWaitsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.Streams, c.Limits.Rate = 2, -1 })
	eve := w.person("web:eve", parley.RoleUser)
	path := "/api/sessions/" + w.open("web:s", eve) + "/messages"
	w.must(202, "POST", path, eve, map[string]any{"text": "hold", "input_id": "0"})
	answers := make(chan answer, 2)
	for _, id := range []string{"1", "2"} {
		go func() { answers <- w.do("POST", path+"?wait=1m", eve, map[string]any{"text": "a", "input_id": id}) }()
	}
	for w.must(200, "GET", "/api/sessions/web:s", eve, nil).get("session.queued") != "2" {
		runtime.Gosched() // until both wait
	}
	before := w.head()
	if a := w.do("POST", path+"?wait=1ms", eve, map[string]any{"text": "b", "input_id": "3"}); a.status != 429 || a.code() != "rate_limited" {
		t.Errorf("a third: %s", a)
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
	w.must(202, "POST", path, eve, map[string]any{"text": "c", "input_id": "4"})
	if err := w.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := <-answers; a.status != 202 || a.get("state") != "queued" {
			t.Errorf("who waits is told %s", a)
		}
	}
	w.must(202, "POST", path+"?wait=1m", eve, map[string]any{"text": "d", "input_id": "5"})
}

// TestStreamEnds ends streams in the ways they end, each with a last event.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.Streams = 2 })
	eve := w.person("web:eve", parley.RoleUser)
	w.open("web:s", w.owner)
	w.must(200, "POST", "/api/sessions/web:s/participants", w.owner, map[string]any{"identity": "web:eve"})
	path := "/api/sessions/web:s/events"
	one, two := w.follow(path, eve, ""), w.follow(path, eve, "")
	if a := w.do("GET", path, eve, nil, "Accept", "text/event-stream"); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("a third stream: %s", a)
	}
	w.must(200, "DELETE", "/api/sessions/web:s/participants/web:eve", w.owner, nil)
	for _, r := range []*reader{one, two} {
		if f := r.until("session:status"); !strings.Contains(f.data, `"status":"ended"`) || !strings.Contains(f.data, "not_found") {
			t.Errorf("who takes part no more: %s", f.data)
		}
	}
	all := w.follow("/api/events", eve, "")
	token := w.must(200, "GET", "/api/me", eve, nil).get("token_id")
	w.must(200, "DELETE", "/api/tokens/"+token, w.owner, nil)
	if f := all.until("session:status"); !strings.Contains(f.data, "unauthorized") {
		t.Errorf("revoked: %s", f.data)
	}
	w.must(401, "GET", path, eve, nil)

	owner := w.follow(path, w.owner, "")
	if err := w.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := owner.until("session:status"); !strings.Contains(f.data, `"status":"closing"`) {
		t.Errorf("closing: %s", f.data)
	}
	if _, more := owner.next(); more {
		t.Error("it goes on")
	}
	w.must(503, "GET", path, w.owner, nil, "Accept", "text/event-stream")
	w.must(200, "GET", path, w.owner, nil)
}

func TestStreamKeepAlive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	r := w.follow("/api/sessions/web:s/events", w.owner, "")
	for range 4 { // the opening: a comment, retry, id, an empty line
		line, err := r.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == ":\n" {
			t.Error("a comment came too early")
		}
	}
	w.Clock.WaitForTimer(15 * time.Second)
	w.Clock.Advance(15 * time.Second)
	if line, err := r.lines.ReadString('\n'); line != ":\n" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
}

func tail(text string) string { return text[max(0, len(text)-60):] }

// plainWriter is a connection that cannot be taken over.
type plainWriter struct {
	http.ResponseWriter
	http.Flusher
}

// TestStreamThroughServer follows a session where the server keeps its connections,
// as with HTTP/2.
func TestStreamThroughServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		flusher, _ := rw.(http.Flusher)
		w.server.ServeHTTP(plainWriter{rw, flusher}, r)
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.open("web:s", w.owner)
	r := w.follow("/api/sessions/web:s/events", w.owner, "")
	w.must(200, "POST", "/api/sessions/web:s/messages?wait=20s", w.owner, map[string]any{"text": "hello"})
	r.until("session:turn_completed")
	if err := w.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := r.until("session:status"); !strings.Contains(f.data, `"status":"closing"`) {
		t.Errorf("closing: %s", f.data)
	}
}

// TestEncodedOnce has many readers: each event is encoded for all of them.
func TestEncodedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	readers := make([]*reader, 20)
	for i := range readers {
		readers[i] = w.follow("/api/sessions/web:s/events", w.owner, "")
	}
	w.must(200, "POST", "/api/sessions/web:s/messages?wait=20s", w.owner, map[string]any{"text": "hello"})
	var last string
	for _, r := range readers {
		f := r.until("session:turn_completed")
		if last != "" && f.data != last {
			t.Errorf("one got %s, another %s", f.data, last)
		}
		last = f.data
	}
	events := w.must(200, "GET", "/api/sessions/web:s", w.owner, nil).get("session.last_seq")
	if got := fmt.Sprint(httpapi.Encoded(w.server) + 2); got != events {
		t.Errorf("%s events are there, and %s were encoded or there before", events, got)
	}
}

// Who is cut off before the first event goes on from where the stream began.
func TestStreamBeginsWithAPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	for _, path := range []string{"/api/sessions/web:s/events", "/api/events"} {
		r := w.follow(path, w.owner, "")
		id := ""
		for line := ""; line != "\n"; {
			var err error
			if line, err = r.lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if text, ok := strings.CutPrefix(line, "id: "); ok {
				id = strings.TrimSpace(text)
			}
		}
		if id == "" {
			t.Fatalf("%s: the stream does not say where it begins", path)
		}
		w.must(200, "PATCH", "/api/sessions/web:s", w.owner, map[string]any{"title": path})
		again := w.follow(path, w.owner, id)
		for {
			line, err := again.lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(line, "event: ") {
				if line != "event: session:updated\n" {
					t.Errorf("%s: it goes on with %q", path, line)
				}
				break
			}
		}
	}
}
