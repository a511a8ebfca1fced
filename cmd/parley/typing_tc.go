//go:build linux || solaris || aix

package main

import "golang.org/x/sys/unix"

// How the settings of a terminal are read and written.
const (
	readTerminal  = unix.TCGETS
	writeTerminal = unix.TCSETS

	noKey = 0 // in the place of a key: there is none
)
