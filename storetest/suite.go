// Package storetest is the suite that every store of Parley passes: the same
// tests for all, with no tolerance for any.
//
// [Run] runs it, and [RunPromise] one promise. It has named tests for each thing the comments of
// [parley.Store] and [parley.Batch] promise, and random sequences of operations
// whose outcome is compared with a small in-memory model, the oracle. The
// oracle is written from those comments alone and shares no code with any store;
// where it and a store differ, one of them, or the comment, is wrong.
//
// The package is imported by tests of stores only. It imports the root package
// and nothing else of the module. Its goroutines end with the test that started
// them.
//
// Two environment variables change what it does: PARLEY_SOAK=1 runs full counts
// instead of a tenth, PARLEY_SEED=<n> repeats the random sequence with that seed.
package storetest

import (
	"context"
	"testing"

	"github.com/parley-run/parley"
)

// Harness opens stores for the suite.
type Harness struct {
	// Open opens the store in dir and makes it if there is none. It is called
	// again with the same dir after Close, or after Crash. A store that cannot
	// be opened fails the test.
	Open func(t testing.TB, dir string) parley.Store
	// Crash abandons a store as if its process had died: nothing is flushed and
	// nothing waits. The same dir can be opened afterwards. Optional; without it
	// stores are closed.
	Crash func(t testing.TB, s parley.Store)
	// Check looks below the reads of a store, and says what is wrong there.
	// Optional. It is called when a test or a sequence has done all it does.
	Check func(ctx context.Context, s parley.Store) error
	// NewestFormat is the format of what a store writes, a number that each migration raises. [Run] wants
	// two formats or more.
	NewestFormat int
	// MigrateTo brings a store that nobody has open to an older format, by the way back of each migration. Open
	// upgrades it. Run calls it.
	MigrateTo func(t testing.TB, dir string, format int)
	// Cost gives what reads have cost since it was last asked, in pages or the
	// like. Optional; without it the costs of reads are not compared.
	Cost func(s parley.Store) int64
}

// test is one named test. It has a store of its own.
type test struct {
	name string
	run  func(*fixture)
}

// Run runs the suite: the named tests, those of migrations and, last, [RunRandom]. The promises are tests of their own; see [RunPromise].
func Run(t *testing.T, h Harness) {
	runNamed(t, h)
	t.Run("Migrations", func(t *testing.T) { // not by runNamed, which the oracle passes as well: that has no formats
		t.Parallel()
		for _, one := range migrationTests {
			one.start(t, h)
		}
	})
	t.Run("Random", func(t *testing.T) {
		t.Parallel()
		RunRandom(t, h, RandomConfig{})
	})
}

// runNamed runs the tests that have names, topic by topic.
func runNamed(t *testing.T, h Harness) {
	for _, topic := range []struct {
		name  string
		tests []test
	}{
		{"Sessions", sessionTests},
		{"SessionLists", sessionListTests},
		{"Events", eventTests},
		{"Counters", counterTests},
		{"Expectations", expectationTests},
		{"Inputs", inputTests},
		{"Turns", turnTests},
		{"Approvals", approvalTests},
		{"Outbox", outboxTests},
		{"Names", nameTests},
		{"People", peopleTests},
		{"Tokens", tokenTests},
		{"Passcodes", passcodeTests},
		{"Audit", auditTests},
		{"Usage", usageTests},
		{"Blobs", blobTests},
		{"Forks", forkTests},
		{"Redaction", redactionTests},
		{"Deletion", deletionTests},
		{"Visibility", visibilityTests},
		{"Atomicity", atomicityTests},
		{"Concurrency", concurrencyTests},
		{"Views", viewTests},
		{"OpenAndClose", openCloseTests},
		{"BadInput", badInputTests},
		{"Limits", limitTests},
	} {
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			for _, one := range topic.tests {
				one.start(t, h)
			}
		})
	}
}

func (one test) start(t *testing.T, h Harness) {
	t.Run(one.name, func(t *testing.T) {
		t.Parallel()
		one.run(newFixture(t, h))
	})
}
