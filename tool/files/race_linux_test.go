package files_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/tool/files"
)

// swap exchanges what has a name with something else, again and again, until stop
// is called. There is always one of the two.
func (r *rig) swap(name, other string) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for r.exchange(name, other) {
			for range rand.IntN(100) {
				// Now and then something gets through before the next exchange.
				_, _ = os.Lstat(r.dir)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

func (r *rig) exchange(name, other string) bool {
	r.Helper()
	err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(r.dir, name), unix.AT_FDCWD, filepath.Join(r.dir, other), unix.RENAME_EXCHANGE)
	if err != nil {
		r.Error(err)
	}
	return err == nil
}

// TestRaces exchanges a folder or a file for something that leads out, or would
// hang, while the tools work on it. What they see and change is inside. That the
// path did lead out at times is shown by reading it without the tools.
func TestRaces(t *testing.T) {
	t.Parallel()
	type other func(r *rig, path string)
	link := func(target string) other { return func(r *rig, path string) { r.link(target, path) } }
	pipe := func(r *rig, path string) {
		if err := syscall.Mkfifo(filepath.Join(r.dir, path), 0o666); err != nil {
			r.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		swapped string
		other   other
		leaks   bool // reading the path without the tools shows the canary at times
	}{
		"a folder and a link out":            {"a", link("../out"), true},
		"a folder and an absolute link":      {"a", link("/"), false},
		"a folder and a link to hidden":      {"a", link("data"), true},
		"a folder and a link into hidden":    {"a", link("data/below"), true},
		"a folder and a link in":             {"a", link("b"), false},
		"a folder and a pipe":                {"a", pipe, false},
		"a deeper folder and a link out":     {"a/deep", link("../../out"), true},
		"a deeper folder and a pipe":         {"a/deep", pipe, false},
		"a file and a link out":              {"a/deep/secret.txt", link("../../../out/secret.txt"), true},
		"a file and a link to hidden":        {"a/deep/secret.txt", link("../../data/secret.txt"), true},
		"a file and a link to hidden below":  {"a/deep/secret.txt", link("keep/secret.txt"), true},
		"a file and a link in":               {"a/deep/secret.txt", link("other.txt"), false},
		"a file and a pipe":                  {"a/deep/secret.txt", pipe, false},
		"a file and a folder":                {"a/deep/secret.txt", func(r *rig, path string) { r.put(path+"/x", "mine") }, false},
		"a folder and a link in and out":     {"a", link("b/../../out"), true},
		"a folder and the folder above":      {"a", link(".."), false},
		"a folder and another of its making": {"a", func(r *rig, path string) { r.put(path+"/deep/secret.txt", "mine") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, files.Config{Scope: files.Project, Hide: []string{"data", "a/deep/keep"}})
			r.put("a/deep/secret.txt", "mine")
			r.put("a/deep/other.txt", "mine")
			r.put("b/deep/secret.txt", "mine")
			kept := []string{"data/deep/secret.txt", "data/below/deep/secret.txt", "data/secret.txt", "a/deep/keep/secret.txt", "../out/deep/secret.txt", "../out/secret.txt"}
			for _, path := range kept {
				r.put(path, canary)
			}
			c.other(r, "other")
			r.does("list_files", args{}) // what is hidden is known from here on
			stop := r.swap(c.swapped, "other")
			leaked := false
			for i := 0; i < 200_000 && c.leaks && !leaked; i++ {
				data, err := os.ReadFile(filepath.Join(r.dir, "a", "deep", "secret.txt"))
				leaked = err == nil && string(data) == canary
			}
			times := soak.Count(20, 1_000)
			works := r.hammer(times, false)
			// An edit puts a file where the link was, if it comes to that.
			r.hammer(times/3, true)
			stop()
			if _, err := os.Lstat(filepath.Join(r.dir, "a", "deep", "keep")); err != nil {
				r.exchange(c.swapped, "other") // so that what is kept is found under its name
			}
			if leaked != c.leaks {
				t.Error("the path never led out: the test shows nothing")
			}
			if works["read_file"] == 0 || works["write_file"] == 0 {
				t.Errorf("what worked: %v", works)
			}
			for _, path := range kept {
				if got := r.get(path); got != canary {
					t.Errorf("%s was changed: %q", path, got)
				}
			}
			if got := tree(t, r.outside) + " " + tree(t, filepath.Join(r.dir, "data")); got != "deep/secret.txt secret.txt below/deep/secret.txt deep/secret.txt secret.txt" {
				t.Errorf("something was written: %s", got)
			}
		})
	}
}

// hammer calls every tool so often, and more often until some calls worked, which it
// counts.
func (r *rig) hammer(times int, edit bool) map[string]int {
	r.Helper()
	works := map[string]int{}
	for i := 0; i < times || (i < 100*times && (works["read_file"] == 0 || works["write_file"] == 0)); i++ {
		for tool, a := range map[string]args{
			"read_file":    {"path": "a/deep/secret.txt"},
			"write_file":   {"path": "a/deep/written.txt", "content": "mine"},
			"edit_file":    {"path": "a/deep/secret.txt", "old": "mine", "new": "min" + "e "},
			"list_files":   {"path": "a", "depth": 3},
			"search_files": {"path": "a", "text": "canary"},
		} {
			if tool == "edit_file" && !edit {
				continue
			}
			if tool == "read_file" { // which is quick, and the one to see something
				for range 20 {
					if res := r.call(tool, a); strings.Contains(res.Text, canary) {
						r.Fatalf("%s shows it: %s", tool, res.Text)
					}
				}
			}
			res := r.call(tool, a)
			if strings.Contains(res.Text, canary) {
				r.Fatalf("%s shows it: %s", tool, res.Text)
			}
			if !res.IsError {
				works[tool]++
			}
		}
	}
	return works
}
