package sqlite_test

import (
	"testing"

	"github.com/parley-run/parley/storetest"
)

func TestPromises(t *testing.T) {
	t.Parallel()
	storetest.CheckPromises(t, "promise_test.go")
}

// keepPromise runs the test of a promise where a crash is the end of a process, and where it takes the power with it, so that a sync
// that is missing shows.
func keepPromise(t *testing.T, name string) {
	t.Helper()
	t.Run("killed", func(t *testing.T) { storetest.RunPromise(t, harness(), name) })
	t.Run("power cut", func(t *testing.T) { storetest.RunPromise(t, cutHarness(t), name) })
}

func TestPromise_AdmittedMeansDurable(t *testing.T) { keepPromise(t, "AdmittedMeansDurable") }

func TestPromise_Once(t *testing.T) { keepPromise(t, "Once") }

func TestPromise_OneWriter(t *testing.T) { keepPromise(t, "OneWriter") }

func TestPromise_NoGaps(t *testing.T) { keepPromise(t, "NoGaps") }

func TestPromise_NoBlindRepeat(t *testing.T) { keepPromise(t, "NoBlindRepeat") }

func TestPromise_TheClockDeletesNothing(t *testing.T) { keepPromise(t, "TheClockDeletesNothing") }

// These two have no crash.

func TestPromise_DefaultDeny(t *testing.T) { storetest.RunPromise(t, harness(), "DefaultDeny") }

func TestPromise_IdleIsFree(t *testing.T) { storetest.RunPromise(t, harness(), "IdleIsFree") }
