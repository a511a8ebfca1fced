package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/metric"
	"github.com/parley-run/parley/trace"
)

// observer watches a daemon: it counts for Prometheus and traces for OpenTelemetry,
// as the configuration says.
type observer struct {
	metrics *metric.Metrics // nil: nothing is counted
	tracer  *trace.Tracer   // nil: nothing is traced
	in      *installation   // once there is one

	listener net.Listener // for the metrics alone; nil: they are at /metrics
	server   *http.Server
	served   chan error
}

// newObserver makes what the configuration asks for, and takes the address of the
// metrics.
func newObserver(ctx context.Context, cfg *config.Serve, log *slog.Logger) (*observer, error) {
	o := &observer{}
	if cfg.Metrics {
		o.metrics = metric.New(metric.Config{Version: version, StatsFunc: o.stats, BacklogFunc: o.backlog, BreakerFunc: o.breakers, Log: log})
	}
	if cfg.Metrics && cfg.MetricsListen != "" {
		var err error
		if o.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.MetricsListen); err != nil {
			return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot listen on serve.metrics_listen, " + cfg.MetricsListen, Err: err}
		}
	}
	if cfg.Tracing == "otlp" {
		var err error
		if o.tracer, err = trace.New(ctx, trace.Config{Version: version, Log: log}); err != nil {
			return nil, errors.Join(err, o.close(ctx))
		}
	}
	return o, nil
}

// watch puts what watches around the parts of an installation.
func (o *observer) watch(options *installOptions) {
	options.ModelFunc, options.RunnerFunc = o.tracer.Model, o.tracer.Runner
	if o.metrics == nil {
		return
	}
	options.StoreFunc = o.metrics.Store
	options.ModelFunc = func(m parley.Model) parley.Model { return o.metrics.Model(o.tracer.Model(m)) }
	options.RunnerFunc = func(r parley.Runner) parley.Runner { return o.metrics.Runner(o.tracer.Runner(r)) }
	options.SettledFunc = func(a lifecycle.Action) { o.metrics.Recovered(string(a)) }
}

// handler gives what answers GET /metrics; nil: they are elsewhere, or nowhere.
func (o *observer) handler() http.Handler {
	if o.metrics == nil || o.listener != nil {
		return nil
	}
	return o.metrics.Handler()
}

// around times requests.
func (o *observer) around(next *httpapi.Server) http.Handler {
	if o.metrics == nil {
		return next
	}
	return o.metrics.HTTP(next, next.RouteOf)
}

// serve answers scrapes at an address of their own, if there is one.
func (o *observer) serve(log *slog.Logger) {
	if o.listener == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.metrics.Handler())
	o.server = httpapi.NewHTTPServer(mux, log)
	o.server.ReadTimeout = hangUpTime // nobody has much to say there
	o.served = make(chan error, 1)
	go func() { o.served <- o.server.Serve(o.listener) }()
}

// close sends what is left, and ends the server of the metrics.
func (o *observer) close(ctx context.Context) error {
	err := o.tracer.Shutdown(ctx)
	switch {
	case o.server != nil:
		err = errors.Join(err, o.server.Close())
		if e := <-o.served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	case o.listener != nil:
		err = errors.Join(err, o.listener.Close())
	}
	return err
}

func (o *observer) stats() metric.Stats {
	if o.in == nil {
		return metric.Stats{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := o.in.engine.Stats(ctx)
	if err != nil {
		o.in.options.Log.Warn("count the work under way", "error", err)
	}
	return metric.Stats{Running: s.Running, Parked: s.Parked, Waiting: s.Waiting, Lanes: s.Lanes}
}

func (o *observer) backlog(ctx context.Context) (metric.Backlog, error) {
	if o.in == nil {
		return metric.Backlog{}, nil
	}
	return metric.BacklogOf(ctx, o.in.store, time.Now())
}

func (o *observer) breakers() map[string]string {
	if o.in == nil {
		return nil
	}
	return o.in.runner.Breakers()
}
