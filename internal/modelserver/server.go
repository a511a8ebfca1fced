// Package modelserver stands in for the providers of models in tests: servers on
// loopback that speak their wire formats, keep what they were asked, refuse what
// the real ones refuse, and break on request in the ways that networks do.
//
// A server's goroutines end with the test. The package imports nothing of the
// module.
package modelserver

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Request is what a server was asked.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Reply is what a server answers: an error if Status is set, else an answer.
type Reply struct {
	Status int         // of an error
	Header http.Header // set as well, such as Retry-After
	Body   string      // of an error; empty: the provider's own form for the status

	Reasoning []string // in pieces, as they are sent
	Text      []string
	Calls     []Call
	Stop      string // in the provider's words; empty: what fits the answer
	Usage     Usage
	Fault     Fault
	Wait      time.Duration // between two pieces
}

// Call is a tool call as a provider sends it. Arguments need not be JSON.
type Call struct {
	ID, Name, Arguments string
}

// Usage is in the provider's way of counting.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
}

// Fault is a way to break.
type Fault string

// The faults.
const (
	FaultNone    Fault = ""
	FaultHang    Fault = "hang"    // take the request, send nothing
	FaultStall   Fault = "stall"   // send the first piece, then nothing
	FaultHalf    Fault = "half"    // send half of the answer and close the connection properly
	FaultCut     Fault = "cut"     // send half of the answer and break the connection; a reset in HTTP/2
	FaultGarbage Fault = "garbage" // send bytes that are no stream of events
	FaultBadJSON Fault = "badjson" // send an event whose data is no JSON
	FaultEndless Fault = "endless" // never stop sending text
)

// Server is a provider on loopback.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	requests []Request
}

// Requests gives what the server was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// start starts a server that keeps its requests and answers them with handle. It
// speaks HTTP/2 as well, over TLS, if tls is set; [httptest.Server.Client] trusts
// it.
func start(t testing.TB, tls bool, handle func(http.ResponseWriter, *http.Request, Request)) *Server {
	s := &Server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		req := Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: bytes.Clone(body)}
		s.mu.Lock()
		s.requests = append(s.requests, req)
		s.mu.Unlock()
		handle(w, r, req)
	}))
	if tls {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}
