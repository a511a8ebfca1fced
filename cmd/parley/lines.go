package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/parley-run/parley/route"
)

// answerFunc appends the answer to a line, and says whether the line was one
// that has an answer. Lines count from 1. A line that could not be kept comes as
// the error that says so.
type answerFunc func(dst, line []byte, number int64, err error) (_ []byte, ok bool)

// lineCount is how many lines were answered, and how many of them with an error.
type lineCount struct{ lines, wrong int64 }

// batch is a number of whole lines that came in together.
type batch struct {
	number  int64 // of the first line
	lines   []byte
	tooLong bool // instead: one line that was not kept

	out   []byte
	wrong int64
	done  chan struct{} // closed when out is complete
}

// readSize is how much is read at once. What is there is answered at once, so a
// pipe that stays open does not make anybody wait.
const readSize = 64 << 10

// answerLines reads lines until the end of in and writes their answers in the
// same order, each batch as soon as it can. Each goroutine that answers has a
// function of its own from answering. Answering is bounded by memory for a few
// batches and ends with an error of in or out, or with ctx.
func answerLines(ctx context.Context, in io.Reader, out io.Writer, answering func() answerFunc) (lineCount, error) {
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan *batch)
	order := make(chan *batch, 2*workers)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			answer := answering()
			for b := range todo {
				b.run(answer)
			}
		})
	}
	var count lineCount
	wg.Go(func() {
		for b := range order {
			<-b.done
			count.wrong += b.wrong
			if ctx.Err() != nil {
				continue
			}
			if _, err := out.Write(b.out); err != nil {
				cancel(err)
			}
		}
	})
	s := splitter{emit: func(b *batch) error {
		b.done = make(chan struct{})
		for _, to := range []chan<- *batch{todo, order} {
			select {
			case to <- b:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}}
	err := s.split(in)
	close(todo)
	close(order)
	wg.Wait()
	count.lines = s.number
	if err == nil {
		err = context.Cause(ctx) // the last write may have failed
	}
	return count, err
}

// byteOrderMark is what some editors put before the first line.
var byteOrderMark = []byte("\ufeff")

// run answers the lines of a batch.
func (b *batch) run(answer answerFunc) {
	defer close(b.done)
	if b.tooLong {
		b.out, _ = answer(nil, nil, b.number, route.TooLong())
		b.wrong = 1
		return
	}
	if b.number == 1 {
		b.lines = bytes.TrimPrefix(b.lines, byteOrderMark)
	}
	b.out = make([]byte, 0, 4*len(b.lines))
	number := b.number
	for line := range bytes.Lines(b.lines) {
		var ok bool
		if b.out, ok = answer(b.out, bytes.TrimSuffix(line, []byte("\n")), number, nil); !ok {
			b.wrong++
		}
		number++
	}
}

// splitter makes batches of what it reads.
type splitter struct {
	emit     func(*batch) error
	number   int64  // lines that were emitted
	rest     []byte // the beginning of a line
	skipping bool   // the rest of a line that is too long is passed over
}

func (s *splitter) split(in io.Reader) error {
	buf := make([]byte, readSize)
	for {
		n, err := in.Read(buf)
		if err := s.take(buf[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return s.end()
		}
		if err != nil {
			return err
		}
	}
}

// take emits the whole lines there are.
func (s *splitter) take(data []byte) error {
	if s.skipping {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return nil
		}
		data, s.skipping = data[i+1:], false
		if err := s.lines(&batch{tooLong: true}, 1); err != nil {
			return err
		}
	}
	last := bytes.LastIndexByte(data, '\n') + 1
	if last > 0 {
		whole := append(s.rest, data[:last]...) //nolint:gocritic // the rest is given away
		s.rest = nil
		if err := s.lines(&batch{lines: whole}, int64(bytes.Count(whole, []byte("\n")))); err != nil {
			return err
		}
	}
	s.rest = append(s.rest, data[last:]...)
	if len(s.rest) > route.MaxLine {
		s.rest, s.skipping = nil, true
	}
	return nil
}

// end emits a last line that has no end.
func (s *splitter) end() error {
	switch {
	case s.skipping:
		return s.lines(&batch{tooLong: true}, 1)
	case len(s.rest) > 0:
		return s.lines(&batch{lines: s.rest}, 1)
	}
	return nil
}

func (s *splitter) lines(b *batch, n int64) error {
	b.number = s.number + 1
	s.number += n
	return s.emit(b)
}

// readFunc is a reader made of a function.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// interruptible reads from r until ctx ends. Nothing can interrupt a read from a
// terminal, so the goroutine that is at it then is left to the end of the
// process, with a buffer of its own.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	type result struct {
		n   int
		err error
	}
	var buf []byte
	return readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if len(buf) < len(p) {
			buf = make([]byte, len(p))
		}
		into, done := buf[:len(p)], make(chan result, 1)
		go func() {
			n, err := r.Read(into)
			done <- result{n, err}
		}()
		select {
		case got := <-done:
			return copy(p, into[:got.n]), got.err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}
