package storetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// The environment variables the random sequences look at.
const (
	soakVariable = "PARLEY_SOAK" // 1: full counts
	seedVariable = "PARLEY_SEED" // the seed of the only sequence to run
)

// fixedSeed makes half of the sequences the same in every run, so that a change
// which breaks one of them is seen at once and by everybody.
const fixedSeed = 20_250_102

// RandomConfig says how much [RunRandom] does. The zero value is what every
// store has to pass.
type RandomConfig struct {
	// Sequences is how many are run, half of them from a fixed seed and half
	// from a random one. 0: 1,000, or 10,000 if PARLEY_SOAK is 1.
	Sequences int
}

// operationsEach is the length of a sequence.
const operationsEach = 60

// RunRandom runs random sequences of operations on stores of h and on an
// in-memory oracle, and compares what both answer. At the end it logs a table of
// what the sequences covered and fails if that is not everything.
//
// With PARLEY_SEED set to the seed of a failure it runs that sequence alone.
func RunRandom(t *testing.T, h Harness, cfg RandomConfig) {
	if cfg.Sequences == 0 {
		cfg.Sequences = tenth(10_000)
	}
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%q is not a number", seedVariable, text)
		}
		if failed := runSequence(t, h, seed, newCoverage()); failed != nil {
			t.Error(failed)
		}
		return
	}
	cover := newCoverage()
	// The group ends when all its parallel parts have ended.
	t.Run("sequences", func(t *testing.T) {
		randomSeed := rand.Uint64N(1 << 53)
		t.Logf("fixed seed: %d, random seed: %d", fixedSeed, randomSeed)
		runSeed(t, h, "fixed", fixedSeed, cfg.Sequences/2, cover)
		runSeed(t, h, "random", randomSeed, cfg.Sequences-cfg.Sequences/2, cover)
	})
	if t.Failed() {
		return
	}
	t.Logf("what the sequences covered:\n%s", cover.table())
	if missing := cover.missing(); len(missing) > 0 {
		t.Errorf("%d things were never generated: %v", len(missing), missing)
	}
}

// runSeed runs sequences with the seeds from the given one on, in parallel
// parts. Each part is a test of its own, so that a harness may stop it.
func runSeed(t *testing.T, h Harness, name string, seed uint64, count int, cover *coverage) {
	const part = 25
	for from := 0; from < count; from += part {
		t.Run(fmt.Sprintf("%s_%d", name, from), func(t *testing.T) {
			t.Parallel()
			mine := newCoverage()
			for i := from; i < min(from+part, count) && !t.Failed(); i++ {
				if failed := runSequence(t, h, seed+uint64(i), mine); failed != nil {
					t.Error(failed)
				}
			}
			cover.add(mine)
		})
	}
}

// runSequence runs one sequence. A sample of the state is compared now and then,
// all of it at the end. It gives nil if store and oracle agree.
func runSequence(t testing.TB, h Harness, seed uint64, cover *coverage) *failure {
	q := newSequence(t, h, cover)
	defer q.finish()
	g := newGenerator(seed, q.oracle)
	var found *difference
	for i := 0; i < operationsEach && found == nil; i++ {
		op := operation{crash: g.chance(50)}
		if !g.chance(5) {
			b := g.batch()
			op.batch = &b
		}
		q.refs = g.refs
		if found = q.step(op); found == nil && g.chance(15) {
			found = q.compareSome(g.Rand)
		}
	}
	if found == nil {
		found = q.compareAll(g.Rand)
	}
	if found == nil {
		return nil
	}
	f := &failure{seed: seed, found: found, operations: len(q.history)}
	f.history, f.shrunk = shrink(t, h, q, found)
	return f
}

// tenth gives a count, or a tenth of it in an ordinary run.
func tenth(count int) int {
	if os.Getenv(soakVariable) == "1" {
		return count
	}
	return count / 10
}
