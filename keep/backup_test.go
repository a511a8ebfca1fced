package keep_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
)

// backedUp gives a folder, encrypted or not, and a backup of it.
func backedUp(t *testing.T, encrypted bool) (f keep.Folder, file string) {
	t.Helper()
	f = furnish(t)
	if encrypted {
		if err := f.Encrypt(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(t.TempDir(), "parley.backup")
	if lost, err := f.Backup(t.Context(), file, nil); err != nil || len(lost) > 0 {
		t.Fatal(lost, err)
	}
	return f, file
}

// elsewhere gives the same folder in another place.
func elsewhere(f keep.Folder, dir string) keep.Folder {
	f.Dir = dir
	return f
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprintf("encrypted %v", encrypted), func(t *testing.T) {
			t.Parallel()
			f, file := backedUp(t, encrypted)
			if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
				t.Errorf("beside the backup there is more: %v, %v", entries, err)
			}
			if names := filesWith(t, filepath.Dir(file), plainText); encrypted != (len(names) == 0) {
				t.Errorf("the text is in %v", names)
			}
			report, err := f.Verify(t.Context(), file, nil)
			if err != nil || !report.OK() || report.Sessions != 30 {
				t.Errorf("verifying gives %+v, %v", report, err)
			}
			g := elsewhere(f, filepath.Join(t.TempDir(), "a", "b"))
			var steps []string
			_, err = g.Restore(t.Context(), file, func(step string, done, total int64) {
				if done > total && total > 0 {
					t.Errorf("%s: %d of %d", step, done, total)
				}
				steps = append(steps, step)
			})
			if err != nil || len(steps) == 0 {
				t.Fatalf("restoring: %v, steps %v", err, steps)
			}
			if diff := cmp.Diff(content(t, f), content(t, g)); diff != "" {
				t.Errorf("restored, it has other content: %s", diff)
			}
			if before, after := epoch(t, f), epoch(t, g); before == after {
				t.Error("restored, it has the same epoch")
			}
			if _, err := g.Restore(t.Context(), file, nil); !errors.Is(err, parley.ErrConflict) {
				t.Errorf("restoring once more: %v", err)
			}
		})
	}
}

func epoch(t *testing.T, f keep.Folder) string {
	t.Helper()
	o, err := f.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	head, err := o.Store.Head(t.Context())
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	return head.Epoch
}

// TestBackupUnderLoad backs a folder up while messages with media come in.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	if err := f.Encrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	acked := map[int]bool{}
	var load sync.WaitGroup
	const writers = 3
	ready := make(chan struct{}, writers)
	for w := range writers {
		load.Go(func() {
			for i := 10_000 * (w + 1); ctx.Err() == nil && i%10_000 < 9999; i++ {
				if err := say(context.WithoutCancel(ctx), o, i); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[i] = true
				mu.Unlock()
				if i%10_000 == 3 {
					ready <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-ready
	}
	for i := range 3 {
		mu.Lock()
		before := make([]int, 0, len(acked))
		for n := range acked {
			before = append(before, n)
		}
		mu.Unlock()
		file := filepath.Join(t.TempDir(), "parley.backup")
		if _, err := f.Backup(t.Context(), file, nil); err != nil {
			t.Fatalf("backup %d: %v", i, err)
		}
		g := elsewhere(f, t.TempDir())
		if _, err := g.Restore(t.Context(), file, nil); err != nil {
			t.Fatalf("restore %d: %v", i, err)
		}
		content(t, g) // as Doctor sees it
		r, err := g.Open(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range before {
			if _, err := r.Store.Session(t.Context(), parley.SeeAll(), numbered(n)); err != nil {
				t.Errorf("backup %d has not what was acknowledged before it: %v", i, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	load.Wait()
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBackupForgetsWhatIsSweptMeanwhile takes away a file that nothing refers to
// between the copy of the store and that of the media, and one that is needed.
func TestBackupForgetsWhatIsSweptMeanwhile(t *testing.T) {
	t.Parallel()
	for _, used := range []bool{false, true} {
		f := furnish(t)
		o, err := f.Open(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := o.Media.Put(t.Context(), strings.NewReader("nobody refers to it"))
		if err != nil {
			t.Fatal(err)
		}
		if used {
			blobs, err := o.Store.Blobs(t.Context(), "", 1)
			if err != nil || len(blobs) != 1 {
				t.Fatal(blobs, err)
			}
			if b = blobs[0]; !b.UnusedSince.IsZero() {
				if blobs, err = o.Store.Blobs(t.Context(), b.Handle, 1); err != nil {
					t.Fatal(err)
				}
				b = blobs[0]
			}
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		removed := false
		file := filepath.Join(t.TempDir(), "parley.backup")
		lost, err := f.Backup(t.Context(), file, func(step string, _, _ int64) {
			if removed || step != "copying the store" {
				return
			}
			removed = true
			remove(t, f.Dir, strings.TrimPrefix(string(b.Handle), "blob_"))
		})
		if used {
			if err != nil || len(lost) != 1 || !strings.Contains(lost[0].Detail, string(b.Handle)) {
				t.Errorf("a backup without media that are needed: %v, %v", lost, err)
			}
			g := elsewhere(f, t.TempDir())
			if again, err := g.Restore(t.Context(), file, nil); err != nil || len(again) != 1 {
				t.Errorf("restoring it: %v, %v", again, err)
			}
			continue
		}
		if err != nil || len(lost) > 0 || !removed {
			t.Fatalf("a backup without media that nobody needs: %v, removed %v", err, removed)
		}
		g := elsewhere(f, t.TempDir())
		if _, err := g.Restore(t.Context(), file, nil); err != nil {
			t.Fatal(err)
		}
		if _, there := content(t, g)[string(b.Handle)]; there {
			t.Error("the backup lists media it has not")
		}
	}
}

// remove removes the file of a blob.
func remove(t *testing.T, dir, hash string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(strings.ReplaceAll(path, string(filepath.Separator), ""), hash) {
			found = true
			return os.Remove(path)
		}
		return err
	})
	if err != nil || !found {
		t.Fatalf("the file of %s: %v, found %v", hash, err, found)
	}
}

func TestBackupOntoSomething(t *testing.T) {
	t.Parallel()
	f, file := backedUp(t, false)
	before := files(t, filepath.Dir(file))
	if _, err := f.Backup(t.Context(), file, nil); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("onto a backup: %v", err)
	}
	if _, err := f.Backup(t.Context(), filepath.Join(file, "x"), nil); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("into a file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := f.Backup(ctx, file+"2", func(string, int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled on the way: %v", err)
	}
	if diff := cmp.Diff(before, files(t, filepath.Dir(file))); diff != "" {
		t.Errorf("the failures left something: %s", diff)
	}
}

// TestRestoreOfWhatIsNoBackup cuts a backup short and changes its bytes, in many
// places.
func TestRestoreOfWhatIsNoBackup(t *testing.T) {
	t.Parallel()
	f, file := backedUp(t, true)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, data []byte) {
		t.Helper()
		bad := filepath.Join(t.TempDir(), "bad.backup")
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "restored")
		if _, err := elsewhere(f, dir).Restore(t.Context(), bad, nil); parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s left something: %v", name, err)
		}
	}
	end := bytes.LastIndex(whole, []byte(`"}`)) + 2
	for i := range 12 {
		try(fmt.Sprintf("cut short, %d", i), whole[:end*i/12])
		// Not in the padding of the archive, which means nothing.
		changed := bytes.Clone(whole)
		at := 2048 + (len(whole)-4096)*i/12
		for changed[at] == 0 {
			at++
		}
		changed[at] ^= 0x20
		try(fmt.Sprintf("changed at %d", at), changed)
	}
	for _, name := range []string{
		"../escape", "/abs", "a/../../b", "parley.db/../../x", "owner.token", "parley.db-wal", "parley.db.key", ".bashrc",
		"blobs/sealed/x", "blobs/plain/00/" + strings.Repeat("0", 62),
	} {
		try("an entry "+name, withEntry(t, whole, name))
	}
}

// withEntry gives a backup with one more entry.
func withEntry(t *testing.T, whole []byte, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	r := tar.NewReader(bytes.NewReader(whole))
	for i := 0; ; i++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && i == 1 {
			err = w.WriteHeader(&tar.Header{Name: name, Size: 1, Mode: 0o600})
			if err == nil {
				_, err = w.Write([]byte("x"))
			}
		}
		if err == nil {
			err = w.WriteHeader(h)
		}
		if err == nil {
			_, err = io.Copy(w, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRestoreTouchesNothing(t *testing.T) {
	t.Parallel()
	f, file := backedUp(t, true)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	if _, err := elsewhere(f, dir).Restore(t.Context(), file, nil); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("into a folder with a file: %v", err)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("the folder was changed: %s", diff)
	}
	g := folderIn(filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "no.key"))
	if _, err := g.Restore(t.Context(), file, nil); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("without the key: %v", err)
	}
	if _, err := os.Stat(g.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the key a folder was made: %v", err)
	}
}

// TestRestoreAgainAfterItWasCutShort restores where a restore was killed: what is
// left is not opened, and another restore replaces it. TestKilledRestore kills one.
func TestRestoreAgainAfterItWasCutShort(t *testing.T) {
	t.Parallel()
	f, file := backedUp(t, false)
	dir := t.TempDir()
	stage := filepath.Join(dir, ".parley-restoring")
	for _, d := range []string{stage, filepath.Join(dir, "blobs")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "half"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := elsewhere(f, dir)
	if _, err := g.Open(t.Context(), false); parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), "restore") {
		t.Errorf("opening what is left: %v", err)
	}
	if _, err := g.Restore(t.Context(), file, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content(t, f), content(t, g)); diff != "" {
		t.Errorf("restored, it has other content: %s", diff)
	}
	for name := range files(t, dir) {
		if strings.Contains(name, "half") || strings.Contains(name, "restoring") {
			t.Errorf("left over: %s", name)
		}
	}
}

// TestRestoreNeverRemovesWhatIsNotItsOwn restores into folders that look as if a
// restore had been cut short there, and have something else in them.
func TestRestoreNeverRemovesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	f, file := backedUp(t, false)
	for _, mine := range []string{"documents", "parley.db", ".restoring"} {
		dir := t.TempDir()
		for _, d := range []string{".parley-restoring", mine} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, d, "text"), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := files(t, dir)
		if _, err := elsewhere(f, dir).Restore(t.Context(), file, nil); !errors.Is(err, parley.ErrConflict) {
			t.Errorf("beside %s: %v", mine, err)
		}
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("beside %s, something was removed: %s", mine, diff)
		}
	}
}

func TestTwoRestoresAtOnce(t *testing.T) {
	t.Parallel()
	f, file := backedUp(t, false)
	g := elsewhere(f, t.TempDir())
	var wait sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wait.Go(func() { _, errs[i] = g.Restore(t.Context(), file, nil) })
	}
	wait.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if code := parley.CodeOf(err); code != parley.CodeUnavailable && code != parley.CodeConflict {
			t.Errorf("one that lost: %v", err)
		}
	}
	if won != 1 {
		t.Fatalf("%d restores succeeded: %v", won, errs)
	}
	if diff := cmp.Diff(content(t, f), content(t, g)); diff != "" {
		t.Errorf("restored, it has other content: %s", diff)
	}
}
