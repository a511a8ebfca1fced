package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

const (
	// helperEnv makes the test binary the process that is killed; its value is
	// a [killPlan].
	helperEnv = "PARLEY_CRASH_HELPER"

	killsPerStore = 20
	haltLine      = "halt" // the process has stopped at the operation it was told
	endLine       = "end"  // it has done all its work

	testTimeout = 2 * time.Minute // for one life and its check; a hang is a failure
)

// killPlan says what the process does and when it is killed.
type killPlan struct {
	Dir     string
	Key     []byte
	Life    int
	Writers int
	// Lines kills after so many acknowledgements, while more are on their way.
	Lines int
	// Delay kills after a time from the start, wherever the process is.
	Delay time.Duration
	// The process halts before the Nth operation of a kind and is killed there; 0: it does not.
	// AfterOpen counts from when the store is open.
	Nth       int
	Op        faultvfs.Op
	Kind      faultvfs.Kind
	AfterOpen bool
}

// randomPlan chooses among the moments at which a process can die.
func randomPlan(r *rand.Rand) killPlan {
	p := killPlan{Writers: someWriters(r), Lines: -1}
	switch r.IntN(9) {
	case 0, 1, 2:
		p.Lines = r.IntN(60)
	case 3, 4:
		p.Delay = time.Duration(1 + r.Int64N(int64(400*time.Millisecond)))
	case 5: // while the store is opened, made, recovered
		p.Op, p.Nth = faultvfs.AnyOp, 1+r.IntN(80)
	case 6: // in the middle of a commit
		p.Op, p.Kind, p.Nth, p.AfterOpen = faultvfs.AnyChange, faultvfs.WAL, 1+r.IntN(120), true
	case 7: // in the middle of a move: nothing else writes the database
		p.Op, p.Kind, p.Nth, p.AfterOpen = faultvfs.AnyChange, faultvfs.DB, 1+r.IntN(60), true
	case 8: // while intents are written
		p.Op, p.Kind, p.Nth, p.AfterOpen = faultvfs.AnyChange, faultvfs.Side, 1+r.IntN(60), true
	}
	return p
}

// crashHelper is the process that is killed. It prints every acknowledgement
// after the commit has returned, in one write.
func crashHelper(env string) error {
	var plan killPlan
	if err := json.Unmarshal([]byte(env), &plan); err != nil {
		return err
	}
	// The test holds the other end: if it is gone, nobody is left to kill us.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(2)
	}()
	cfg, arm := sqlite.Config{Key: plan.Key}, func() {}
	if plan.Nth > 0 { // else it has the files that a program has, with intents that go past the system's memory
		faults := faultvfs.NewFaults(nil)
		vfs.Register("crash", faults)
		cfg, arm = sqlite.WithVFS(cfg, "crash"), func() {
			faults.Inject(faultvfs.Rule{Op: plan.Op, Kind: plan.Kind, Nth: plan.Nth, Do: func() {
				fmt.Println(haltLine)
				select {}
			}})
		}
	}
	if !plan.AfterOpen {
		arm()
	}
	s, err := sqlite.Open(context.Background(), filepath.Join(plan.Dir, "store.db"), cfg)
	if err != nil {
		return err
	}
	if plan.AfterOpen {
		arm()
	}
	var mu sync.Mutex
	err = runLoad(context.Background(), s, plan.Life, plan.Writers, max(4, 150/plan.Writers), func(a ack) {
		line, _ := json.Marshal(a)
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.Write(append(line, '\n'))
	})
	if err != nil {
		return err
	}
	fmt.Println(endLine)
	select {}
}

// kill runs a process by the plan, kills it, and gives what it acknowledged.
func (p killPlan) kill(ctx context.Context, acked func(ack)) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	env, err := json.Marshal(p)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), helperEnv+"="+string(env))
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if p.Delay > 0 {
		timer := time.AfterFunc(p.Delay, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	if p.Lines == 0 {
		_ = cmd.Process.Kill()
	}
	// What it wrote before it died is in the pipe and counts, so this reads on
	// after the kill.
	lines := bufio.NewScanner(stdout)
	for n := 1; lines.Scan(); n++ {
		if line := lines.Text(); line == haltLine || line == endLine {
			_ = cmd.Process.Kill()
			continue
		}
		var a ack
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return errors.Join(fmt.Errorf("line %q: %w", lines.Text(), err), cmd.Process.Kill(), cmd.Wait())
		}
		acked(a)
		if n == p.Lines {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != -1 {
		return fmt.Errorf("the process was not killed, it ended with %d: %s", code, stderr.String())
	}
	if text := stderr.String(); strings.Contains(text, "DATA RACE") {
		return errors.New(text)
	}
	return lines.Err()
}

// TestKill kills a process that commits under load, again and again on the same
// store, at moments of every kind.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, seed := soak.Count(200, 2000), soak.Seed(t)
	stores := (kills + killsPerStore - 1) / killsPerStore
	crowds := wantCrowds(t, stores)
	for i := range stores {
		n := min(killsPerStore, kills-i*killsPerStore)
		t.Run(fmt.Sprintf("store %d", i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			dir, book := t.TempDir(), newLedger()
			book.key = someKey(i)
			for life := range n {
				plan := randomPlan(r)
				plan.Dir, plan.Key, plan.Life = dir, book.key, 2*life
				ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
				before := len(book.acked)
				book.begin(plan.Life, plan.Writers)
				if err := plan.kill(ctx, book.add); err != nil {
					t.Errorf("seed %d, store %d, life %d, %+v: %v", seed, i, life, plan, err)
				}
				if err := book.check(ctx, dir, 2*life+1, unsynced(t)); err != nil {
					t.Errorf("seed %d, store %d, life %d, %+v, %d acknowledged in it: %v", seed, i, life, plan, len(book.acked)-before, err)
				}
				cancel()
				if t.Failed() {
					return
				}
			}
			crowds.add(book.inCrowd)
			t.Logf("%d kills, %d batches acknowledged, none lost", n, len(book.acked))
		})
	}
}
