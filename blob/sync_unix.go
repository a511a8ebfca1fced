//go:build unix

package blob

import "os"

// syncNames syncs a folder.
func syncNames(d *os.File) error { return d.Sync() }
