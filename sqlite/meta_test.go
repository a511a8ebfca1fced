package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/parley-run/parley/sqlite"
)

func TestSecretAndEpoch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	type facts struct{ naming, signing, epoch string }
	look := func(s *sqlite.Store) facts {
		t.Helper()
		naming, err := s.Secret(t.Context(), "naming")
		if err != nil {
			t.Fatal(err)
		}
		signing, err := s.Secret(t.Context(), "signing")
		if err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return facts{string(naming), string(signing), head.Epoch}
	}
	s := openStore(t, path)
	first := look(s)
	if len(first.naming) != sqlite.KeyBytes || first.naming == first.signing || first.epoch == "" {
		t.Errorf("got %+q", first)
	}
	if other := look(openStore(t, filepath.Join(t.TempDir(), "parley.db"))); other.naming == first.naming || other.epoch == first.epoch {
		t.Error("two stores share a secret or an epoch")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	if again := look(s); again != first {
		t.Errorf("after reopening: %+q, want %+q", again, first)
	}
	if err := s.BeginEpoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if next := look(s); next.epoch == first.epoch || next.naming != first.naming {
		t.Errorf("after another epoch began: %+q, was %+q", next, first)
	}
}
