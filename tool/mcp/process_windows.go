package mcp

import (
	"os/exec"
	"syscall"
)

// inherited are the variables that a program gets from this process; without the
// last ones few start at all.
var inherited = []string{"PATH", "HOME", "LANG", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"}

// ownGroup keeps signals of a console from the command.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askGroup does nothing: there is no way to ask.
func askGroup(*exec.Cmd) {}

// groupGone holds, as far as can be told.
func groupGone(*exec.Cmd) bool { return true }

// killGroup ends the command. What it started itself is not reached.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
