package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// ofProcesses reports whether a file is one of /proc, wherever that is mounted.
func ofProcesses(f *os.File) bool {
	var is unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &is) == nil && is.Type == unix.PROC_SUPER_MAGIC
}
