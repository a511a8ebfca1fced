package secret

import (
	"io/fs"
	"os"
)

// private holds for every file: access rights come from the folder, and the
// mode does not tell them.
func private(fs.FileInfo) bool { return true }

// keepOwner does nothing: files inherit their access rights from the folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncFolder does nothing: Windows has no sync of folders, and its file systems
// write names through.
func syncFolder(string) error { return nil }
