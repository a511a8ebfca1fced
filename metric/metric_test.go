package metric_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/metric"
)

var update = flag.Bool("update", false, "write the golden file anew")

// everything gives metrics that have counted something of each kind.
func everything(t *testing.T) *metric.Metrics {
	t.Helper()
	m := metric.New(metric.Config{
		Version:   "v1.2.3",
		StatsFunc: func() metric.Stats { return metric.Stats{Running: 1, Parked: 2, Waiting: 3, Lanes: 4} },
		BacklogFunc: func(context.Context) (metric.Backlog, error) {
			return metric.Backlog{Input: 1500e6, Delivery: 90e9}, nil
		},
		BreakerFunc: func() map[string]string { return map[string]string{"acme": "half_open", "other": "open"} },
		Clock:       &ticker{},
	})
	for _, err := range []error{nil, nil, parley.Errorf(parley.CodeConflict, "no")} {
		_, _ = m.Store(&fakeStore{err: err}).Commit(t.Context(), parley.Batch{})
	}
	good := m.Model(&fakeModel{name: "acme/large", pieces: []parley.ModelPiece{text("a"), done(parley.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 7, CacheWriteTokens: 3, CostMicroUSD: 1500})}})
	bad := m.Model(&fakeModel{name: "acme/small", err: parley.Errorf(parley.CodeUnavailable, "secret-error")})
	runner := m.Runner(runFunc(func(ctx context.Context, _ parley.TurnContext) (parley.TurnEnd, error) {
		_, _ = drink(ctx, bad, 0)
		_, err := drink(ctx, good, 0)
		return ended(parley.StopDone, 1500, nil), err
	}))
	if _, err := runner.Run(t.Context(), turnOf("main")); err != nil {
		t.Fatal(err)
	}
	m.Recovered("resume")
	stream := m.HTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
	}), func(*http.Request) string { return "GET /api/events" })
	stream.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/events?secret-query", nil))
	return m
}

// families gives the metrics of Parley's own.
func families(t *testing.T, m *metric.Metrics) []*dto.MetricFamily {
	t.Helper()
	all, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "parley_") })
}

func TestLint(t *testing.T) {
	t.Parallel()
	m := everything(t)
	problems, err := testutil.GatherAndLint(m.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, f := range families(t, m) {
		if !strings.HasSuffix(f.GetHelp(), ".") {
			t.Errorf("%s: the help is no sentence: %q", f.GetName(), f.GetHelp())
		}
	}
}

// TestGolden compares a scrape with one that was looked at by a person. Other
// programs read these names: a change of one is a change for them.
func TestGolden(t *testing.T) {
	t.Parallel()
	const golden = "testdata/metrics.txt"
	m := everything(t)
	if *update {
		var b strings.Builder
		own := false
		for line := range strings.Lines(scrape(t, m)) {
			if after, ok := strings.CutPrefix(line, "# HELP "); ok {
				own = strings.HasPrefix(after, "parley_") && !strings.HasPrefix(after, "parley_build_info")
			}
			if own {
				b.WriteString(line)
			}
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var names []string
	for _, f := range families(t, m) {
		if f.GetName() != "parley_build_info" { // it has the version of Go
			names = append(names, f.GetName())
		}
	}
	if err := testutil.GatherAndCompare(m.Gatherer(), file, names...); err != nil {
		t.Error(err)
	}
}

// TestDocs compares the table of docs/metrics.md with the metrics there are, both
// ways.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `parley_") {
			cells := strings.SplitN(line, "|", 5)
			documented = append(documented, strings.TrimSpace(cells[1])+" "+strings.TrimSpace(cells[2])+" "+strings.TrimSpace(cells[3]))
		}
	}
	m := everything(t)
	var registered []string
	for _, f := range families(t, m) {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		slices.Sort(labels)
		registered = append(registered, strings.TrimSpace(fmt.Sprintf("%#q %s %s", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "))))
	}
	for i := range documented {
		documented[i] = strings.TrimSpace(documented[i])
	}
	slices.Sort(documented)
	slices.Sort(registered)
	if !slices.Equal(documented, registered) {
		t.Errorf("docs/metrics.md has:\n%s\nthere are:\n%s", strings.Join(documented, "\n"), strings.Join(registered, "\n"))
	}
}

// TestLabels holds that no label tells who somebody is or what they said.
func TestLabels(t *testing.T) {
	t.Parallel()
	m := everything(t)
	allowed := strings.Fields("agent code go_version kind method model outcome provider route source state status version")
	for _, f := range families(t, m) {
		for _, sample := range f.GetMetric() {
			for _, l := range sample.GetLabel() {
				if !slices.Contains(allowed, l.GetName()) {
					t.Errorf("%s has the label %s", f.GetName(), l.GetName())
				}
			}
		}
	}
	if all := scrape(t, m); strings.Contains(all, "secret") || !strings.Contains(all, "go_goroutines ") {
		t.Errorf("a scrape shows what it must not, or not the runtime:\n%s", all)
	}
}

// TestBound has more agents, models and codes than a label may have values.
func TestBound(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{MaxValues: 3})
	long := strings.Repeat("ä", 100)
	for _, agent := range []string{"a", "bad\xff", long, "d", "e", "a"} {
		for i := range 5 {
			runner := m.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
				return ended(parley.StopError, 0, &parley.TurnError{Code: fmt.Sprint("c", i)}), nil
			}))
			if _, err := runner.Run(t.Context(), turnOf(agent)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{
		`parley_turn_run_duration_seconds_count{agent="a"} 10`,
		`parley_turn_run_duration_seconds_count{agent="bad` + "\uFFFD" + `"} 5`,
		`parley_turn_run_duration_seconds_count{agent="other"} 10`,
		`parley_turn_run_duration_seconds_count{agent="` + strings.Repeat("ä", 64) + `"} 5`,
	}
	if got := lines(t, m, "parley_turn_run_duration_seconds_count"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := len(lines(t, m, "parley_turn_runs_total")); got != 16 { // four agents, four codes
		t.Errorf("%d series, want 16", got)
	}
	for i := range 10 {
		_ = m.Model(&fakeModel{name: fmt.Sprintf("p%d/m%d", i, i)})
	}
	if got := len(lines(t, m, "parley_model_call_duration_seconds_count")); got != 4 {
		t.Errorf("%d series of models, want 4", got)
	}
}

// TestBacklogFails has a scrape that cannot show everything: it shows the rest, and
// says so.
func TestBacklogFails(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	m := metric.New(metric.Config{
		Log:       slog.New(slog.NewTextHandler(&log, nil)),
		StatsFunc: func() metric.Stats { return metric.Stats{Running: 1} },
		BacklogFunc: func(ctx context.Context) (metric.Backlog, error) {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("it may take for ever")
			}
			return metric.Backlog{}, parley.Errorf(parley.CodeUnavailable, "the store is closed")
		},
	})
	_ = scrape(t, m)
	all := scrape(t, m) // the first failure, at least, is in it
	if strings.Contains(all, "parley_oldest") || !strings.Contains(all, "\nparley_turns_running 1\n") || strings.Contains(all, `parley_collect_errors_total{source="backlog"} 0`) {
		t.Errorf("got:\n%s", all)
	}
	if !strings.Contains(log.String(), "the store is closed") {
		t.Errorf("the log has %q", log.String())
	}
}

// TestFormats scrapes as Prometheus does.
func TestFormats(t *testing.T) {
	t.Parallel()
	m := everything(t)
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	for _, accept := range []string{"application/openmetrics-text;version=1.0.0", "text/plain;version=0.0.4"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		kind, _, _ := strings.Cut(accept, ";")
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d, %s", accept, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
	}
}
