package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/bench"
)

// benchNames are the names of all figures.
func benchNames() []string { return slices.Concat(bench.Names(), bench.RouteNames()) }

// benchAll runs every bench, or those of them that have a figure which was asked
// for.
func benchAll(ctx context.Context, cfg bench.Config) (bench.Report, error) {
	for _, name := range cfg.Only {
		if !slices.Contains(benchNames(), name) {
			return bench.Report{}, parley.Errorf(parley.CodeInvalid, "there is no figure %q; choose from %s", name, strings.Join(benchNames(), ", "))
		}
	}
	var report bench.Report
	asked := cfg.Only
	for _, part := range []struct {
		run   benchRun
		names []string
	}{{bench.Route, bench.RouteNames()}, {bench.Store, bench.Names()}} {
		cfg.Only = slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return !slices.Contains(part.names, name) })
		if len(asked) > 0 && len(cfg.Only) == 0 {
			continue
		}
		its, err := part.run(ctx, cfg)
		if err != nil {
			return report, err
		}
		report.Machine, report.Results = its.Machine, append(report.Results, its.Results...)
	}
	return report, nil
}

// benchSizes says how much was stored, if anything was.
func benchSizes(r bench.Report, size bench.Size) string {
	if !slices.ContainsFunc(r.Results, func(res bench.Result) bool { return !slices.Contains(bench.RouteNames(), res.Name) }) {
		return ""
	}
	return fmt.Sprintf("%s beside %s, logs of %s; ",
		counted(int64(size.Sessions), "session"), thousands(int64(size.Few)), counted(int64(size.Deep), "event"))
}
