//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth gives the columns of a terminal; 0: it is none.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
