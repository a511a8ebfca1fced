//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideTyping keeps a terminal from showing what is typed, until show is called. The keys that stop a
// program, and that end it without a word to it, do nothing meanwhile: the terminal would go on hiding.
func hideTyping(f *os.File) (show func() error, err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, readTerminal)
	if err != nil {
		return nil, err
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	hidden.Cc[unix.VSUSP], hidden.Cc[unix.VQUIT] = noKey, noKey
	if err := unix.IoctlSetTermios(fd, writeTerminal, &hidden); err != nil {
		return nil, err
	}
	return func() error { return unix.IoctlSetTermios(fd, writeTerminal, before) }, nil
}
