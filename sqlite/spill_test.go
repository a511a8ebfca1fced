package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// TestSpill: of a transaction that is larger than the writer's cache SQLite writes pages to the WAL before its end, some of them
// twice. When the power is cut in it or after it, all of it is there or nothing, and what was acknowledged is.
func TestSpill(t *testing.T) {
	t.Parallel()
	const sessions = 24
	seed := soak.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range soak.Count(12, 120) {
		disk := faultvfs.NewDisk(r.Uint64())
		cfg := useVFS(t, disk)
		cfg.Key = someKey(i)
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), cfg)
		if err != nil {
			t.Fatal(err)
		}
		large := parley.Batch{At: instant}
		for n := range sessions {
			commit(t, s, newcomer(n))
			text := fmt.Sprint(n, strings.Repeat("x", 200_000))
			large.Sessions = append(large.Sessions, parley.SessionChange{Session: parley.SessionID(fmt.Sprintf("web:%d", n)), Events: []parley.NewEvent{{
				Body: &parley.Message{ID: "large", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text)}},
			}}})
		}
		if i%2 == 0 {
			disk.CutAfter(1 + r.IntN(40))
		}
		_, err = s.Commit(t.Context(), large)
		if err != nil && i%2 != 0 {
			t.Fatal(err)
		}
		disk.Cut()
		_ = s.Close() // fails: the power is off
		left := t.TempDir()
		if err := disk.Survive(left); err != nil {
			t.Fatal(err)
		}
		after := openWith(t, filepath.Join(left, "store.db"), sqlite.Config{Key: cfg.Key})
		there := 0
		for n := range sessions {
			events, err := after.Events(t.Context(), parley.SeeAll(), parley.SessionID(fmt.Sprintf("web:%d", n)), parley.EventQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if len(events) == 2 && strings.Contains(string(events[1].Data), fmt.Sprint(n, "xxx")) {
				there++
			}
		}
		if there != 0 && there != sessions || err == nil && there == 0 {
			t.Errorf("seed %d, life %d: %d of %d events are there, and the commit said %v", seed, i, there, sessions, err)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
		if err := integrity(filepath.Join(left, "store.db")); err != nil && cfg.Key == nil {
			t.Errorf("seed %d, life %d: %v", seed, i, err)
		}
	}
}
