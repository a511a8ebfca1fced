package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/bench"
)

func tinyTurns(t *testing.T) bench.Config {
	t.Helper()
	cfg := tiny(t)
	cfg.ProbeFunc = nil
	cfg.Size.Turns, cfg.Size.Cancels = 70, 3
	return cfg
}

// complete checks that a report has these figures, whole.
func complete(t *testing.T, report bench.Report, want ...string) {
	t.Helper()
	var names []string
	for _, r := range report.Results {
		names = append(names, r.Name)
		if r.Reference <= 0 || r.Value <= 0 || r.Unit == "" || r.Bar <= 0 || r.What == "" || r.ReferenceIs == "" || r.BarIs == "" || r.Note == "" {
			t.Errorf("%+v leaves something out", r)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("results are %v, want %v", names, want)
	}
}

func TestEngine(t *testing.T) {
	t.Parallel()
	cfg := tinyTurns(t)
	report, err := bench.Engine(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{bench.EngineOverhead, bench.TurnsConcurrent}
	if runtime.GOOS == "windows" {
		want = want[1:]
	}
	complete(t, report, want...)
	last := report.Results[len(report.Results)-1]
	if last.Reference != 640 || last.Value > 640 {
		t.Errorf("64 turns of 100 ms at once cannot come to %v a second, and could come to %v", last.Value, last.Reference)
	}
	empty(t, cfg.Dir)
}

func TestTurn(t *testing.T) {
	t.Parallel()
	cfg := tinyTurns(t)
	report, err := bench.Turn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{bench.CancelStream, bench.CancelTool}
	if runtime.GOOS == "windows" {
		want = want[:1]
	}
	complete(t, report, want...)
	empty(t, cfg.Dir)
}

func TestEngineAndTurn_StopWithTheirContext(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(context.Context, bench.Config) (bench.Report, error){
		bench.EngineOverhead: bench.Engine, bench.TurnsConcurrent: bench.Engine, bench.CancelStream: bench.Turn, bench.CancelTool: bench.Turn,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tinyTurns(t)
			cfg.Only = []string{name}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cfg.ProgressFunc = func(_ string, done, _ int64) {
				if done == 1 {
					cancel()
				}
			}
			if _, err := run(ctx, cfg); !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v", err)
			}
			empty(t, cfg.Dir)
			cfg.Only = []string{bench.Commit1}
			if _, err := run(t.Context(), cfg); !errors.Is(err, parley.ErrInvalid) {
				t.Errorf("a figure of the store gives %v", err)
			}
		})
	}
}

// editing is a store that writes other answers than it was given.
type editing struct {
	parley.Store
	answers *atomic.Int64
	edit    func(m *parley.Message)
}

func (s *editing) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	for _, change := range b.Sessions {
		for i, e := range change.Events {
			if m, ok := e.Body.(*parley.Message); ok && m.Role == parley.MessageAssistant && s.answers.Add(1) == 100 {
				edited := *m
				s.edit(&edited)
				change.Events[i].Body = &edited
			}
		}
	}
	return s.Store.Commit(ctx, b)
}

func TestEngine_FailsIfAnAnswerIsWrong(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(m *parley.Message){
		"other words": func(m *parley.Message) { m.Parts = []parley.Part{parley.TextPart("no")} },
		"nothing":     func(m *parley.Message) { m.Parts = []parley.Part{parley.TextPart(" ")} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tinyTurns(t)
			cfg.Only = []string{bench.TurnsConcurrent}
			var answers atomic.Int64
			cfg.OpenFunc = func(ctx context.Context, path string) (parley.Store, error) {
				store, err := openStore(ctx, path)
				return &editing{Store: store, answers: &answers, edit: edit}, err
			}
			if _, err := bench.Engine(t.Context(), cfg); !errors.Is(err, parley.ErrInternal) {
				t.Errorf("an answer is not what the model said, and the run says %v", err)
			}
			empty(t, cfg.Dir)
		})
	}
}

// recording keeps the commits of turns.
type recording struct {
	parley.Store
	commits chan parley.Batch
}

func (s *recording) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	res, err := s.Store.Commit(ctx, b)
	if err == nil && len(b.Sessions) == 1 {
		s.commits <- b
	}
	return res, err
}

// TestEngine_ComparesWithTheSameCommits: what the engine commits and what it is
// compared with differ in names, times and counts of tokens alone.
func TestEngine_ComparesWithTheSameCommits(t *testing.T) {
	t.Parallel()
	cfg := tinyTurns(t)
	cfg.Only, cfg.Size.Rounds = []string{bench.EngineOverhead}, 1
	var stores []*recording
	cfg.OpenFunc = func(ctx context.Context, path string) (parley.Store, error) {
		store, err := openStore(ctx, path)
		r := &recording{Store: store, commits: make(chan parley.Batch, 10_000)}
		stores = append(stores, r)
		return r, err
	}
	if _, err := bench.Engine(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if len(stores) != 2 {
		t.Fatalf("%d stores were made", len(stores))
	}
	turns, bare := first2(t, stores[0]), first2(t, stores[1])
	for i := range bare {
		if got, want := describe(t, turns[i]), describe(t, bare[i]); got != want {
			t.Errorf("commit %d of a turn is\n%s\nand is compared with\n%s", i+1, got, want)
		}
	}
}

// first2 gives the first two commits of the session that has just two commits for
// its first turn: one whose message did not have to wait.
func first2(t *testing.T, r *recording) []parley.Batch {
	t.Helper()
	bySession := map[parley.SessionID][]parley.Batch{}
	for len(r.commits) > 0 {
		b := <-r.commits
		id := b.Sessions[0].Session
		bySession[id] = append(bySession[id], b)
	}
	found := bySession["telegram:0_0"]
	if len(found) < 2 || len(found[0].Sessions[0].Admit) != 1 || !found[0].Sessions[0].Claim {
		t.Fatalf("the first message of a session was admitted by %+v", found)
	}
	return found[:2]
}

// describe writes a commit down without the names, times and counts.
func describe(t *testing.T, b parley.Batch) string {
	t.Helper()
	change := b.Sessions[0]
	var turn parley.TurnID
	for _, c := range change.Turns {
		turn = c.ID
	}
	var out bytes.Buffer
	for _, e := range b.Expect {
		fmt.Fprintf(&out, "%T ", e)
		writeJSON(t, &out, e)
	}
	writeJSON(t, &out, change.Patch)
	for _, c := range change.Turns {
		c.Usage = nil
		writeJSON(t, &out, c)
	}
	for _, in := range change.Admit {
		writeJSON(t, &out, in)
	}
	for _, in := range change.Inputs {
		writeJSON(t, &out, in)
	}
	for _, e := range change.Events {
		if c, ok := e.Body.(*parley.TurnCompleted); ok {
			without := *c
			without.Usage, without.PromptTokens = parley.Usage{}, 0
			e.Body = &without
		}
		writeJSON(t, &out, e)
	}
	return string(bytes.ReplaceAll(out.Bytes(), []byte(turn), []byte("TURN")))
}

func writeJSON(t *testing.T, out *bytes.Buffer, v any) {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	out.Write(append(data, '\n'))
}
