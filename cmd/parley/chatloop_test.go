package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley/config"
)

// screen is what a terminal shows, which a test can wait for.
type screen struct {
	mu   sync.Mutex
	cond *sync.Cond
	text bytes.Buffer
	seen int // up to where the test has read
	over bool
}

func newScreen() *screen {
	s := &screen{}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cond.Broadcast()
	return s.text.Write(p)
}

// end says that nothing more is shown, and gives what was.
func (s *screen) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.cond.Broadcast()
	return "it ended: " + s.text.String()
}

// await waits until a text is shown, behind the one awaited before.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if i := strings.Index(s.text.String()[s.seen:], text); i >= 0 {
			s.seen += i + len(text)
			return
		}
		if s.over {
			t.Fatalf("it ended without %q:\n%s", text, s.text.String())
		}
		s.cond.Wait()
	}
}

// TestChatLoop types, as somebody at a terminal does.
func TestChatLoop(t *testing.T) {
	t.Parallel()
	keys, typed := io.Pipe()
	shown, data := newScreen(), t.TempDir()
	a := &app{
		in: keys, out: shown, err: shown, inTerminal: true, outTerminal: true,
		getenv: func(string) string { return "" }, environ: func() []string { return nil },
	}
	text := `agents: {main: {model: scripted/a, tools: [files], policy: [{tool: write_file, effect: approve}]}}
models: {scripted/a: {script: a.yaml}}
`
	answers := `rules:
  - when: {starts: write}
    say: [{call: {tool: write_file, arguments: {path: "${user}", content: x}}}]
  - when: {after_tool: write_file, failed: true}
    say: it was not written
  - when: {after_tool: write_file}
    say: it was written
  - when: {starts: color}
    say: "a \u001b[31mred\u001b[0m word"
  - say: "you said ${user}"
`
	for name, content := range map[string]string{config.FileName: text, "a.yaml": answers} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan int, 1)
	go func() {
		done <- a.execute(t.Context(), []string{"chat", "--data", data})
		_ = keys.CloseWithError(errors.New(shown.end()))
	}()
	long := "write " + strings.Repeat("x", 200) + "  " + strings.Repeat("y", 200) // two spaces
	for _, step := range [][]string{
		{"hello", "you said hello\n", "offline"},
		{long, `"path":"` + long + `"`, "allow it? [y/N] "},
		{"n", "it was not written\n"},
		{""},
		{"write one", "write_file needs your approval", "allow it? [y/N] "},
		{"y", "the call is approved", "it was written\n"},
		{"write two", "allow it? [y/N] "},
		{"no", "the call is denied", "it was not written\n"},
		{"color", "a [31mred[0m word\n"},
		{"/reset", "cli:"},
		{"hello again", "the conversation goes on in cli:", "you said hello again\n"},
	} {
		if _, err := io.WriteString(typed, step[0]+"\n"); err != nil {
			t.Fatal(err)
		}
		for _, want := range step[1:] {
			shown.await(t, want)
		}
	}
	shown.await(t, "> ")
	if err := typed.Close(); err != nil {
		t.Fatal(err)
	}
	if status := <-done; status != 0 {
		t.Errorf("it ended with %d:\n%s", status, shown.text.String())
	}
	for name, want := range map[string]bool{"write one": true, "write two": false} {
		if _, err := os.Stat(filepath.Join(data, "agents", "main", name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// TestAsk: what was typed before a question is no answer to it, and is not lost; nor is
// the end of the input.
func TestAsk(t *testing.T) {
	t.Parallel()
	asked := time.Now()
	before, after := asked.Add(-time.Second), asked.Add(time.Second)
	for name, test := range map[string]struct {
		typed []typed
		yes   bool
		ahead []typed
	}{
		"yes":       {[]typed{{"yes\n", after, nil}}, true, nil},
		"no":        {[]typed{{"\n", after, nil}}, false, nil},
		"ahead":     {[]typed{{"then this\n", before, nil}, {"y\n", after, nil}}, true, []typed{{"then this\n", before, nil}}},
		"yes ahead": {[]typed{{"y\n", before, nil}, {"n\n", after, nil}}, false, []typed{{"y\n", before, nil}}},
		"end":       {[]typed{{"", after, io.EOF}}, false, []typed{{err: io.EOF}}},
		"end ahead": {[]typed{{"y", before, io.EOF}}, false, []typed{{"y", before, io.EOF}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := make(chan typed, len(test.typed))
			for _, line := range test.typed {
				lines <- line
			}
			x := &exchange{talk: &talk{lines: lines}}
			yes, answered, err := x.ask(t.Context(), asked, asked.Add(time.Hour))
			if yes != test.yes || !answered || err != nil || !slices.Equal(x.talk.ahead, test.ahead) {
				t.Errorf("got %v %v %v, ahead %v", yes, answered, err, x.talk.ahead)
			}
		})
	}
	x := &exchange{talk: &talk{ahead: []typed{{"first\n", before, nil}}}}
	if line, ok := x.talk.next(); !ok || line.text != "first\n" || len(x.talk.ahead) != 0 {
		t.Errorf("next is %v %v", line, ok)
	}
}
