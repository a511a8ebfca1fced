//go:build unix

package disk_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/parley-run/parley/internal/disk"
	"github.com/parley-run/parley/internal/soak"
)

// TestWriteFile_Group: who replaces a file that others read as members of its group leaves it to them.
func TestWriteFile_Group(t *testing.T) {
	t.Parallel()
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		groups = append(groups, 1)
	}
	other := slices.IndexFunc(groups, func(g int) bool { return g != os.Getegid() })
	if other < 0 {
		soak.SkipOrFail(t, "this user is in one group alone, so that every file has it")
	}
	path := filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(path, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, -1, groups[other]); err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Gid); got != groups[other] || info.Mode().Perm() != 0o640 {
		t.Errorf("it has group %d and mode %v, want %d and 0640", got, info.Mode().Perm(), groups[other])
	}
}
