package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// hideTyping keeps a terminal from showing what is typed, until show is called.
func hideTyping(f *os.File) (show func() error, err error) {
	console := windows.Handle(f.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(console, before&^windows.ENABLE_ECHO_INPUT); err != nil {
		return nil, err
	}
	return func() error { return windows.SetConsoleMode(console, before) }, nil
}
