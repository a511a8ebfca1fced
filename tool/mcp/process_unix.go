//go:build unix

package mcp

import (
	"errors"
	"os/exec"
	"syscall"
)

// inherited are the variables that a program gets from this process.
var inherited = []string{"PATH", "HOME", "LANG"}

// ownGroup makes a command the leader of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askGroup asks the processes of a command's group to end.
func askGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup ends the processes of a command's group. The command itself may have
// ended: the group lives as long as one of its processes does.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// groupGone reports whether no process of a command's group is left.
func groupGone(cmd *exec.Cmd) bool {
	return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH)
}
