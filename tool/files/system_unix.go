//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// dontWait opens pipes and devices without waiting for them.
const dontWait = syscall.O_NONBLOCK

// keepOwner gives a file the owner of the one it replaces. Who may not do that
// replaces it all the same, as an editor would.
func keepOwner(f *os.File, old fs.FileInfo) {
	if is, ok := old.Sys().(*syscall.Stat_t); ok && (int(is.Uid) != os.Geteuid() || int(is.Gid) != os.Getegid()) {
		_ = f.Chown(int(is.Uid), int(is.Gid)) // see above
	}
}
