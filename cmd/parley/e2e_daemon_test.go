package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long something may take that a test waits for. It is only used up
// by a test that fails.
const patience = 20 * time.Second

// watched keeps what a process writes, for tests that wait for it.
type watched struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed when there is more
}

func newWatched() *watched { return &watched{changed: make(chan struct{})} }

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
	return w.text.Write(b)
}

func (w *watched) String() string {
	text, _ := w.look()
	return text
}

func (w *watched) look() (text string, more <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String(), w.changed
}

// process is a daemon that runs as a process of its own.
type process struct {
	t        *testing.T
	dir      string
	url      string
	link     string // to sign in
	token    string // the owner's
	cmd      *exec.Cmd
	out, err *watched
	ended    chan struct{} // closed when the process has
	client   *http.Client
}

// daemonOn starts a daemon on a data folder and waits until it is ready.
func daemonOn(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	d := startDaemon(t, dir, nil, args...)
	d.ready()
	return d
}

// startDaemon starts a daemon, with further variables, and waits until it has said
// where it is. Without a folder it takes the user's. A daemon that still runs is killed at the end of the test.
func startDaemon(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	d := &process{t: t, dir: dir, out: newWatched(), err: newWatched(), ended: make(chan struct{})}
	args = append([]string{"serve"}, args...)
	if dir != "" {
		args = append(args, "--data", dir)
	}
	if !strings.Contains(strings.Join(args, " "), "--listen") {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	d.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), os.Getenv("PARLEY_TEST_PROGRAM"), args...)
	d.cmd.Env = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.err
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.ended)
		_ = d.cmd.Wait() // its state has how it ended
	}()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	d.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		d.kill()
		transport.CloseIdleConnections()
		if t.Failed() {
			t.Logf("the daemon printed\n%s\nand logged\n%s", d.out, tail(d.err.String(), 4<<10))
		}
	})
	said := d.waits(d.out, regexp.MustCompile(`is at (http\S+)\n +sign in: +(\S+)[^\n]*\n(?s:.*)owner token: +(\S+)\n`))
	d.url, d.link = said[1], said[2]
	token, err := os.ReadFile(said[3])
	if err != nil {
		t.Fatal(err)
	}
	d.token = strings.TrimSpace(string(token))
	return d
}

func tail(text string, most int) string { return text[max(0, len(text)-most):] }

// waits waits until the process has written something that matches.
func (d *process) waits(w *watched, re *regexp.Regexp) []string {
	d.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		text, more := w.look()
		if found := re.FindStringSubmatch(text); found != nil {
			return found
		}
		select {
		case <-more:
		case <-d.ended:
			if text = w.String(); re.MatchString(text) {
				continue
			}
			d.t.Fatalf("the daemon ended before it wrote %s", re)
		case <-late.C:
			d.t.Fatalf("the daemon did not write %s", re)
		}
	}
}

// logs waits until the log has a text.
func (d *process) logs(text string) {
	d.t.Helper()
	d.waits(d.err, regexp.MustCompile(regexp.QuoteMeta(text)))
}

// ready waits until messages can be taken.
func (d *process) ready() {
	d.t.Helper()
	eventually(d.t, "the daemon is ready", func() bool { return d.get("/readyz").status == http.StatusOK })
}

// eventually waits until a condition holds that nothing tells of.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late, tick := time.NewTimer(patience), time.NewTicker(5*time.Millisecond)
	defer late.Stop()
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("it is not so that %s", what)
		}
	}
}

func (d *process) signal(s os.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// kill ends the process as a crash would, if it runs.
func (d *process) kill() {
	_ = d.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-d.ended
}

// stop asks the process to end, and waits for it.
func (d *process) stop() {
	d.t.Helper()
	d.signal(syscall.SIGTERM)
	if status := d.ends(); status != 0 {
		d.t.Errorf("the daemon ended with status %d", status)
	}
}

// ends waits for the process to end and gives its status; -1: a signal ended it.
func (d *process) ends() int {
	d.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-d.ended:
	case <-late.C:
		d.t.Fatal("the daemon does not end")
	}
	return d.cmd.ProcessState.ExitCode()
}

// reply is the answer to a request.
type reply struct {
	status int
	header http.Header
	body   string
}

// code gives the code of an error.
func (r reply) code() string {
	var body struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(r.body), &body) != nil {
		return ""
	}
	return body.Error.Code
}

// request makes a request with the owner's token. Headers come as "Name: value"; an
// Authorization among them takes the place of the token, and is left out if it is
// empty.
func (d *process) request(ctx context.Context, method, path string, body io.Reader, headers ...string) *http.Request {
	d.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, d.url+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		switch value = strings.TrimSpace(value); {
		case value == "":
			req.Header.Del(name)
		case http.CanonicalHeaderKey(name) == "Authorization":
			req.Header.Set(name, value)
		case http.CanonicalHeaderKey(name) == "Host":
			req.Host = value
		default:
			req.Header.Add(name, value)
		}
	}
	return req
}

// try makes a request; an error is that of the connection.
func (d *process) try(method, path, body string, headers ...string) (reply, error) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	resp, err := d.client.Do(d.request(ctx, method, path, strings.NewReader(body), headers...))
	if err != nil {
		return reply{}, err
	}
	data, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(data)}, errors.Join(err, resp.Body.Close())
}

func (d *process) do(method, path, body string, headers ...string) reply {
	d.t.Helper()
	got, err := d.try(method, path, body, headers...)
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

func (d *process) get(path string, headers ...string) reply {
	d.t.Helper()
	return d.do(http.MethodGet, path, "", headers...)
}

// post posts, and fails the test unless the status is one of success.
func (d *process) post(path, body string, headers ...string) reply {
	d.t.Helper()
	got := d.do(http.MethodPost, path, body, headers...)
	if got.status/100 != 2 {
		d.t.Fatalf("POST %s %s: %d %s", path, body, got.status, got.body)
	}
	return got
}

// into reads a body of JSON.
func into[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%v in %q", err, r.body)
	}
	return v
}

type sessionBody struct {
	Session struct {
		ID, Key, Agent, Status, Title, Preview, Type string
		LastSeq                                      uint64 `json:"last_seq"`
	}
}

// open starts a session and gives its id.
func (d *process) open(body string, headers ...string) string {
	d.t.Helper()
	return into[sessionBody](d.t, d.post("/api/sessions", body, headers...)).Session.ID
}

type part struct{ Type, Text string }

// message is one of a session, or of an event.
type message struct {
	ID, Role string
	Parts    []part
	Inputs   []string `json:"input_ids"`
	Sender   *struct{ ID, Name string }
	Seq      uint64
	Hidden   bool
}

// text is what a person reads of it.
func (m message) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// answered is the body of a post that waited.
type answered struct {
	State      string
	TurnID     string `json:"turn_id"`
	Message    *message
	StopReason string `json:"stop_reason"`
	Duplicate  bool
}

// say posts a text and waits for the answer.
func (d *process) say(session, text string) answered {
	d.t.Helper()
	got := d.post("/api/sessions/"+session+"/messages?wait=60s", mustJSON(d.t, map[string]any{"text": text}))
	if got.status != http.StatusOK {
		d.t.Fatalf("the turn is not finished: %s", got.body)
	}
	return into[answered](d.t, got)
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// messages gives all messages of a session that people wrote or the agent did.
func (d *process) messages(session string) []message {
	d.t.Helper()
	var all []message
	for _, m := range into[struct{ Messages []message }](d.t, d.get("/api/sessions/"+session+"/messages?limit=1000")).Messages {
		if !strings.HasSuffix(m.ID, ".note") {
			all = append(all, m)
		}
	}
	return all
}

// event is an event of a session.
type event struct {
	Type    string
	Session string `json:"session_id"`
	Seq     uint64
	Turn    string `json:"turn_id"`
	Data    json.RawMessage
}

// events gives the stored events of a session.
func (d *process) events(session string) []event {
	d.t.Helper()
	return into[struct{ Events []event }](d.t, d.get("/api/sessions/"+session+"/events?limit=1000")).Events
}

// scripted makes the agent of a data folder answer from a script.
func scripted(t *testing.T, dir, script, more string) {
	t.Helper()
	put(t, dir, "script.yaml", script)
	put(t, dir, "parley.yaml", "agents: {main: {model: scripted/test}}\nmodels: {scripted/test: {script: script.yaml}}\n"+more)
}
