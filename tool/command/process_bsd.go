//go:build unix && !linux

package command

import (
	"os"
	"syscall"
)

// ownSession takes the command out of our terminal and our process group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// workingFolder gives the folder's path. Who exchanges a folder on it in this
// moment decides where the command runs.
func workingFolder(dir *os.File) string { return dir.Name() }

// await waits until the command has ended, and collects it.
func (p *process) await() { p.state, _ = p.proc.Wait() } // there is nobody else who could have collected it

// collect has nothing to do.
func (*process) collect() {}

// trace is nothing: what has left the process group cannot be found.
type trace struct{}

func newTrace(int, string) trace { return trace{} }

func (trace) sweep() {}

// keepDescriptors does nothing: the system has no call for it.
func keepDescriptors() {}
