package blob_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
)

func TestCopyAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to []byte }{
		"backup": {nil, nil}, "encrypt": {nil, secret}, "decrypt": {secret, nil}, "rotate": {secret, otherSecret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, blob.Config{Secret: c.from})
			want := map[parley.BlobHandle]string{}
			for i := range 20 {
				content := strconv.Itoa(i) + bytesOf(i*20_000)
				want[r.put(content).Handle] = content
			}
			dir := filepath.Join(t.TempDir(), "copy")
			to := open(t, dir, r.index, blob.Config{Key: namingKey, Secret: c.to})
			ctx, cancel := context.WithCancel(t.Context())
			err := blob.CopyAll(ctx, r.Store, to, blob.CopyConfig{ProgressFunc: func(done int64) {
				if done == 7 {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cut short: got %v", err)
			}
			if n := len(files(t, dir)); n != 7 {
				t.Fatalf("cut short: %d files", n)
			}
			list := files(t, dir)
			spared, err := os.Stat(filepath.Join(dir, list[0]))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, list[1]), 1); err != nil {
				t.Fatal(err)
			}
			var done int64
			if err := blob.CopyAll(t.Context(), r.Store, to, blob.CopyConfig{ProgressFunc: func(n int64) { done = n }}); err != nil {
				t.Fatal(err)
			}
			if done != int64(len(want)) {
				t.Errorf("told of %d blobs", done)
			}
			for handle, content := range want {
				if got, err := contentOf(t.Context(), to, handle); err != nil || got != content {
					t.Errorf("%d bytes come back as %d, %v", len(content), len(got), err)
				}
			}
			if got, want := files(t, dir), files(t, r.dir); !slices.Equal(got, want) {
				t.Errorf("files are %v, want %v", got, want)
			}
			if again, err := os.Stat(filepath.Join(dir, list[0])); err != nil || !os.SameFile(spared, again) {
				t.Errorf("a file that was there was copied again, %v", err)
			}
			if got := problems(t, to, true); got != nil {
				t.Errorf("check finds %v", got)
			}
		})
	}
}

func TestCopyAll_Damage(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	lost, kept := r.put("lost"), r.put("kept")
	if err := os.Remove(r.path(lost.Handle)); err != nil {
		t.Fatal(err)
	}
	to := open(t, filepath.Join(t.TempDir(), "copy"), r.index, blob.Config{})
	if err := blob.CopyAll(t.Context(), r.Store, to, blob.CopyConfig{}); !errors.Is(err, blob.ErrMissing) {
		t.Errorf("got %v", err)
	}
	var told []string
	err := blob.CopyAll(t.Context(), r.Store, to, blob.CopyConfig{ReportFunc: func(p parley.Problem) { told = append(told, p.Kind) }})
	if err != nil || !slices.Equal(told, []string{blob.KindMissing}) {
		t.Errorf("told %v, %v", told, err)
	}
	if got, err := contentOf(t.Context(), to, kept.Handle); err != nil || got != "kept" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCheck_Deep(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	b := r.put("hello")
	r.put("another")
	if err := os.WriteFile(r.path(b.Handle), []byte("jello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := problems(t, r.Store, false); got != nil {
		t.Errorf("not deep: %v", got)
	}
	if got := problems(t, r.Store, true); !slices.Equal(got, []string{blob.KindDamaged}) {
		t.Errorf("deep: %v", got)
	}
	sealed := open(t, r.dir, r.index, blob.Config{Secret: secret})
	if got := problems(t, sealed, false); !slices.Equal(got, []string{blob.KindUnreadable, blob.KindUnreadable}) {
		t.Errorf("in another form: %v", got)
	}
}
