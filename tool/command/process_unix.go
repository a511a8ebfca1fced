//go:build unix

package command

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// process is a command in a session, and so a process group, of its own.
type process struct {
	exited chan struct{} // closed when it has ended, collected or not
	proc   *os.Process
	state  *os.ProcessState
	trace
}

// start starts the command. The goroutine that calls it has to be locked to its
// thread until the command has ended: see [ownSession].
func (p *process) start(plan *plan, files []*os.File) error {
	proc, err := os.StartProcess(plan.path, plan.argv, &os.ProcAttr{
		Dir: workingFolder(plan.dir), Env: plan.env, Files: files, Sys: ownSession(),
	})
	runtime.KeepAlive(plan.dir)
	if err != nil {
		return err
	}
	p.proc, p.exited = proc, make(chan struct{})
	p.trace = newTrace(proc.Pid, plan.env[len(plan.env)-1])
	go func() {
		p.await()
		close(p.exited)
	}()
	return nil
}

// kill kills the command and what it started, and collects it. If it does not end,
// which [killFor] is about, the goroutine that waits for it does so for longer.
func (p *process) kill() {
	// Fails if nobody is left, which is what is wanted.
	_ = syscall.Kill(-p.proc.Pid, syscall.SIGKILL)
	timer := time.NewTimer(killFor)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		return
	}
	p.sweep()
	p.collect()
}

// status gives the exit code, or the signal that ended the command.
func (p *process) status() (code int, signal string) {
	if p.state == nil {
		return -1, ""
	}
	if ws, ok := p.state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return p.state.ExitCode(), ""
}

// noHome is a folder that does not exist.
const noHome = "/nonexistent"

// endings are what may be left away at the end of a command's name.
var endings = []string{""}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func systemPath() []string {
	path := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	if runtime.GOOS == "darwin" {
		path = append(path, "/opt/homebrew/bin")
	}
	return path
}

// systemVariables are what commands need on this system.
func systemVariables() map[string]string { return nil }
