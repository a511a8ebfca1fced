package group_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// load reads a file of cases and makes sure that it has as many as it says.
func load[C any](t testing.TB, name string) []C {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
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

// tenth gives a tenth of a long count, or all of it if PARLEY_SOAK is 1.
func tenth(n int) int {
	if os.Getenv("PARLEY_SOAK") == "1" {
		return n
	}
	return n / 10
}

// baseSeed gives the seed of a test's random choices: PARLEY_SEED, or a fresh
// one. It is logged, and PARLEY_SEED repeats it.
func baseSeed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("PARLEY_SEED"), 10, 64)
	if err != nil {
		n = uint64(time.Now().UnixNano())
	}
	t.Logf("PARLEY_SEED=%d", n)
	return n
}
