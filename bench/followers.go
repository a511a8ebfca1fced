package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-run/parley"
)

// followers are many clients that follow sessions.
type followers struct {
	*arena
	leaving atomic.Bool
	mu      sync.Mutex
	conns   []net.Conn
}

// follow opens streams. It returns when all are open.
func (g *generator) follow(ctx context.Context, job *followJob) error {
	if g.followers != nil {
		return parley.Errorf(parley.CodeInvalid, "there are streams already")
	}
	if most := openFiles(); most >= 0 && most < int64(job.Clients+filesBesides) {
		return noFiles(job.Clients, most)
	}
	c := &followers{arena: newArena(job.Clients, job.After, job.Events)}
	g.followers = c
	return paced(ctx, job.Clients, func(ctx context.Context, i int) error {
		path := fmt.Sprintf("/api/sessions/%s/events", job.Sessions[i%len(job.Sessions)])
		if job.After > 0 {
			path += "?after=" + strconv.FormatUint(job.After, 10)
		}
		w, err := g.dial(ctx)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.conns = append(c.conns, w.conn)
		c.mu.Unlock()
		if err := w.write(g.request(http.MethodGet, path, "text/event-stream", nil)); err != nil {
			return fmt.Errorf("open stream %d: %w", i+1, err)
		}
		resp, err := http.ReadResponse(w.in, nil) //nolint:bodyclose // it ends with the connection
		if err != nil {
			return fmt.Errorf("open stream %d: %w", i+1, err)
		}
		lines := bufio.NewReaderSize(resp.Body, 2<<10)
		first, err := lines.ReadSlice('\n')
		if err != nil || resp.StatusCode != http.StatusOK || first[0] != ':' {
			return parley.Errorf(parley.CodeInternal, "stream %d was answered with %s: %s %v", i+1, resp.Status, first, err)
		}
		c.running.Go(func() { c.watch(w.conn, lines) })
		return nil
	})
}

// filesBesides is how many files a process may have open beside its streams.
const filesBesides = 200

func noFiles(streams int, most int64) error {
	return parley.Errorf(parley.CodeUnavailable, "%d streams need as many open files in one process, and the system allows %d; allow more (ulimit -Hn), or use --quick", streams, most)
}

// watch is one client: every event must come, in order, and once.
func (c *followers) watch(conn net.Conn, lines *bufio.Reader) {
	err := conn.SetDeadline(time.Time{})
	for next := 0; err == nil; {
		var line []byte
		if line, err = lines.ReadSlice('\n'); err != nil {
			err = parley.Errorf(parley.CodeInternal, "a stream ended: %v", err)
			break
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		if next == len(c.events) || seqOf(data) != c.last+1+uint64(next) {
			err = lost("a stream brought %s where event %d should be", data, c.last+1+uint64(next))
			break
		}
		c.arrived(next)
		next++
	}
	if !c.leaving.Load() {
		c.fail(err)
	}
}

// seqOf finds the seq of an event in its JSON, which begins with the type, the
// session and the seq; 0: it has none. Thousands read the same line, so it is not
// decoded by each.
func seqOf(data []byte) (seq uint64) {
	_, rest, _ := bytes.Cut(data, []byte(`,"seq":`))
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		seq = seq*10 + uint64(c-'0')
	}
	return seq
}

// fan makes the events that the followers wait for. How long each took is counted from
// the moment its request was sent.
func (g *generator) fan(ctx context.Context, job *fanJob) (loadAnswer, error) {
	c := g.followers
	if c == nil {
		return loadAnswer{}, parley.Errorf(parley.CodeInvalid, "nobody follows")
	}
	var answer loadAnswer
	begin := time.Now()
	for i := range c.events {
		body, err := json.Marshal(map[string]string{"title": "title " + strconv.Itoa(i)})
		if err != nil {
			return loadAnswer{}, err
		}
		request := g.request(http.MethodPatch, "/api/sessions/"+job.Session, "application/json", body)
		pauseUntil(begin.Add(time.Duration(i) * job.Every))
		start := time.Now()
		if err := g.ask(ctx, request, http.StatusOK); err != nil {
			return loadAnswer{}, errors.Join(err, c.failure())
		}
		c.events[i].start = start
		if i < sseWarmUp {
			if err := c.wait(ctx, i); err != nil {
				return loadAnswer{}, err
			}
			begin = time.Now().Add(-time.Duration(i) * job.Every)
		} else {
			answer.Alone = append(answer.Alone, milliseconds(time.Since(start)))
		}
	}
	for i := sseWarmUp; i < len(c.events); i++ {
		if err := c.wait(ctx, i); err != nil {
			return loadAnswer{}, err
		}
		answer.Took = append(answer.Took, milliseconds(c.events[i].end.Sub(c.events[i].start)))
	}
	return answer, c.failure()
}

// failure gives why the followers are not whole any more; nil: they are.
func (c *followers) failure() error {
	select {
	case <-c.failed:
		return c.err
	default:
		return nil
	}
}

// leave closes all streams.
func (g *generator) leave() {
	c := g.followers
	if c == nil {
		return
	}
	g.followers = nil
	c.leaving.Store(true)
	for _, conn := range c.conns {
		_ = conn.Close() // that is what is wanted
	}
	c.running.Wait()
}
