package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// loader is the process that puts load on a daemon; see [Load].
type loader struct {
	cmd    *exec.Cmd
	jobs   io.WriteCloser
	in     *json.Encoder
	out    *json.Decoder
	stderr bytes.Buffer
	daemon *daemonBed
}

// loadJob asks for one thing: the field that is set.
type loadJob struct {
	URL    string     `json:"url"`
	Token  string     `json:"token"`
	Open   *openJob   `json:"open,omitempty"`
	Post   *postJob   `json:"post,omitempty"`
	Follow *followJob `json:"follow,omitempty"`
	Fan    *fanJob    `json:"fan,omitempty"`
	Leave  bool       `json:"leave,omitempty"`
}

// openJob opens sessions.
type openJob struct {
	Sessions []string `json:"sessions"`
}

// postJob posts messages, one after the other to each of the sessions.
type postJob struct {
	Sessions []string      `json:"sessions"`
	From     int           `json:"from"` // the number of the first
	Count    int           `json:"count"`
	Every    time.Duration `json:"every"`
}

// followJob opens streams, one after the other of each of the sessions, and keeps
// them.
type followJob struct {
	Sessions []string `json:"sessions"`
	Clients  int      `json:"clients"`
	After    uint64   `json:"after"`  // the last event before those that come
	Events   int      `json:"events"` // that will come
}

// fanJob makes the events, in the session that is followed.
type fanJob struct {
	Session string        `json:"session"`
	Every   time.Duration `json:"every"`
}

// loadAnswer is what came of a job. Times are in milliseconds.
type loadAnswer struct {
	Took  []float64    `json:"took,omitempty"`
	Alone []float64    `json:"alone,omitempty"` // of a fanJob: until the request was answered
	Error *loadProblem `json:"error,omitempty"`
}

// loadProblem is an error on its way between processes.
type loadProblem struct {
	Code    parley.Code `json:"code"`
	Message string      `json:"message"`
}

// startLoader starts the process.
func startLoader(cmd *exec.Cmd, d *daemonBed) (*loader, error) {
	l := &loader{cmd: cmd, daemon: d}
	cmd.Stderr = &l.stderr
	jobs, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a process for the load: %w", err)
	}
	l.jobs, l.in, l.out = jobs, json.NewEncoder(jobs), json.NewDecoder(answers)
	return l, nil
}

// do has the process do something, and waits.
func (l *loader) do(ctx context.Context, job loadJob) (loadAnswer, error) {
	job.URL, job.Token = l.daemon.url, l.daemon.token
	var answer loadAnswer
	err := l.in.Encode(job)
	if err == nil {
		err = l.out.Decode(&answer)
	}
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case err != nil:
		return answer, fmt.Errorf("the process for the load has gone: %w", err)
	case answer.Error != nil:
		return answer, parley.Errorf(answer.Error.Code, "%s", answer.Error.Message)
	}
	return answer, nil
}

// close lets the process end.
func (l *loader) close(ctx context.Context) error {
	err := errors.Join(l.jobs.Close(), l.cmd.Wait())
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the process for the load failed: %w: %s", err, strings.TrimSpace(l.stderr.String()))
	}
	return nil
}
