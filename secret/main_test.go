package secret_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
)

// Variables that make the test program a helper process.
const (
	saveEnv = "PARLEY_SECRET_SAVE" // save keys to this file until killed
	busEnv  = "PARLEY_SECRET_BUS"  // there is a session bus, which nobody else uses
)

// TestMain runs the tests and finds goroutines they left behind; or, started
// again by a test, it is the process that the test is about.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(saveEnv) != "":
		fmt.Fprintln(os.Stderr, saveWithoutEnd(os.Getenv(saveEnv)))
		os.Exit(1)
	case os.Getenv(busEnv) != "":
		// The library's connection to the bus stays.
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

// sample is a secret that nobody has: no scanner takes it for a real one, and
// every way to escape a text changes it.
const sample = "s3cr3t/<va+lue>&\"ü\" of=tests"

// wantCode fails unless err has the code, "" being none, says something, and does
// not tell the secrets.
func wantCode(t *testing.T, err error, code parley.Code, secrets ...string) {
	t.Helper()
	if got := parley.CodeOf(err); got != code {
		t.Fatalf("code %q, want %q: %v", got, code, err)
	}
	if err == nil {
		return
	}
	for _, s := range append(secrets, sample) {
		if strings.Contains(err.Error(), s) {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

// wantText fails unless err says each of the texts.
func wantText(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in the error: %v", text, err)
		}
	}
}
