package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
)

// maxRedirects is how many redirects are followed, all at the same host.
const maxRedirects = 3

// wire sends the requests of one connection by HTTP. It adds the headers, and
// sees to limits and to that nothing goes on when the connection has ended.
type wire struct {
	cfg     Config
	origin  *url.URL
	next    http.RoundTripper
	headers map[string]secret.Value // set by Connect
	version atomic.Value            // the one agreed upon, a string

	// joinFunc gives a context that also ends when the connection does.
	joinFunc  func(ctx context.Context) (context.Context, context.CancelFunc)
	abortFunc context.CancelFunc

	mu      sync.Mutex
	stopped bool
	open    sync.WaitGroup // requests, until their answers are closed
}

func newWire(cfg Config) (*wire, error) {
	origin, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	w := &wire{cfg: cfg, origin: origin}
	// Time and size have limits here, which depend on the request.
	w.next = cfg.Guard.Client(tool.Limits{Timeout: -1, MaxBody: -1}).Transport
	w.joinFunc, w.abortFunc = lifetime()
	return w, nil
}

// lifetime gives a way to make contexts that end together.
func lifetime() (join func(context.Context) (context.Context, context.CancelFunc), end context.CancelFunc) {
	life, end := context.WithCancel(context.Background())
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(life, cancel)
		return ctx, func() { stop(); cancel() }
	}, end
}

// Connect resolves the headers. The first request makes the connection.
func (w *wire) Connect(ctx context.Context) (sdk.Connection, error) {
	headers, err := values(ctx, "the header", w.cfg.Headers, w.cfg.Scrubber)
	if err != nil {
		return nil, err
	}
	w.headers = headers
	t := &sdk.StreamableClientTransport{
		Endpoint:     w.cfg.URL,
		HTTPClient:   &http.Client{Transport: w, CheckRedirect: w.checkRedirect},
		MaxEventSize: maxMessage,
		// A stream that stays open would be there for one message only, that the
		// list of tools has changed. The list is asked for instead.
		DisableStandaloneSSE: true,
	}
	return t.Connect(ctx)
}

func (w *wire) agreed(version string) { w.version.Store(version) }

// checkRedirect lets a request go to another path of the same server, as it is.
func (w *wire) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case !w.same(req.URL):
		return parley.Errorf(parley.CodeForbidden, "it redirects to another server, %s://%s, which is not followed; if that is right, configure its address", req.URL.Scheme, req.URL.Host)
	case req.Method != via[0].Method:
		return parley.Errorf(parley.CodeForbidden, "it redirects in a way that changes the request; configure the address that it redirects to")
	case len(via) > maxRedirects:
		return parley.Errorf(parley.CodeForbidden, "more than %d redirects", maxRedirects)
	}
	return nil
}

func (w *wire) same(u *url.URL) bool {
	return u.Scheme == w.origin.Scheme && strings.EqualFold(u.Host, w.origin.Host) && u.User == nil
}

// RoundTrip sends a request, with the headers of the server.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := w.begin(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as a transport has to; it was not read
		}
		return nil, err
	}
	ctx, leave := w.joinFunc(req.Context())
	ctx, cancel := context.WithTimeout(ctx, w.timeout(req))
	var once sync.Once
	end := func() { once.Do(func() { cancel(); leave(); w.open.Done() }) }

	n := noteIn(ctx)
	// A request whose header has not been written was not received.
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: n.mark})
	req = req.Clone(ctx)
	for name, v := range w.headers {
		req.Header.Set(name, v.Reveal())
	}
	if v, ok := w.version.Load().(string); ok && v != "" && req.Header.Get("Mcp-Protocol-Version") == "" {
		req.Header.Set("Mcp-Protocol-Version", v)
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		end()
		return nil, err
	}
	if req.Method == http.MethodPost { // else it is about something that goes on after it
		n.answered(resp.StatusCode)
	}
	b := &body{ReadCloser: resp.Body, left: maxMessage, endFunc: end}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	// The events of a stream have a limit each.
	b.endless = kind == "text/event-stream" && resp.StatusCode >= 200 && resp.StatusCode < 300
	resp.Body = b
	return resp, nil
}

func (w *wire) begin(to *url.URL) error {
	if !w.same(to) {
		return parley.Errorf(parley.CodeForbidden, "requests go to %s only", w.origin.Host)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return io.ErrClosedPipe
	}
	w.open.Add(1)
	return nil
}

// timeout is how long a request may take with its answer. That of a call is part
// of its context.
func (w *wire) timeout(req *http.Request) time.Duration {
	switch {
	case req.Method == http.MethodDelete:
		return w.cfg.StopTimeout
	case noteIn(req.Context()) != nil:
		return max(w.cfg.Timeout, w.cfg.ConnectTimeout)
	}
	return answerTimeout
}

// stop ends the session at the server, or leaves that if hurry is set, and returns
// when no request is under way.
func (w *wire) stop(session *sdk.ClientSession, hurry bool) {
	if session != nil && !hurry {
		timer := time.AfterFunc(w.cfg.StopTimeout, w.abortFunc)
		_ = session.Close() // a server that does not want to know forgets it by itself
		timer.Stop()
	}
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.abortFunc()
	w.open.Wait()
}

// why gives what is known about a failure.
func (w *wire) why(err error) string {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return said(w.cfg.Scrubber, e.Error())
	}
	if err == nil {
		return ""
	}
	if errors.Is(err, io.EOF) {
		return "the connection has ended"
	}
	return said(w.cfg.Scrubber, err.Error())
}

// body is an answer that has a limit, and says when it was closed.
type body struct {
	io.ReadCloser
	endless bool
	left    int64
	endFunc func()
}

// Read fails when there is more than there may be.
func (b *body) Read(p []byte) (int, error) {
	if b.endless {
		return b.ReadCloser.Read(p)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more, to see whether there is more
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		b.left = 0
		return max(n-1, 0), fmt.Errorf("the answer has more than %d bytes", maxMessage)
	}
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	defer b.endFunc()
	return b.ReadCloser.Close()
}
