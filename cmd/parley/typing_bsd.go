//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import "golang.org/x/sys/unix"

// How the settings of a terminal are read and written.
const (
	readTerminal  = unix.TIOCGETA
	writeTerminal = unix.TIOCSETA

	noKey = 0xff // in the place of a key: there is none
)
