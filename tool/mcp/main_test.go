package mcp_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests and finds goroutines they left behind; or, started
// again by one of them, it is the server they talk to.
func TestMain(m *testing.M) {
	if kind := os.Getenv(kindEnv); kind != "" {
		if err := serve(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
