package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/turn"
)

// The variables by which the test makes itself a child that is killed.
const (
	killDir    = "PARLEY_TEST_KILL_DIR"
	killAt     = "PARLEY_TEST_KILL_AT"
	killRunner = "PARLEY_TEST_KILL_RUNNER"
)

// tripwire counts steps, and kills the process at one of them.
type tripwire struct {
	mu   sync.Mutex
	at   int
	n    int
	name []string
}

func (w *tripwire) step(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	w.name = append(w.name, name)
	if w.n == w.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // it does not return from that
	}
}

// wired is a store with a step before and after each commit.
type wired struct {
	parley.Store
	wire *tripwire
}

func (s wired) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	s.wire.step("before a commit")
	r, err := s.Store.Commit(ctx, b)
	s.wire.step("after a commit")
	return r, err
}

// twoTools is a model that uses two tools, one after the other in one round, and
// then answers.
type twoTools struct{ wire *tripwire }

func (m twoTools) Info() parley.ModelInfo { return parley.ModelInfo{Name: "fake/two"} }

func (m twoTools) Stream(_ context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		m.wire.step("before the model")
		defer m.wire.step("after the model")
		for _, msg := range req.Messages {
			if msg.Role == parley.MessageTool {
				_ = yield(parley.ModelPiece{Kind: parley.PartText, Text: "Both are done."}, nil) &&
					yield(parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone}}, nil)
				return
			}
		}
		for _, name := range []string{"first", "second"} {
			if !yield(parley.ModelPiece{Kind: parley.PartToolCall, Call: &parley.ToolCall{Name: name, Arguments: json.RawMessage(`{}`)}}, nil) {
				return
			}
		}
		yield(parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone}}, nil)
	}
}

// marks are tools that leave a line in a file.
type marks struct {
	wire *tripwire
	file string
}

func (m marks) Specs() []parley.ToolSpec { return nil }

func (m marks) Effect(parley.ToolCall) (parley.ToolEffect, string) { return parley.ToolAllow, "" }

func (m marks) Run(_ context.Context, _ parley.ToolCaller, c parley.ToolCall) (parley.ToolResult, error) {
	m.wire.step("before " + c.Name)
	defer m.wire.step("after " + c.Name)
	f, err := os.OpenFile(m.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return parley.ToolResult{}, err
	}
	_, err = f.WriteString(c.Name + "\n")
	return parley.ToolResult{Text: c.Name + " is done"}, errors.Join(err, f.Close())
}

// foreign is a runner that does not wrap the default one: it keeps no transcript,
// and relies on the journal alone.
type foreign struct {
	model twoTools
	tools marks
}

func (f foreign) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	for _, name := range []string{"first", "second"} {
		call := parley.ToolCall{ID: parley.CallID("step-" + name), Name: name}
		if _, err := t.Journal.Call(ctx, call, func(ctx context.Context) (parley.ToolResult, error) {
			return f.tools.Run(ctx, parley.ToolCaller{}, call)
		}); err != nil {
			return parley.TurnEnd{}, err
		}
	}
	f.model.wire.step("before the model")
	return ends(t, "Both are done."), nil
}

// runChild opens the store, posts one message unless it is there, and runs until it
// is answered.
func runChild(dir string) error {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wire := &tripwire{at: at}
	store, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer store.Close()
	f := feed.New(store, feed.Config{})
	defer f.Close()
	tools := marks{wire: wire, file: filepath.Join(dir, "ran")}
	var runner parley.Runner = foreign{model: twoTools{wire}, tools: tools}
	if os.Getenv(killRunner) == "default" {
		if runner, err = turn.New(turn.Config{AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) {
			return turn.Agent{Models: []parley.Model{twoTools{wire}}, Tools: tools}, nil
		}}); err != nil {
			return err
		}
	}
	eng, err := engine.New(feed.Announce(wired{store, wire}, f), engine.Config{Runner: runner, Feed: f})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- eng.Run(running) }()
	defer func() { stop(); <-done }()
	select {
	case <-eng.Ready():
	case err := <-done:
		done <- err
		return err
	}
	h := eng.As(alice)
	if _, err := h.Open(ctx, engine.Opening{ID: "cli:kill", Session: starting()}); err != nil {
		return err
	}
	if _, err := h.Post(ctx, "cli:kill", say("1", "do both")); err != nil {
		return err
	}
	for u, err := range f.Subscribe(ctx, parley.SeeAll(), "cli:kill", parley.Position{}) {
		if err != nil {
			return err
		}
		if u.Event != nil && u.Event.Type == parley.EventTurnCompleted {
			wire.mu.Lock() // the lane may be at the step after its commit
			n := wire.n
			wire.mu.Unlock()
			fmt.Printf("steps %d\n", n)
			return nil
		}
	}
	return ctx.Err()
}

// child runs the child; killed says that it killed itself, as it should.
func child(t *testing.T, dir, runner string, at int) (killed bool, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), killDir+"="+dir, killAt+"="+strconv.Itoa(at), killRunner+"="+runner)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err == nil {
		return false, string(data)
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child failed: %v: %s%s", err, data, stderr.String())
	}
	return true, ""
}

// TestKilledAtEveryStep kills a process at every step of a turn with two tools:
// before and after each commit, tool and model call. Afterwards there is one
// answer, each tool ran at most once, nothing is missing and nothing is left
// running.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, runner := range []string{"default", "foreign"} {
		t.Run(runner, func(t *testing.T) {
			t.Parallel()
			_, out := child(t, t.TempDir(), runner, 0)
			var steps int
			if _, err := fmt.Sscanf(out, "steps %d", &steps); err != nil || steps < 14 {
				t.Fatalf("%q: %v", out, err)
			}
			for at := 1; at <= steps; at++ {
				dir := t.TempDir()
				if killed, _ := child(t, dir, runner, at); !killed && at < steps {
					// The last steps happen after the answer is seen.
					t.Logf("step %d of %d did not happen", at, steps)
				}
				child(t, dir, runner, 0)
				checkKilled(t, dir, at)
			}
		})
	}
}

func checkKilled(t *testing.T, dir string, at int) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	events, err := store.Events(t.Context(), parley.SeeAll(), "cli:kill", parley.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	answers, completed := 0, 0
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			t.Errorf("step %d: event %d has seq %d", at, i+1, e.Seq)
		}
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.Message:
			if parley.PlainText(b.Parts) == "Both are done." {
				answers++
			}
		case *parley.TurnCompleted:
			completed++
		}
	}
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if n := strings.Count(string(ran), name+"\n"); n > 1 {
			t.Errorf("step %d: %s ran %d times", at, name, n)
		}
	}
	session, err := store.Session(t.Context(), parley.SeeAll(), "cli:kill")
	if err != nil {
		t.Fatal(err)
	}
	turns, err := store.OpenTurns(t.Context(), parley.SeeAll(), "")
	if err != nil {
		t.Fatal(err)
	}
	in, err := store.Input(t.Context(), parley.SeeAll(), parley.InputRef{Origin: "test", ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if answers != 1 || completed != 1 || session.Status != parley.StatusIdle || len(turns) != 0 || in.State != parley.InputDone {
		t.Errorf("step %d: %d answers, %d ends, %s, %d open turns, input %s: %s", at, answers, completed, session.Status, len(turns), in.State, sketch(t, events))
	}
}
