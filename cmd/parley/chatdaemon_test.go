package main_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-run/parley"
)

// TestChat_Daemon: chat goes on in the same conversation, with the daemon and without.
func TestChat_Daemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	id := run.talk(t, "hello")
	daemon := serveFolder(t, dir)
	if got := run.talk(t, "and again"); got != id {
		t.Errorf("with a daemon the conversation is %s, and was %s", got, id)
	}
	run("chat", "--session", last(id), "hello").says2(t, "offline model")
	anew := run.talk(t, "--new", "hello")
	if anew == id {
		t.Error("--new went on in the old conversation")
	}
	if got := run.talk(t, "--new", "--session", "cli:mine", "hello"); got != "cli:mine" {
		t.Errorf("the session is %s", got)
	}
	run("chat", "--session", "cli:none", "hello").complains(t, 1, "--new", "(not_found)")
	run("chat", "--agent", "nobody", "hello").complains(t, 1, "nobody")
	run("chat", "/title Trip to Rome").says(t, 0, "Trip to Rome")
	daemon.end(t, os.Interrupt)
	if got := run.talk(t, "and again"); got != anew {
		t.Errorf("after the daemon the conversation is %s, and was %s", got, anew)
	}
}

// TestChat_DaemonInterrupt: while a daemon answers, ps shows it; Ctrl-C stops the
// answer, and what was said stays.
func TestChat_DaemonInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := onFolder(t, dir)
	serveFolder(t, dir)
	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir, "--new", "--session", "cli:long", "long")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begin, err := bufio.NewReader(out).ReadString('\n') // while the rest is written
	if err != nil {
		t.Fatal(err)
	}
	run("ps").says(t, 0, "SESSION", "cli:long", "main", "running", "WAITING")
	run("sessions", "delete", "cli:long", "--yes").complains(t, 1, "(conflict)")
	var running struct {
		Turns []struct {
			Session parley.SessionID `json:"session_id"`
			State   parley.TurnState
		}
	}
	run("ps", "--json").decode(t, &running)
	if len(running.Turns) != 1 || running.Turns[0].Session != "cli:long" || running.Turns[0].State != parley.TurnRunning {
		t.Errorf("what runs is %+v", running)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status says
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(stderr.String(), "parley: stopped") {
		t.Errorf("status is %d, standard error %q", cmd.ProcessState.ExitCode(), stderr.String())
	}
	run("sessions", "show", "cli:long").says(t, 0, strings.TrimSpace(begin))
	run("sessions", "tail", "cli:long").says(t, 0, "aborted")
	run("chat", "fail").complains(t, 1)
}

// TestChat_DaemonMoves: an answer comes to its end though the daemon dies and comes back at another
// address; who is told to stop while no daemon is there, stops.
func TestChat_DaemonMoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func(word string) (*exec.Cmd, *watched) {
		cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "chat", "--data", dir, word)
		cmd.Env = []string{"HOME=" + t.TempDir()}
		told := newWatched()
		cmd.Stdout, cmd.Stderr = told, told
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, told
	}
	daemon := daemonOn(t, dir)
	acknowledged := func() { // who has no answer to a message sends it again, and says nothing of that
		t.Helper()
		eventually(t, "the message is acknowledged", func() bool { return strings.Contains(daemon.err.String(), `/messages" status=202`) })
	}
	cmd, told := start("slow")
	acknowledged()
	daemon.kill()
	eventually(t, "the loss is told", func() bool { return strings.Contains(told.String(), "the connection is lost") })
	daemon = daemonOn(t, dir)
	if err := cmd.Wait(); err != nil || !strings.Contains(told.String(), "That took five seconds") {
		t.Errorf("%v: %s", err, told)
	}
	cmd, told = start("slow")
	acknowledged()
	daemon.kill()
	eventually(t, "the loss is told", func() bool { return strings.Contains(told.String(), "the connection is lost") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the status says
	if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(told.String(), "no daemon runs") {
		t.Errorf("status is %d: %s", cmd.ProcessState.ExitCode(), told)
	}
}
