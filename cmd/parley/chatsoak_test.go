package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/internal/terminal"
)

// soakScript is what the agent answers in the long run: each answer can be told from the
// others.
const soakScript = `
rules:
  - when: {matches: '^count (?P<n>\d+)'}
    say:
      - "Counting. "
      - {words: 400, pace: 2ms}
      - "\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nCounted ${n}."
  - when: {matches: '^forever (?P<n>\d+)'}
    say:
      - "On and on ${n}. "
      - {words: 50000, pace: 5ms}
  - when: {matches: '^write \d+', offers: write_file}
    say:
      - reasoning: It is only a file.
      - call: {tool: write_file, arguments: {path: a.txt, content: "first line\nsecond line\n"}}
  - when: {after_tool: write_file, matches: '^write (?P<n>\d+)'}
    say: "Asked ${n}."
  - when: {matches: '^(?P<word>[a-z]+ \d+)'}
    say: "Heard ${word}."
`

// soakRun is a person who uses the program for a long time.
type soakRun struct {
	t      *testing.T
	term   *terminal.Terminal
	random *rand.Rand
	dir    string
	daemon *process
	n      int // of the message
}

// TestSoak: a long time of use leaves no file open that was not, and takes no memory.
func TestSoak(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("files and memory of another process are not known here")
	}
	dir := t.TempDir()
	put(t, dir, "script.yaml", soakScript)
	put(t, dir, "parley.yaml", `agents: {main: {model: scripted/test, tools: [files], policy: [{tool: write_file, effect: approve}]}}
models: {scripted/test: {script: script.yaml}}
`)
	s := &soakRun{t: t, random: rand.New(rand.NewPCG(soak.Seed(t), 1)), dir: dir, daemon: daemonOn(t, dir)}
	s.term = onScreen(t, 80, 24, dir)
	done := map[string]int{}
	// Each of them once, so that all that is made once is there.
	for _, a := range soakActions {
		a.do(s)
		done[a.name]++
	}
	files, early := s.rests()
	total := time.Duration(soak.Count(3, 30)) * time.Minute
	begin, late := time.Now(), 0
	for time.Since(begin) < total {
		a := soakActions[s.random.IntN(len(soakActions))]
		a.do(s)
		done[a.name]++
		if now := residentOf(t, s.term.PID()); time.Since(begin) < total/3 {
			early = max(early, now)
		} else if time.Since(begin) > total*2/3 {
			late = max(late, now)
		}
	}
	filesAfter, after := s.rests()
	t.Logf("%v; %d MiB at most in the first third, %d MiB in the last, %d MiB in the end; files %v, then %v", done, early, late, after, files, filesAfter)
	for kind, n := range filesAfter {
		if kind == "socket" && n <= restingSockets {
			continue
		}
		if n > files[kind] {
			t.Errorf("%d files are open of the kind %s, and there were %d", n, kind, files[kind])
		}
	}
	if late > early+early/4+soakSlack {
		t.Errorf("the program took %d MiB at most in the first third of the time, and %d MiB in the last", early, late)
	}
	leaves(t, s.term)
	onFolder(t, dir)("doctor").says(t, 0)
}

const (
	// restingSockets is what a program keeps open that does nothing: the stream of its
	// session, and two connections for the next requests.
	restingSockets = 3
	// soakSlack is how many MiB more may be in use by chance.
	soakSlack = 8
)

// soakActions are what the person does.
var soakActions = []struct {
	name string
	do   func(*soakRun)
}{
	{"talk", (*soakRun).talk},
	{"stream", (*soakRun).stream},
	{"stop", (*soakRun).stop},
	{"paste", (*soakRun).paste},
	{"approval", (*soakRun).approval},
	{"picker", (*soakRun).picker},
	{"help", (*soakRun).help},
	{"fold", (*soakRun).fold},
	{"resize", (*soakRun).resize},
	{"anew", (*soakRun).anew},
	{"restart", (*soakRun).restart},
}

// say sends a message that begins with a word, and gives its number.
func (s *soakRun) say(word string) string {
	s.t.Helper()
	s.n++
	n := strconv.Itoa(s.n)
	says(s.term, word+" "+n)
	return n
}

// settled waits until nothing happens, and nothing is written.
func (s *soakRun) settled() {
	s.t.Helper()
	s.term.WaitGone("working", "stopping", "waits for you", "reconnecting", "sending", "waiting · ", "resuming…", "reading…")
	s.term.WaitFor("> Write a message")
}

func (s *soakRun) talk() {
	s.t.Helper()
	s.term.WaitFor("Heard word " + s.say("word") + ".")
	s.settled()
}

// stream has a long answer written, and looks around meanwhile.
func (s *soakRun) stream() {
	s.t.Helper()
	n := s.say("count")
	s.term.WaitFor("working")
	s.term.Send("PageUp", "PageUp", "PageDown")
	s.resize()
	s.term.Send("C-End")
	s.term.WaitFor("Counted " + n + ".")
	s.settled()
}

// stop stops an answer, after a message that was to wait for it was taken back.
func (s *soakRun) stop() {
	s.t.Helper()
	s.term.WaitFor("On and on " + s.say("forever") + ".")
	s.say("later")
	s.term.WaitFor("1 message waiting")
	s.term.Send("C-q")
	s.term.WaitFor("d take back")
	s.term.Send("d")
	s.term.WaitGone("1 message waiting")
	s.term.Send("Escape")
	s.term.WaitFor("· stopped")
	s.settled()
}

// paste pastes a lot, and sends it or not.
func (s *soakRun) paste() {
	s.t.Helper()
	lines := 500 + s.random.IntN(3000)
	s.n++
	s.term.Type(fmt.Sprintf("paste %d ", s.n))
	s.term.Paste(strings.TrimSuffix(strings.Repeat("a line that was pasted\n", lines), "\n"))
	s.term.WaitFor(" lines")
	if s.random.IntN(3) > 0 {
		s.term.Send("C-u")
	} else {
		s.term.Send("Enter")
		s.term.WaitFor(fmt.Sprintf("Heard paste %d.", s.n))
	}
	s.settled()
}

// approval lets a call run, or refuses it.
func (s *soakRun) approval() {
	s.t.Helper()
	n, key := s.say("write"), []string{"y", "n"}[s.random.IntN(2)]
	s.term.WaitFor("write_file needs your approval")
	s.term.WaitUntil("the question takes the answer", func(screen string) bool {
		if strings.Contains(screen, "y once") {
			s.term.Send(key) // until it takes it: what comes too early is no answer
		}
		return strings.Contains(screen, "Asked "+n+".")
	})
	s.term.Send("C-u") // what came too late
	s.settled()
}

// picker looks for another conversation, and goes there or not.
func (s *soakRun) picker() {
	s.t.Helper()
	s.term.Send("C-p")
	s.term.WaitFor("Conversations", " found")
	s.term.Type("main")
	s.term.WaitFor("search: main")
	s.term.Send("C-u")
	if s.random.IntN(2) == 0 {
		s.term.Send("Down", "Enter")
	} else {
		s.term.Send("Escape")
	}
	s.term.WaitGone("search:")
	s.settled()
}

func (s *soakRun) help() {
	s.t.Helper()
	s.term.Send("F1")
	s.term.WaitFor("any key goes back")
	s.term.Send("Escape")
	s.term.WaitGone("any key goes back")
}

// fold opens what is folded, and folds it again.
func (s *soakRun) fold() {
	s.t.Helper()
	s.approval() // its call and its thoughts are folded
	s.term.Send("BTab", "Enter")
	s.term.WaitUntil("something is chosen", func(string) bool { return s.term.State().CursorHidden })
	s.term.Send("Enter", "Escape")
	s.term.WaitUntil("the cursor in the input", func(string) bool { return !s.term.State().CursorHidden })
	s.settled()
}

func (s *soakRun) resize() {
	s.t.Helper()
	cols, rows := 60+s.random.IntN(140), 15+s.random.IntN(40)
	s.term.Resize(cols, rows)
	s.term.WaitUntil("the status in the last line", statusIn(rows))
}

// freshStart is what a new conversation begins with, on a line or two.
var freshStart = regexp.MustCompile(`a fresh start; what was said\s+before\s+is\s+in\s+\S+`)

// anew starts the conversation over. The new one names the one before, which may have said
// the same of another.
func (s *soakRun) anew() {
	s.t.Helper()
	before := freshStart.FindString(s.term.Screen())
	says(s.term, "/new")
	s.term.WaitUntil("another fresh start", func(screen string) bool {
		now := freshStart.FindString(screen)
		return now != "" && strings.Join(strings.Fields(now), " ") != strings.Join(strings.Fields(before), " ")
	})
	s.settled()
}

// restart has the daemon stop, or killed, and comes back.
func (s *soakRun) restart() {
	s.t.Helper()
	if s.random.IntN(2) == 0 {
		s.daemon.kill()
	} else {
		s.daemon.stop()
	}
	s.term.WaitFor("reconnecting")
	s.n++
	word := fmt.Sprintf("meanwhile %d", s.n)
	says(s.term, word)
	s.daemon = daemonOn(s.t, s.dir)
	s.term.WaitFor("Heard " + word + ".")
	s.settled()
}

// rests gives how many files of each kind are open, and the memory in MiB, once the program
// has come to rest.
func (s *soakRun) rests() (files map[string]int, resident int) {
	s.t.Helper()
	s.anew()
	s.term.WaitUntil("no more sockets than a resting program has", func(string) bool {
		files = openFiles(s.t, s.term.PID())
		return files["socket"] <= restingSockets
	})
	return files, residentOf(s.t, s.term.PID())
}

// openFiles counts the files that a process has open, by kind.
func openFiles(t *testing.T, pid int) map[string]int {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it was closed meanwhile
		}
		kind, _, _ := strings.Cut(name, ":")
		kinds[kind]++
	}
	return kinds
}

// residentOf gives the memory of a process in MiB.
func residentOf(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}
