package channel_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
