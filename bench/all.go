package bench

import (
	"context"
	"slices"
)

// All measures everything, or those parts that have a figure which was asked for.
func All(ctx context.Context, cfg Config) (Report, error) {
	if _, err := chosen(allMeasures(), cfg.Only); err != nil {
		return Report{}, err
	}
	var report Report
	for _, part := range []struct {
		known []measure
		run   func(context.Context, Config) (Report, error)
	}{{routeMeasures(), Route}, {storeMeasures(), Store}, {feedMeasures(), Feed}, {engineMeasures(), Engine}, {turnMeasures(), Turn}, {httpMeasures(), HTTP}} {
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
	return slices.Concat(routeMeasures(), storeMeasures(), feedMeasures(), engineMeasures(), turnMeasures(), httpMeasures())
}

// Names gives the names of all figures.
func Names() []string { return namesOf(allMeasures()) }
