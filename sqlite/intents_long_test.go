package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley/sqlite"
)

// TestIntents_StayShort: while somebody reads for long nothing of the WAL is moved, and so it is not synced for that. The intents do not grow
// without end meanwhile, nor does the next start after a crash.
func TestIntents_StayShort(t *testing.T) {
	t.Parallel()
	const (
		written = 64 << 20
		most    = 40 << 20 // both files
	)
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	release := sqlite.HoldReader(t.Context(), s)
	defer release()
	text := strings.Repeat("x", 30_000)
	longest := int64(0)
	for i := range written / len(text) {
		b := newcomer(i)
		b.Sessions[0].Create.Metadata = map[string]string{"padding": text[:10_000]}
		b.Sessions[0].Create.Agent.Config = fmt.Appendf(nil, "%q", text[10_000:])
		if !sqlite.Recordable(b) {
			t.Fatal("it is not written down, so this proves nothing")
		}
		commit(t, s, b)
		if i%50 != 0 {
			continue
		}
		size := int64(0)
		for _, suffix := range sqlite.IntentSuffixes {
			if info, err := os.Stat(path + suffix); err == nil {
				size += info.Size()
			}
		}
		longest = max(longest, size)
	}
	if longest > most || longest < most/4 {
		t.Errorf("the intents of %d bytes were up to %d bytes long, want at most %d", written, longest, most)
	}
}
