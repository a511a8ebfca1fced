package telegramserver

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FaultKind is a way to break.
type FaultKind string

// The kinds of faults.
const (
	FaultLimit    FaultKind = "limit"    // 429 with RetryAfter; the chat is closed for that long
	FaultStatus   FaultKind = "status"   // an answer with Status, such as 502
	FaultHang     FaultKind = "hang"     // no answer until released, or the client gives up; then the connection is closed
	FaultClose    FaultKind = "close"    // the connection is closed without an answer
	FaultSlow     FaultKind = "slow"     // the answer comes after Delay, or when released
	FaultTruncate FaultKind = "truncate" // half of the answer is sent
	FaultMigrate  FaultKind = "migrate"  // 400 with MigrateTo
)

// Fault is something that goes wrong.
type Fault struct {
	Kind   FaultKind
	Method string // any, if empty, getUpdates too; "file" is the download of a file
	Chat   int64  // any, if 0
	Skip   int    // so many requests go well first
	Times  int    // so many go wrong then; 0 is one, below 0 is all

	// Taken does what was asked before it breaks. FaultSlow and FaultTruncate always
	// do, FaultLimit and FaultMigrate never.
	Taken bool

	Status     int           // of FaultStatus; 500 if 0
	Body       string        // of FaultStatus; empty: the API's form
	RetryAfter int           // of FaultLimit, in seconds; 1 if 0
	Delay      time.Duration // of FaultSlow; 0: until released
	MigrateTo  int64
}

// Injected is a fault that a server has.
type Injected struct {
	Fault
	server   *Server
	released chan struct{}
	release  func()
	hits     int
	waiting  int
}

// Inject makes something go wrong from now on. Of several faults that fit a request
// the first one counts.
func (s *Server) Inject(f Fault) *Injected {
	if f.Times == 0 {
		f.Times = 1
	}
	released := make(chan struct{})
	in := &Injected{Fault: f, server: s, released: released, release: sync.OnceFunc(func() { close(released) })}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, in)
	return in
}

// Release ends the fault: it fits no further request, and those that wait for it go
// on.
func (f *Injected) Release() {
	f.server.mu.Lock()
	f.Times = 0
	f.server.mu.Unlock()
	f.release()
}

// Hits says how many requests went wrong.
func (f *Injected) Hits() int {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	return f.hits
}

// Waiting says how many requests hang now.
func (f *Injected) Waiting() int {
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	return f.waiting
}

// taken reports whether what was asked is done before it breaks.
func (f *Injected) taken() bool {
	switch f.Kind {
	case FaultSlow, FaultTruncate:
		return true
	case FaultLimit, FaultMigrate:
		return false
	default:
		return f.Taken
	}
}

// takeFault gives the fault of a request, nil if it goes well.
func (s *Server) takeFault(c *call) *Injected {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Method != "" && !strings.EqualFold(f.Method, c.method) || f.Chat != 0 && f.Chat != c.chat || f.Times == 0 {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		f.hits++
		s.notify()
		return f
	}
	return nil
}

// breakBefore breaks without doing what was asked.
func (s *Server) breakBefore(w http.ResponseWriter, c *call, f *Injected) {
	switch f.Kind {
	case FaultLimit:
		failure := tooMany(time.Duration(max(1, f.RetryAfter)) * time.Second)
		s.mu.Lock()
		if c.chat != 0 {
			s.limiter.until[c.chat] = s.clock.Now().Add(time.Duration(failure.retryAfter) * time.Second)
		}
		s.mu.Unlock()
		s.log(c, failure)
		write(w, nil, failure)
	case FaultMigrate:
		failure := badRequest("group chat was upgraded to a supergroup chat")
		failure.migrateTo = f.MigrateTo
		s.log(c, failure)
		write(w, nil, failure)
	default:
		s.log(c, &apiError{text: "fault: " + string(f.Kind)})
		s.breakAfter(w, c, f, nil, nil)
	}
}

// breakAfter breaks instead of giving an answer, or while giving it.
func (s *Server) breakAfter(w http.ResponseWriter, c *call, f *Injected, result any, failure *apiError) {
	switch f.Kind {
	case FaultStatus:
		s.writeStatus(w, f)
	case FaultSlow:
		over := make(chan struct{})
		if f.Delay > 0 {
			defer s.clock.AfterFunc(f.Delay, func() { close(over) })()
		}
		s.hang(c, f, over)
		write(w, result, failure)
	case FaultTruncate:
		status, body := encode(result, failure)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)/2))
		w.WriteHeader(status)
		_, _ = w.Write(body[:len(body)/2]) // a client that is gone does not matter
	case FaultHang:
		s.hang(c, f, nil)
		panic(http.ErrAbortHandler)
	default:
		panic(http.ErrAbortHandler) // this closes the connection
	}
}

// writeStatus answers with a status, as a proxy in between would.
func (*Server) writeStatus(w http.ResponseWriter, f *Injected) {
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if f.Body == "" {
		write(w, nil, &apiError{code: status, text: http.StatusText(status)})
		return
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(f.Body)) // a client that is gone does not matter
}

// hang waits until the fault is released or over, the client gives up or the server
// ends.
func (s *Server) hang(c *call, f *Injected, over <-chan struct{}) {
	s.mu.Lock()
	f.waiting++
	s.notify()
	s.mu.Unlock()
	select {
	case <-f.released:
	case <-over:
	case <-c.http.Context().Done():
	case <-s.done:
	}
	s.mu.Lock()
	f.waiting--
	s.notify()
	s.mu.Unlock()
}
