package bench

import (
	"fmt"
	"slices"
)

// Report is what a run measured.
type Report struct {
	Machine Machine  `json:"machine"`
	Results []Result `json:"results"`
}

// OK reports whether every result holds its bar.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(res Result) bool { return !res.OK })
}

// Result is one figure beside its reference. Ratio is always Value/Reference.
type Result struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"` // of Value and Reference
	Reference float64 `json:"reference"`
	Ratio     float64 `json:"ratio"`
	Bar       float64 `json:"bar"`
	OK        bool    `json:"ok"`

	// For people: what was measured, what the reference is, what the bar says,
	// and what else there is to know.
	What        string `json:"-"`
	ReferenceIs string `json:"-"`
	BarIs       string `json:"-"`
	Note        string `json:"-"`
}

// rule says how a figure is judged.
type rule int

const (
	ratioAtLeast rule = iota // a rate: the ratio must reach the bar
	ratioAtMost              // a time: the ratio must not pass the bar
	valueAtMost              // a size or a time: the value itself must not pass the bar
	valueAtLeast             // a rate: the value itself must reach the bar
)

// measure is one of the figures a run can take.
type measure struct {
	name        string
	unit        string
	rule        rule
	bar         float64
	what        string
	referenceIs string
}

// result judges a figure.
func (m measure) result(value, reference float64) Result {
	r := Result{
		Name: m.name, Unit: m.unit, Bar: m.bar, What: m.what, ReferenceIs: m.referenceIs,
		Value: value, Reference: reference,
	}
	if reference != 0 {
		r.Ratio = value / reference
	}
	switch m.rule {
	case ratioAtLeast:
		r.OK = reference > 0 && r.Ratio >= m.bar
		r.BarIs = fmt.Sprintf("≥ %.2fx", m.bar)
	case ratioAtMost:
		r.OK = reference > 0 && r.Ratio <= m.bar
		r.BarIs = fmt.Sprintf("≤ %.2fx", m.bar)
	case valueAtMost:
		r.OK = value <= m.bar
		r.BarIs = fmt.Sprintf("≤ %g %s", m.bar, m.unit)
	case valueAtLeast:
		r.OK = value >= m.bar
		r.BarIs = fmt.Sprintf("≥ %g %s", m.bar, m.unit)
	}
	return r
}
