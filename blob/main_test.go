package blob_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/sqlite"
)

// TestMain runs the tests and finds goroutines they left behind; or, started
// again by the crash test, it is the process that gets killed.
func TestMain(m *testing.M) {
	if plan := os.Getenv(helperEnv); plan != "" {
		if err := crashHelper(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// Keys of the tests.
var (
	namingKey   = bytes.Repeat([]byte{7}, 32)
	secret      = bytes.Repeat([]byte{9}, 32)
	otherSecret = bytes.Repeat([]byte{8}, 32)
	everyone    = parley.SeeAll()
)

// forms are the two ways files are kept.
var forms = map[string][]byte{"plain": nil, "encrypted": secret}

// clock stands still until it is moved.
type clock struct {
	parley.Clock
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is a store with media beside it.
type rig struct {
	*testing.T
	*blob.Store
	dir   string // of the media
	index *sqlite.Store
	clock *clock
}

func newRig(t *testing.T, cfg blob.Config) *rig {
	t.Helper()
	r := &rig{T: t, dir: filepath.Join(t.TempDir(), "blobs"), clock: &clock{now: time.Now().UTC().Truncate(time.Second)}}
	var err error
	if r.index, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.index.Close() })
	if cfg.Key == nil {
		cfg.Key = namingKey
	}
	cfg.Clock = r.clock
	r.Store = open(t, r.dir, r.index, cfg)
	return r
}

func open(t *testing.T, dir string, index blob.Index, cfg blob.Config) *blob.Store {
	t.Helper()
	s, err := blob.New(dir, index, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put stores content that has to be stored.
func (r *rig) put(content string) parley.Blob {
	r.Helper()
	b, err := r.Put(r.Context(), strings.NewReader(content))
	if err != nil {
		r.Fatal(err)
	}
	return b
}

// use lets an event refer to a blob, in a session that the identity takes part in.
func (r *rig) use(id parley.SessionID, who parley.IdentityID, handle parley.BlobHandle) {
	r.Helper()
	if _, err := r.index.Commit(r.Context(), referring(r.clock.Now(), id, who, handle)); err != nil {
		r.Fatal(err)
	}
}

// drop deletes a session.
func (r *rig) drop(id parley.SessionID) {
	r.Helper()
	_, err := r.index.Commit(r.Context(), parley.Batch{
		At: r.clock.Now(), Sessions: []parley.SessionChange{{Session: id, Delete: true}},
	})
	if err != nil {
		r.Fatal(err)
	}
}

// referring is a batch that makes a session with a message that has the blob.
func referring(at time.Time, id parley.SessionID, who parley.IdentityID, handle parley.BlobHandle) parley.Batch {
	return parley.Batch{At: at, Sessions: []parley.SessionChange{{
		Session: id,
		Create: &parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "a"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect,
		},
		Events: []parley.NewEvent{
			{Body: &parley.ParticipantChanged{Identity: who}},
			{Body: &parley.Message{ID: "m", Role: parley.MessageUser, Parts: []parley.Part{
				{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(handle), Type: "image/png"}},
			}}},
		},
	}}}
}

// content reads a blob as one who sees everything.
func (r *rig) content(handle parley.BlobHandle) (string, error) {
	return contentOf(r.Context(), r.Store, handle)
}

func contentOf(ctx context.Context, s *blob.Store, handle parley.BlobHandle) (string, error) {
	f, _, err := s.Open(ctx, everyone, handle)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), err
}

// path gives the path of a blob's file.
func (r *rig) path(handle parley.BlobHandle) string { return pathIn(r.dir, handle) }

func pathIn(dir string, handle parley.BlobHandle) string {
	digits := strings.TrimPrefix(string(handle), "blob_")
	return filepath.Join(dir, digits[:2], digits[2:])
}

// files gives the paths of all files in a folder, relative to it.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var name string
			name, err = filepath.Rel(dir, path)
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// problems gives the kinds a check finds.
func problems(t *testing.T, s *blob.Store, deep bool) []string {
	t.Helper()
	var kinds []string
	err := s.Check(t.Context(), blob.CheckConfig{Deep: deep}, func(p parley.Problem) {
		if p.Detail == "" {
			t.Errorf("%s says nothing", p.Kind)
		}
		kinds = append(kinds, p.Kind)
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func wantCode(t *testing.T, what string, err error, code parley.Code) {
	t.Helper()
	if got := parley.CodeOf(err); got != code {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, code)
	}
}

// bytesOf gives so many bytes that do not repeat soon.
func bytesOf(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String()[:n]
}
