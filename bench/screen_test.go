package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/pty"
)

// TestScreen: what was waited for is seen once, and a program that ends too early is
// told from one that shows what it should.
func TestScreen(t *testing.T) {
	t.Parallel()
	if !pty.Supported {
		t.Skip("there are no terminals here")
	}
	s, err := openScreen(exec.CommandContext(t.Context(), "sh", "-c", `stty -echo; echo first; read -r line; echo "got $line"; read -r end; echo last`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.shows(t.Context(), "fi", "first"); err != nil {
		t.Error(err)
	}
	if err := s.press("something\r"); err != nil {
		t.Error(err)
	}
	if at, err := s.shows(t.Context(), "got something"); err != nil || at.Before(s.started) {
		t.Errorf("shown at %v, %v", at, err)
	}
	if err := s.press("\r"); err != nil {
		t.Error(err)
	}
	if _, err := s.shows(t.Context(), "first"); !errors.Is(err, parley.ErrInternal) || !strings.Contains(err.Error(), "last") {
		t.Errorf("what was seen before counts: %v", err)
	}
	if err := s.end(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestScreen_Fails(t *testing.T) {
	t.Parallel()
	if !pty.Supported {
		t.Skip("there are no terminals here")
	}
	s, err := openScreen(exec.CommandContext(t.Context(), "sh", "-c", "exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.end(t.Context()); err == nil {
		t.Error("a program that failed has ended well")
	}
	s, err = openScreen(exec.CommandContext(t.Context(), "sleep", "1000"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.shows(ctx, "anything"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context: %v", err)
	}
	s.kill()
}

// TestFast: an answer begins and ends as it was ordered, and nobody gets one that was
// not.
func TestFast(t *testing.T) {
	t.Parallel()
	f, err := startFast(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	post := func() (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/v1/chat/completions", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return res.StatusCode, string(body)
	}
	if status, _ := post(); status != http.StatusBadRequest {
		t.Errorf("nobody ordered an answer, and the status is %d", status)
	}
	answer := f.expect("<", ">")
	close(answer.stop)
	status, body := post()
	if status != http.StatusOK || !strings.Contains(body, `"content":"< "`) || !strings.Contains(body, `\n\n>"},"finish_reason":"stop"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("status %d: %s", status, body)
	}
	if at := <-answer.ended; at.IsZero() {
		t.Error("it does not say when it ended")
	}
	if err := f.close(); err != nil || f.rate() <= 0 {
		t.Errorf("%.0f deltas a second, %v", f.rate(), err)
	}
}

func TestFastWord(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for n := range 800 {
		text.WriteString(fastWord(n))
	}
	for part, times := range map[string]int{"\n```go\n": 2, "\n```\n": 2, "\n- **more**": 18, "word()\n": 8} {
		if got := strings.Count(text.String(), part); got != times {
			t.Errorf("%q is there %d times", part, got)
		}
	}
}

func TestChat_NeedsAProgram(t *testing.T) {
	t.Parallel()
	if !pty.Supported {
		t.Skip("it says so at once")
	}
	open := func(context.Context, string) (parley.Store, error) { return nil, errors.New("not called") }
	if _, err := Chat(t.Context(), Config{OpenFunc: open, Dir: t.TempDir()}); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("without a program: %v", err)
	}
	broken := func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "BENCH_BROKEN=there is no disk") // it ends at once
		return cmd
	}
	cfg := Config{
		OpenFunc: open, Dir: t.TempDir(), Only: []string{ChatKey},
		ServeFunc:   func(ctx context.Context, _ string) *exec.Cmd { return broken(ctx) },
		ProgramFunc: func(ctx context.Context, _ ...string) *exec.Cmd { return broken(ctx) },
	}
	if _, err := Chat(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "there is no disk") {
		t.Errorf("the daemon ended at once, and the run says %v", err)
	}
	left, err := os.ReadDir(cfg.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("the run left %v, %v", left, err)
	}
	if s, err := openScreen(exec.CommandContext(t.Context(), fmt.Sprintf("%s/none", cfg.Dir))); err == nil {
		s.kill()
		t.Error("a program that is not there has started")
	}
}
