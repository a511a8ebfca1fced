package blob_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/soak"
)

const sealedName parley.BlobHandle = "blob_x"

func seal(t testing.TB, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := blob.Seal(&out, strings.NewReader(content), secret, sealedName); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unseal reads an encrypted form from beginning to end.
func unseal(data []byte, key []byte, name parley.BlobHandle) (string, error) {
	r, err := blob.Unseal(bytes.NewReader(data), int64(len(data)), key, name)
	if err != nil {
		return "", err
	}
	got, err := io.ReadAll(r)
	return string(got), err
}

func TestSealed_NoPlaintextOnDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t, blob.Config{Secret: secret})
	marker := rand.Text()
	for _, size := range []int{1, 1000, 10_000} {
		r.put(strings.Repeat(marker, size))
	}
	list := files(t, r.dir)
	if len(list) != 3 {
		t.Fatalf("files: %v", list)
	}
	for _, name := range list {
		data, err := os.ReadFile(r.dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(marker) - 8 {
			if bytes.Contains(data, []byte(marker[i:i+8])) {
				t.Fatalf("%s has plain text", name)
			}
		}
	}
}

func TestSealed_TwiceIsNotTheSame(t *testing.T) {
	t.Parallel()
	if bytes.Equal(seal(t, "hello"), seal(t, "hello")) {
		t.Error("the same content gives the same file")
	}
}

// chunks gives the sealed chunks of a file.
func chunks(data []byte) [][]byte {
	return slices.Collect(slices.Chunk(data[blob.HeaderBytes:], blob.ChunkBytes+blob.TagBytes))
}

func join(header []byte, list ...[]byte) []byte {
	return slices.Concat(append([][]byte{header}, list...)...)
}

func TestSealed_NoticesEveryChange(t *testing.T) {
	t.Parallel()
	small := seal(t, bytesOf(300))
	big := seal(t, bytesOf(3*blob.ChunkBytes))
	for _, data := range [][]byte{small, big} {
		if _, err := unseal(data, secret, sealedName); err != nil {
			t.Fatal(err)
		}
	}
	notices := func(what string, data []byte) {
		t.Helper()
		if _, err := unseal(data, secret, sealedName); !errors.Is(err, blob.ErrDamaged) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for i := range small {
		for bit := range 8 {
			data := bytes.Clone(small)
			data[i] ^= 1 << bit
			notices("a flipped bit", data)
		}
		notices("a file cut off", small[:i])
	}
	rnd := mathrand.New(mathrand.NewPCG(soak.Seed(t), 0))
	for range 300 {
		data := bytes.Clone(big)
		data[rnd.IntN(len(data))] ^= byte(1 + rnd.IntN(255))
		notices("a changed byte", data)
		notices("a long file cut off", big[:rnd.IntN(len(big))])
	}
	c, header := chunks(big), big[:blob.HeaderBytes]
	other := chunks(seal(t, bytesOf(3*blob.ChunkBytes)))
	for what, list := range map[string][][]byte{
		"without the last chunk":  {c[0], c[1]},
		"without the first chunk": {c[1], c[2]},
		"without the middle":      {c[0], c[2]},
		"in another order":        {c[1], c[0], c[2]},
		"the last one first":      {c[2], c[1], c[0]},
		"a chunk twice":           {c[0], c[0], c[2]},
		"a chunk more":            {c[0], c[1], c[1], c[2]},
		"another file's chunk":    {c[0], other[1], c[2]},
		"another file's end":      {c[0], c[1], other[2]},
		"something behind":        {c[0], c[1], c[2], {0}},
		"no chunk":                nil,
	} {
		notices(what, join(header, list...))
	}
	if _, err := unseal(small, secret, "blob_y"); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("under another name: got %v", err)
	}
	if _, err := unseal(small, otherSecret, sealedName); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("with another secret: got %v", err)
	}
}

func FuzzUnseal(f *testing.F) {
	contents := map[string]bool{}
	for _, size := range []int{1, 100, blob.ChunkBytes, blob.ChunkBytes + 1} {
		contents[bytesOf(size)] = true
		f.Add(seal(f, bytesOf(size)))
	}
	f.Add([]byte("parleyb\x01"))
	f.Add(make([]byte, blob.HeaderBytes+blob.TagBytes+1))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := unseal(data, secret, sealedName)
		switch {
		case err == nil && !contents[got]:
			t.Errorf("%d bytes that nobody sealed are read as %d", len(data), len(got))
		case err != nil && !errors.Is(err, blob.ErrDamaged):
			t.Errorf("got %v", err)
		}
	})
}
