package files

import (
	"io/fs"
	"os"
)

// dontWait is not needed: what is not a file cannot be opened by a name in a folder.
const dontWait = 0

// keepOwner does nothing: files inherit their access rights from the folder.
func keepOwner(*os.File, fs.FileInfo) {}
