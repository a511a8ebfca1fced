package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
)

// The variables by which the test makes itself a process of a history.
const (
	historyDir   = "PARLEY_TEST_HISTORY_DIR"
	historySeed  = "PARLEY_TEST_HISTORY_SEED"
	historyPhase = "PARLEY_TEST_HISTORY_PHASE"
	historyKill  = "PARLEY_TEST_HISTORY_KILL" // at which step; 0: it comes to its end
)

// TestKilledHistories is TestRandomHistories with real processes, which are killed
// at random steps.
func TestKilledHistories(t *testing.T) {
	t.Parallel()
	if seed, ok := soak.Repeat(t); ok {
		killedHistory(t, seed, &coverage{})
		return
	}
	seed := uint64(time.Now().UnixNano())
	var covered coverage
	for i := range soak.Count(5, 50) {
		if killedHistory(t, seed+uint64(i), &covered); t.Failed() {
			return
		}
	}
	t.Logf("what happened:\n%s", covered.table())
}

func killedHistory(t *testing.T, seed uint64, covered *coverage) {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(seed, 2))
	phases := 3 + rng.IntN(2)
	kills := 0
	for i := range phases {
		at := 0
		if i < phases-1 {
			at = 1 + rng.IntN(60)
		}
		killed, err := historyProcess(t, dir, seed, i, at)
		if err != nil {
			t.Errorf("PARLEY_SEED=%d: %v", seed, err)
			return
		}
		if killed {
			kills++
		}
	}
	t.Logf("seed %d: %d processes, %d killed", seed, phases, kills)
	h := newHistory(seed, dir)
	h.killed = true
	for _, found := range h.check(t.Context(), dir, covered) {
		t.Errorf("PARLEY_SEED=%d: %s", seed, found)
	}
}

// historyProcess runs one process of a history.
func historyProcess(t *testing.T, dir string, seed uint64, phase, at int) (killed bool, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(),
		historyDir+"="+dir, historySeed+"="+strconv.FormatUint(seed, 10), historyPhase+"="+strconv.Itoa(phase), historyKill+"="+strconv.Itoa(at))
	var out bytes.Buffer
	cmd.Stderr, cmd.Stdout = &out, &out
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && at > 0 && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("process %d: %w: %s", phase, err, out.String())
	}
	return false, nil
}

// runHistory is such a process.
func runHistory(dir string) error {
	seed, err := strconv.ParseUint(os.Getenv(historySeed), 10, 64)
	if err != nil {
		return err
	}
	phase, err := strconv.Atoi(os.Getenv(historyPhase))
	if err != nil {
		return err
	}
	at, err := strconv.Atoi(os.Getenv(historyKill))
	if err != nil {
		return err
	}
	h := newHistory(seed, dir)
	h.killed = true
	h.rng = rand.New(rand.NewPCG(seed, 3+uint64(phase)))
	h.wire = &tripwire{at: at}
	lines, err := h.ledger.read()
	if err != nil {
		return err
	}
	for _, l := range lines {
		if now := h.clock.Now(); l.Kind == "clock" && l.At.After(now) {
			h.clock.Advance(l.At.Sub(now) + time.Minute) // time does not go back
		}
	}
	stop := stopClean
	if at == 0 {
		stop = stopDone
	}
	return h.phase(context.Background(), dir, "", stop)
}
