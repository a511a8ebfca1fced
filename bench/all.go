package bench

import (
	"context"
	"slices"

	"github.com/parley-run/parley/internal/pty"
)

// part is a run of some of the figures.
type part struct {
	known []measure
	run   func(context.Context, Config) (Report, error)
}

// All measures everything, or those parts that have a figure which was asked for.
func All(ctx context.Context, cfg Config) (Report, error) {
	if _, err := chosen(allMeasures(), cfg.Only); err != nil {
		return Report{}, err
	}
	parts := []part{
		{routeMeasures(), Route}, {storeMeasures(), Store}, {feedMeasures(), Feed}, {engineMeasures(), Engine}, {turnMeasures(), Turn}, {httpMeasures(), HTTP},
	}
	if pty.Supported || len(cfg.Only) > 0 { // where it cannot be measured, there is no figure, unless it was asked for
		parts = append(parts, part{chatMeasures(), Chat})
	}
	var report Report
	for _, part := range parts {
		its := cfg
		if len(cfg.Only) > 0 {
			known := namesOf(part.known)
			its.Only = slices.DeleteFunc(slices.Clone(cfg.Only), func(name string) bool { return !slices.Contains(known, name) })
			if len(its.Only) == 0 {
				continue
			}
		}
		r, err := part.run(ctx, its)
		if err != nil {
			return report, err
		}
		report.Machine, report.Results = r.Machine, append(report.Results, r.Results...)
	}
	return report, nil
}

// allMeasures are the figures of all runs, in the order of a report.
func allMeasures() []measure {
	return slices.Concat(routeMeasures(), storeMeasures(), feedMeasures(), engineMeasures(), turnMeasures(), httpMeasures(), chatMeasures())
}

// Names gives the names of all figures.
func Names() []string { return namesOf(allMeasures()) }
