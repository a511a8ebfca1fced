package git

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: what git starts is not found again.
func ownGroup(*exec.Cmd) {}

// endGroup ends git. It may leave a lock behind.
func endGroup(p *os.Process) error { return p.Kill() }

// killGroup does nothing.
func killGroup(*os.Process) {}

// noHome is a folder that does not exist.
const noHome = `C:\nonexistent`

func systemPath() []string {
	return []string{`C:\Program Files\Git\cmd`, os.Getenv("SystemRoot") + `\System32`}
}

// systemVariables are what git needs on this system.
func systemVariables() []string { return []string{"SystemRoot=" + os.Getenv("SystemRoot")} }
