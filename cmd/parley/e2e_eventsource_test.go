package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
)

// sourceLine is what an EventSource saw.
type sourceLine struct {
	Type    string
	ID      string
	Seq     uint64
	Data    json.RawMessage
	Live    *string // the text of a reply, as it was put together while it was written
	Open    bool
	Error   *string
	Problem string
}

// source is an EventSource in a process of its own.
type source struct {
	t     *testing.T
	lines chan sourceLine // closed when the process has ended
	seen  []sourceLine
}

// eventSource follows a session with the npm package eventsource.
func eventSource(t *testing.T, url, token string) *source {
	t.Helper()
	const folder = "testdata/eventsource"
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(filepath.Join(folder, "node_modules")); err != nil || missing != nil {
		soak.SkipOrFail(t, "there is no EventSource to test with: make eventsource")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, node, "follow.mjs", url)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TOKEN=" + token}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	s := &source{t: t, lines: make(chan sourceLine, 1<<16)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			var line sourceLine
			if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
				line.Problem = err.Error()
			}
			s.lines <- line
		}
	})
	t.Cleanup(func() {
		stop()
		reading.Wait()
		_ = cmd.Wait() // it was killed
	})
	return s
}

// until reads what the EventSource sees up to something.
func (s *source) until(what string, found func(sourceLine) bool) sourceLine {
	s.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("the EventSource ended before it saw %s; it saw %s", what, s.short())
			}
			s.seen = append(s.seen, line)
			if line.Problem != "" {
				s.t.Error(line.Problem)
			}
			if found(line) {
				return line
			}
		case <-late.C:
			s.t.Fatalf("the EventSource does not see %s; it saw %s", what, s.short())
		}
	}
}

func (s *source) untilType(name string) sourceLine {
	s.t.Helper()
	return s.until(name, func(l sourceLine) bool { return l.Type == name })
}

// untilAnswer gives the next message of the agent.
func (s *source) untilAnswer() (live, stored string) {
	s.t.Helper()
	var m message
	line := s.until("an answer", func(l sourceLine) bool {
		m = message{}
		return l.Type == "session:message" && json.Unmarshal(l.Data, &m) == nil && m.Role == "assistant"
	})
	if line.Live != nil {
		live = *line.Live
	}
	return live, m.text()
}

// short is what was seen, for a message of the test.
func (s *source) short() string {
	var b strings.Builder
	for _, l := range s.seen[max(0, len(s.seen)-40):] {
		fmt.Fprintf(&b, "%s %d %t; ", l.Type, l.Seq, l.Open)
	}
	return b.String()
}

// count gives how many lines there are of a kind.
func (s *source) count(is func(sourceLine) bool) int {
	n := 0
	for _, l := range s.seen {
		if is(l) {
			n++
		}
	}
	return n
}

// stored gives the stored events that were seen.
func (s *source) stored() []frame {
	var all []frame
	for _, l := range s.seen {
		if l.Seq > 0 {
			all = append(all, frame{event: event{Type: l.Type, Seq: l.Seq}})
		}
	}
	return all
}

// TestEventSource_Disconnected breaks the connection of a client a hundred times while
// one reply is written. It ends with the same text as a client that was left alone, and
// has seen no piece of it twice.
func TestEventSource_Disconnected(t *testing.T) {
	t.Parallel()
	const cuts = 100
	dir := t.TempDir()
	model := newLongModel(t, dir, "")
	d := daemonOn(t, dir)
	session := d.open(`{}`)
	path := "/api/sessions/" + session + "/events?after=0"
	proxy := newCutter(t, d, cuts, soak.Seed(t))
	broken, whole := eventSource(t, proxy.url()+path, d.token), eventSource(t, d.url+path, d.token)
	whole.untilType("session:started")
	broken.untilType("session:started")
	d.post("/api/sessions/"+session+"/messages", `{"text":"go on"}`)
	eventually(t, "the connection was broken a hundred times, and stands again", func() bool { return proxy.cut.Load() >= cuts && proxy.live.Load() })
	model.enough.Store(true)

	want, stored := whole.untilAnswer()
	live, same := broken.untilAnswer()
	if want != stored || want != model.said() {
		t.Errorf("who was left alone has %d bytes, %d are stored, %d were sent", len(want), len(stored), len(model.said()))
	}
	if live != want || same != stored {
		t.Errorf("who was disconnected has %d bytes live and %d stored, the other %d and %d", len(live), len(same), len(want), len(stored))
	}
	whole.untilType("session:turn_completed")
	broken.untilType("session:turn_completed")
	checkSeqs(t, whole.stored(), d.events(session))
	checkSeqs(t, broken.stored(), d.events(session))
	if n := whole.count(func(l sourceLine) bool { return l.Open }); n != 1 {
		t.Errorf("who was to be left alone connected %d times", n)
	}
	// Some connections ended inside of their headers, and never were open.
	if n := broken.count(func(l sourceLine) bool { return l.Error != nil }); n < cuts {
		t.Errorf("the client noticed %d disconnections, want %d", n, cuts)
	}
	if n := broken.count(func(l sourceLine) bool { return l.Open }); n < cuts/2 {
		t.Errorf("the client was connected %d times; the connections were not broken in the middle of the reply", n)
	}
}

// TestEventSource_Restart follows a session through the end of its daemon, in the middle
// of a reply.
func TestEventSource_Restart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		closes bool // the stream ends with a last event
	}{
		"terminated": {syscall.SIGTERM, true},
		"killed":     {syscall.SIGKILL, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			model := newLongModel(t, dir, "serve: {drain: 50ms}\n")
			d := daemonOn(t, dir)
			session := d.open(`{}`)
			proxy := newCutter(t, d, 0, 0)
			s := eventSource(t, proxy.url()+"/api/sessions/"+session+"/events?after=0", d.token)
			s.untilType("session:started")
			d.post("/api/sessions/"+session+"/messages", `{"text":"go on"}`)
			for range 20 {
				s.untilType("session:delta")
			}
			before := len(s.seen)
			d.signal(c.signal)
			d.ends()
			s.until("the end of the connection", func(l sourceLine) bool { return l.Error != nil })
			closed := s.count(func(l sourceLine) bool {
				return l.Type == "session:status" && strings.Contains(string(l.Data), "closing")
			})
			if (closed == 1) != c.closes {
				t.Errorf("the stream ended with %d last events", closed)
			}
			d = daemonOn(t, dir)
			proxy.to(d)
			// It is told that what it has of the reply is void: the turn begins again.
			started := s.untilType("session:turn_started")
			var attempt struct{ Attempt int }
			if err := json.Unmarshal(started.Data, &attempt); err != nil || attempt.Attempt < 2 || len(s.seen) <= before {
				t.Errorf("after the restart it saw a turn start with %s, %v", started.Data, err)
			}
			s.untilType("session:delta")
			model.enough.Store(true)
			live, stored := s.untilAnswer()
			if live != stored || stored != model.said() || stored == "" {
				t.Errorf("it has %d bytes live, %d are stored, %d were sent", len(live), len(stored), len(model.said()))
			}
			s.untilType("session:turn_completed")
			checkSeqs(t, s.stored(), d.events(session))
		})
	}
}

// TestEventSource_Unknown comes with a position that the daemon never gave. The answer
// is an event on a stream: an error would make a browser give up.
func TestEventSource_Unknown(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	first, second := d.open(`{}`), d.open(`{}`)
	live := d.follow("/api/sessions/"+first+"/events?after=0", "")
	id := lastID(live.until(t, func(e frame) bool { return e.Seq == 2 }))
	all := d.follow("/api/events", "")
	d.say(first, "hello")
	everywhere := lastID(all.until(t, func(e frame) bool { return e.Type == "session:turn_completed" }))
	for name, c := range map[string]struct{ path, last string }{
		"another session's":       {"/api/sessions/" + second + "/events", id},
		"that of all, for one":    {"/api/sessions/" + first + "/events", everywhere},
		"that of one, for all":    {"/api/events", id},
		"from the future":         {"/api/sessions/" + first + "/events", "99999999"},
		"from the future, opaque": {"/api/sessions/" + first + "/events", strings.Replace(id, ".2", ".99999999", 1)},
		"no number":               {"/api/sessions/" + first + "/events", "nonsense"},
		"too large a number":      {"/api/sessions/" + first + "/events", strings.Repeat("9", 400)},
		"from another store":      {"/api/sessions/" + first + "/events", strings.Replace(id, id[12:20], "AAAAAAAA", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := d.follow(c.path, c.last).rest(t)
			if len(got) != 1 || got[0].Type != "session:resync" {
				t.Errorf("%s at %s gave %v", c.last, c.path, got)
			}
		})
	}
}
