package client_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// fate is what a proxy does to a request.
type fate int

const (
	forward  fate = iota
	refuse        // the connection ends before anything is forwarded
	lose          // it is forwarded, and the answer is lost
	twice         // it is forwarded twice, and the second answer counts
	halve         // half of the answer's body arrives
	page          // the proxy's own error page
	nonsense      // the proxy answers with JSON of its own
	stripped      // the answer's media type is lost
	fates         // how many there are
)

// proxy stands between a client and a server, and does to each request what
// fateFunc says (nil: it forwards).
type proxy struct {
	t        testing.TB
	url      string
	target   string
	fateFunc func(r *http.Request) fate

	client *http.Client
	mu     sync.Mutex
	cutAt  chan struct{} // closed to cut all streams
	open   int           // streams
	opened *sync.Cond
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	transport := &http.Transport{}
	p := &proxy{t: t, target: target, client: &http.Client{Transport: transport}, cutAt: make(chan struct{})}
	p.opened = sync.NewCond(&p.mu)
	p.url = serve(t, p)
	t.Cleanup(transport.CloseIdleConnections)
	return p
}

// serve serves on a port of its own, until the test ends.
func serve(t testing.TB, h http.Handler) (url string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return "http://" + l.Addr().String()
}

// cut ends all streams, in the middle.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.cutAt)
	p.cutAt = make(chan struct{})
}

// awaitStream waits until a stream is open.
func (p *proxy) awaitStream() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.open == 0 {
		p.opened.Wait()
	}
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := forward
	if p.fateFunc != nil {
		what = p.fateFunc(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	switch what {
	case refuse:
		panic(http.ErrAbortHandler)
	case page:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><h1>Bad gateway</h1></html>")
		return
	case nonsense:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"hello":"world"}`)
		return
	case twice:
		if res := p.forward(r.Context(), r, body); res != nil {
			_ = res.Body.Close()
		}
	}
	// What is lost has been done.
	res := p.forward(context.WithoutCancel(r.Context()), r, body)
	if res == nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	if res.Header.Get("Content-Type") == "text/event-stream" && what == forward {
		p.stream(w, r, res)
		return
	}
	answer, err := io.ReadAll(res.Body)
	if err != nil || what == lose {
		panic(http.ErrAbortHandler)
	}
	for _, name := range []string{"Content-Type", "Content-Length", "Retry-After", "X-Request-Id"} {
		if value := res.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	if what == stripped {
		w.Header().Set("Content-Type", "text/plain")
	}
	w.WriteHeader(res.StatusCode)
	if what == halve {
		_, _ = w.Write(answer[:len(answer)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer)
}

func (p *proxy) forward(ctx context.Context, r *http.Request, body []byte) *http.Response {
	req, err := http.NewRequestWithContext(ctx, r.Method, p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header = r.Header.Clone()
	res, err := p.client.Do(req)
	if err != nil {
		return nil
	}
	return res
}

// stream passes events on until it is cut: then what was on its way is lost.
func (p *proxy) stream(w http.ResponseWriter, r *http.Request, res *http.Response) {
	p.mu.Lock()
	cut := p.cutAt
	p.open++
	p.opened.Broadcast()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
	}()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // a read waits for the server
		select {
		case <-cut:
		case <-r.Context().Done():
		case <-stop:
		}
		_ = res.Body.Close()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(res.StatusCode)
	buf := make([]byte, 700) // events come in pieces
	for {
		n, err := res.Body.Read(buf)
		select {
		case <-cut:
			panic(http.ErrAbortHandler)
		default:
		}
		if n > 0 {
			_, _ = w.Write(buf[:n])
			_ = http.NewResponseController(w).Flush()
		}
		if err != nil {
			if err == io.EOF {
				return
			}
			panic(http.ErrAbortHandler)
		}
	}
}
