package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/soak"
)

// sweepAll sweeps until there is no more to do, and gives the sum.
func (r *rig) sweepAll() blob.Swept {
	r.Helper()
	var sum blob.Swept
	for range 100 {
		got, err := r.Sweep(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		sum.Blobs += got.Blobs
		sum.Files += got.Files
		sum.Bytes += got.Bytes
		if !got.More {
			return sum
		}
	}
	r.Fatal("the sweep does not end")
	return sum
}

// has reports whether a blob is registered, and fails if its file says otherwise.
func (r *rig) has(handle parley.BlobHandle) bool {
	r.Helper()
	_, err := r.index.Blob(r.Context(), everyone, handle)
	_, statErr := os.Stat(r.path(handle))
	if (err == nil) != (statErr == nil) {
		r.Errorf("row: %v, file: %v", err, statErr)
	}
	return err == nil
}

func TestSweep_TakesWhatNothingUses(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	const day = 24 * time.Hour
	used, unused, again := r.put("used"), r.put("unused"), r.put("put again")
	r.use("web:a", "web:ada", used.Handle)
	r.clock.move(day)
	if got := r.sweepAll(); got != (blob.Swept{}) {
		t.Errorf("after a day: %+v", got)
	}
	r.put("put again")
	r.clock.move(time.Second)
	if got := r.sweepAll(); got != (blob.Swept{Blobs: 1, Bytes: 6}) {
		t.Errorf("after more than a day: %+v", got)
	}
	if !r.has(used.Handle) || r.has(unused.Handle) || !r.has(again.Handle) {
		t.Error("taken was not what nothing used")
	}
	r.drop("web:a")
	r.clock.move(day - time.Second)
	if r.sweepAll(); !r.has(used.Handle) {
		t.Error("taken before a day was over since its session went")
	}
	r.clock.move(2 * time.Second)
	if r.sweepAll(); r.has(used.Handle) || r.has(again.Handle) {
		t.Error("not taken after a day")
	}
	if left := files(t, r.dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if b := r.put("unused"); b.Handle != unused.Handle || !r.has(b.Handle) {
		t.Error("what was taken cannot be put again")
	}
}

func TestSweep_TakesWhatWasLeftBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	kept := r.put("kept")
	r.use("web:a", "web:ada", kept.Handle)
	hour := func(n int) time.Time { return r.clock.Now().Add(time.Duration(n) * time.Hour) }
	leave := func(name string, at time.Time) string {
		path := filepath.Join(r.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("left"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	rest := func(c string) string { return "ff/" + strings.Repeat(c, 62) }
	gone := []string{leave("put-1.tmp", hour(-25)), leave(rest("a"), hour(-25))}
	stays := []string{
		leave("put-2.tmp", hour(-23)), leave(rest("b"), hour(-23)), leave("notes.txt", hour(-99)), leave("ff/short", hour(-99)),
		leave("other/"+strings.Repeat("a", 62), hour(-99)),
	}
	if err := os.Chtimes(r.path(kept.Handle), hour(-99), hour(-99)); err != nil {
		t.Fatal(err)
	}
	if got := r.sweepAll(); got != (blob.Swept{Files: 2, Bytes: 8}) {
		t.Errorf("got %+v", got)
	}
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range stays {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !r.has(kept.Handle) {
		t.Error("a registered file was taken because it is old")
	}
}

func TestSweep_LeavesWhatIsComingIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	reading, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.Put(t.Context(), io.MultiReader(strings.NewReader("slow"), readerFunc(func([]byte) (int, error) {
			close(reading)
			<-goOn
			return 0, io.EOF
		})))
		if err != nil {
			t.Error(err)
		}
	})
	<-reading
	r.clock.move(48 * time.Hour)
	r.sweepAll()
	close(goOn)
	wg.Wait()
	if list := files(t, r.dir); len(list) != 1 {
		t.Errorf("files: %v", list)
	}
}

// meddler does something between the list of unused blobs and their removal.
type meddler struct {
	blob.Index
	meddle func()
}

func (m *meddler) UnusedBlobs(ctx context.Context, before time.Time, after parley.Blob, limit int) ([]parley.Blob, error) {
	list, err := m.Index.UnusedBlobs(ctx, before, after, limit)
	m.meddle()
	return list, err
}

func TestSweep_LeavesWhatIsUsedAgain(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(r *rig, b parley.Blob){
		"an event refers to it": func(r *rig, b parley.Blob) { r.use("web:a", "web:ada", b.Handle) },
		"it is put again":       func(r *rig, _ parley.Blob) { r.put("again") },
	} {
		r := newRig(t, blob.Config{})
		b := r.put("again")
		r.clock.move(48 * time.Hour)
		m := &meddler{r.index, func() { use(r, b) }}
		got, err := open(t, r.dir, m, blob.Config{Clock: r.clock}).Sweep(t.Context())
		if err != nil || got.Blobs != 0 || !r.has(b.Handle) {
			t.Errorf("%s meanwhile: %+v, %v", name, got, err)
		}
	}
}

// refuser does not write.
type refuser struct{ blob.Index }

func (refuser) Commit(context.Context, parley.Batch) (parley.Result, error) {
	return parley.Result{}, parley.Errorf(parley.CodeUnavailable, "the disk is full")
}

func TestSweep_TakesWhatWasNeverRegistered(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	broken := open(t, r.dir, refuser{r.index}, blob.Config{Key: namingKey, Clock: r.clock})
	_, err := broken.Put(t.Context(), strings.NewReader("lost"))
	wantCode(t, "Put", err, parley.CodeUnavailable)
	if list := files(t, r.dir); len(list) != 1 {
		t.Fatalf("files: %v", list)
	}
	r.clock.move(20 * time.Hour)
	_, err = broken.Put(t.Context(), strings.NewReader("lost"))
	wantCode(t, "Put again", err, parley.CodeUnavailable)
	r.clock.move(20 * time.Hour)
	if got := r.sweepAll(); got.Files != 0 {
		t.Errorf("20 hours after it was put again: %+v", got)
	}
	r.clock.move(5 * time.Hour)
	if got := r.sweepAll(); got.Files != 1 {
		t.Errorf("a day after it was put again: %+v", got)
	}
	_, err = open(t, r.dir, refuser{r.index}, blob.Config{}).Sweep(t.Context())
	if err != nil {
		t.Errorf("a sweep with nothing to do: %v", err)
	}
}

func TestSweep_IsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	const more = 7
	b := parley.Batch{At: r.clock.Now()}
	for i := range blob.SweepBlobs + more {
		b.Blobs = append(b.Blobs, parley.BlobChange{Handle: parley.BlobHandle(fmt.Sprintf("blob_%064x", i)), Type: "image/png", Size: 1})
	}
	if _, err := r.index.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r.clock.move(48 * time.Hour)
	got, err := r.Sweep(t.Context())
	if err != nil || got.Blobs != blob.SweepBlobs || !got.More {
		t.Errorf("got %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Sweep(ctx)
	wantCode(t, "canceled", err, parley.CodeUnavailable)
	if got := r.sweepAll(); got.Blobs != more {
		t.Errorf("the rest: %+v", got)
	}
}

// TestSweep_RacesWithPut puts, uses, opens and sweeps the same few contents at
// once, where everything is old at once: a registered blob always has its file.
func TestSweep_RacesWithPut(t *testing.T) {
	t.Parallel()
	for form, secret := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, blob.Config{})
			s := open(t, r.dir, r.index, blob.Config{Key: namingKey, Secret: secret, KeepFor: 1})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var sweepers, writers sync.WaitGroup
			swept := make([]int, 2)
			for i := range swept {
				sweepers.Go(func() {
					for ctx.Err() == nil {
						got, err := s.Sweep(ctx)
						if err != nil && ctx.Err() == nil {
							t.Error(err)
						}
						swept[i] += got.Blobs
					}
				})
			}
			kept := make([]map[parley.BlobHandle]string, 8)
			for i := range kept {
				kept[i] = map[parley.BlobHandle]string{}
				writers.Go(func() { raceWrites(t, s, r.index, i, soak.Count(25, 250), kept[i]) })
			}
			writers.Wait()
			cancel()
			sweepers.Wait()
			if swept[0]+swept[1] == 0 {
				t.Error("nothing was swept")
			}
			if got := problems(t, s, true); got != nil {
				t.Errorf("check finds %v", got)
			}
			for _, mine := range kept {
				for handle, want := range mine {
					if got, err := contentOf(t.Context(), s, handle); err != nil || got != want {
						t.Errorf("a blob in use: %d bytes, %v", len(got), err)
					}
				}
			}
		})
	}
}

// raceWrites puts contents that others put too, and notes what an event refers
// to in the end.
func raceWrites(t *testing.T, s *blob.Store, index blob.Index, writer, rounds int, kept map[parley.BlobHandle]string) {
	for n := range rounds {
		content := strings.Repeat(fmt.Sprintf("content %d ", n%5), 10)
		b, err := s.Put(t.Context(), strings.NewReader(content))
		switch {
		case errors.Is(err, parley.ErrNotFound): // swept before it could be read back
			t.Errorf("Put: %v", err)
			continue
		case err != nil:
			t.Errorf("Put: %v", err)
			return
		}
		if got, err := contentOf(t.Context(), s, b.Handle); err == nil && got != content || err != nil && !errors.Is(err, parley.ErrNotFound) {
			t.Errorf("Open: %q, %v", got, err)
		}
		if n%5 != 4 {
			continue
		}
		content = fmt.Sprintf("of %d, %d", writer, n)
		if b, err = s.Put(t.Context(), strings.NewReader(content)); err != nil {
			t.Errorf("Put: %v", err)
			return
		}
		_, err = index.Commit(t.Context(), referring(time.Now(), parley.SessionID(fmt.Sprintf("w:%d-%d", writer, n)), "web:x", b.Handle))
		switch {
		case err == nil:
			kept[b.Handle] = content
		case !errors.Is(err, parley.ErrNotFound): // swept already
			t.Errorf("Commit: %v", err)
		}
	}
}
