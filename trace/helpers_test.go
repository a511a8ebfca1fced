package trace_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/trace"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector takes traces over OTLP, as a real one does.
type collector struct {
	*httptest.Server

	mu       sync.Mutex
	requests []*collectorpb.ExportTraceServiceRequest
	headers  []http.Header
	wrong    []string
}

func newCollector(t testing.TB) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		var z *gzip.Reader
		if z, err = gzip.NewReader(strings.NewReader(string(body))); err == nil {
			body, err = io.ReadAll(z)
		}
	}
	request := &collectorpb.ExportTraceServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.wrong = append(c.wrong, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.requests = append(c.requests, request)
	c.headers = append(c.headers, r.Header.Clone())
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// tracer gives a tracer that sends to the collector, and what to call for the spans
// it has sent: it ends the tracer.
func (c *collector) tracer(t testing.TB) (tr *trace.Tracer, spans func() []span) {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err = trace.New(t.Context(), trace.Config{Exporter: exporter, Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	end := func() {
		if err := tr.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return tr, func() []span { t.Helper(); end(); return c.spans(t) }
}

// span is a span as a collector sees it.
type span struct {
	*tracepb.Span
	parent string // the name of its parent
}

// spans gives what was sent, by the time it began.
func (c *collector) spans(t testing.TB) []span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wrong) > 0 {
		t.Fatalf("strange requests: %q", c.wrong)
	}
	var all []span
	names := map[string]string{}
	for _, request := range c.requests {
		for _, resource := range request.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					all = append(all, span{Span: s})
					names[string(s.GetSpanId())] = s.GetName()
				}
			}
		}
	}
	for i := range all {
		all[i].parent = names[string(all[i].GetParentSpanId())]
	}
	slices.SortStableFunc(all, func(a, b span) int { return int(int64(a.GetStartTimeUnixNano()) - int64(b.GetStartTimeUnixNano())) })
	return all
}

func (s span) traceID() string { return hex.EncodeToString(s.GetTraceId()) }

// attributes gives them as text.
func (s span) attributes() map[string]string { return texts(s.GetAttributes()) }

func texts(list []*commonpb.KeyValue) map[string]string {
	found := map[string]string{}
	for _, kv := range list {
		found[kv.GetKey()] = textOf(kv.GetValue())
	}
	return found
}

func textOf(v *commonpb.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_ArrayValue:
		var parts []string
		for _, p := range v.ArrayValue.GetValues() {
			parts = append(parts, textOf(p))
		}
		return "[" + strings.Join(parts, " ") + "]"
	default:
		text := (&commonpb.AnyValue{Value: v}).String()
		_, text, _ = strings.Cut(text, ":")
		return strings.TrimSpace(text)
	}
}

// failed reports whether a span says that something failed.
func (s span) failed() bool { return s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR }

// fakeModel answers with the pieces, then with the error.
type fakeModel struct {
	pieces []parley.ModelPiece
	err    error
	broken bool // it panics after the pieces
}

func (*fakeModel) Info() parley.ModelInfo { return parley.ModelInfo{Name: "acme/large-1"} }

func (f *fakeModel) Stream(context.Context, parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		for _, p := range f.pieces {
			if !yield(p, nil) {
				return
			}
		}
		if f.broken {
			panic("secret panic")
		}
		if f.err != nil {
			yield(parley.ModelPiece{}, f.err)
		}
	}
}

// runFunc is a runner.
type runFunc func(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error)

func (f runFunc) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	return f(ctx, t)
}

func turnOf(session parley.SessionID, turn parley.TurnID, attempt int) parley.TurnContext {
	return parley.TurnContext{
		Session: parley.Session{ID: session, Agent: parley.AgentSnapshot{Name: "main"}},
		Turn:    parley.Turn{ID: turn, Session: session, Attempt: attempt, StartedAt: time.Unix(0, 0)},
	}
}

func survive(f func()) (broke bool) {
	defer func() { broke = recover() != nil }()
	f()
	return false
}
