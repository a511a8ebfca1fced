package command

import (
	"os"
	"strings"
	"syscall"
)

// process is a command. What it starts is not found again.
type process struct {
	exited chan struct{} // closed when it has ended
	proc   *os.Process
	state  *os.ProcessState
}

func (p *process) start(plan *plan, files []*os.File) error {
	proc, err := os.StartProcess(plan.path, plan.argv, &os.ProcAttr{
		Dir: plan.dir.Name(), Env: plan.env, Files: files, Sys: &syscall.SysProcAttr{HideWindow: true},
	})
	if err != nil {
		return err
	}
	p.proc, p.exited = proc, make(chan struct{})
	go func() {
		p.state, _ = proc.Wait() // there is nobody else who could have collected it
		close(p.exited)
	}()
	return nil
}

// kill kills the command, and waits for it.
func (p *process) kill() {
	_ = p.proc.Kill() // it has ended already, or it ends
	<-p.exited
}

func (p *process) status() (code int, signal string) {
	if p.state == nil {
		return -1, ""
	}
	return p.state.ExitCode(), ""
}

// noHome is a folder that does not exist.
const noHome = `C:\nonexistent`

// endings are what may be left away at the end of a command's name. Scripts (.bat,
// .cmd) are not run: they take their arguments apart in ways of their own.
var endings = []string{"", ".exe"}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && strings.HasSuffix(strings.ToLower(path), ".exe")
}

func systemPath() []string {
	root := os.Getenv("SystemRoot")
	return []string{root + `\System32`, root, `C:\Program Files\Git\cmd`}
}

// systemVariables are what commands need on this system.
func systemVariables() map[string]string {
	return map[string]string{"SystemRoot": os.Getenv("SystemRoot")}
}

// keepDescriptors does nothing: a child gets what it is given.
func keepDescriptors() {}
