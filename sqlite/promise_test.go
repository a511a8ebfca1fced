package sqlite_test

import (
	"testing"

	"github.com/parley-run/parley/storetest"
)

func TestPromises(t *testing.T) {
	t.Parallel()
	storetest.CheckPromises(t, "promise_test.go")
}

func TestPromise_AdmittedMeansDurable(t *testing.T) {
	storetest.RunPromise(t, harness(), "AdmittedMeansDurable")
}

func TestPromise_Once(t *testing.T) { storetest.RunPromise(t, harness(), "Once") }

func TestPromise_OneWriter(t *testing.T) { storetest.RunPromise(t, harness(), "OneWriter") }

func TestPromise_NoGaps(t *testing.T) { storetest.RunPromise(t, harness(), "NoGaps") }

func TestPromise_NoBlindRepeat(t *testing.T) { storetest.RunPromise(t, harness(), "NoBlindRepeat") }

func TestPromise_DefaultDeny(t *testing.T) { storetest.RunPromise(t, harness(), "DefaultDeny") }

func TestPromise_TheClockDeletesNothing(t *testing.T) {
	storetest.RunPromise(t, harness(), "TheClockDeletesNothing")
}

func TestPromise_IdleIsFree(t *testing.T) { storetest.RunPromise(t, harness(), "IdleIsFree") }
