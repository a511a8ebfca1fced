package blob_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/soak"
)

func TestOpen_FollowsTheSessions(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{})
	b := r.put("a secret")
	sees := func(v parley.Visibility) parley.Code {
		f, got, err := r.Open(t.Context(), v, b.Handle)
		if err == nil {
			if got.Handle != b.Handle || got.Size != b.Size {
				t.Errorf("got %+v", got)
			}
			f.Close()
		}
		return parley.CodeOf(err)
	}
	ada, bob := parley.SeeAs("web:ada"), parley.SeeAs("web:bob")
	if sees(ada) != parley.CodeNotFound || sees(everyone) != "" {
		t.Error("a blob that nothing refers to is seen by who sees everything, and nobody else")
	}
	r.use("web:a", "web:ada", b.Handle)
	if sees(ada) != "" || sees(bob) != parley.CodeNotFound || sees(parley.Visibility{}) != parley.CodeNotFound {
		t.Error("a blob is seen by who sees a session that refers to it, and nobody else")
	}
	r.drop("web:a")
	if sees(ada) != parley.CodeNotFound {
		t.Error("a blob is seen after its session is gone")
	}
	_, _, err := r.Open(t.Context(), everyone, "blob_"+parley.BlobHandle(strings.Repeat("0", 64)))
	wantCode(t, "unknown", err, parley.CodeNotFound)
}

func TestOpen_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for form, secret := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, blob.Config{Secret: secret})
			b := r.put(bytesOf(1000))
			whole, err := os.ReadFile(r.path(b.Handle))
			if err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]struct {
				data []byte
				want error
				kind string
			}{
				"missing":   {nil, blob.ErrMissing, blob.KindMissing},
				"emptied":   {[]byte{}, blob.ErrDamaged, blob.KindDamaged},
				"cut off":   {whole[:len(whole)-1], blob.ErrDamaged, blob.KindDamaged},
				"too long":  {append(bytes.Clone(whole), 0), blob.ErrDamaged, blob.KindDamaged},
				"misplaced": {make([]byte, 1000+blob.HeaderBytes+blob.TagBytes), blob.ErrDamaged, blob.KindDamaged},
			} {
				if c.data == nil {
					err = os.Remove(r.path(b.Handle))
				} else {
					err = os.WriteFile(r.path(b.Handle), c.data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				_, err := r.content(b.Handle)
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), string(b.Handle)) {
					t.Errorf("%s: got %v, want %v", name, err, c.want)
				}
				wantCode(t, name, err, parley.CodeInternal)
				if got := problems(t, r.Store, false); !slices.Equal(got, []string{c.kind}) {
					t.Errorf("%s: check finds %v", name, got)
				}
				if err := os.WriteFile(r.path(b.Handle), whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := problems(t, r.Store, true); got != nil {
				t.Errorf("whole again: check finds %v", got)
			}
		})
	}
}

func TestOpen_NoSilentFallback(t *testing.T) {
	t.Parallel()
	plain, sealed := newRig(t, blob.Config{}), newRig(t, blob.Config{Secret: secret})
	a, b := plain.put("hello"), sealed.put("hello")
	for name, c := range map[string]struct {
		store  *blob.Store
		handle parley.BlobHandle
		want   error
	}{
		"a plain file with a secret":          {open(t, plain.dir, plain.index, blob.Config{Secret: secret}), a.Handle, blob.ErrSecret},
		"an encrypted file without a secret":  {open(t, sealed.dir, sealed.index, blob.Config{}), b.Handle, blob.ErrSecret},
		"an encrypted file, another's secret": {open(t, sealed.dir, sealed.index, blob.Config{Secret: otherSecret}), b.Handle, blob.ErrDamaged},
	} {
		if got, err := contentOf(t.Context(), c.store, c.handle); !errors.Is(err, c.want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	// What somebody sends may look like anything.
	data, err := os.ReadFile(sealed.path(b.Handle))
	if err != nil {
		t.Fatal(err)
	}
	lookalike := plain.put(string(data))
	if got, err := plain.content(lookalike.Handle); err != nil || got != string(data) {
		t.Errorf("plain content that looks encrypted: %v", err)
	}
}

func TestOpen_Seeks(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(soak.Seed(t), 0))
	for form, secret := range forms {
		for _, size := range []int{1, blob.ChunkBytes, 3*blob.ChunkBytes + 100} {
			r := newRig(t, blob.Config{Secret: secret})
			content := bytesOf(size)
			b := r.put(content)
			f, _, err := r.Open(t.Context(), everyone, b.Handle)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReader(content)
			for range 200 {
				whence := rnd.IntN(3)
				offset := rnd.Int64N(int64(size)+10) - []int64{0, int64(size) / 2, int64(size)}[whence]
				wantAt, wantErr := want.Seek(offset, whence)
				at, err := f.Seek(offset, whence)
				if (err == nil) != (wantErr == nil) || at != wantAt {
					t.Fatalf("%s of %d: Seek(%d, %d) gives %d, %v; want %d, %v", form, size, offset, whence, at, err, wantAt, wantErr)
				}
				n := rnd.IntN(2 * blob.ChunkBytes)
				wantData, _ := io.ReadAll(io.LimitReader(want, int64(n)))
				data, err := io.ReadAll(io.LimitReader(f, int64(n)))
				if err != nil || !bytes.Equal(data, wantData) {
					t.Fatalf("%s of %d: %d bytes at %d: got %d, %v", form, size, n, at, len(data), err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
