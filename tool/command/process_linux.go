package command

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownSession takes the command out of our terminal and our process group, and has
// it killed if we die: more exactly, if the thread ends that started it.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// workingFolder names the folder that is open, whatever its path leads to by then.
// The child has the descriptor until it becomes the command.
func workingFolder(dir *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) }

// await waits until the command has ended, and leaves it to be collected, so that
// nothing else gets its number in the meantime.
func (p *process) await() {
	for errors.Is(unix.Waitid(unix.P_PID, p.proc.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// collect takes note of how the command ended.
func (p *process) collect() { p.state, _ = p.proc.Wait() } // it has ended: there is nothing to fail

// trace is what identifies the processes that a command started.
type trace struct {
	session int
	since   uint64 // when the command was started, in ticks
	mark    []byte // in the environment
}

func newTrace(pid int, marked string) trace {
	t := trace{session: pid, mark: []byte(marked)}
	if s, ok := statusOf(pid); ok {
		t.since = s.began
	}
	return t
}

// sweepFor is how long a sweep takes at most, and maxVanished how often it looks
// again because a process has vanished that may have started another before.
const (
	sweepFor    = time.Second
	maxVanished = 3
)

// sweep kills what the command started and what is not in its process group any
// more: the rest of its session, and every process whose environment has the mark.
// It looks again until nothing is found, since what it kills may have started more.
func (t trace) sweep() {
	timer := time.NewTimer(sweepFor)
	defer timer.Stop()
	for round := 1; ; round++ {
		found := t.round()
		if found[isOurs] == 0 && found[isUnclear] == 0 && (found[isGone] == 0 || round >= maxVanished) {
			return
		}
		pause := time.NewTimer(time.Millisecond)
		select {
		case <-pause.C:
		case <-timer.C:
			pause.Stop()
			return
		}
	}
}

// belongs says what a process is to a command.
type belongs int

const (
	isForeign belongs = iota
	isOurs
	isUnclear // it is about to become another command, and has no environment
	isGone
)

// round kills once what is found, and counts what there was.
func (t trace) round() (found [isGone + 1]int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return found // without it, nothing can be found
	}
	defer dir.Close() //nolint:errcheck // it was only read
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == t.session || pid == os.Getpid() {
			continue
		}
		is := t.owns(pid)
		if is == isOurs {
			t.killOne(pid)
		}
		found[is]++
	}
	return found
}

// owns says whether the command, or what it started, started the process.
func (t trace) owns(pid int) belongs {
	s, ok := statusOf(pid)
	switch {
	case !ok:
		return isGone
	case s.began < t.since || s.kernel:
		return isForeign
	case s.state == 'Z' || s.state == 'X':
		return isGone
	case s.session == t.session:
		return isOurs
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	switch {
	case errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist):
		return isGone
	case err != nil:
		return isForeign // another user's
	case len(env) == 0 && !s.bare:
		return isUnclear
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(v, t.mark) {
			return isOurs
		}
	}
	return isForeign
}

// killOne kills a process, if it is still one that the command started when it can
// no longer be taken for another.
func (t trace) killOne(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it is gone
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	if t.owns(pid) == isOurs {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // if it may not be killed, the next round will not help
	}
}

// status is what the system says about a process.
type status struct {
	state   byte
	session int
	began   uint64
	kernel  bool // it is none of a user's
	bare    bool // its environment is empty, and stays so
}

// statusOf reads /proc/PID/stat. The second field is the command's name in
// parentheses and may hold anything.
func statusOf(pid int) (s status, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, false
	}
	_, rest, found := strings.Cut(string(data[max(0, bytes.LastIndexByte(data, ')')):]), ") ")
	fields := strings.Fields(rest) // from the third on
	if !found || len(fields) < 49 {
		return s, false
	}
	s.state = fields[0][0]
	s.kernel = fields[1] == "2" // the parent of all that the kernel starts
	s.session, _ = strconv.Atoi(fields[3])
	s.bare = fields[47] == fields[48] && fields[48] != "0" // where its environment begins and ends
	s.began, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err == nil
}

// keepDescriptors sees to it that commands do not get what Parley itself was
// started with, such as sockets: only what Go opens is closed by itself.
func keepDescriptors() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) } // since Linux 5.11
