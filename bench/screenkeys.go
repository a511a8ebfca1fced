package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// A round has so many keys, and they are pressed so far apart: no multiple of the time
// that frames are apart.
const (
	keysPerRound = 32
	keysEvery    = 23 * time.Millisecond
)

// Letters that stand for themselves in what the program draws: nothing else there has
// them, and a program that draws only what has changed draws them all the same, as no
// letter is in the place of itself.
const (
	keysBusy  = 'а'      // Cyrillic: the keys while an answer streams
	keysIdle  = '\u10d0' // Georgian: the keys while none does
	markBegin = '\u0531' // Armenian, a letter for each round: the answer has begun
	markEnd   = '\u0561' // and is over
	keyRounds = 36       // as many as there are of these
)

// clearInput is Ctrl-U.
const clearInput = "\x15"

// chatKeys measures how long a key takes until the frame that shows it, while a model
// writes fast, and while nothing happens.
func (r *run) chatKeys(ctx context.Context) (err error) {
	model, err := startFast(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.close()) }()
	dir, err := os.MkdirTemp(r.dir, "keys-*")
	if err != nil {
		return err
	}
	if err := writeFiles(dir, map[string]string{"parley.yaml": fmt.Sprintf(
		"agents: {main: {model: local/fast}}\nproviders: {local: {kind: openai, base_url: %q}}\n", model.url+"/v1")}); err != nil {
		return err
	}
	d, err := startDaemon(ctx, dir, r.cfg.ServeFunc(ctx, dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	s, err := openScreen(r.cfg.ProgramFunc(ctx, "chat", "--data", dir))
	if err != nil {
		return err
	}
	busy, idle, lag, err := r.keyRounds(ctx, s, model)
	if err != nil {
		s.kill()
		return err
	}
	if err := s.leave(ctx); err != nil {
		return err
	}
	if m, ok := r.measures[ChatKey]; ok {
		res := m.result(p99(busy), p99(idle))
		res.Note = fmt.Sprintf("%d keys each, median %.1f ms, and %.1f ms in the reference; %.0f deltas a second; the last of an answer was seen %.0f ms after it was written",
			len(busy), median(busy), median(idle), model.rate(), median(lag))
		r.results[ChatKey] = res
	}
	return nil
}

// keyRounds presses keys while nothing happens and while an answer streams, in turns. Lag
// is how long the end of each answer took to be seen.
func (r *run) keyRounds(ctx context.Context, s *screen, model *fastModel) (busy, idle, lag []float64, err error) {
	if _, err := s.shows(ctx, "> "); err != nil {
		return nil, nil, nil, err
	}
	n := min(max(r.cfg.Size.Keys/keysPerRound, 1), keyRounds)
	err = r.rounds(ctx, "measuring "+ChatKey, n, func(i int) error {
		took, err := s.keys(ctx, keysIdle)
		if err != nil {
			return err
		}
		idle = append(idle, took...)
		begin, end := string(markBegin+rune(i)), string(markEnd+rune(i))
		answer := model.expect(begin, end)
		if err := s.press(clearInput + "go on\r"); err != nil {
			return err
		}
		if _, err := s.shows(ctx, begin); err != nil {
			return err
		}
		if took, err = s.keys(ctx, keysBusy); err != nil {
			return err
		}
		busy = append(busy, took...)
		close(answer.stop)
		at, err := s.shows(ctx, end)
		if err != nil {
			return err
		}
		lag = append(lag, milliseconds(at.Sub(<-answer.ended)))
		return s.press(clearInput)
	})
	return busy, idle, lag, err
}

// keys presses the letters from first on, each after the one before was seen, and gives
// how long each took, in milliseconds.
func (s *screen) keys(ctx context.Context, first rune) ([]float64, error) {
	var took []float64
	next := time.Now()
	for i := range keysPerRound {
		pauseUntil(next)
		letter := string(first + rune(i))
		start := time.Now()
		next = start.Add(keysEvery)
		if err := s.press(letter); err != nil {
			return nil, err
		}
		at, err := s.shows(ctx, letter)
		if err != nil {
			return nil, err
		}
		took = append(took, milliseconds(at.Sub(start)))
	}
	return took, nil
}
