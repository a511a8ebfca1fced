package chat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
	"github.com/parley-run/parley/internal/soak"
)

// TestSoak: after a long time of use there are as many goroutines as at its start, and
// about as much memory.
func TestSoak(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process, so it is alone
	f := newFake()
	f.add("cli:a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in, keys := io.Pipe()
	s := &soaking{t: t, fake: f, keys: keys, out: newDisplay()}
	done := make(chan error, 1)
	go func() {
		done <- chat.Run(ctx, f, chat.Config{
			Session: parley.Session{ID: "cli:a"}, Me: []parley.IdentityID{me}, In: in, Out: s.out,
			Environ: []string{"TERM=xterm-256color"}, Width: 80, Height: 24,
		})
	}()
	s.sees("A conversation with main")
	const warmUp = 20
	var goroutines int
	var memory uint64
	for i := range warmUp + soak.Count(100, 1000) {
		if i == warmUp {
			goroutines, memory = runtime.NumGoroutine(), inUse()
		}
		s.round(i)
	}
	s.until("no more goroutines than at the start", func() bool { return runtime.NumGoroutine() <= goroutines })
	if now := inUse(); now > memory+8<<20 {
		t.Errorf("%d KiB were in use, and now it is %d KiB", memory>>10, now>>10)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = keys.Close() // nobody types any more
}

// inUse gives the memory that is in use.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// soaking is a program that is used for a long time.
type soaking struct {
	*fake

	t    *testing.T
	keys io.Writer
	out  *display
}

// Keys as a terminal sends them.
const (
	ctrlP, ctrlU    = "\x10", "\x15"
	keyF1           = "\x1bOP"
	pageUp, ctrlEnd = "\x1b[5~", "\x1b[1;5F"
	pasteOn         = "\x1b[200~"
	pasteOff        = "\x1b[201~"
)

// round looks around, pastes, loses the connection, says something that is answered piece by
// piece, and has the session read anew.
func (s *soaking) round(i int) {
	s.t.Helper()
	s.press(ctrlP + "words" + ctrlP + keyF1 + "q" + pageUp + ctrlEnd)
	s.press(pasteOn + strings.Repeat("a line\r", 200) + pasteOff + ctrlU)
	s.watcher()(errors.New("gone"))
	s.watcher()(nil)
	s.press("hello\r")
	s.until("the message", func() bool { return len(s.posted()) > i })
	turn, answer := parley.TurnID(fmt.Sprint("t", i)), fmt.Sprint("r", i)
	s.says("cli:a", turn, s.posted()[i].input.Ref.ID, "hello")
	// A letter that was not there before is drawn in any case.
	mark := string(rune(0x4e00 + 2*i))
	for n := range 50 {
		s.delta("cli:a", turn, "s"+answer, n+1, parley.PartText, "word ")
	}
	s.delta("cli:a", turn, "s"+answer, 51, parley.PartText, mark)
	s.sees(mark)
	s.answers("cli:a", turn, answer, strings.Repeat("word ", 50)+mark)
	s.resync("cli:a", parley.ResyncUnknown)
	again := string(rune(0x4e00 + 2*i + 1))
	s.event("cli:a", "", "", &parley.Message{ID: "n" + answer, Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(again)}})
	s.sees(again)
}

func (s *soaking) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// sees waits until something is drawn, and forgets what was drawn until then.
func (s *soaking) sees(text string) {
	s.t.Helper()
	s.until(text, func() bool { return s.out.has(text) })
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	s.out.text.Reset()
}

func (s *soaking) until(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited for this, and it did not come: %s; there are %d goroutines", what, runtime.NumGoroutine())
		}
	}
}
