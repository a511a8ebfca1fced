package sqlite

import "os"

// syncNames does nothing: Windows has no sync of folders, and its file systems
// write names through.
func syncNames(*os.File) error { return nil }

// shareIndex does nothing: files inherit their access rights from the folder.
func shareIndex(string) {}
