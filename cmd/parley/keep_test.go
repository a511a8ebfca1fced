package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/sqlite"
)

// folderOf gives the data folder as the program opens it.
func folderOf(dir, keyFile string) keep.Folder {
	return keep.Folder{
		Dir: dir, Name: "parley.db", EncryptedFunc: sqlite.Encrypted,
		OpenFunc: func(ctx context.Context, path string, key []byte, readOnly bool) (keep.Database, error) {
			return sqlite.Open(ctx, path, sqlite.Config{Key: key, ReadOnly: readOnly})
		},
		KeysFunc: func(string) (keep.Keys, error) { return secret.KeyFile(keyFile), nil },
	}
}

// say stores a session with a message and a file.
func say(ctx context.Context, o *keep.Opened, id string) error {
	b, err := o.Media.Put(ctx, strings.NewReader(strings.Repeat("a file of "+id+". ", 2000)))
	if err != nil {
		return err
	}
	_, err = o.Store.Commit(ctx, parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{{
		Session: parley.SessionID("cli:" + id),
		Create:  &parley.NewSession{Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}},
		Events: []parley.NewEvent{{Body: &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{
			parley.TextPart(strings.Repeat("a word of "+id+". ", 200)),
			{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(b.Handle), Type: b.Type, Size: b.Size}},
		}}}},
	}}})
	return err
}

// furnish makes a data folder with sessions and media.
func furnish(t *testing.T, sessions int) keep.Folder {
	t.Helper()
	f := folderOf(t.TempDir(), filepath.Join(t.TempDir(), "parley.key"))
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sessions {
		if err := say(t.Context(), o, fmt.Sprintf("s%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// keyFileOf gives the path of the folder's key file.
func keyFileOf(t *testing.T, f keep.Folder) string {
	t.Helper()
	keys, err := f.KeysFunc("")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(keys.Name(), "the key file ")
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	f, home := furnish(t, 5), t.TempDir()
	file, to := filepath.Join(home, "a.backup"), filepath.Join(home, "to")
	run := func(args ...string) outcome {
		return parleyRun(t, home, append(args, "--data", f.Dir, "--key", keyFileOf(t, f))...)
	}
	run("backup", file, "--verify").says(t, 0, file, "Backed up", "5 sessions with 5 events, all is well")
	run("backup", file).complains(t, 1, "exists already", "(conflict)")
	run("backup").complains(t, 2, "the name of a file")
	run("backup", filepath.Join(home, "missing", "b")).complains(t, 1, "(unavailable)")
	var report struct {
		File  string
		Bytes int64
		OK    bool
		Check struct{ Sessions int }
	}
	if err := json.Unmarshal([]byte(run("backup", file+"2", "--verify", "--json").out), &report); err != nil || !report.OK ||
		report.Check.Sessions != 5 || report.Bytes == 0 || report.File != file+"2" {
		t.Errorf("got %+v, %v", report, err)
	}
	run("restore", file).complains(t, 2, "--to")
	run("restore", file, "--to", to).says(t, 0, to, "Restored")
	run("restore", file, "--to", to).complains(t, 1, "not empty", "(conflict)")
	run("restore", f.Path(), "--to", to+"2").complains(t, 1, "not a whole backup", "(invalid)")
	parleyRun(t, home, "doctor", "--data", to).says(t, 0, "5 sessions", "All is well")
}

func TestEncrypt(t *testing.T) {
	t.Parallel()
	f, home := furnish(t, 5), t.TempDir()
	key := keyFileOf(t, f)
	run := func(args ...string) outcome { return parleyRun(t, home, append(args, "--data", f.Dir)...) }
	run("encrypt", "off", "--key", key).complains(t, 1, "not encrypted", "(conflict)")
	run("encrypt", "sideways").complains(t, 2, "'parley encrypt sideways'")
	run("encrypt", "on").complains(t, 1, "keyring", "--key FILE", "(unavailable)")
	run("doctor").says(t, 0, "All is well")
	run("encrypt", "on", "--key", key).says(t, 0, "The store is encrypted", key)
	run("encrypt", "on", "--key", key).complains(t, 1, "already", "(conflict)")
	run("doctor", "--key", key).says(t, 0, "5 sessions", "All is well")
	run("doctor", "--key", key+"2").complains(t, 1, "there is no key in the key file "+key+"2", "(unavailable)")
	run("doctor").complains(t, 1, "the store is encrypted", "keyring", "(unavailable)")
	run("encrypt", "rotate", "--key", key, "--json").says(t, 0, `"encrypted": true`)
	run("backup", filepath.Join(home, "b"), "--verify", "--key", key).says(t, 0, "all is well")
	run("restore", filepath.Join(home, "b"), "--to", filepath.Join(home, "to"), "--key", key+"2").complains(t, 1, "no key", "(unavailable)")
	run("encrypt", "off", "--key", key).says(t, 0, "not encrypted any more")
	run("doctor").says(t, 0, "5 sessions", "All is well")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	run("encrypt", "on", "--key", key).complains(t, 1, key, "(invalid)")
}

// TestKilledEncrypt kills the program while it encrypts, decrypts or changes the
// key, at random moments: each time the folder opens, and is whole.
func TestKilledEncrypt(t *testing.T) {
	t.Parallel()
	kills, seed := soak.Count(20, 200), soak.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f := furnish(t, 40)
	key := keyFileOf(t, f)
	took := map[string]time.Duration{}
	killed, seen, missed := map[string]int{}, map[bool]int{}, 0
	for i := 0; i-missed < kills; i++ {
		encrypted, err := sqlite.Encrypted(f.Path())
		if err != nil {
			t.Fatal(err)
		}
		seen[encrypted]++
		verb := "on"
		if encrypted {
			verb = []string{"off", "rotate"}[r.IntN(2)]
		}
		cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "encrypt", verb, "--data", f.Dir, "--key", key)
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Minute // the first of a kind is let through
		if full := took[verb]; full > 0 {
			after = time.Duration(r.Int64N(int64(full)))
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		timer.Stop()
		switch code := cmd.ProcessState.ExitCode(); code {
		case 0:
			took[verb] = time.Since(start)
			if missed++; missed > 20*kills {
				t.Fatalf("hardly anything is killed in time: %v", killed)
			}
		case -1:
			killed[verb]++
		default:
			t.Fatalf("seed %d, run %d: encrypt %s: %v", seed, i, verb, err)
		}
		got := parleyRun(t, t.TempDir(), "doctor", "--data", f.Dir, "--key", key)
		if got.status != 0 || !strings.Contains(got.out, "40 sessions with 40 events") {
			t.Fatalf("seed %d, run %d: after encrypt %s: %s%s", seed, i, verb, got.out, got.err)
		}
	}
	t.Logf("killed %v, begun encrypted %d, plain %d", killed, seen[true], seen[false])
	// Nothing of another form, and no second copy, is left once it is opened for
	// writing.
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := sqlite.Encrypted(f.Path())
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	stale := map[bool]string{true: "plain", false: "sealed"}[encrypted]
	for _, path := range []string{filepath.Join(f.Dir, "blobs", stale), f.Path() + ".next"} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// TestKilledBackupAndRestore kills the program while it backs up, and while it
// restores: there is no half backup, nothing half restored that opens, and the
// next attempt succeeds and leaves nothing behind.
func TestKilledBackupAndRestore(t *testing.T) {
	t.Parallel()
	kills, r := soak.Count(6, 60), rand.New(rand.NewPCG(soak.Seed(t), 1))
	f := furnish(t, 40)
	dir := t.TempDir()
	file, to := filepath.Join(dir, "a.backup"), filepath.Join(dir, "to")
	// run kills the program after a part of the time that it took before.
	run := func(took *time.Duration, args ...string) (killed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), args...)
		start, after := time.Now(), time.Minute
		if *took > 0 {
			after = time.Duration(r.Int64N(int64(*took)))
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			t.Fatalf("%v: %v", args, err)
		}
		if err == nil {
			*took = time.Since(start)
		}
		return err != nil
	}
	var backing, restoring time.Duration
	for range kills {
		if run(&backing, "backup", file, "--data", f.Dir) {
			if _, err := os.Stat(file); err == nil { // it had its name before it was killed
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			parleyRun(t, dir, "backup", file, "--data", f.Dir).says(t, 0, "Backed up")
		}
		if run(&restoring, "restore", file, "--to", to) {
			if _, err := os.Stat(filepath.Join(to, "parley.db")); err == nil {
				parleyRun(t, dir, "doctor", "--data", to).says(t, 0, "40 sessions", "All is well")
			} else {
				parleyRun(t, dir, "restore", file, "--to", to).says(t, 0, "Restored")
			}
		}
		parleyRun(t, dir, "doctor", "--rebuild", "--data", to).says(t, 0, "40 sessions", "All is well")
		entries, err := os.ReadDir(to)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), "restoring") {
				t.Errorf("left over: %s", e.Name())
			}
		}
		if err := errors.Join(os.RemoveAll(to), os.Remove(file)); err != nil {
			t.Fatal(err)
		}
	}
	parleyRun(t, dir, "backup", file, "--data", f.Dir).says(t, 0, "Backed up")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the backup there is more: %v, %v", entries, err)
	}
}

// TestBackupWhileInUse backs a store up with the program while this process
// writes to it as fast as it can.
func TestBackupWhileInUse(t *testing.T) {
	t.Parallel()
	f := furnish(t, 10)
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var mu sync.Mutex
	var acked []string
	begun := make(chan struct{})
	for w := range 4 {
		load.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := fmt.Sprintf("w%d-%d", w, i)
				if err := say(context.WithoutCancel(ctx), o, id); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if acked = append(acked, id); len(acked) == 40 {
					close(begun)
				}
				mu.Unlock()
			}
		})
	}
	<-begun
	mu.Lock()
	before := len(acked)
	mu.Unlock()
	home := t.TempDir()
	file, to := filepath.Join(home, "a.backup"), filepath.Join(home, "to")
	parleyRun(t, home, "backup", file, "--verify", "--data", f.Dir).says(t, 0, "all is well")
	stop()
	load.Wait()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	parleyRun(t, home, "restore", file, "--to", to).says(t, 0, "Restored")
	parleyRun(t, home, "doctor", "--data", to).says(t, 0, "All is well")
	restored, err := folderOf(to, "").Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range acked[:before] {
		if _, err := restored.Store.Session(t.Context(), parley.SeeAll(), parley.SessionID("cli:"+id)); err != nil {
			t.Errorf("acknowledged before the backup began, and not in it: %v", err)
		}
	}
	if err := restored.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d acknowledged before, %d in all", before, len(acked))
}
