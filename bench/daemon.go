package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// daemonBed is a daemon on a data folder of its own.
type daemonBed struct {
	cmd        *exec.Cmd
	dir        string
	url, token string
	ended      chan error
	client     *http.Client
}

// How long a daemon may take to start, and to stop.
const daemonLimit = time.Minute

// withDaemon runs a measurement against a fresh daemon, with a process that puts
// load on it.
func (r *run) withDaemon(ctx context.Context, measure func(context.Context, *daemonBed, *loader) error) (err error) {
	dir, err := os.MkdirTemp(r.dir, "daemon-*")
	if err != nil {
		return err
	}
	if err := writeFiles(dir, answersAlike()); err != nil {
		return err
	}
	d, err := startDaemon(ctx, dir, r.cfg.ServeFunc(ctx, dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	l, err := startLoader(r.cfg.LoadFunc(ctx), d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close(ctx)) }()
	return measure(ctx, d, l)
}

// answersAlike configures a daemon whose model says one thing, to everything.
func answersAlike() map[string]string {
	return map[string]string{
		"parley.yaml": "agents: {main: {model: scripted/bench}}\nmodels: {scripted/bench: {script: bench.yaml}}\n",
		"bench.yaml":  fmt.Sprintf("rules: [{say: %q}]\n", httpAnswer),
	}
}

// startDaemon starts a daemon and waits until it is ready.
func startDaemon(ctx context.Context, dir string, cmd *exec.Cmd) (*daemonBed, error) {
	// It logs to a file, as it would where it is in use.
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // G304: it is in a folder of our own
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Start()
	if e := log.Close(); err == nil { // the process has it by then
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	d := &daemonBed{cmd: cmd, dir: dir, ended: make(chan error, 1), client: &http.Client{Transport: &http.Transport{}, Timeout: daemonLimit}}
	go func() { d.ended <- cmd.Wait() }()
	if err := d.ready(ctx); err != nil {
		return nil, errors.Join(err, d.close(ctx))
	}
	return d, nil
}

// ready waits until the daemon says that it takes messages.
func (d *daemonBed) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, daemonLimit, parley.Errorf(parley.CodeUnavailable, "the daemon was not ready within %s", daemonLimit))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if d.find() == nil && d.get(ctx, "/readyz", nil) == nil {
			return nil
		}
		select {
		case err := <-d.ended:
			d.ended <- err
			return fmt.Errorf("the daemon ended as it started: %w: %s", err, d.said())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// find reads where the daemon is, and the owner's token.
func (d *daemonBed) find() error {
	data, err := os.ReadFile(filepath.Join(d.dir, "daemon.json"))
	if err != nil {
		return err
	}
	var info struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(d.dir, "owner.token"))
	d.url, d.token = info.URL, strings.TrimSpace(string(token))
	return err
}

// said gives the end of what the daemon has logged.
func (d *daemonBed) said() string {
	data, err := os.ReadFile(filepath.Join(d.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(data[max(0, len(data)-2000):]))
}

// get reads something from the daemon; into nil: only whether it is there.
func (d *daemonBed) get(ctx context.Context, path string, into any) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := d.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, resp.Status, body)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// close stops the daemon. It has nothing to do by then, so it has to stop in time
// and without a complaint, unless ctx has ended, and it with it.
func (d *daemonBed) close(ctx context.Context) error {
	d.client.CloseIdleConnections()
	if d.cmd.Process.Signal(os.Interrupt) != nil {
		_ = d.cmd.Process.Kill() // it has ended, or the system has no such signal
	}
	limit := time.NewTimer(daemonLimit)
	defer limit.Stop()
	var err error
	select {
	case err = <-d.ended:
	case <-limit.C:
		_ = d.cmd.Process.Kill() // it is waited for next
		<-d.ended
		err = fmt.Errorf("not within %s", daemonLimit)
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("stop the daemon: %w: %s", err, d.said())
	}
	return nil
}
