package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{1, 1, 1, 1000}, 1},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
	values := []float64{3, 1, 2}
	median(values)
	if values[0] != 3 {
		t.Error("median changed its argument")
	}
}

func TestResult_IsJudgedByItsRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule             rule
		bar              float64
		value, reference float64
		ratio            float64
		ok               bool
	}{
		{ratioAtLeast, 0.6, 60, 100, 0.6, true},
		{ratioAtLeast, 0.6, 59, 100, 0.59, false},
		{ratioAtLeast, 0.6, 59, 0, 0, false},
		{ratioAtMost, 1.25, 1.25, 1, 1.25, true},
		{ratioAtMost, 1.25, 1.26, 1, 1.26, false},
		{ratioAtMost, 1.25, 1, 0, 0, false},
		{valueAtMost, 10, 9, 20, 0.45, true},
		{valueAtMost, 10, 11, 20, 0.55, false},
		{valueAtMost, 10, -1, 20, -0.05, true},
		{valueAtLeast, 10, 10, 20, 0.5, true},
		{valueAtLeast, 10, 9, 5, 1.8, false},
	} {
		res := measure{rule: c.rule, bar: c.bar}.result(c.value, c.reference)
		if res.OK != c.ok || math.Abs(res.Ratio-c.ratio) > 1e-9 {
			t.Errorf("%+v is judged %v with ratio %v", c, res.OK, res.Ratio)
		}
	}
}

func TestCommit64_HasTwoBars(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		together, bare, alone float64
		ok                    bool
	}{
		{12_000, 100_000, 4_800, true},
		{11_000, 100_000, 1_000, false},  // too far from the disk
		{12_000, 100_000, 4_900, false},  // too little gained
		{12_000, 100_000, 0, false},      // nothing to compare with
		{50_000, 100_000, 10_000, true},  // well above both
		{50_000, 100_000, 40_000, false}, // fast, yet no better than alone
	} {
		measures, err := chosen(storeMeasures(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{measures: measures, results: map[string]Result{}}
		r.recordCommits(
			&pair{value: []float64{c.together}, reference: []float64{c.bare}},
			&pair{value: []float64{c.alone}, reference: []float64{c.bare}})
		if got := r.results[Commit64].OK; got != c.ok {
			t.Errorf("%+v is judged %v", c, got)
		}
	}
}

func TestReport_OK(t *testing.T) {
	t.Parallel()
	if !(Report{Results: []Result{{OK: true}, {OK: true}}}).OK() {
		t.Error("all are ok and the report is not")
	}
	if (Report{Results: []Result{{OK: true}, {OK: false}}}).OK() {
		t.Error("one is not ok and the report is")
	}
}

func TestInTurns(t *testing.T) {
	t.Parallel()
	var order string
	say := func(s string) func() error { return func() error { order += s; return nil } }
	for i := range 4 {
		if err := inTurns(i, say("v"), say("r")); err != nil {
			t.Fatal(err)
		}
	}
	if order != "vrrvvrrv" {
		t.Errorf("order is %s", order)
	}
}

func TestPopulation_IsDistinctAndTheSameEveryTime(t *testing.T) {
	t.Parallel()
	const n = 20_000
	p := population{n: n, base: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	seen := make(map[string]int, 4*n)
	regulars, ascending := 0, 0
	var before conversation
	for i := range n {
		c := p.conversation(i)
		for _, name := range []string{string(c.id), string(c.key), string(c.aliases[0]), string(c.aliases[1])} {
			if other, ok := seen[name]; ok {
				t.Fatalf("%d and %d share %s", other, i, name)
			}
			seen[name] = i
		}
		if c.people[len(c.people)-1] == regular {
			regulars++
		}
		if i > 0 && c.at.After(before.at) {
			ascending++
		}
		before = c
	}
	if regulars != pageRows {
		t.Errorf("one person takes part in %d sessions, want %d", regulars, pageRows)
	}
	if ascending < n*4/10 || ascending > n*6/10 {
		t.Errorf("of %d sessions %d are newer than the one before: that is an order", n, ascending)
	}
	if again := p.conversation(7); again.id != p.conversation(7).id {
		t.Error("a conversation changes")
	}
}

func TestBare_WritesWhatItCounts(t *testing.T) {
	t.Parallel()
	disk, err := newBare(t.TempDir(), 100, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := disk.close(); err != nil {
			t.Error(err)
		}
	}()
	l := stretch{each: 3, limit: time.Hour}
	if _, err := disk.alone(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.together(t.Context(), 8, l); err != nil {
		t.Fatal(err)
	}
	if want := int64(100 * (3 + 3*8)); disk.at != want {
		t.Errorf("%d bytes were written, want %d", disk.at, want)
	}
	// A stretch whose time is over does one operation and stops.
	disk.at = 0
	if _, err := disk.together(t.Context(), 8, stretch{each: 100, limit: -1}); err != nil {
		t.Fatal(err)
	}
	if disk.at != 800 {
		t.Errorf("%d bytes were written after the time was over, want 800", disk.at)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := disk.together(ctx, 8, l); err == nil {
		t.Error("a canceled stretch is no error")
	}
	if _, err := disk.alone(ctx, l); err == nil {
		t.Error("a canceled stretch is no error")
	}
}

func TestLeavesNothing(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	leave := func(context.Context) error {
		go func() { <-end }()
		return nil
	}
	if err := leavesNothing(leave)(t.Context()); !errors.Is(err, parley.ErrInternal) {
		t.Errorf("a goroutine is left, and the run says %v", err)
	}
	close(end)
	wait := func(context.Context) error {
		done := make(chan struct{})
		go func() { close(done) }()
		<-done
		return nil
	}
	if err := leavesNothing(wait)(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	if err := gone([]int{os.Getpid()}); !errors.Is(err, parley.ErrInternal) {
		t.Errorf("a process is left, and the run says %v", err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := gone([]int{cmd.Process.Pid}); err != nil {
		t.Error(err)
	}
}
