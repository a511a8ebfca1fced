package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// connection is what a server of a script does with one request: the blocks of a
// stream, and then it ends, or hangs; or an answer that is no stream.
type connection struct {
	after  string // what the request has to say about where to begin
	blocks []string
	hang   bool
	status int
	body   string
}

// scripted makes a client of a server that serves connections one after the other.
func scripted(t *testing.T, cfg client.Config, script ...connection) (c *client.Client, served *atomic.Int32) {
	t.Helper()
	served = &atomic.Int32{}
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(served.Add(1)) - 1
		if n >= len(script) {
			t.Errorf("a request too many: %s with %q", r.URL, r.Header.Get("Last-Event-ID"))
			panic(http.ErrAbortHandler)
		}
		now := script[n]
		if got := r.Header.Get("Last-Event-ID") + r.URL.RawQuery; got != now.after {
			t.Errorf("request %d begins after %q, want %q", n+1, got, now.after)
		}
		if now.status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(now.status)
			_, _ = io.WriteString(w, now.body)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		for _, b := range now.blocks {
			_, _ = io.WriteString(w, b)
			_ = http.NewResponseController(w).Flush()
		}
		if now.hang {
			<-r.Context().Done()
		}
	}))
	cfg.URL, cfg.Pause, cfg.MaxPause = url, time.Millisecond, 2*time.Millisecond
	return newClient(t, cfg), served
}

// stored, delta, snapshot and said are blocks of a stream of session cli:a.
func stored(seq int) string {
	return fmt.Sprintf("event: x:y\nid: e%d\ndata: {\"type\":\"x:y\",\"session_id\":\"cli:a\",\"seq\":%d,\"at\":\"2026-01-01T00:00:00Z\",\"data\":{}}\n\n", seq, seq)
}

func delta(stream string, n int) string {
	return fmt.Sprintf("id: %s%d\ndata: {\"type\":\"session:delta\",\"session_id\":\"cli:a\",\"turn_id\":\"t1\",\"data\":{\"stream\":%q,\"n\":%d,\"kind\":\"text\",\"text\":\"%d\"}}\n\n", stream, n, stream, n, n)
}

func snapshot(stream string, n int) string {
	return fmt.Sprintf("id: %s%d\ndata: {\"type\":\"session:snapshot\",\"session_id\":\"cli:a\",\"data\":{\"stream\":%q,\"n\":%d,\"parts\":[]}}\n\n", stream, n, stream, n)
}

func said(kind, data string) string {
	return fmt.Sprintf("id: r\ndata: {\"type\":\"session:%s\",\"session_id\":\"cli:a\",\"data\":%s}\n\n", kind, data)
}

const gone = `{"status":"ended","error":{"code":"not_found","message":"gone"}}`

// shown is an update in a few characters.
func shown(u parley.Update) string {
	switch {
	case u.Event != nil:
		return fmt.Sprintf("e%d", u.Event.Seq)
	case u.Delta != nil:
		return fmt.Sprintf("%s%d", u.Delta.Stream, u.Delta.N)
	case u.Snapshot != nil:
		return fmt.Sprintf("%s=%d", u.Snapshot.Stream, u.Snapshot.N)
	}
	return "resync:" + string(u.Resync)
}

// TestStreams has what can go wrong on streams, and what a reader gets.
func TestStreams(t *testing.T) {
	t.Parallel()
	last := func(after string, blocks ...string) connection {
		return connection{after: after, blocks: append(blocks, said("status", gone))}
	}
	unavailable := connection{after: "after=0", status: 503, body: `{"error":{"code":"unavailable","message":"stops"}}`}
	tests := []struct {
		name   string
		from   parley.Position
		script []connection
		want   string
		code   parley.Code
	}{
		{"an end", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), stored(2)}}, last("e2", stored(3))}, "e1 e2 e3", parley.CodeNotFound},
		{"nothing yet", parley.Position{Seq: 4}, []connection{{after: "after=4"}, {after: "after=4", blocks: []string{": parley\n\n"}}, last("after=4", stored(5))}, "e5", parley.CodeNotFound},
		{"half an event", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), stored(2)[:40]}}, last("e1", stored(2))}, "e1 e2", parley.CodeNotFound},
		{"all but the empty line", parley.Position{}, []connection{{after: "after=0", blocks: []string{strings.TrimSuffix(stored(1), "\n")}}, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"events again", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), stored(2)}}, last("e2", stored(1), stored(2), stored(2), stored(3))}, "e1 e2 e3", parley.CodeNotFound},
		{"an event is missing", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), stored(3)}}, last("e1", stored(2), stored(3))}, "e1 e2 e3", parley.CodeNotFound},
		{"the first is missing", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(2)}}, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"a position", parley.Position{Epoch: "p9"}, []connection{last("p9", stored(10), stored(11))}, "e10 e11", parley.CodeNotFound},
		{"a position with its seq", parley.Position{Epoch: "e9", Seq: 9}, []connection{last("e9", stored(9), stored(10))}, "e10", parley.CodeNotFound},
		{"the start is told", parley.Position{}, []connection{{after: "after=0", blocks: []string{"id: s0\n\n"}}, last("s0", stored(1))}, "e1", parley.CodeNotFound},
		{"deltas", parley.Position{}, []connection{{after: "after=0", blocks: []string{delta("a", 1), delta("a", 2)}}, last("a2", delta("a", 2), delta("a", 3), stored(1), delta("b", 1))}, "a1 a2 a3 e1 b1", parley.CodeNotFound},
		{"a delta is missing", parley.Position{}, []connection{{after: "after=0", blocks: []string{delta("a", 1), delta("a", 3)}}, last("a1", snapshot("a", 3), delta("a", 4))}, "a1 a=3 a4", parley.CodeNotFound},
		{"a reply goes on elsewhere", parley.Position{}, []connection{{after: "after=0", blocks: []string{delta("a", 1)}}, last("a1", snapshot("b", 7), delta("b", 8))}, "a1 b=7 b8", parley.CodeNotFound},
		{"from inside a reply", parley.Position{Epoch: "a2", Seq: 1, Stream: "a", N: 2}, []connection{last("a2", delta("a", 2), delta("a", 3))}, "a3", parley.CodeNotFound},
		{"the server stops", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), said("status", `{"status":"closing"}`), stored(2)}}, last("e1", stored(2))}, "e1 e2", parley.CodeNotFound},
		{"it is not back yet", parley.Position{}, []connection{unavailable, unavailable, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"too slow", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), said("resync", `{"reason":"slow"}`)}}, last("e1", stored(2))}, "e1 e2", parley.CodeNotFound},
		{"restored", parley.Position{Epoch: "p9"}, []connection{{after: "p9", blocks: []string{said("resync", `{"reason":"restored"}`)}}}, "resync:restored", ""},
		{"garbage", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), "data: <html>\n\n", stored(2)}}, last("e1", stored(2))}, "e1 e2", parley.CodeNotFound},
		{"no events at all", parley.Position{}, []connection{{after: "after=0", status: 200, body: `{"events":[]}`}, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"another session", parley.Position{}, []connection{{after: "after=0", blocks: []string{strings.ReplaceAll(stored(1), "cli:a", "cli:b")}}, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"a position that is none", parley.Position{}, []connection{{after: "after=0", blocks: []string{strings.Replace(stored(1), "e1", "e\x011", 1)}}, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"types of a later version", parley.Position{}, []connection{last("after=0", said("mood", `{}`), said("status", `{"status":"well"}`), stored(1))}, "e1", parley.CodeNotFound},
		{"a failure that may pass", parley.Position{}, []connection{{after: "after=0", blocks: []string{said("status", `{"status":"ended","error":{"code":"internal","message":"x"}}`)}}, last("after=0", stored(1))}, "e1", parley.CodeNotFound},
		{"not any more", parley.Position{}, []connection{{after: "after=0", blocks: []string{stored(1), said("status", `{"status":"ended","error":{"code":"unauthorized","message":"x"}}`)}}}, "e1", parley.CodeUnauthorized},
		{"never", parley.Position{}, []connection{{after: "after=0", status: 403, body: `{"error":{"code":"forbidden","message":"x"}}`}}, "", parley.CodeForbidden},
		{"a position from elsewhere", parley.Position{Epoch: "a\nb"}, nil, "", parley.CodeInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, served := scripted(t, client.Config{}, test.script...)
			var got []string
			var ended error
			for u, err := range c.Events(t.Context(), "cli:a", test.from) {
				if ended = err; err == nil {
					got = append(got, shown(u))
				}
			}
			wantCode(t, ended, test.code)
			if strings.Join(got, " ") != test.want || int(served.Load()) != len(test.script) {
				t.Errorf("got %v over %d connections, want %q over %d", got, served.Load(), test.want, len(test.script))
			}
		})
	}
}

func TestSilenceIsALostConnection(t *testing.T) {
	t.Parallel()
	var lost []string
	cfg := client.Config{Silence: time.Second, ReconnectFunc: func(err error, attempt int) {
		lost = append(lost, fmt.Sprint(err != nil, attempt))
	}}
	c, _ := scripted(t, cfg,
		connection{after: "after=0", hang: true}, connection{after: "after=0", hang: true},
		connection{after: "after=0", blocks: []string{stored(1)}, hang: true},
		connection{after: "e1", blocks: []string{said("status", gone)}})
	n := 0
	for _, err := range c.Events(t.Context(), "cli:a", parley.Position{}) {
		if n++; err != nil {
			wantCode(t, err, parley.CodeNotFound)
		}
	}
	// Lost, back, lost again; with an event the count begins anew.
	if want := []string{"true 1", "false 1", "true 2", "false 2", "true 1", "false 1"}; n != 2 || !slices.Equal(lost, want) {
		t.Errorf("%d updates; told %v, want %v", n, lost, want)
	}
}

// TestStreamEndsWithItsContext ends streams while they wait: for the server, for an
// event, and before another attempt.
func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]connection{
		"for an event": {after: "after=0", blocks: []string{stored(1)}, hang: true},
		"in a pause":   {after: "after=0", blocks: []string{stored(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c, _ := scripted(t, client.Config{ReconnectFunc: func(error, int) { cancel() }}, script)
			n := 0
			for u, err := range c.Events(ctx, "cli:a", parley.Position{}) {
				if err != nil || u.Event == nil {
					t.Errorf("got %+v, %v", u, err)
				}
				if n++; script.hang {
					cancel()
				}
			}
			if n != 1 || !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("%d updates, %v", n, ctx.Err())
			}
		})
	}
}

func TestFollowFromNow(t *testing.T) {
	t.Parallel()
	all := func(block string) string { return strings.ReplaceAll(block, "cli:a", "cli:z") }
	c, _ := scripted(t, client.Config{},
		connection{blocks: []string{all(stored(7)), all(stored(7)), strings.Replace(all(delta("a", 4)), "id: a4\n", "", 1)}},
		connection{after: "e7", blocks: []string{all(stored(9)), said("status", gone)}},
		// One that is cut before it knows where it is has to say so.
		connection{blocks: []string{": parley\n\n"}})
	var got []string
	for u, err := range c.Follow(t.Context(), client.Now()) {
		if err == nil {
			got = append(got, shown(u)+"@"+u.Position.Epoch)
		}
	}
	if want := []string{"e7@e7", "a4@e7", "e9@e9"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = nil
	for u, err := range c.Follow(t.Context(), client.Now()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, shown(u))
	}
	if !slices.Equal(got, []string{"resync:unknown_position"}) {
		t.Errorf("got %v", got)
	}
}
