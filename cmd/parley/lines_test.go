package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/parley-run/parley/route"
)

func TestSplitter_KeepsNoLineThatIsTooLong(t *testing.T) {
	t.Parallel()
	var got []batch
	s := splitter{emit: func(b *batch) error {
		got = append(got, *b)
		return nil
	}}
	part := bytes.Repeat([]byte("y"), readSize)
	for range 64 * route.MaxLine / readSize {
		if err := s.take(part); err != nil {
			t.Fatal(err)
		}
		if len(s.rest) > route.MaxLine+readSize {
			t.Fatalf("%d bytes of one line are kept", len(s.rest))
		}
	}
	if err := errors.Join(s.take([]byte("\na\nb")), s.end()); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || !got[0].tooLong || string(got[1].lines) != "a\n" || string(got[2].lines) != "b" || got[2].number != 3 || s.number != 3 {
		t.Errorf("batches are %+v", got)
	}
}

// echo answers each line with itself.
func echo() answerFunc {
	return func(dst, line []byte, _ int64, _ error) ([]byte, bool) {
		return append(append(dst, line...), '\n'), true
	}
}

// failing is an output that is full after a number of writes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAnswerLines_EndsWithItsInputAndOutput(t *testing.T) {
	t.Parallel()
	endless := readFunc(func(p []byte) (int, error) { return copy(p, strings.Repeat("line\n", 100)), nil })
	if _, err := answerLines(t.Context(), endless, &failing{left: 3}, echo); !errors.Is(err, errFull) {
		t.Errorf("a full output gives %v", err)
	}
	broken := io.MultiReader(strings.NewReader("a\nb\n"), readFunc(func([]byte) (int, error) { return 0, errFull }))
	var out bytes.Buffer
	if count, err := answerLines(t.Context(), broken, &out, echo); !errors.Is(err, errFull) || out.String() != "a\nb\n" || count.lines != 2 {
		t.Errorf("a broken input gives %v after %q", err, out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := readFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, "line\n"), nil
	})
	if _, err := answerLines(ctx, interruptible(ctx, stop), io.Discard, echo); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
	// A read that never returns is left alone.
	ctx, cancel = context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	reading := make(chan struct{})
	blocked := readFunc(func(p []byte) (int, error) {
		close(reading)
		return r.Read(p)
	})
	go func() {
		<-reading
		cancel()
	}()
	if _, err := answerLines(ctx, interruptible(ctx, blocked), io.Discard, echo); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
}
