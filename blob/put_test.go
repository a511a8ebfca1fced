package blob_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
)

func TestPut_Limit(t *testing.T) {
	t.Parallel()
	const limit = 2*blob.ChunkBytes + 17
	for form, secret := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, blob.Config{Secret: secret, Limit: limit})
			for _, over := range []int{1, blob.ChunkBytes, 5 * blob.ChunkBytes} {
				_, err := r.Put(t.Context(), strings.NewReader(bytesOf(limit+over)))
				wantCode(t, "above the limit", err, parley.CodeTooLarge)
			}
			r.checkEmpty()
			for _, size := range []int{1, blob.ChunkBytes - 1, blob.ChunkBytes, blob.ChunkBytes + 1, 2 * blob.ChunkBytes, limit - 1, limit} {
				want := bytesOf(size)
				b, err := r.Put(t.Context(), iotest.HalfReader(strings.NewReader(want)))
				if err != nil || b.Size != int64(size) {
					t.Errorf("%d bytes: got %d, %v", size, b.Size, err)
					continue
				}
				if got, err := r.content(b.Handle); err != nil || got != want {
					t.Errorf("%d bytes come back as %d, %v", size, len(got), err)
				}
			}
		})
	}
}

// checkEmpty makes sure that nothing was stored or left behind.
func (r *rig) checkEmpty() {
	r.Helper()
	if left := files(r.T, r.dir); len(left) > 0 {
		r.Errorf("left behind: %v", left)
	}
	if rows, err := r.index.Blobs(r.Context(), "", 0); err != nil || len(rows) > 0 {
		r.Errorf("registered: %v, %v", rows, err)
	}
}

func TestPut_Refuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line is dead")
	for form, secret := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, blob.Config{Secret: secret})
			_, err := r.Put(t.Context(), strings.NewReader(""))
			wantCode(t, "empty", err, parley.CodeInvalid)

			half := io.MultiReader(strings.NewReader(bytesOf(100_000)), iotest.ErrReader(broken))
			if _, err := r.Put(t.Context(), half); !errors.Is(err, broken) {
				t.Errorf("a reader that fails: got %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			_, err = r.Put(ctx, io.MultiReader(strings.NewReader(bytesOf(100_000)), readerFunc(func(p []byte) (int, error) {
				cancel()
				return len(p), nil
			})))
			wantCode(t, "canceled", err, parley.CodeUnavailable)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: got %v", err)
			}
			r.checkEmpty()
		})
	}
	r := newRig(t, blob.Config{})
	nameless := open(t, r.dir, r.index, blob.Config{})
	_, err := nameless.Put(t.Context(), strings.NewReader("x"))
	wantCode(t, "without a key", err, parley.CodeInvalid)
	wantCode(t, "deep check without a key", nameless.Check(t.Context(), blob.CheckConfig{Deep: true}, nil), parley.CodeInvalid)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]blob.Config{
		"short key":        {Key: make([]byte, 15)},
		"short secret":     {Secret: make([]byte, 31)},
		"long secret":      {Secret: make([]byte, 33)},
		"negative limit":   {Limit: -1},
		"negative keeping": {KeepFor: -1},
	} {
		_, err := blob.New(t.TempDir(), nil, cfg)
		wantCode(t, name, err, parley.CodeInvalid)
	}
}

func TestPut_Registers(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	got := r.put("hello")
	now := r.clock.Now()
	want := parley.Blob{Handle: got.Handle, Type: "text/plain; charset=utf-8", Size: 5, CreatedAt: now, UnusedSince: now}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if row, err := r.index.Blob(t.Context(), everyone, got.Handle); err != nil || row != want {
		t.Errorf("the store has %+v, %v", row, err)
	}
	r.clock.move(1)
	if again := r.put("hello"); again.Handle != got.Handle || !again.CreatedAt.Equal(now) {
		t.Errorf("again: %+v", again)
	}
	for path, mode := range map[string]os.FileMode{
		r.dir: 0o700 | os.ModeDir, filepath.Dir(r.path(got.Handle)): 0o700 | os.ModeDir, r.path(got.Handle): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, mode)
		}
	}
}

func TestPut_Names(t *testing.T) {
	t.Parallel()
	const content = "the same picture"
	one, other := newRig(t, blob.Config{}), newRig(t, blob.Config{Key: otherSecret})
	a, b := one.put(content), other.put(content)
	mac := hmac.New(sha256.New, namingKey)
	mac.Write([]byte(content))
	if want := "blob_" + hex.EncodeToString(mac.Sum(nil)); string(a.Handle) != want {
		t.Errorf("got %s, want %s", a.Handle, want)
	}
	if a.Handle == b.Handle {
		t.Error("two keys give the same name")
	}
	plain := sha256.Sum256([]byte(content))
	for _, r := range []*rig{one, other} {
		for _, name := range files(t, r.dir) {
			if strings.Contains(strings.ReplaceAll(name, string(filepath.Separator), ""), hex.EncodeToString(plain[:8])) {
				t.Errorf("%s tells what is in it", name)
			}
		}
	}
}

func TestPut_OneFileForAll(t *testing.T) {
	t.Parallel()
	for form, secret := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, blob.Config{Secret: secret})
			want := bytesOf(100_000)
			handles, errs := make([]parley.BlobHandle, 64), make([]error, 64)
			var wg sync.WaitGroup
			for i := range handles {
				wg.Go(func() {
					b, err := r.Put(t.Context(), strings.NewReader(want))
					handles[i], errs[i] = b.Handle, err
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for _, h := range handles {
				if h != handles[0] {
					t.Fatalf("the same content is %s and %s", h, handles[0])
				}
			}
			if list := files(t, r.dir); len(list) != 1 {
				t.Errorf("files: %v", list)
			}
			if got, err := r.content(handles[0]); err != nil || got != want {
				t.Errorf("%d bytes come back, %v", len(got), err)
			}
		})
	}
}

func TestPut_ReplacesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{Secret: secret})
	b := r.put("hello")
	for name, data := range map[string]string{"cut off": "parl", "not encrypted": "hello", "something else": bytesOf(int(b.Size) + 56)} {
		if err := os.WriteFile(r.path(b.Handle), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		r.put("hello")
		if got, err := r.content(b.Handle); err != nil || got != "hello" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestPut_Types(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	for name, c := range map[string]struct{ start, want string }{
		"png":          {"\x89PNG\r\n\x1a\n", "image/png"},
		"jpeg":         {"\xff\xd8\xff\xe0", "image/jpeg"},
		"gif":          {"GIF89a", "image/gif"},
		"webp":         {"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"},
		"heic":         {"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1", "image/heic"},
		"avif":         {"\x00\x00\x00\x1cftypavif", "image/avif"},
		"m4a":          {"\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00", "audio/mp4"},
		"mp4":          {"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2", "video/mp4"},
		"mov":          {"\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  ", "video/quicktime"},
		"voice":        {"OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x13OpusHead\x01", "audio/ogg"},
		"theora":       {"OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x2a\x80theora", "video/ogg"},
		"other ogg":    {"OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x2asomething", "application/ogg"},
		"mp3":          {"ID3\x03\x00", "audio/mpeg"},
		"mp3 bare":     {"\xff\xfb\x90\x64", "audio/mpeg"},
		"aac":          {"\xff\xf1\x50\x80", "audio/aac"},
		"flac":         {"fLaC\x00", "audio/flac"},
		"amr":          {"#!AMR\n", "audio/amr"},
		"wav":          {"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wave"},
		"webm":         {"\x1a\x45\xdf\xa3", "video/webm"},
		"pdf":          {"%PDF-1.7", "application/pdf"},
		"zip":          {"PK\x03\x04", "application/zip"},
		"text":         {"hello", "text/plain; charset=utf-8"},
		"html":         {"<!DOCTYPE html><script>alert(1)</script>", "text/plain; charset=utf-8"},
		"html, hidden": {"\n  <ScRiPt>alert(1)</script>", "text/plain; charset=utf-8"},
		"svg":          {`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, "text/plain; charset=utf-8"},
		"svg as xml":   {`<?xml version="1.0"?><svg onload="alert(1)"/>`, "text/plain; charset=utf-8"},
		"bytes":        {"\x00\x01\x02\x03", "application/octet-stream"},
	} {
		if got := r.put(c.start); got.Type != c.want {
			t.Errorf("%s: got %s, want %s", name, got.Type, c.want)
		}
	}
}
