// Package metric counts what happens, for Prometheus: commits, model calls, turns,
// HTTP requests, and, whenever it is asked, how much waits.
//
// It works by decorators of the root package's interfaces, so that what it counts
// knows nothing of it: a program puts [Metrics.Store] around its store,
// [Metrics.Model] around its models, [Metrics.Runner] around its runner and
// [Metrics.HTTP] around its handler. A decorator changes no argument, no result and
// no error.
//
// No label names a user, a session or anything that people write. The values of
// labels come from the configuration (agents, models, providers, routes) and from
// fixed lists (codes, states); [Config].MaxValues bounds their number all the same.
// docs/metrics.md lists the metrics.
//
// The package starts no goroutine that outlives a scrape. It imports the root
// package, and nothing else of Parley.
package metric
