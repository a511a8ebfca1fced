package blob_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// helperEnv makes the test binary the process that is killed; its value is a
// killPlan.
const helperEnv = "PARLEY_BLOB_CRASH_HELPER"

// killsPerFolder is how many processes die over the same folder.
const killsPerFolder = 10

// killPlan says what the process does and when it is killed.
type killPlan struct {
	Dir    string
	Life   int
	Secret []byte
	Lines  int           // kill after so many acknowledgements
	Delay  time.Duration // or after a time from the first one
}

// crashHelper is the process that is killed: it puts, refers and sweeps, and
// prints "<handle> <hash>" of each blob that an event refers to, once that is
// committed.
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
	ctx := context.Background()
	index, err := sqlite.Open(ctx, filepath.Join(plan.Dir, "parley.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	s, err := blob.New(filepath.Join(plan.Dir, "blobs"), index, blob.Config{Key: namingKey, Secret: plan.Secret, KeepFor: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for w := range 3 {
		wg.Go(func() {
			for n := 0; ; n++ {
				if err := crashWork(ctx, s, index, fmt.Sprintf("%d-%d-%d", plan.Life, w, n)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Go(func() {
		for {
			if _, err := s.Sweep(ctx); err != nil {
				errs <- err
				return
			}
		}
	})
	return <-errs
}

// crashWork puts a blob that others put too, and one of its own that an event
// refers to.
func crashWork(ctx context.Context, s *blob.Store, index blob.Index, name string) error {
	if _, err := s.Put(ctx, strings.NewReader(strings.Repeat(name[len(name)-1:], 100_000))); err != nil {
		return err
	}
	content := strings.Repeat(name, 1+len(name)*1000)
	b, err := s.Put(ctx, strings.NewReader(content))
	if err != nil {
		return err
	}
	_, err = index.Commit(ctx, referring(time.Now(), parley.SessionID("w:"+name), "web:x", b.Handle))
	if errors.Is(err, parley.ErrNotFound) { // swept already
		return nil
	}
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(content))
	_, err = fmt.Fprintf(os.Stdout, "%s %s\n", b.Handle, hex.EncodeToString(hash[:]))
	return err
}

// kill runs a process by the plan, kills it, and adds what it acknowledged.
func (p killPlan) kill(ctx context.Context, acked map[parley.BlobHandle]string) error {
	env, err := json.Marshal(p)
	if err != nil {
		return err
	}
	exe, err := os.Executable()
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
	var timer *time.Timer
	lines := bufio.NewScanner(stdout)
	for n := 1; lines.Scan(); n++ {
		if n == 1 && p.Delay > 0 {
			timer = time.AfterFunc(p.Delay, func() { _ = cmd.Process.Kill() })
		}
		handle, hash, ok := strings.Cut(lines.Text(), " ")
		if !ok || len(hash) != 2*sha256.Size {
			continue // it died while it wrote the line
		}
		acked[parley.BlobHandle(handle)] = hash
		if n == p.Lines {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if timer != nil {
		timer.Stop()
	}
	if code := cmd.ProcessState.ExitCode(); code != -1 {
		return fmt.Errorf("the process was not killed, it ended with %d: %s", code, stderr.String())
	}
	if text := stderr.String(); strings.Contains(text, "DATA RACE") {
		return errors.New(text)
	}
	return lines.Err()
}

// TestKill kills a process that puts and sweeps, again and again on the same
// folder: every registered blob is there and whole, and so is every one that was
// acknowledged.
func TestKill(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for form, secret := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, uint64(len(secret))))
			var dir string
			var acked map[parley.BlobHandle]string
			kills, total := soak.Count(10, 100), 0
			for life := range kills {
				if life%killsPerFolder == 0 {
					total += len(acked)
					dir, acked = t.TempDir(), map[parley.BlobHandle]string{}
				}
				plan := killPlan{Dir: dir, Life: life, Secret: secret}
				if rnd.IntN(2) == 0 {
					plan.Lines = 1 + rnd.IntN(20)
				} else {
					plan.Delay = time.Duration(1 + rnd.Int64N(int64(100*time.Millisecond)))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				if err := plan.kill(ctx, acked); err != nil {
					t.Errorf("life %d, %+v: %v", life, plan, err)
				}
				auditKilled(t, plan, acked)
				cancel()
				if t.Failed() {
					return
				}
			}
			t.Logf("%d kills, %d blobs acknowledged, none lost", kills, total+len(acked))
		})
	}
}

// auditKilled looks at what a killed process left, and sweeps what it left behind.
func auditKilled(t *testing.T, plan killPlan, acked map[parley.BlobHandle]string) {
	t.Helper()
	index, err := sqlite.Open(t.Context(), filepath.Join(plan.Dir, "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	dir := filepath.Join(plan.Dir, "blobs")
	s := open(t, dir, index, blob.Config{
		Key: namingKey, Secret: plan.Secret, KeepFor: time.Millisecond, Clock: &clock{now: time.Now().Add(time.Hour)},
	})
	r := &rig{T: t, Store: s, dir: dir, index: index}
	if got := problems(t, s, true); got != nil {
		t.Errorf("life %d, %+v: check finds %v", plan.Life, plan, got)
	}
	r.sweepAll()
	if got := problems(t, s, true); got != nil {
		t.Errorf("life %d, %+v: after a sweep, check finds %v", plan.Life, plan, got)
	}
	for handle, want := range acked {
		content, err := contentOf(t.Context(), s, handle)
		if hash := sha256.Sum256([]byte(content)); err != nil || hex.EncodeToString(hash[:]) != want {
			t.Errorf("life %d, %+v: an acknowledged blob: %v", plan.Life, plan, err)
		}
	}
	if have := len(files(t, dir)); have != len(acked) {
		// One that was referred to when the process died may not have been printed.
		rows, err := index.Blobs(t.Context(), "", parley.MaxPageSize)
		if err != nil || have != len(rows) && len(rows) < parley.MaxPageSize {
			t.Errorf("life %d, %+v: %d files for %d blobs, %v", plan.Life, plan, have, len(rows), err)
		}
	}
}
