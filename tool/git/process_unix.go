//go:build unix

package git

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup gives git a session, and so a process group, of its own, without a
// terminal to ask at.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup asks git, and what it started, to end.
func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup kills what git left behind.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // fails if nobody is left

// noHome is a folder that does not exist.
const noHome = "/nonexistent"

func systemPath() []string {
	path := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	if runtime.GOOS == "darwin" {
		path = append(path, "/opt/homebrew/bin")
	}
	return path
}

// systemVariables are what git needs on this system.
func systemVariables() []string { return nil }
