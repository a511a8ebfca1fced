package trace_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/trace"
)

// TestEnvironment sends traces to where the variables of the environment say.
func TestEnvironment(t *testing.T) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-token=abc%3D, x-tenant=7")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.version=v9")
	tracer, err := trace.New(t.Context(), trace.Config{Service: "front", Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
		return parley.TurnEnd{}, nil
	})).Run(t.Context(), turnOf("test:a", "t_1", 1))
	for range 2 {
		if err := tracer.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if all := c.spans(t); len(all) != 1 {
		t.Fatalf("%d spans", len(all))
	}
	if h := c.headers[0]; h.Get("X-Token") != "abc=" || h.Get("X-Tenant") != "7" {
		t.Errorf("headers %v", h)
	}
	resource := c.requests[0].GetResourceSpans()[0]
	got := texts(resource.GetResource().GetAttributes())
	if got["service.name"] != "front" || got["service.version"] != "v9" || got["deployment.environment.name"] != "test" || got["host.name"] != "" {
		t.Errorf("resource %v", got)
	}
	scope := resource.GetScopeSpans()[0]
	if scope.GetScope().GetName() != "github.com/parley-run/parley/trace" || scope.GetScope().GetVersion() != "v1.2.3" || scope.GetSchemaUrl() != "https://opentelemetry.io/schemas/1.41.0" {
		t.Errorf("scope %v, %s", scope.GetScope(), scope.GetSchemaUrl())
	}
}

// TestSampler leaves turns out, as the environment says.
func TestSampler(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	c := newCollector(t)
	tracer, spans := c.tracer(t)
	_, _ = tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
		return parley.TurnEnd{}, nil
	})).Run(t.Context(), turnOf("test:a", "t_1", 1))
	if all := spans(); len(all) != 0 {
		t.Errorf("%d spans", len(all))
	}
}

// TestBadEnvironment is refused, without showing what may be a credential.
func TestBadEnvironment(t *testing.T) {
	for name, values := range map[string][]string{
		"OTEL_EXPORTER_OTLP_HEADERS":         {"secret", "a=b,secret", "a b=secret", "a=%zzsecret", "=secret"},
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":  {"secret"},
		"OTEL_EXPORTER_OTLP_ENDPOINT":        {"http://me:secret@host:4318", "http://host:4318?key=secret", "host:4318/secret", "ftp://secret", "http://%zzsecret", "http://#secret"},
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": {"secret"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":        {"grpc", "secret"},
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": {"grpc"},
		"OTEL_RESOURCE_ATTRIBUTES":           {"secret"},
	} {
		for _, value := range values {
			t.Run(name+"="+value, func(t *testing.T) {
				t.Setenv(name, value)
				tracer, err := trace.New(t.Context(), trace.Config{})
				if err == nil {
					_ = tracer.Shutdown(t.Context())
				}
				if !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// logger gives a log, and what is in it.
func logger() (log *slog.Logger, text func() string) {
	var mu sync.Mutex
	var b strings.Builder
	return slog.New(slog.NewTextHandler(writeFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return b.Write(p)
		}), nil)), func() string {
			mu.Lock()
			defer mu.Unlock()
			return b.String()
		}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// TestCollectorHangs has a collector that takes a request and never answers: a
// shutdown waits until its context ends, and leaves nothing behind.
func TestCollectorHangs(t *testing.T) {
	t.Parallel()
	arrived, gone, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		select {
		case <-r.Context().Done():
			close(gone)
		case <-release:
		}
	}))
	defer server.Close()
	defer close(release)
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	tracer, err := trace.New(t.Context(), trace.Config{Exporter: exporter})
	if err != nil {
		t.Fatal(err)
	}
	runner := tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) { return parley.TurnEnd{}, nil }))
	_, _ = runner.Run(t.Context(), turnOf("test:a", "t_1", 1))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	start := time.Now()
	if err := tracer.Shutdown(ctx); !errors.Is(err, parley.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second): // less than the time limit of a request
		t.Error("the request goes on")
	}
	// What comes later is dropped, and nobody waits.
	_, _ = runner.Run(t.Context(), turnOf("test:a", "t_2", 1))
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestCollectorIsDown refuses connections: that is logged, and no turn fails.
func TestCollectorIsDown(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	log, text := logger()
	tracer, err := trace.New(t.Context(), trace.Config{Exporter: exporter, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	want := parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopDone}}
	end, err := tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) { return want, nil })).Run(t.Context(), turnOf("test:a", "t_1", 1))
	if err != nil || end != want {
		t.Errorf("%v, %v", end, err)
	}
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if got := text(); strings.Count(got, "traces cannot be sent") != 1 {
		t.Errorf("the log has %q", got)
	}
}

// flaky is an exporter that fails as it is told.
type flaky struct {
	errs []error
	got  chan int
}

func (f *flaky) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	err := f.errs[0]
	f.errs = f.errs[1:]
	f.got <- len(spans)
	return err
}

func (*flaky) Shutdown(context.Context) error { return nil }

// TestFailuresAreLoggedOnce has an exporter that fails for a while.
func TestFailuresAreLoggedOnce(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	down := errors.New("down")
	log, text := logger()
	exporter := &flaky{errs: []error{nil, down, down, nil, nil, down}, got: make(chan int)}
	tracer, err := trace.New(t.Context(), trace.Config{Exporter: exporter, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	runner := tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) { return parley.TurnEnd{}, nil }))
	for range 6 {
		_, _ = runner.Run(t.Context(), turnOf("test:a", "t_1", 1))
		<-exporter.got
	}
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var levels []string
	for line := range strings.Lines(text()) {
		_, line, _ = strings.Cut(line, "level=")
		level, _, _ := strings.Cut(line, " ")
		levels = append(levels, level)
	}
	if got := strings.Join(levels, " "); got != "WARN INFO WARN" {
		t.Errorf("the log has %s: %s", got, text())
	}
}
