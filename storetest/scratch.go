package storetest

import (
	"os"
	"testing"
)

// scratchDir gives a folder for one store. The suite is about what a store
// does, not about what survives a power cut, so memory will do where the system
// offers it as a folder.
func scratchDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "storetest-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { removeDir(t, dir) })
	return dir
}

func removeDir(t testing.TB, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Errorf("remove the store's folder: %v", err)
	}
}
