package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/parley-run/parley/internal/pty"
)

// The size of the terminal that is measured in, and how long the program may take to
// show something, or to end.
const (
	screenCols, screenRows = 120, 40
	screenLimit            = 30 * time.Second
)

// screen is the terminal program, running. One goroutine reads what it draws, until it
// ends; the rest is for one goroutine.
type screen struct {
	cmd     *exec.Cmd
	outer   *os.File
	started time.Time
	drawn   chan drawn
	text    []byte // what was drawn since the last thing that was waited for
}

// drawn is a part of what the program drew, and when it came.
type drawn struct {
	at   time.Time
	text []byte
}

// openScreen starts the terminal program.
func openScreen(cmd *exec.Cmd) (*screen, error) {
	s := &screen{cmd: cmd, started: time.Now(), drawn: make(chan drawn, 1024)}
	var err error
	if s.outer, err = pty.Start(cmd, screenCols, screenRows); err != nil {
		return nil, fmt.Errorf("start the terminal program: %w", err)
	}
	go s.read()
	return s, nil
}

func (s *screen) read() {
	defer close(s.drawn)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.outer.Read(buf)
		if n > 0 {
			s.drawn <- drawn{time.Now(), bytes.Clone(buf[:n])}
		}
		if err != nil {
			return // the program has ended, or it is not looked at any more
		}
	}
}

// press sends keys.
func (s *screen) press(keys string) error {
	_, err := s.outer.WriteString(keys)
	return err
}

// shows waits until all the texts were drawn, and gives when that was. What was drawn
// before the last call returned does not count.
func (s *screen) shows(ctx context.Context, texts ...string) (time.Time, error) {
	limit := time.NewTimer(screenLimit)
	defer limit.Stop()
	for {
		select {
		case d, ok := <-s.drawn:
			if !ok {
				return time.Time{}, wrong("the terminal program ended before it showed %q; it drew %q", texts, tail(s.text))
			}
			if s.text = append(s.text, d.text...); containsAll(s.text, texts) {
				s.text = s.text[:0]
				return d.at, nil
			}
		case <-limit.C:
			return time.Time{}, wrong("the terminal program did not show %q within %s; it drew %q", texts, screenLimit, tail(s.text))
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

func containsAll(text []byte, parts []string) bool {
	for _, part := range parts {
		if !bytes.Contains(text, []byte(part)) {
			return false
		}
	}
	return true
}

// tail gives the end of something long.
func tail(text []byte) []byte { return text[max(0, len(text)-1000):] }

// leave ends the program as a person does: nothing may be written in its input.
func (s *screen) leave(ctx context.Context) error {
	err := s.press("\x04")
	return errors.Join(err, s.end(ctx))
}

// end waits until the program has ended, and kills it if it does not.
func (s *screen) end(ctx context.Context) error {
	late := time.AfterFunc(screenLimit, func() { _ = s.cmd.Process.Kill() }) // it is waited for below
	defer late.Stop()
	for range s.drawn { // what it draws last
	}
	err := s.cmd.Wait()
	if e := s.outer.Close(); err == nil {
		err = e
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the terminal program ended: %w", err)
	}
	return nil
}

// kill ends the program in the middle of something.
func (s *screen) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	for range s.drawn {
	}
	_ = s.cmd.Wait() // it was killed
	_ = s.outer.Close()
}
