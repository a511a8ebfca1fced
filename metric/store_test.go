package metric_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/metric"
	"github.com/parley-run/parley/sqlite"
)

func TestStoreCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		result parley.Result
		err    error
		code   string
		timed  bool
	}{
		{name: "written", code: "ok", timed: true},
		{name: "duplicate", result: parley.Result{Duplicate: &parley.Input{}}, code: "duplicate"},
		{name: "conflict", err: parley.Errorf(parley.CodeConflict, "no"), code: "conflict"},
		{name: "unavailable", err: parley.Errorf(parley.CodeUnavailable, "no"), code: "unavailable"},
		{
			name: "unknown", code: "outcome_unknown", timed: true,
			err: &parley.Error{Code: parley.CodeUnavailable, Err: fmt.Errorf("sync: %w", parley.ErrOutcomeUnknown)},
		},
		{name: "a foreign error", err: errors.New("no"), code: "internal"},
		{name: "a foreign code", err: parley.Errorf("made up", "no"), code: "other"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := metric.New(metric.Config{Clock: &ticker{}})
			store := m.Store(&fakeStore{result: test.result, err: test.err})
			result, err := store.Commit(t.Context(), parley.Batch{})
			if !errors.Is(err, test.err) || result.Duplicate != test.result.Duplicate {
				t.Errorf("got %v, %v", result, err)
			}
			counts := map[string]int{"ok": 0, "outcome_unknown": 0} // shown before there are any
			counts[test.code]++
			var want []string
			for code, n := range counts {
				want = append(want, fmt.Sprintf(`parley_commits_total{code=%q} %d`, code, n))
			}
			slices.Sort(want)
			if got := lines(t, m, "parley_commits_total"); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			want = []string{"parley_commit_duration_seconds_sum 0"}
			if test.timed {
				want = []string{"parley_commit_duration_seconds_sum 0.02"}
			}
			if got := lines(t, m, "parley_commit_duration_seconds_sum"); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if head, err := store.Head(t.Context()); err != nil || head.Pos != 7 {
				t.Errorf("reads do not pass through: %v, %v", head, err)
			}
		})
	}
}

// TestStore counts a real store: what it writes, what it refuses, what it has twice.
func TestStore(t *testing.T) {
	t.Parallel()
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := metric.New(metric.Config{})
	store := m.Store(file)
	commit := func(c parley.SessionChange) error {
		c.Session = "test:one"
		_, err := store.Commit(t.Context(), parley.Batch{At: start, Sessions: []parley.SessionChange{c}})
		return err
	}
	create := parley.SessionChange{Create: &parley.NewSession{
		Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "test"}, Type: parley.SessionDirect,
	}}
	input := parley.Input{
		Ref: parley.InputRef{Origin: "test", ID: "1"}, Kind: parley.InputMessage, State: parley.InputQueued,
		Parts: []parley.Part{parley.TextPart("hi")}, Principal: parley.Principal{Identity: "test:me", Role: parley.RoleOwner},
	}
	for i, step := range []struct {
		change parley.SessionChange
		code   parley.Code
	}{
		{create, ""},
		{create, parley.CodeConflict},
		{parley.SessionChange{Admit: []parley.Input{input}}, ""},
		{parley.SessionChange{Admit: []parley.Input{input}}, ""}, // a duplicate
		{parley.SessionChange{Events: []parley.NewEvent{{Body: &parley.Suspended{}}}}, parley.CodeInvalid},
	} {
		if err := commit(step.change); parley.CodeOf(err) != step.code {
			t.Fatalf("step %d: %v, want code %q", i, err, step.code)
		}
	}
	if s, err := store.Session(t.Context(), parley.SeeAll(), "test:one"); err != nil || s.ID != "test:one" {
		t.Errorf("read: %v, %v", s, err)
	}
	backlog, err := metric.BacklogOf(t.Context(), store, start.Add(90e9))
	if err != nil || backlog != (metric.Backlog{Input: 90e9}) {
		t.Errorf("backlog %v, %v", backlog, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := commit(create); !errors.Is(err, parley.ErrUnavailable) {
		t.Errorf("after Close: %v", err)
	}
	want := []string{
		`parley_commits_total{code="conflict"} 1`,
		`parley_commits_total{code="duplicate"} 1`,
		`parley_commits_total{code="invalid"} 1`,
		`parley_commits_total{code="ok"} 2`,
		`parley_commits_total{code="outcome_unknown"} 0`,
		`parley_commits_total{code="unavailable"} 1`,
	}
	if got := lines(t, m, "parley_commits_total"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := lines(t, m, "parley_commit_duration_seconds_count"), []string{"parley_commit_duration_seconds_count 2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// fakeWork has inputs and deliveries, in pages.
type fakeWork struct {
	parley.WorkReader
	inputs     []parley.Input
	deliveries []parley.Delivery
	err        error
}

func (f *fakeWork) OpenInputs(_ context.Context, _ parley.Visibility, _ parley.SessionID, after parley.InputRef, limit int) ([]parley.Input, error) {
	from := slices.IndexFunc(f.inputs, func(in parley.Input) bool { return in.Ref == after }) + 1
	return f.inputs[from:min(from+limit, len(f.inputs))], nil
}

func (f *fakeWork) Deliveries(context.Context, parley.Visibility, parley.DeliveryQuery) ([]parley.Delivery, error) {
	return f.deliveries, f.err
}

func TestBacklog(t *testing.T) {
	t.Parallel()
	now := start.Add(3600e9)
	work := &fakeWork{deliveries: []parley.Delivery{{CreatedAt: start.Add(600e9)}}}
	for i := range 2*parley.MaxPageSize + 1 {
		work.inputs = append(work.inputs, parley.Input{Ref: parley.InputRef{Origin: "o", ID: fmt.Sprint(i)}, State: parley.InputRunning, At: start.Add(-1e12)})
	}
	last := &work.inputs[2*parley.MaxPageSize]
	last.State, last.At = parley.InputQueued, start
	work.inputs[0].State, work.inputs[0].NotBefore = parley.InputQueued, now.Add(1e9) // later
	got, err := metric.BacklogOf(t.Context(), work, now)
	if want := (metric.Backlog{Input: 3600e9, Delivery: 3000e9}); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	work.err = parley.Errorf(parley.CodeUnavailable, "closed")
	if got, err := metric.BacklogOf(t.Context(), work, now); !errors.Is(err, parley.ErrUnavailable) || got != (metric.Backlog{}) {
		t.Errorf("got %v, %v", got, err)
	}
}
