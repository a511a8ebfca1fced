//go:build unix

package secret

import "io/fs"

// private reports whether only the owner has rights to a file.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
