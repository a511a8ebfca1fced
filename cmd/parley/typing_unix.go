//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideTyping keeps a terminal from showing what is typed, until show is called.
func hideTyping(f *os.File) (show func() error, err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, readTerminal)
	if err != nil {
		return nil, err
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, writeTerminal, &hidden); err != nil {
		return nil, err
	}
	return func() error { return unix.IoctlSetTermios(fd, writeTerminal, before) }, nil
}
