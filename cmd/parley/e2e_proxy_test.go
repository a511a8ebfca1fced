package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// cutter passes connections on to a daemon, and breaks them.
type cutter struct {
	t        *testing.T
	listener net.Listener
	upstream atomic.Value // the daemon's host:port
	left     atomic.Int64 // connections that are still to be broken
	cut      atomic.Int64 // that were broken
	live     atomic.Bool  // one that is left alone has passed on a piece of a reply

	mu    sync.Mutex
	rng   *rand.Rand
	first bool // the first connection is still to come
	open  map[net.Conn]bool
	work  sync.WaitGroup
}

// newCutter breaks as many connections as it is told, at random places of what the
// daemon sends.
func newCutter(t *testing.T, d *process, cuts int64, seed uint64) *cutter {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{t: t, listener: listener, rng: rand.New(rand.NewPCG(seed, 0)), first: true, open: map[net.Conn]bool{}}
	c.to(d)
	c.left.Store(cuts)
	c.work.Go(c.accept)
	t.Cleanup(func() {
		_ = listener.Close() // that ends accept
		c.mu.Lock()
		for conn := range c.open {
			_ = conn.Close() // whoever is there has had their time
		}
		c.mu.Unlock()
		c.work.Wait()
	})
	return c
}

// to says where the daemon is.
func (c *cutter) to(d *process) { c.upstream.Store(strings.TrimPrefix(d.url, "http://")) }

func (c *cutter) url() string { return "http://" + c.listener.Addr().String() }

func (c *cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.work.Go(func() { c.pass(client) })
	}
}

// keep notes a connection, so that it ends with the test.
func (c *cutter) keep(conn net.Conn) (forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, conn)
		_ = conn.Close() // either side may have done so
	}
}

// pass passes a connection on until one side ends it or it is broken.
func (c *cutter) pass(client net.Conn) {
	defer c.keep(client)()
	address, _ := c.upstream.Load().(string)
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
	if err != nil {
		return // there is no daemon; the client comes again
	}
	defer c.keep(server)()
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = io.Copy(server, client) }) // it ends with either connection
	limit := int64(-1)
	c.mu.Lock()
	if c.left.Load() > 0 {
		limit = c.rng.Int64N(4_000)
		if c.first {
			limit += 1_000 // how soon to come back is in the first bytes
		}
	}
	c.first = false
	c.mu.Unlock()
	if c.answer(client, server, limit) && c.left.Add(-1) >= 0 {
		c.cut.Add(1)
		if tcp, ok := client.(*net.TCPConn); ok && c.cut.Load()%2 == 0 {
			_ = tcp.SetLinger(0) // every other one is reset, and not closed
		}
	}
	_, _ = client.Close(), server.Close()
	asking.Wait()
}

// answer passes on so many bytes; all, if limit is negative. It reports whether there
// would have been more.
func (c *cutter) answer(client io.Writer, server io.Reader, limit int64) bool {
	buf := make([]byte, 4<<10)
	for limit != 0 {
		n, err := server.Read(buf)
		if err != nil {
			return false
		}
		// Clients come back sooner than people need, so that the test is short.
		part := bytes.ReplaceAll(buf[:n], []byte("retry: 1000"), []byte("retry: 0005"))
		if limit >= 0 {
			part = part[:min(int64(n), limit)]
			limit -= int64(len(part))
		}
		if _, err := client.Write(part); err != nil {
			return false
		}
		if limit < 0 && bytes.Contains(part, []byte("event: session:delta")) {
			c.live.Store(true)
		}
	}
	return true
}

// longModel is a model that writes until it is told to end. It speaks as OpenAI does.
type longModel struct {
	*httptest.Server

	enough atomic.Bool
	calls  atomic.Int64
	mu     sync.Mutex
	sent   string // of the last call
}

// newLongModel starts one, and makes it the agent's of a data folder.
func newLongModel(t *testing.T, dir, more string) *longModel {
	t.Helper()
	m := &longModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(func() {
		m.enough.Store(true)
		m.CloseClientConnections()
		m.Close()
	})
	put(t, dir, "parley.yaml", fmt.Sprintf(`
agents: {main: {model: test/long}}
providers: {test: {kind: openai, base_url: "%s/v1"}}
models: {test/long: {context: 10000000, max_output: 1000000}}
`, m.URL)+more)
	return m
}

// said is the text of the last answer that came to its end.
func (m *longModel) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent
}

func (m *longModel) answer(w http.ResponseWriter, r *http.Request) {
	call := m.calls.Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, finish any) {
		data, _ := json.Marshal(map[string]any{ // plain values are always JSON
			"id": "1", "object": "chat.completion.chunk", "model": "long",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data) // who does not listen any more has ended the request
		_ = http.NewResponseController(w).Flush()   // as above
	}
	var sent strings.Builder
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 1; !m.enough.Load(); n++ {
		word := fmt.Sprintf("%d.%d naïve 漢字 🙂\n\n", call, n)
		sent.WriteString(word)
		send(map[string]any{"content": word}, nil)
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
	// Spaces at the end are not shown live: they may belong to a silence marker.
	sent.WriteString("The end.")
	m.mu.Lock()
	m.sent = sent.String()
	m.mu.Unlock()
	send(map[string]any{"content": "The end."}, nil)
	send(map[string]any{}, "stop")
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // as above
}
