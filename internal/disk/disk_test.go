package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parley-run/parley/internal/disk"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"one", "two"} {
		if err := disk.WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile(path, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if err := disk.WriteFile(filepath.Join(dir, "missing", "a"), nil); err == nil {
		t.Error("a missing folder gives no error")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestMakeFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made, err := disk.MakeFolder(filepath.Join(dir, "a", "b"))
	if err != nil || made != filepath.Join(dir, "a") {
		t.Errorf("got %q, %v", made, err)
	}
	if made, err := disk.MakeFolder(filepath.Join(dir, "a", "b")); err != nil || made != "" {
		t.Errorf("again: %q, %v", made, err)
	}
	if err := disk.SyncTree(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.MakeFolder(filepath.Join(dir, "file", "b")); err == nil {
		t.Error("a folder in a file gives no error")
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer second.Close()
	if err := disk.Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := disk.Lock(second); err == nil {
		t.Error("two have the lock")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := disk.Lock(second); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

func TestIsFull(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EACCES: false, nil: false,
	} {
		if got := disk.IsFull(&os.PathError{Op: "write", Path: "file", Err: err}); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
	if disk.IsFull(nil) {
		t.Error("no error is a full disk")
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if room, err := disk.Room(dir); err != nil || room == 0 {
		t.Errorf("got %d, %v", room, err)
	}
	if _, err := disk.Room(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there has room")
	}
}
