package config_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/parley-run/parley/config"
)

// A program loads the configuration and asks where a value comes from.
func Example() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, config.FileName)
	if err := os.WriteFile(file, []byte("session:\n  busy: steer\n  inactive_after: 14d\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	loaded, err := config.Load(config.Options{File: file, Environ: []string{"PARLEY_SESSION_BUSY=collect"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range loaded.Values() {
		if v.Origin != config.FromDefault {
			fmt.Println(v.Path, v.Text(), v.Origin, v.Line)
		}
	}

	_, err = config.Load(config.Options{Environ: []string{"PARLEY_SESSION_BUSY=stear"}})
	fmt.Println(err)
	// Output:
	// session.busy collect env 1
	// session.inactive_after 14d file 3
	// the configuration cannot be used: PARLEY_SESSION_BUSY: session.busy is "stear"; it must be queue, collect, steer, interrupt or reject; did you mean steer?
}
