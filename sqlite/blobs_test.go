package sqlite_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestNoMediaNoStatements holds that who sends no media does not pay for them.
func TestNoMediaNoStatements(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	aboutBlobs := func() bool {
		list, err := sqlite.Statements(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list, func(sql string) bool { return strings.Contains(sql, "blob") })
	}
	commit(t, s, said("cli:a", "hello"))
	commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: "cli:a",
		Admit: []parley.Input{{
			Ref: parley.InputRef{Origin: "cli/x", ID: "1"}, Kind: parley.InputMessage, State: parley.InputQueued,
			Parts:     []parley.Part{parley.TextPart("and then?")},
			Principal: parley.Principal{Identity: "cli:ada", Role: parley.RoleOwner},
		}},
		Redact: []uint64{1},
	}}})
	if aboutBlobs() {
		t.Error("a batch without media asks for blobs")
	}
	withMedia := said("cli:b", "")
	withMedia.Blobs = []parley.BlobChange{{Handle: "blob_a", Type: "image/png", Size: 1}}
	withMedia.Sessions[0].Events[0].Body.(*parley.Message).Parts = []parley.Part{
		{Kind: parley.PartMedia, Media: &parley.Media{Handle: "blob_a", Type: "image/png"}},
	}
	commit(t, s, withMedia)
	if !aboutBlobs() {
		t.Error("the test does not see the statements about blobs")
	}
}
