//go:build !linux

package pty

import (
	"errors"
	"os"
	"os/exec"
)

// Supported reports whether this system has terminals that [Start] can make.
const Supported = false

// Start fails: it is written for Linux alone.
func Start(*exec.Cmd, int, int) (*os.File, error) {
	return nil, errors.New("make a terminal: this is for Linux alone")
}
