package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// deltasEvery is how often a fast model writes: 2,000 times a second.
const deltasEvery = 500 * time.Microsecond

// fastModel is a model's server on loopback that writes faster than any model does, until it
// is stopped.
type fastModel struct {
	url    string
	http   *http.Server
	served chan error
	next   chan *fastAnswer

	mu     sync.Mutex
	deltas int
	took   time.Duration
}

// fastAnswer is an answer that was ordered: what it begins with, and ends with once stop
// is closed. Ended gets the moment when its end was written.
type fastAnswer struct {
	begin, end string
	stop       chan struct{}
	ended      chan time.Time
}

func startFast(ctx context.Context) (*fastModel, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "no server can be started on 127.0.0.1", Err: err}
	}
	f := &fastModel{url: "http://" + listener.Addr().String(), served: make(chan error, 1), next: make(chan *fastAnswer, 1)}
	f.http = &http.Server{Handler: f, ReadHeaderTimeout: daemonLimit}
	go func() { f.served <- f.http.Serve(listener) }()
	return f, nil
}

// close stops the server, and whoever it still answers.
func (f *fastModel) close() error {
	err := f.http.Close()
	if served := <-f.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// expect orders the next answer.
func (f *fastModel) expect(begin, end string) *fastAnswer {
	a := &fastAnswer{begin, end, make(chan struct{}), make(chan time.Time, 1)}
	f.next <- a
	return a
}

// rate gives how many deltas were written, a second.
func (f *fastModel) rate() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return rate(f.deltas, f.took)
}

// ServeHTTP answers as the Chat Completions API does.
func (f *fastModel) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return // the client is gone
	}
	var answer *fastAnswer
	select {
	case answer = <-f.next:
	default:
		http.Error(w, "nobody has asked for an answer", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if n, took, err := answer.write(w, req); err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.deltas, f.took = f.deltas+n, f.took+took
	}
}

// write writes the answer, each delta at its time, and gives how many there were.
func (a *fastAnswer) write(w http.ResponseWriter, req *http.Request) (n int, took time.Duration, err error) {
	flush := http.NewResponseController(w)
	delta := func(text, finish string) error {
		_, err := fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"fast\","+
			"\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q},\"finish_reason\":%s}]}\n\n", text, finish)
		return errors.Join(err, flush.Flush())
	}
	start := time.Now()
	text := a.begin + " "
	for n = 0; ; n++ {
		if err := delta(text, "null"); err != nil {
			return n, 0, err
		}
		select {
		case <-a.stop:
			err := delta("\n\n"+a.end, `"stop"`)
			a.ended <- time.Now()
			_, e := io.WriteString(w, "data: [DONE]\n\n")
			return n + 1, time.Since(start), errors.Join(err, e)
		case <-req.Context().Done():
			return n, 0, context.Cause(req.Context())
		default:
		}
		pauseUntil(start.Add(time.Duration(n+1) * deltasEvery))
		text = fastWord(n)
	}
}

// fastWord gives the n-th word of an answer: paragraphs, and now and then a list and some
// code, as models write.
func fastWord(n int) string {
	switch at := n % 400; {
	case at == 250:
		return "\n\n```go\n"
	case at > 250 && at < 300 && at%10 == 0:
		return "word()\n"
	case at == 300:
		return "\n```\n\n"
	case at > 300 && at%10 == 0:
		return "\n- **more** "
	case at%100 == 99:
		return "\n\n"
	}
	return "word "
}
