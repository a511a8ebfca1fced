package bench_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/bench"
	"github.com/parley-run/parley/route"
)

// answerAll answers lines one after the other.
func answerAll(_ context.Context, in io.Reader, out io.Writer) error {
	rt, err := route.New(route.Config{})
	if err != nil {
		return err
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	lines := route.NewLines(rt)
	var answers []byte
	for line := range bytes.Lines(data) {
		answers, _ = lines.Append(answers, line)
	}
	_, err = out.Write(answers)
	return err
}

func TestRoute(t *testing.T) {
	t.Parallel()
	report, err := bench.Route(t.Context(), bench.Config{ResolveFunc: answerAll, Dir: t.TempDir(), Size: bench.Size{Rounds: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 1 || report.Machine.Cores < 1 {
		t.Fatalf("report is %+v", report)
	}
	r := report.Results[0]
	if r.Name != bench.ResolveRate || r.Value <= 0 || r.Reference <= 0 || r.Bar != 50_000 || r.OK != (r.Value >= r.Bar) {
		t.Errorf("result is %+v", r)
	}
}

func TestRoute_Fails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	answer := func(change func(answers []byte) []byte) func(context.Context, io.Reader, io.Writer) error {
		return func(ctx context.Context, in io.Reader, out io.Writer) error {
			var b bytes.Buffer
			if err := answerAll(ctx, in, &b); err != nil {
				return err
			}
			_, err := out.Write(change(b.Bytes()))
			return err
		}
	}
	for name, c := range map[string]struct {
		cfg  bench.Config
		want error
	}{
		"nothing to measure": {bench.Config{}, parley.ErrInvalid},
		"unknown figure":     {bench.Config{ResolveFunc: answerAll, Only: []string{bench.Commit64}}, parley.ErrInvalid},
		"an error":           {bench.Config{ResolveFunc: func(context.Context, io.Reader, io.Writer) error { return broken }}, broken},
		"an answer too few":  {bench.Config{ResolveFunc: answer(func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] })}, parley.ErrInternal},
		"a wrong key": {bench.Config{ResolveFunc: answer(func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"session_key":"sk_v1_`), []byte(`"session_key":"sk_v2_`), 1)
		})}, parley.ErrInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.cfg.Size.Rounds = 1
			if _, err := bench.Route(t.Context(), c.cfg); !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bench.Route(ctx, bench.Config{ResolveFunc: answerAll}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled run ends with %v", err)
	}
}
