package metric

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parley-run/parley"
)

// scrapeTime is how long a scrape waits for what it asks for.
const scrapeTime = 5 * time.Second

// sourceBacklog is the source of what [Config].BacklogFunc gives.
const sourceBacklog = "backlog"

// Stats is the work under way.
type Stats struct {
	Running int // turns that run
	Parked  int // turns that wait for a model
	Waiting int // sessions that wait for their turn to run
	Lanes   int // sessions that something is done for
}

// Backlog is how long the oldest of what waits has been waiting; 0: nothing waits.
type Backlog struct {
	Input    time.Duration // a queued input
	Delivery time.Duration // an open delivery
}

// BacklogOf finds out what waits in a store. An input that is not to start before
// some time waits from then on. All open inputs are read for it.
func BacklogOf(ctx context.Context, store parley.WorkReader, now time.Time) (Backlog, error) {
	var oldest Backlog
	var after parley.InputRef
	for {
		inputs, err := store.OpenInputs(ctx, parley.SeeAll(), "", after, parley.MaxPageSize)
		if err != nil {
			return Backlog{}, err
		}
		for i := range inputs {
			in := &inputs[i]
			after = in.Ref
			if in.State != parley.InputQueued {
				continue
			}
			since := in.At
			if in.NotBefore.After(since) {
				since = in.NotBefore
			}
			oldest.Input = max(oldest.Input, now.Sub(since))
		}
		if len(inputs) < parley.MaxPageSize {
			break
		}
	}
	deliveries, err := store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{Limit: 1})
	if err != nil {
		return Backlog{}, err
	}
	for i := range deliveries {
		oldest.Delivery = max(oldest.Delivery, now.Sub(deliveries[i].CreatedAt))
	}
	return oldest, nil
}

// The metrics whose values are asked for by each scrape.
var (
	descRunning  = prometheus.NewDesc("parley_turns_running", "Turns that hold a slot.", nil, nil)
	descParked   = prometheus.NewDesc("parley_turns_parked", "Turns that wait for a model.", nil, nil)
	descWaiting  = prometheus.NewDesc("parley_turns_waiting", "Sessions that wait for a slot to run their turn.", nil, nil)
	descLanes    = prometheus.NewDesc("parley_lanes", "Sessions that something is done for.", nil, nil)
	descInput    = prometheus.NewDesc("parley_oldest_queued_input_age_seconds", "How long the oldest queued input has been waiting; 0 if none does.", nil, nil)
	descDelivery = prometheus.NewDesc("parley_oldest_delivery_age_seconds", "How long the oldest open delivery has been waiting; 0 if none does.", nil, nil)
	descBreaker  = prometheus.NewDesc("parley_breaker_state", "How the breaker of a provider stands: 1 for its state, 0 for the others.", []string{"provider", "state"}, nil)
)

// asked collects what the functions of the configuration give.
type asked struct{ m *Metrics }

// Describe implements [prometheus.Collector].
func (a *asked) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descRunning, descParked, descWaiting, descLanes, descInput, descDelivery, descBreaker} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector].
func (a *asked) Collect(metrics chan<- prometheus.Metric) {
	show := func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if f := a.m.cfg.StatsFunc; f != nil {
		s := f()
		show(descRunning, float64(s.Running))
		show(descParked, float64(s.Parked))
		show(descWaiting, float64(s.Waiting))
		show(descLanes, float64(s.Lanes))
	}
	if f := a.m.cfg.BreakerFunc; f != nil {
		a.breakers(f(), show)
	}
	if f := a.m.cfg.BacklogFunc; f != nil {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
		defer cancel()
		b, err := f(ctx)
		if err != nil {
			a.m.collectErrors.WithLabelValues(sourceBacklog).Inc()
			a.m.cfg.Log.Warn("look at what waits, for a scrape", "error", err)
			return
		}
		show(descInput, b.Input.Seconds())
		show(descDelivery, b.Delivery.Seconds())
	}
}

// breakers shows a breaker's state among all there are. Of providers that are too
// many, nothing is shown.
func (a *asked) breakers(states map[string]string, show func(*prometheus.Desc, float64, ...string)) {
	for provider, state := range states {
		name := a.m.names.of("provider", provider)
		if name == other {
			continue
		}
		for _, s := range []string{"closed", "open", "half_open"} {
			value := 0.0
			if s == state {
				value = 1
			}
			show(descBreaker, value, name, s)
		}
	}
}
