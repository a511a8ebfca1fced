package sqlite_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests and finds goroutines they left behind; or, started
// again by a crash test, it is the process that gets killed.
func TestMain(m *testing.M) {
	if plan := os.Getenv(helperEnv); plan != "" {
		if err := crashHelper(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
