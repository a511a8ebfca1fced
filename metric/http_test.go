package metric_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley/metric"
)

// site is a real server with routes of each kind.
func site(t *testing.T, m *metric.Metrics, hold <-chan struct{}) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/things/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.PathValue("id"))
	})
	mux.HandleFunc("POST /api/things", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	mux.HandleFunc("GET /silent", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusConflict)
	})
	mux.HandleFunc("POST /abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-hold
		_, _ = io.WriteString(w, "data: end\n\n")
		w.(http.Flusher).Flush()
	})
	server := httptest.NewServer(m.HTTP(mux, func(r *http.Request) string { return r.Pattern }))
	t.Cleanup(server.Close)
	return server
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	server := site(t, m, nil)
	for _, request := range []struct{ method, path, body string }{
		{"GET", "/api/things/secret-1", "secret-1"},
		{"GET", "/api/things/secret-2", "secret-2"},
		{"POST", "/api/things", ""},
		{"GET", "/silent", ""},
		{"GET", "/early", ""},
		{"POST", "/abort", ""}, // the client would try a GET again,
		{"GET", "/nowhere/secret-3", "404 page not found\n"},
		{"SECRET", "/silent", "Method Not Allowed\n"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), request.method, server.URL+request.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client().Do(req)
		if (err != nil) != (request.path == "/abort") {
			t.Fatalf("%s %s: %v", request.method, request.path, err)
		}
		if err != nil {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != request.body {
			t.Errorf("%s %s: %q, %v", request.method, request.path, body, err)
		}
	}
	server.Close() // waits for the handlers
	want := []string{
		`parley_http_request_duration_seconds_count{method="GET",route="GET /api/things/{id}",status="2xx"} 2`,
		`parley_http_request_duration_seconds_count{method="GET",route="GET /early",status="4xx"} 1`,
		`parley_http_request_duration_seconds_count{method="GET",route="GET /silent",status="2xx"} 1`,
		`parley_http_request_duration_seconds_count{method="GET",route="other",status="4xx"} 1`,
		`parley_http_request_duration_seconds_count{method="POST",route="POST /abort",status="5xx"} 1`,
		`parley_http_request_duration_seconds_count{method="POST",route="POST /api/things",status="2xx"} 1`,
		`parley_http_request_duration_seconds_count{method="other",route="other",status="4xx"} 1`,
	}
	if got := lines(t, m, "parley_http_request_duration_seconds_count"); !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(strings.ToLower(scrape(t, m)), "secret") {
		t.Error("a path or a made-up method is shown")
	}
}

// TestStreams holds event streams open: they are counted while they are, and timed
// when they begin.
func TestStreams(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	hold := make(chan struct{})
	server := site(t, m, hold)
	var open []io.ReadCloser
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client().Do(req) // returns when the headers are there
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		open = append(open, resp.Body)
	}
	check := func(n int) {
		t.Helper()
		if got, want := lines(t, m, "parley_http_streams"), []string{fmt.Sprintf(`parley_http_streams{route="GET /events"} %d`, n)}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		want := []string{`parley_http_request_duration_seconds_count{method="GET",route="GET /events",status="2xx"} 3`}
		if got := lines(t, m, "parley_http_request_duration_seconds_count"); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(3)
	close(hold)
	for _, body := range open {
		if line, err := bufio.NewReader(body).ReadString('\n'); err != nil || line != "data: end\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
	server.Close()
	check(0)
}

func TestHTTPWithoutRoutes(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	for _, handler := range []http.Handler{
		m.HTTP(http.NotFoundHandler(), nil),
		m.HTTP(http.NotFoundHandler(), func(*http.Request) string { return "" }),
	} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil))
	}
	want := []string{`parley_http_request_duration_seconds_count{method="GET",route="other",status="4xx"} 2`}
	if got := lines(t, m, "parley_http_request_duration_seconds_count"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTakenStreams: a stream whose handler has taken the connection over and returned
// is open until that is closed, and counted once.
func TestTakenStreams(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	taken := make(chan net.Conn, 1)
	server := httptest.NewServer(m.HTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
		}
		taken <- conn
	}), func(*http.Request) string { return "GET /events" }))
	defer server.Close()
	var dialer net.Dialer
	client, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if _, err := io.WriteString(client, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	conn := <-taken
	if got, want := lines(t, m, "parley_http_streams"), []string{`parley_http_streams{route="GET /events"} 1`}; !slices.Equal(got, want) {
		t.Errorf("while it is open: %q", got)
	}
	if got := lines(t, m, "parley_http_request_duration_seconds_count"); len(got) != 1 || !strings.HasSuffix(got[0], `status="2xx"} 1`) {
		t.Errorf("requests: %q", got)
	}
	for range 2 {
		_ = conn.Close()
	}
	if got, want := lines(t, m, "parley_http_streams"), []string{`parley_http_streams{route="GET /events"} 0`}; !slices.Equal(got, want) {
		t.Errorf("when it is closed: %q", got)
	}
}
