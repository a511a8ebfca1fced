package metric_test

import (
	"context"
	"errors"
	"iter"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/metric"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

// ticker is a clock that goes on by 20 milliseconds with each look.
type ticker struct {
	mu sync.Mutex
	n  int
}

func (c *ticker) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return start.Add(time.Duration(c.n) * 20 * time.Millisecond)
}

func (*ticker) AfterFunc(time.Duration, func()) func() bool { panic("no timers here") }

// scrape gives what Prometheus would read.
func scrape(t testing.TB, m *metric.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// lines gives the lines of a scrape that begin with a name, without comments.
func lines(t testing.TB, m *metric.Metrics, name string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(scrape(t, m)) {
		if strings.HasPrefix(line, name+"{") || strings.HasPrefix(line, name+" ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// fakeStore gives what it is told to Commit; it has no reads.
type fakeStore struct {
	parley.Store
	result parley.Result
	err    error
}

func (s *fakeStore) Commit(context.Context, parley.Batch) (parley.Result, error) {
	return s.result, s.err
}

func (s *fakeStore) Head(context.Context) (parley.Head, error) {
	return parley.Head{Epoch: "here", Pos: 7}, nil
}

// fakeModel answers with the pieces, then with the error.
type fakeModel struct {
	name   string
	pieces []parley.ModelPiece
	err    error
	broken bool // it panics after the pieces
}

func (f *fakeModel) Info() parley.ModelInfo { return parley.ModelInfo{Name: f.name, Context: 1000} }

func (f *fakeModel) Stream(context.Context, parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		for _, p := range f.pieces {
			if !yield(p, nil) {
				return
			}
		}
		if f.broken {
			panic("broken")
		}
		if f.err != nil {
			yield(parley.ModelPiece{}, f.err)
		}
	}
}

func text(s string) parley.ModelPiece { return parley.ModelPiece{Kind: parley.PartText, Text: s} }

func done(u parley.Usage) parley.ModelPiece {
	return parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone, Usage: u}}
}

// drink reads an answer to its end, or to the given number of pieces, and survives
// a model that breaks.
func drink(ctx context.Context, model parley.Model, most int) (n int, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the model broke")
		}
	}()
	for piece, err := range model.Stream(ctx, parley.ModelRequest{}) {
		if err != nil {
			return n, err
		}
		if n++; n == most || piece.Done != nil {
			break
		}
	}
	return n, nil
}

// runFunc is a runner.
type runFunc func(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error)

func (f runFunc) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	return f(ctx, t)
}

func turnOf(agent string) parley.TurnContext {
	return parley.TurnContext{
		Session: parley.Session{ID: "test:secret-session", Agent: parley.AgentSnapshot{Name: agent}},
		Turn:    parley.Turn{ID: "t_secret", Attempt: 1}, Principal: parley.Principal{Identity: "test:secret-person"},
	}
}

func ended(reason parley.StopReason, cost int64, e *parley.TurnError) parley.TurnEnd {
	return parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: reason, Usage: parley.Usage{CostMicroUSD: cost}, Error: e}}
}
