package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-run/parley"
)

// Load is the process that puts load on a daemon: it takes jobs from in, one after
// the other, and writes what came of each to out, until there are no more. What it
// opened is closed when it returns.
func Load(ctx context.Context, in io.Reader, out io.Writer) error {
	var g generator
	defer g.close()
	jobs, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var job loadJob
		if err := jobs.Decode(&job); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a job: %w", err)
		}
		answer, err := g.do(ctx, &job)
		if err != nil {
			answer = loadAnswer{Error: &loadProblem{Code: parley.CodeOf(err), Message: err.Error()}}
		}
		if err := answers.Encode(answer); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

// generator is what a process has open. It speaks HTTP itself, without the
// goroutines and buffers of a client for everything: what it takes of the machine,
// the daemon cannot have.
type generator struct {
	host, token string

	reading sync.WaitGroup // for those who read connections

	mu   sync.Mutex
	idle []*httpConn

	followers *followers // who follows
}

func (g *generator) do(ctx context.Context, job *loadJob) (loadAnswer, error) {
	u, err := url.Parse(job.URL)
	if err != nil {
		return loadAnswer{}, err
	}
	g.host, g.token = u.Host, job.Token
	switch {
	case job.Open != nil:
		return loadAnswer{}, g.open(ctx, job.Open)
	case job.Post != nil:
		return g.post(ctx, job.Post)
	case job.Follow != nil:
		return loadAnswer{}, g.follow(ctx, job.Follow)
	case job.Fan != nil:
		return g.fan(ctx, job.Fan)
	case job.Leave:
		g.leave()
		return loadAnswer{}, nil
	}
	return loadAnswer{}, parley.Errorf(parley.CodeInvalid, "a job asks for nothing")
}

func (g *generator) close() {
	g.leave()
	g.mu.Lock()
	for _, w := range g.idle {
		_ = w.conn.Close() // nothing is under way on it
	}
	g.mu.Unlock()
	g.reading.Wait()
}

// httpConn is a connection to the daemon. If it is one for requests, a goroutine reads it all the time: one
// that was started for each answer would need a processor when the daemon begins to work on the request.
type httpConn struct {
	conn  net.Conn
	in    *bufio.Reader
	used  time.Time               // the last time
	asked atomic.Pointer[awaited] // of what was sent; who takes it out tells who waits, or says that it failed
}

// awaited is an answer that somebody waits for.
type awaited struct {
	status       int // that it has to have
	answeredFunc func(body []byte, err error)
}

const (
	askLimit  = time.Minute      // is how long the daemon may take to answer
	idleLimit = 30 * time.Second // is how long a free connection is kept: less than the daemon does
)

func (g *generator) dial(ctx context.Context) (*httpConn, error) {
	conn, err := (&net.Dialer{Timeout: askLimit}).DialContext(ctx, "tcp", g.host)
	if err != nil {
		return nil, err
	}
	return &httpConn{conn: conn, in: bufio.NewReaderSize(conn, 2<<10)}, nil
}

// request makes a request.
func (g *generator) request(method, path, accept string, body []byte) []byte {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: %s\r\n", method, path, g.host, g.token, accept)
	if body != nil {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return append([]byte(head+"\r\n"), body...)
}

// write sends a request.
func (w *httpConn) write(request []byte) error {
	if err := w.conn.SetDeadline(time.Now().Add(askLimit)); err != nil {
		return err
	}
	_, err := w.conn.Write(request)
	return err
}

// ask sends a request and waits for the answer, which has to have the status.
func (g *generator) ask(ctx context.Context, request []byte, status int) error {
	answered := make(chan error, 1)
	if err := g.send(ctx, request, &awaited{status, func(_ []byte, err error) { answered <- err }}); err != nil {
		return err
	}
	return <-answered
}

// send sends a request over a connection that is free, or another one. If it fails, nobody is told of an
// answer.
func (g *generator) send(ctx context.Context, request []byte, answer *awaited) error {
	w := g.take()
	if w == nil {
		var err error
		if w, err = g.dial(ctx); err != nil {
			return err
		}
		g.reading.Go(func() { g.readAnswers(w) })
	}
	w.asked.Store(answer)
	if err := w.write(request); err != nil && w.asked.CompareAndSwap(answer, nil) {
		return errors.Join(fmt.Errorf("a request could not be sent: %w", err), w.conn.Close())
	}
	return nil
}

// readAnswers brings answers to who waits for them, until the connection is closed or an answer is
// not whole.
func (g *generator) readAnswers(w *httpConn) {
	for {
		_, err := w.in.Peek(1)
		answer := w.asked.Swap(nil)
		if answer == nil {
			g.forget(w)
			if answer = w.asked.Swap(nil); answer != nil { // the connection was taken at the same moment
				answer.answeredFunc(nil, errNotWhole(err))
			}
			return
		}
		resp, body, err := w.readAnswer() //nolint:bodyclose // it is closed by then
		if err != nil || resp.Close {
			answer.answeredFunc(nil, errors.Join(errNotWhole(err), w.conn.Close()))
			return
		}
		if resp.StatusCode != answer.status {
			err = parley.Errorf(parley.CodeInternal, "the daemon answered with %s: %s", resp.Status, body)
		}
		g.put(w)
		answer.answeredFunc(body, err)
	}
}

// readAnswer reads an answer with its body, which is closed.
func (w *httpConn) readAnswer() (*http.Response, []byte, error) {
	resp, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, body, errors.Join(err, resp.Body.Close())
}

func errNotWhole(err error) error {
	return errors.Join(errors.New("a request got no whole answer"), err)
}

// take gives a free connection, or nil.
func (g *generator) take() *httpConn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.idle) == 0 {
		return nil
	}
	w := g.idle[len(g.idle)-1]
	g.idle = g.idle[:len(g.idle)-1]
	if time.Since(w.used) < idleLimit {
		return w
	}
	for _, old := range append(g.idle, w) { // those below it were used before it
		_ = old.conn.Close() // nothing is under way on it
	}
	g.idle = nil
	return nil
}

// forget closes a connection that the daemon has closed, so that it is not taken any more.
func (g *generator) forget(w *httpConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle = slices.DeleteFunc(g.idle, func(other *httpConn) bool { return other == w })
	_ = w.conn.Close() // there is nobody at its other end
}

// put makes a connection free. It has no deadline then: its reader would take that for the end of it.
func (g *generator) put(w *httpConn) {
	_ = w.conn.SetDeadline(time.Time{}) // if it is closed, its reader finds that out
	g.mu.Lock()
	defer g.mu.Unlock()
	w.used = time.Now()
	g.idle = append(g.idle, w)
}

// opensAtOnce is how many sessions, or streams, are opened at the same time, and
// opensEvery how often: a credential may not ask more often than twice that.
const (
	opensAtOnce = 32
	opensEvery  = time.Millisecond
)

// paced calls f n times, each at its time, so many at once, and waits.
func paced(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	free := make(chan struct{}, opensAtOnce)
	start := time.Now()
	for i := 0; i < n && ctx.Err() == nil; i++ {
		pauseUntil(start.Add(time.Duration(i) * opensEvery))
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// open opens sessions.
func (g *generator) open(ctx context.Context, job *openJob) error {
	return paced(ctx, len(job.Sessions), func(ctx context.Context, i int) error {
		body, err := json.Marshal(map[string]string{"session_id": job.Sessions[i]})
		if err != nil {
			return err
		}
		return g.ask(ctx, g.request(http.MethodPost, "/api/sessions", "application/json", body), http.StatusCreated)
	})
}

// atOnceLimit is how many posts may be under way: a daemon that has more to answer
// does not keep up.
const atOnceLimit = 2_000

// post posts messages, each at its time whether those before it are answered or
// not. Who waits for the time sends it as well: to hand it to another goroutine would wake
// another thread. A new connection holds up those behind it, which counts as their time.
func (g *generator) post(ctx context.Context, job *postJob) (loadAnswer, error) {
	requests := make([][]byte, job.Count)
	for i := range requests {
		n := job.From + i
		body, err := json.Marshal(map[string]string{"input_id": postID(n), "text": postID(n) + " " + text(uint32(n), 450)})
		if err != nil {
			return loadAnswer{}, err
		}
		path := "/api/sessions/" + job.Sessions[n%len(job.Sessions)] + "/messages"
		requests[i] = g.request(http.MethodPost, path, "application/json", body)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took := make([]float64, job.Count)
	var running sync.WaitGroup
	var underWay atomic.Int64
	start := time.Now()
	for i := 0; i < job.Count && ctx.Err() == nil; i++ {
		due := start.Add(time.Duration(i) * job.Every)
		pauseUntil(due)
		if underWay.Add(1) > atOnceLimit {
			cancel(parley.Errorf(parley.CodeUnavailable, "%d posts are not answered: the daemon does not keep up", atOnceLimit))
		}
		running.Add(1)
		err := g.send(ctx, requests[i], &awaited{http.StatusAccepted, func(answer []byte, err error) {
			defer running.Done()
			took[i] = milliseconds(time.Since(due))
			underWay.Add(-1)
			if err == nil {
				err = acknowledged(answer, postID(job.From+i))
			}
			if err != nil {
				cancel(fmt.Errorf("%s: %w", postID(job.From+i), err))
			}
		}})
		if err != nil {
			running.Done()
			cancel(fmt.Errorf("%s: %w", postID(job.From+i), err))
		}
	}
	running.Wait()
	return loadAnswer{Took: took}, context.Cause(ctx)
}

// acknowledged checks the answer to a post.
func acknowledged(answer []byte, id string) error {
	var receipt struct {
		ID        string `json:"input_id"`
		Duplicate bool   `json:"duplicate"`
	}
	if err := json.Unmarshal(answer, &receipt); err != nil {
		return err
	}
	if receipt.ID != id || receipt.Duplicate {
		return parley.Errorf(parley.CodeInternal, "a message that was sent once was acknowledged with %s", answer)
	}
	return nil
}
