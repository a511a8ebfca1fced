package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// mark is the variable by which what a command started is found again.
const mark = "PARLEY_RUN"

func newMark() string { return rand.Text() }

const (
	// drainFor is how long output is waited for when everything that could be
	// found was killed, and something holds the pipe still.
	drainFor = 50 * time.Millisecond
	// killFor is how long a killed command is waited for. Only what the system does
	// not let go takes so long: a device that hangs, a program with other rights.
	killFor = 5 * time.Second
)

// run runs the command to its end, or to ours.
func (p *plan) run(ctx context.Context) (*outcome, error) {
	// What happens to the thread happens to the command; see [ownSession].
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	job, err := p.start()
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	wg.Go(func() { job.output.copyFrom(job.out) })
	if job.in != nil {
		wg.Go(func() {
			// Who does not read all of it does not have to.
			_, _ = job.in.WriteString(p.stdin)
			_ = job.in.Close()
		})
	}
	why, err := job.watch(ctx, p.timeout)
	job.end()
	wg.Wait()
	job.close()
	if err != nil {
		return nil, err
	}
	select {
	case <-job.exited:
	default:
		return nil, parley.Errorf(parley.CodeInternal, "run_command: %s was killed and does not end", p.argv[0])
	}
	o := &outcome{output: job.output, why: why, took: time.Since(began)}
	o.code, o.signal = job.status()
	return o, nil
}

// job is a command that runs.
type job struct {
	process
	output *output
	out    *os.File // what it writes
	in     *os.File // what it reads; nil: nothing
}

// start starts the command, with one pipe for both outputs, so that they come in
// the order they were written.
func (p *plan) start() (_ *job, err error) {
	job := &job{output: newOutput(p.cfg)}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // the child has its own
		}
		if err != nil {
			job.close()
		}
	}()
	stdin, in, err := p.input()
	if err != nil {
		return nil, err
	}
	job.in = in
	theirs = append(theirs, stdin)
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, noStart(err)
	}
	job.out = out
	theirs = append(theirs, stdout)
	if err := job.process.start(p, []*os.File{stdin, stdout, stdout}); err != nil {
		return nil, refusef("the command cannot be started: %s", reason(err))
	}
	return job, nil
}

// input gives what the command reads from, and where that is written to.
func (p *plan) input() (theirs, ours *os.File, err error) {
	if p.stdin == "" {
		theirs, err = os.Open(os.DevNull)
	} else {
		theirs, ours, err = os.Pipe()
	}
	if err != nil {
		return nil, nil, noStart(err)
	}
	return theirs, ours, nil
}

func noStart(err error) error {
	return &parley.Error{Code: parley.CodeUnavailable, Op: "run_command", Message: "no command can be started", Err: err}
}

// reason says why a command did not start, without paths of ours.
func reason(err error) string {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		err = pe.Err
	}
	return err.Error()
}

// watch waits for the command, and says why it has to be killed if it does not end
// by itself.
func (j *job) watch(ctx context.Context, timeout time.Duration) (why string, err error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-j.exited:
		return "", nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-timer.C:
		return fmt.Sprintf("it took longer than %v", timeout), nil
	case <-j.output.flooded:
		return fmt.Sprintf("it wrote more than %d bytes", j.output.total), nil
	}
}

// end kills what is left of the command, and sees to it that its pipes end.
func (j *job) end() {
	j.kill()
	if j.in != nil {
		_ = j.in.SetWriteDeadline(time.Now()) // pipes have deadlines; if not, it is closed below
	}
	_ = j.out.SetReadDeadline(time.Now().Add(drainFor))
}

func (j *job) close() {
	for _, f := range []*os.File{j.in, j.out} {
		if f != nil {
			_ = f.Close() // perhaps closed already
		}
	}
}
