package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
)

const (
	killedAnswer   = "It is done."
	killedEvery    = 3 * time.Millisecond // between posts
	killedBacklog  = 300                  // messages that may wait: more is no load, but too much
	killedAfter    = 2 * time.Second      // it has been ready
	killedPatience = 2 * time.Minute      // for what has to happen
)

// TestKilledUnderLoad kills a daemon again and again while hundreds of messages a
// second come in. Who got no answer sends the same message again. In the end every
// message that was acknowledged is there once, and answered once; a few may have
// been closed with an error that is there to see.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	l := newKilledLoad(t)
	l.start()
	l.openSessions()
	random := rand.New(rand.NewPCG(soak.Seed(t), 1))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var posting sync.WaitGroup
	posting.Go(func() { l.postAll(ctx, random) })
	posting.Go(func() { l.watchBacklog(ctx) })
	kills := soak.Count(5, 50)
	for range kills {
		timer := time.NewTimer(killedAfter)
		<-timer.C
		l.kill()
		l.start()
	}
	stop()
	posting.Wait() // all of them are acknowledged by then
	if t.Failed() {
		return
	}
	checked := l.check()
	t.Logf("%d kills, %d messages, %d of them sent more than once, %d closed without an answer", kills, len(l.posts), l.repeated, checked.closed)
	if most := len(l.posts) / 1000; checked.closed > most {
		t.Errorf("%d of %d messages were closed without an answer", checked.closed, len(l.posts))
	}
	if least := kills * 100; len(l.posts) < least || l.repeated == 0 {
		t.Errorf("only %d messages were posted, and %d repeated: that was no load", len(l.posts), l.repeated)
	}
	l.end()
	parleyRun(t, t.TempDir(), "doctor", "--data", l.dir).says(t, 0)
}

// killedLoad is a daemon that is killed, and who posts to it.
type killedLoad struct {
	t      *testing.T
	dir    string
	client *http.Client

	sessions int
	waiting  atomic.Int64 // messages that waited when the daemon was last asked

	cmd *exec.Cmd
	log *os.File

	mu       sync.Mutex
	token    string
	url      string        // empty: there is no daemon
	up       chan struct{} // closed when there is one
	posts    map[string]killedPost
	repeated int
}

// killedPost is a message that was acknowledged.
type killedPost struct{ session, text string }

func newKilledLoad(t *testing.T) *killedLoad {
	t.Helper()
	l := newKilled(t)
	l.sessions = 300
	if soak.On() {
		l.sessions = 1000
	}
	put(t, l.dir, "parley.yaml", "agents: {main: {model: scripted/slow}}\nmodels: {scripted/slow: {script: slow.yaml}}\n")
	put(t, l.dir, "slow.yaml", fmt.Sprintf("rules: [{say: [{delay: 30ms}, {text: %q}]}]\n", killedAnswer))
	return l
}

// newKilled makes a folder for a daemon that is killed.
func newKilled(t *testing.T) *killedLoad {
	t.Helper()
	l := &killedLoad{
		t: t, dir: t.TempDir(), up: make(chan struct{}), posts: map[string]killedPost{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}, Timeout: killedPatience},
	}
	var err error
	if l.log, err = os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if l.cmd != nil {
			_ = l.cmd.Process.Kill()
			_ = l.cmd.Wait()
		}
		l.client.CloseIdleConnections()
		_ = l.log.Close()
	})
	return l
}

// start starts the daemon and waits until it is ready.
func (l *killedLoad) start() {
	l.t.Helper()
	cmd := exec.Command(os.Getenv("PARLEY_TEST_PROGRAM"), "serve", "--data", l.dir, "--listen", "127.0.0.1:0") //nolint:noctx // it is killed otherwise
	cmd.Env = []string{"HOME=" + l.dir, "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = l.log, l.log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.cmd = cmd
	ctx, cancel := context.WithTimeout(l.t.Context(), killedPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		url, err := l.find(cmd.Process.Pid)
		if err == nil {
			if _, err = l.ask(ctx, http.MethodGet, url+"/readyz", nil, nil); err == nil {
				l.mu.Lock()
				l.url = url
				close(l.up)
				l.mu.Unlock()
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("the daemon is not ready: %v\n%s", err, l.said())
		}
	}
}

// find reads where the daemon with this number is.
func (l *killedLoad) find(pid int) (string, error) {
	data, err := os.ReadFile(filepath.Join(l.dir, "daemon.json"))
	if err != nil {
		return "", err
	}
	var info struct {
		PID int    `json:"pid"`
		URL string `json:"url"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return "", err
	}
	if info.PID != pid {
		return "", errors.New("that is the one before")
	}
	token, err := os.ReadFile(filepath.Join(l.dir, "owner.token"))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token = strings.TrimSpace(string(token))
	return info.URL, err
}

func (l *killedLoad) said() string {
	data, _ := os.ReadFile(l.log.Name())
	return string(data[max(0, len(data)-4000):])
}

// kill ends the daemon as a power cut would.
func (l *killedLoad) kill() {
	l.t.Helper()
	if err := l.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		l.t.Fatalf("the daemon ended by itself: %v\n%s", err, l.said())
	}
	_ = l.cmd.Wait() // it says that it was killed
	l.mu.Lock()
	defer l.mu.Unlock()
	l.url, l.up = "", make(chan struct{})
}

// end lets the daemon stop.
func (l *killedLoad) end() {
	l.t.Helper()
	err := l.cmd.Process.Signal(syscall.SIGTERM)
	if err == nil {
		err = l.cmd.Wait()
	}
	if err != nil {
		l.t.Errorf("the daemon did not stop: %v\n%s", err, l.said())
	}
	l.cmd = nil
}

// statusError is an answer that is no success.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.body) }

// ask sends a request, and decodes its answer if into is given.
func (l *killedLoad) ask(ctx context.Context, method, url string, body, into any) (status int, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	if body == nil {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set("Content-Type", "application/json")
	l.mu.Lock()
	req.Header.Set("Authorization", "Bearer "+l.token)
	l.mu.Unlock()
	resp, err := l.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if data, err = io.ReadAll(resp.Body); err != nil {
		return 0, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return resp.StatusCode, &statusError{resp.StatusCode, string(data)}
	}
	if into == nil {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(data, into)
}

func killedSession(n int) string { return "api:killed_" + strconv.Itoa(n) }

func (l *killedLoad) openSessions() {
	l.t.Helper()
	for n := range l.sessions {
		if _, err := l.ask(l.t.Context(), http.MethodPost, l.url+"/api/sessions", map[string]string{"session_id": killedSession(n)}, nil); err != nil {
			l.t.Fatal(err)
		}
	}
}

// postAll posts at a fixed rate, while there is a daemon, until ctx ends, and then
// waits until everything is acknowledged.
func (l *killedLoad) postAll(ctx context.Context, random *rand.Rand) {
	var under sync.WaitGroup
	defer under.Wait()
	tick := time.NewTicker(killedEvery)
	defer tick.Stop()
	atOnce := make(chan struct{}, 300)
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := l.daemon(ctx); err != nil {
			return
		}
		if l.waiting.Load() > killedBacklog {
			continue
		}
		p := killedPost{session: killedSession(random.IntN(l.sessions)), text: fmt.Sprintf("message %d", n)}
		atOnce <- struct{}{}
		under.Go(func() {
			defer func() { <-atOnce }()
			l.post(strconv.Itoa(n), p)
		})
	}
}

// watchBacklog keeps asking how many messages wait, so that a machine with much else
// to do is not asked for more than it can answer.
func (l *killedLoad) watchBacklog(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		url, err := l.daemon(ctx)
		var ready struct {
			Backlog struct {
				Queued int64 `json:"queued"`
			} `json:"backlog"`
		}
		if err == nil {
			_, err = l.ask(ctx, http.MethodGet, url+"/readyz", nil, &ready)
		}
		if err == nil { // else it was killed meanwhile
			l.waiting.Store(ready.Backlog.Queued)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// daemon waits until there is one.
func (l *killedLoad) daemon(ctx context.Context) (url string, err error) {
	for {
		l.mu.Lock()
		url, up := l.url, l.up
		l.mu.Unlock()
		if url != "" {
			return url, nil
		}
		select {
		case <-up:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// post sends a message until it is acknowledged.
func (l *killedLoad) post(id string, p killedPost) {
	ctx, cancel := context.WithTimeout(l.t.Context(), killedPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for tries := 1; ; tries++ {
		url, err := l.daemon(ctx)
		var receipt struct {
			ID    string `json:"input_id"`
			State string `json:"state"`
		}
		if err == nil {
			_, err = l.ask(ctx, http.MethodPost, url+"/api/sessions/"+p.session+"/messages", map[string]string{"text": p.text, "input_id": id}, &receipt)
		}
		var refused *statusError
		switch {
		case err == nil:
			if receipt.ID != id || receipt.State == "" {
				l.t.Errorf("message %s was acknowledged as %+v", id, receipt)
			}
			l.mu.Lock()
			l.posts[id] = p
			if tries > 1 {
				l.repeated++
			}
			l.mu.Unlock()
			return
		case ctx.Err() != nil || errors.As(err, &refused) && refused.status < 500 && !strings.Contains(refused.body, string(parley.CodeBusy)):
			l.t.Errorf("message %s was not acknowledged: %v", id, err)
			return
		}
		select { // there was no answer, or it was not taken
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
