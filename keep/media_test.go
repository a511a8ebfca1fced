package keep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/keep"
)

// gallery is a store whose session cli:work shows a picture, and where its file
// is.
func gallery(t *testing.T) (path, picture string) {
	t.Helper()
	path = clinic(t)
	store := open(t, path, false)
	b, err := media(t, path, store).Put(t.Context(), strings.NewReader("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	part := parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(b.Handle), Type: b.Type}}
	show := parley.NewEvent{Body: &parley.Message{ID: "m9", Role: parley.MessageUser, Parts: []parley.Part{part, part}}}
	commit(t, store, parley.Batch{At: noon, Sessions: []parley.SessionChange{{Session: "cli:work", Events: []parley.NewEvent{show, show}}}})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	digits := strings.TrimPrefix(string(b.Handle), "blob_")
	return path, filepath.Join(filepath.Dir(path), "blobs", digits[:2], digits[2:])
}

// media gives the media beside a store.
func media(t *testing.T, path string, index blob.Index) *blob.Store {
	t.Helper()
	s, err := blob.New(filepath.Join(filepath.Dir(path), "blobs"), index, blob.Config{Key: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDoctor_References(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm       string
		want, left []string
	}{
		"nothing": {harm: `UPDATE blobs SET type = 'image/png'`},
		"references gone": {
			harm: `DELETE FROM blob_refs; UPDATE blobs SET unused_since = 1`,
			want: []string{"cli:work references"},
		},
		"references gone, and said to be used": {
			harm: `DELETE FROM blob_refs`,
			want: []string{" orphan", "cli:work references"},
		},
		"blob gone": {
			harm: `DELETE FROM blob_refs; DELETE FROM blobs`,
			want: []string{"cli:work media"}, left: []string{"cli:work media"},
		},
		"said to be unused": {
			harm: `UPDATE blobs SET unused_since = 1`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
		"reference to nothing": {
			harm: `INSERT INTO blob_refs SELECT 99, event FROM blob_refs LIMIT 1`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
		"reference of nothing": {
			harm: `INSERT INTO blob_refs SELECT blob, 99 << 32 | 1 FROM blob_refs LIMIT 1`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
		"reference of what was redacted": {
			harm: `UPDATE events SET body = '{"redacted":true}' WHERE id = (SELECT max(event) FROM blob_refs)`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
		"said to be used": {
			harm: `INSERT INTO blobs (handle, type, size, created_at) VALUES ('blob_x', 'image/png', 1, 1)`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := gallery(t)
			harm(t, path, c.harm)
			report := doctor(t, open(t, path, true), keep.Config{})
			if diff := cmp.Diff(c.want, named(report), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("found (-want +got):\n%s\n%+v", diff, report.Findings)
			}
			for _, f := range report.Findings {
				if f.Detail == "" || f.Advice == "" {
					t.Errorf("finding %+v needs a detail and an advice", f)
				}
			}
			store := open(t, path, false)
			report = doctor(t, store, keep.Config{Rebuild: true})
			if report.Found != int64(len(c.want)) || report.Remaining != int64(len(c.left)) {
				t.Errorf("after a rebuild: %+v", report.Findings)
			}
			if again := doctor(t, store, keep.Config{}); again.Found != report.Remaining {
				t.Errorf("a second look finds %v, and the rebuild has left %d", named(again), report.Remaining)
			}
			if name != "references gone" {
				return
			}
			for _, v := range []parley.Visibility{parley.SeeAs("cli:ada"), parley.SeeAll()} {
				page, err := store.Blobs(t.Context(), "", 0)
				if err != nil || len(page) != 1 {
					t.Fatalf("blobs: %v, %v", page, err)
				}
				if b, err := store.Blob(t.Context(), v, page[0].Handle); err != nil || !b.UnusedSince.IsZero() {
					t.Errorf("after a rebuild: %+v, %v", b, err)
				}
			}
		})
	}
}

func TestDoctor_Media(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm func(picture string) error
		deep bool
		want []string
	}{
		"well":           {func(string) error { return nil }, true, nil},
		"missing":        {os.Remove, false, []string{" media_missing"}},
		"cut off":        {func(p string) error { return os.Truncate(p, 3) }, false, []string{" media_damaged"}},
		"changed":        {func(p string) error { return os.WriteFile(p, []byte("A PICTURE"), 0o600) }, true, []string{" media_damaged"}},
		"changed subtly": {func(p string) error { return os.WriteFile(p, []byte("A PICTURE"), 0o600) }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, picture := gallery(t)
			if err := c.harm(picture); err != nil {
				t.Fatal(err)
			}
			store := open(t, path, true)
			report := doctor(t, store, keep.Config{Media: media(t, path, store), DeepMedia: c.deep})
			if diff := cmp.Diff(c.want, named(report), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("found (-want +got):\n%s\n%+v", diff, report.Findings)
			}
			if report.Blobs != 1 {
				t.Errorf("looked at %d blobs", report.Blobs)
			}
			for _, f := range report.Findings {
				if !strings.Contains(f.Advice, "folder of media") {
					t.Errorf("advice: %q", f.Advice)
				}
			}
		})
	}
}
