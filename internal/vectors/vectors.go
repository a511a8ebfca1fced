// Package vectors reads cases that tests have as data.
//
// It is for tests, starts no goroutine, and imports nothing of the module.
package vectors

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Load reads the cases of a file in the testdata folder of the package under
// test, and makes sure that there are as many as it says.
func Load[C any](t testing.TB, name string) []C {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name)) //nolint:gosec // a test names its own file
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Count int `json:"count"`
		Cases []C `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 || len(file.Cases) != file.Count {
		t.Fatalf("%s has %d cases and says that it has %d", name, len(file.Cases), file.Count)
	}
	return file.Cases
}
