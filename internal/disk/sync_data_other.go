//go:build !linux

package disk

import "os"

// SyncData makes durable what was written to a file.
func SyncData(f *os.File) error { return f.Sync() }
