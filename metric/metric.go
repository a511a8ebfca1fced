package metric

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/parley-run/parley"
)

// Config says what is shown beside what the decorators count. A zero field is its
// default. The functions are called by each scrape, by several goroutines if several
// scrape.
type Config struct {
	// Version is the program's, for parley_build_info. Empty: unknown.
	Version string
	// StatsFunc gives the work under way; nil: it is not shown.
	StatsFunc func() Stats
	// BacklogFunc gives what waits; see [BacklogOf]. It has until its context ends,
	// 5 seconds. If it fails, the scrape shows nothing of it, and the failure is
	// counted and logged. Nil: it is not shown.
	BacklogFunc func(context.Context) (Backlog, error)
	// BreakerFunc gives how the breaker of each provider stands: closed, open or
	// half_open. Nil: it is not shown.
	BreakerFunc func() map[string]string
	// MaxValues is how many values one label may have of those that come from the
	// configuration; what comes after that is "other". 0: 100.
	MaxValues int
	// Clock measures durations; nil: the system's.
	Clock parley.Clock
	// Log is told of scrapes that could not show everything; nil: nobody is.
	Log *slog.Logger
}

// Metrics is a set of metrics. Its methods may be called by many goroutines.
type Metrics struct {
	cfg      Config
	registry *prometheus.Registry
	names    names

	commits        *prometheus.CounterVec
	commitDuration prometheus.Histogram

	modelCalls    *prometheus.CounterVec
	modelDuration *prometheus.HistogramVec
	modelFirst    *prometheus.HistogramVec
	tokens        *prometheus.CounterVec
	cost          *prometheus.CounterVec

	runs        *prometheus.CounterVec
	runDuration *prometheus.HistogramVec
	running     *prometheus.GaugeVec
	recovered   *prometheus.CounterVec

	httpDuration *prometheus.HistogramVec
	httpStreams  *prometheus.GaugeVec

	collectErrors *prometheus.CounterVec
}

// New makes a set of metrics, with those of the Go runtime and of the process. Sets
// are independent of each other.
func New(cfg Config) *Metrics {
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxValues <= 0 {
		cfg.MaxValues = 100
	}
	if cfg.Version == "" {
		cfg.Version = "unknown"
	}
	m := &Metrics{cfg: cfg, registry: prometheus.NewRegistry(), names: names{most: cfg.MaxValues}}
	m.makeStore()
	m.makeModel()
	m.makeRunner()
	m.makeHTTP()
	m.collectErrors = counter("parley_collect_errors_total", "Scrapes that could not show everything, by what was missing.", "source")
	m.collectErrors.WithLabelValues(sourceBacklog)
	info := gauge("parley_build_info", "The program's version and that of Go; always 1.", "version", "go_version")
	info.WithLabelValues(clean(cfg.Version), runtime.Version()).Set(1)
	m.registry.MustRegister(
		m.commits, m.commitDuration,
		m.modelCalls, m.modelDuration, m.modelFirst, m.tokens, m.cost,
		m.runs, m.runDuration, m.running, m.recovered,
		m.httpDuration, m.httpStreams,
		m.collectErrors, info, &asked{m},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler answers scrapes, four at a time, in the format that the scraper asks for.
// Who may scrape is for the program to decide.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, MaxRequestsInFlight: 4, ErrorLog: scrapeLog{m.cfg.Log},
	})
}

// Gatherer gives what a scrape shows, for programs that show it together with
// metrics of their own.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// since is how long ago start was, in seconds.
func (m *Metrics) since(start time.Time) float64 { return m.cfg.Clock.Now().Sub(start).Seconds() }

// scrapeLog writes what a scrape complains about.
type scrapeLog struct{ log *slog.Logger }

func (l scrapeLog) Println(v ...any) { l.log.Warn("answer a scrape", "error", v) }

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}
