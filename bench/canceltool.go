package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/command"
	"github.com/parley-run/parley/turn"
)

// deaf is a command with a child and a grandchild. What ignores a signal leaves
// that to its children. The last of them says when all are there.
const deaf = `trap "" HUP INT QUIT TERM USR1 USR2 PIPE ALRM; echo $$ >one; ` +
	`sh -c 'echo $$ >two; sh -c "echo \$\$ >three.new; mv three.new three; exec sleep 600"; exit 1'; exit 1`

// generations are the files with the numbers of the processes.
var generations = []string{"one", "two", "three"}

// cancelTool measures how long a run goes on whose command does not want to end.
func (r *run) cancelTool(ctx context.Context) (err error) {
	if runtime.GOOS == "windows" {
		return nil // there is no such command, and no figure
	}
	dir := filepath.Join(r.dir, "commands")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	cmd, err := command.New(command.Config{Dir: dir, Allowed: [][]string{{"sh", "-c"}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmd.Close()) }()
	runner, err := commandRunner(cmd)
	if err != nil {
		return err
	}
	return r.cancels(ctx, CancelTool,
		func(ctx context.Context, _ int) (time.Duration, error) {
			var pids []int
			journal := turn.NewTranscript()
			_, took, err := stopRun(ctx, runner, question(journal), func(ctx context.Context) error {
				pids, err = awaitPids(ctx, dir)
				return err
			})
			if err == nil {
				err = errors.Join(stopped(journal), gone(pids))
			}
			return took, err
		},
		func(ctx context.Context, _ int) (time.Duration, error) { return killByNumber(ctx, dir) })
}

// commandRunner makes a runner whose model wants the command to be run.
func commandRunner(cmd *command.Command) (*turn.Runner, error) {
	registry, err := tool.New([]tool.Group{{Name: "command", Tools: cmd.Tools()}}, tool.Config{})
	if err != nil {
		return nil, err
	}
	script, err := scripted.Parse("command", fmt.Appendf(nil, "rules: [{say: [{call: {tool: run_command, arguments: {argv: [sh, -c, %q]}}}]}]", deaf))
	if err != nil {
		return nil, err
	}
	model, err := scripted.New(scripted.Config{Name: "bench", Script: script})
	if err != nil {
		return nil, err
	}
	return turn.New(turn.Config{AgentFunc: func(_ context.Context, t parley.TurnContext) (turn.Agent, error) {
		tools, err := registry.For(t.Principal, nil)
		return turn.Agent{Models: []parley.Model{model}, Tools: tools}, err
	}})
}

// awaitPids waits until the three processes are there, and gives their numbers.
func awaitPids(ctx context.Context, dir string) ([]int, error) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(dir, generations[2])); err == nil {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	var pids []int
	for _, name := range generations {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path) //nolint:gosec // G304: a folder of our own
		if err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			return nil, err
		}
		if !alive(pid) {
			return nil, wrong("process %d has ended before it was stopped", pid)
		}
		pids = append(pids, pid)
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return pids, nil
}

// stopped checks that the command was stopped, and not something else.
func stopped(journal *turn.Transcript) error {
	messages := journal.Messages()
	if len(messages) == 2 && len(messages[1].Parts) == 1 {
		if res := messages[1].Parts[0].Result; res != nil && res.IsError && strings.HasPrefix(res.Text, "Canceled:") {
			return nil
		}
	}
	return wrong("a command that was stopped is told of as %+v", messages)
}

// gone fails if one of the processes is there.
func gone(pids []int) error {
	for _, pid := range pids {
		if alive(pid) {
			return wrong("process %d of a command is left", pid)
		}
	}
	return nil
}

// killByNumber starts the same command without a tool, and gives how long it takes
// to kill its processes and to collect it.
func killByNumber(ctx context.Context, dir string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", deaf)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pids, early := awaitPids(ctx, dir)
	start := time.Now()
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			early = errors.Join(early, p.Kill())
		}
	}
	if early != nil {
		_ = cmd.Process.Kill() // it may be dead
	}
	_ = cmd.Wait() // it was killed, and says so
	return time.Since(start), early
}
