package mcp

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// groupTimeout is how long the end of processes that were killed is waited for.
const groupTimeout = 500 * time.Millisecond

// drainTimeout is how long output is read after a program has ended. Nobody who
// was started by it and stayed in its group can write then.
const drainTimeout = 500 * time.Millisecond

// process is a program and the connection to it.
type process struct {
	cfg  Config
	cmd  *exec.Cmd
	tail *tail
	// The ends of the pipes that are ours.
	in, out, err *os.File

	incoming chan []jsonrpc.Message
	queue    []jsonrpc.Message // of the last line; for who reads
	outgoing chan outgoing

	closing, killing    chan struct{}
	closeOnce, killOnce sync.Once
	readDone, exited    chan struct{}
	readErr, exitErr    error       // set before these are closed
	byItself            bool        // the program ended without a signal of ours; for after work
	unread              atomic.Bool // the program does not take what is written to it
	work                sync.WaitGroup
}

type outgoing struct {
	data []byte
	note *note
	done chan error
}

func newProcess(cfg Config) *process {
	return &process{
		cfg: cfg, tail: newTail(cfg.Scrubber),
		incoming: make(chan []jsonrpc.Message), outgoing: make(chan outgoing),
		closing: make(chan struct{}), killing: make(chan struct{}), readDone: make(chan struct{}), exited: make(chan struct{}),
	}
}

// Connect starts the program.
func (p *process) Connect(ctx context.Context) (sdk.Connection, error) {
	env, err := values(ctx, "the variable", p.cfg.Env, p.cfg.Scrubber)
	if err != nil {
		return nil, err
	}
	//nolint:gosec // running the configured command is what this is for
	cmd := exec.CommandContext(context.Background(), p.cfg.Command[0], p.cfg.Command[1:]...)
	cmd.Dir, cmd.Env = p.cfg.Dir, environment(env)
	ownGroup(cmd)
	if err := p.start(cmd); err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot start " + p.cfg.Command[0], Err: err}
	}
	p.work.Go(p.read)
	p.work.Go(func() { p.tail.copyFrom(p.err) })
	p.work.Go(p.write)
	p.work.Go(func() {
		p.exitErr = cmd.Wait()
		close(p.exited)
	})
	p.work.Go(p.supervise)
	return p, nil
}

// environment gives the variables of the program, sorted.
func environment(own map[string]secret.Value) []string {
	var env []string
	for _, name := range inherited {
		_, given := own[name]
		if text, ok := os.LookupEnv(name); ok && !given {
			env = append(env, name+"="+text)
		}
	}
	for name, v := range own {
		env = append(env, name+"="+v.Reveal())
	}
	slices.Sort(env)
	return env
}

// start starts the command with pipes of our own: those of the command itself
// would be closed when it ends, before they are read to their end.
func (p *process) start(cmd *exec.Cmd) (err error) {
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				files = append(files, r, w)
			}
		}
		return r, w
	}
	inRead, inWrite := pipe()
	outRead, outWrite := pipe()
	errRead, errWrite := pipe()
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, errWrite
		err = cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			_ = f.Close() // nothing was written
		}
		return err
	}
	for _, f := range []*os.File{inRead, outWrite, errWrite} {
		_ = f.Close() // the program has them
	}
	// It has the environment; here nobody needs it.
	cmd.Env = nil
	p.cmd, p.in, p.out, p.err = cmd, inWrite, outRead, errRead
	return nil
}

// read passes messages on until there are no more, or nobody wants them. Then it
// reads on, so that the program does not get stuck while it ends.
func (p *process) read() {
	from := newLines(p.out, func(line []byte) {
		p.cfg.warn("it writes lines to its output that are no messages; the first one: %s", said(p.cfg.Scrubber, string(line)))
	})
	for p.readErr == nil {
		messages, err := from.next()
		if err != nil {
			p.readErr = err
			break
		}
		select {
		case p.incoming <- messages:
		case <-p.closing:
			p.readErr = io.ErrClosedPipe
		}
	}
	close(p.readDone)
	_, _ = io.Copy(io.Discard, p.out) // until it ends or is closed
}

// write writes one message after the other. It does so on a goroutine of its own
// because a program that does not read would keep callers beyond their time.
func (p *process) write() {
	for {
		select {
		case o := <-p.outgoing:
			o.note.mark()
			_, err := p.in.Write(o.data)
			if err != nil {
				p.unread.Store(true)
			}
			o.done <- err
		case <-p.closing:
			return
		}
	}
}

// supervise waits until the program has ended, or ends it: by closing its input,
// then by asking, then by force. Whoever it started and is in its group ends too.
func (p *process) supervise() {
	select {
	case <-p.exited:
		p.byItself = true
	case <-p.closing:
		_ = p.in.Close() // which is how the program learns of it
		if p.byItself = p.ends(p.cfg.StopTimeout); !p.byItself {
			askGroup(p.cmd)
			p.ends(p.cfg.StopTimeout / 4)
		}
	}
	killGroup(p.cmd)
	<-p.exited
	p.awaitGroup()
	until := time.Now().Add(drainTimeout)
	_, _ = p.out.SetReadDeadline(until), p.err.SetReadDeadline(until) // pipes have deadlines
}

// awaitGroup waits until those who were killed are gone. They are not children of
// ours, so it can only look; and where nobody collects orphans, as in containers
// without an init, the dead stay in the group until the time is up.
func (p *process) awaitGroup() {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	limit := time.NewTimer(groupTimeout)
	defer limit.Stop()
	for !groupGone(p.cmd) {
		select {
		case <-look.C:
		case <-limit.C:
			return
		}
	}
}

// ends reports whether the program ends within a time.
func (p *process) ends(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-p.killing:
	}
	select {
	case <-p.exited: // at the same time, which counts
		return true
	default:
		return false
	}
}

// ending reports whether the program has closed one of its ends, as one does that
// is about to end.
func (p *process) ending() bool {
	select {
	case <-p.readDone:
		return p.unread.Load() || errors.Is(p.readErr, io.EOF)
	default:
		return p.unread.Load()
	}
}

// Read gives the next message.
func (p *process) Read(ctx context.Context) (jsonrpc.Message, error) {
	if len(p.queue) == 0 {
		select {
		case p.queue = <-p.incoming:
		case <-p.readDone:
			return nil, p.readErr
		case <-p.closing:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m := p.queue[0]
	p.queue = p.queue[1:]
	return m, nil
}

// Write sends a message. If ctx ends before it was begun it is not sent.
func (p *process) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	o := outgoing{data: append(data, '\n'), note: noteIn(ctx), done: make(chan error, 1)}
	select {
	case p.outgoing <- o:
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closing:
		return io.ErrClosedPipe
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closing:
		return io.ErrClosedPipe
	}
}

// Close begins to end the program, and does not wait for it.
func (p *process) Close() error {
	p.closeOnce.Do(func() { close(p.closing) })
	return nil
}

// SessionID gives none: there is one session only.
func (p *process) SessionID() string { return "" }

// stop ends the program, at once if hurry is set, and returns when nothing of it
// is left here.
func (p *process) stop(_ *sdk.ClientSession, hurry bool) {
	_ = p.Close() // it never fails
	if p.cmd == nil {
		return
	}
	if hurry {
		if p.ending() {
			p.ends(drainTimeout) // how it does is of interest
		}
		p.killOnce.Do(func() { close(p.killing) })
	}
	p.work.Wait()
	_, _, _ = p.in.Close(), p.out.Close(), p.err.Close() // nobody uses them
}

// agreed is of no use: the version is not part of what is sent.
func (p *process) agreed(string) {}

// why gives what is known about a failure, when it has been stopped.
func (p *process) why(err error) string {
	var parts []string
	if e, ok := errors.AsType[*parley.Error](p.readErr); ok {
		parts = append(parts, e.Message)
	} else if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		parts = append(parts, said(p.cfg.Scrubber, err.Error()))
	}
	if p.byItself && errors.Is(p.readErr, io.EOF) {
		parts = append(parts, "the program has ended ("+p.cmd.ProcessState.String()+")")
	}
	if last := p.tail.String(); last != "" {
		parts = append(parts, "the end of its error output: "+last)
	}
	return strings.Join(parts, "; ")
}
