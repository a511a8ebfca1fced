package main

import (
	"io/fs"
	"strings"
	"testing"
)

// TestFolderProblem: who may not look into the data folder is told how to.
func TestFolderProblem(t *testing.T) {
	t.Parallel()
	err := folderProblem("/var/lib/parley", &fs.PathError{Op: "open", Path: "/var/lib/parley", Err: fs.ErrPermission})
	if err == nil || !strings.Contains(err.Error(), "sudo -u USER parley") || !strings.Contains(err.Error(), "/var/lib/parley") {
		t.Errorf("%v", err)
	}
	if err := folderProblem("x", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}
