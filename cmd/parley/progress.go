package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

// progress is one line on a terminal that is drawn anew while work goes on.
// Work that is over within a second never shows it.
type progress struct {
	out io.Writer // nil: nowhere

	mu          sync.Mutex // guards what follows
	step        string
	since       time.Time // when this step began
	done, total int64
	shown       bool

	quit    chan struct{}
	drawing sync.WaitGroup
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	progressWidth = 79
)

// startProgress begins to draw, if there is a terminal. Call stop in the end.
func (a *app) startProgress() *progress {
	p := &progress{quit: make(chan struct{})}
	if !a.terminal {
		return p
	}
	p.out = a.err
	start := time.Now()
	p.drawing.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.quit:
				return
			case now := <-tick.C:
				if now.Sub(start) >= progressAfter {
					p.draw(now)
				}
			}
		}
	})
	return p
}

// fn gives the function that work reports to, or nil if nobody looks.
func (p *progress) fn() func(step string, done, total int64) {
	if p.out == nil {
		return nil
	}
	return func(step string, done, total int64) { p.update(time.Now(), step, done, total) }
}

func (p *progress) update(now time.Time, step string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step != p.step {
		p.step, p.since = step, now
	}
	p.done, p.total = done, total
}

func (p *progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.step == "" {
		return
	}
	p.shown = true
	// A terminal that cannot be written to is no reason to stop the work.
	_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s", progressLine(p.step, p.done, p.total, now.Sub(p.since)))
}

// stop takes the line away.
func (p *progress) stop() {
	close(p.quit)
	p.drawing.Wait()
	if p.shown {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}

// progressLine says how far a step is and, once that can be told, how long it
// will still take.
func progressLine(step string, done, total int64, took time.Duration) string {
	line := step
	switch {
	case total > 0:
		line += fmt.Sprintf("  %d%%", 100*done/total)
		if took > 2*time.Second && done > 0 && done < total {
			left := time.Duration(float64(took) * float64(total-done) / float64(done))
			line += fmt.Sprintf("  about %s left", left.Round(time.Second))
		}
	case done > 0:
		line += fmt.Sprintf("  %s  %s", thousands(done), took.Round(time.Second))
	default:
		line += fmt.Sprintf("  %s", took.Round(time.Second))
	}
	for utf8.RuneCountInString(line) > progressWidth {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return line
}

// isTerminal reports whether a line on f can be drawn anew.
func isTerminal(f *os.File, getenv func(string) string) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && getenv("TERM") != "dumb" && getenv("TERM") != ""
}

// isPerson reports whether somebody sits at f: it is a terminal of whatever kind.
func isPerson(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	nothing, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, nothing)
}
