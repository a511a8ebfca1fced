package metric

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func (m *Metrics) makeHTTP() {
	m.httpDuration = histogram("parley_http_request_duration_seconds", "How long requests took; event streams and sockets until they began.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}, "route", "method", "status")
	m.httpStreams = gauge("parley_http_streams", "Event streams and sockets that are open.", "route")
}

// HTTP gives a handler whose requests are timed, by route, method and class of
// status. RouteFunc gives the pattern of the route that answers a request, such as
// "GET /api/sessions/{id}", never its path; it is called when the headers of the
// answer are written, or when next has returned, with the request that next was
// given, so after a [http.ServeMux] it may be the request's Pattern, unless
// something in between gave the mux a copy. Empty, and anything if it is nil, is
// "other".
//
// An event stream, or a socket, counts as answered when it begins.
func (m *Metrics) HTTP(next http.Handler, routeFunc func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{ResponseWriter: w, m: m, start: m.cfg.Clock.Now(), method: method(r.Method), routeFunc: func() string {
			if routeFunc == nil {
				return other
			}
			if route := routeFunc(r); route != "" {
				return m.names.of("route", route)
			}
			return other
		}}
		panicked := true
		defer func() { x.end(panicked) }()
		next.ServeHTTP(x, r)
		panicked = false
	})
}

// exchange is one request and its answer. Its optional methods are found through
// Unwrap, by [http.ResponseController]; Flush is here for those who ask for a
// [http.Flusher].
type exchange struct {
	http.ResponseWriter
	m         *Metrics
	start     time.Time
	method    string
	routeFunc func() string
	status    int
	stream    string // its route, if it is one
	taken     bool   // the connection was taken over
}

// Unwrap gives the writer that this one stands before.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (x *exchange) WriteHeader(status int) {
	x.begin(status)
	x.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (x *exchange) Write(p []byte) (int, error) {
	x.begin(http.StatusOK)
	return x.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher].
func (x *exchange) Flush() {
	x.begin(http.StatusOK)
	_ = http.NewResponseController(x.ResponseWriter).Flush() // as with a Flusher, nobody is told
}

// Hijack lets a handler take the connection over. An event stream, or a socket, that
// does so is open until the connection is closed.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	x.begin(http.StatusOK)
	if x.stream == "" {
		return conn, buffered, nil
	}
	x.taken = true
	return &takenConn{Conn: conn, open: x.m.httpStreams.WithLabelValues(x.stream)}, buffered, nil
}

// takenConn is a connection that a stream has taken over.
type takenConn struct {
	net.Conn
	open   prometheus.Gauge
	closed atomic.Bool
}

// Close implements [net.Conn].
func (c *takenConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Dec()
	}
	return c.Conn.Close()
}

// begin notes the status with which the answer begins.
func (x *exchange) begin(status int) {
	if x.status != 0 || status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	x.status = status
	if status == http.StatusSwitchingProtocols || strings.HasPrefix(x.Header().Get("Content-Type"), "text/event-stream") {
		x.stream = x.routeFunc()
		x.observe(x.stream)
		x.m.httpStreams.WithLabelValues(x.stream).Inc()
	}
}

func (x *exchange) end(panicked bool) {
	switch {
	case x.taken: // until it is closed
		return
	case x.stream != "":
		x.m.httpStreams.WithLabelValues(x.stream).Dec()
		return
	case x.status == 0 && panicked:
		x.status = http.StatusInternalServerError
	case x.status == 0:
		x.status = http.StatusOK
	}
	x.observe(x.routeFunc())
}

func (x *exchange) observe(route string) {
	x.m.httpDuration.WithLabelValues(route, x.method, class(x.status)).Observe(x.m.since(x.start))
}

// class gives the class of a status, such as 2xx.
func class(status int) string {
	if status < 100 || status > 599 {
		return other
	}
	return strconv.Itoa(status/100) + "xx"
}

// method gives a method that is known, as clients may send any.
func method(name string) string {
	switch name {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return name
	}
	return other
}
