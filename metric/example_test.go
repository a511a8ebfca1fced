package metric_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/metric"
)

// A program puts the metrics around what it has, and shows them.
func Example() {
	ctx := context.Background()
	metrics := metric.New(metric.Config{Version: "v1.2.3"})
	store := metrics.Store(&fakeStore{}) // the program's store
	_, _ = store.Commit(ctx, parley.Batch{})

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler())
	handler := metrics.HTTP(mux, func(r *http.Request) string { return r.Pattern })

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "parley_commits_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// parley_commits_total{code="ok"} 1
	// parley_commits_total{code="outcome_unknown"} 0
}
