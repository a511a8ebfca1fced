package files_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/tool/files"
)

// swap exchanges what has a name with something else, again and again, until stop
// is called. There is always one of the two. With slow, something gets through
// before the next exchange more often.
func (r *rig) swap(name, other string, slow *atomic.Bool) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for r.exchange(name, other) {
			for n := rand.IntN(100); n > 0 && slow.Load(); n-- {
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
			var slow atomic.Bool
			r.does("list_files", args{}) // what is hidden is known from here on
			stop := sync.OnceFunc(r.swap(c.swapped, "other", &slow))
			defer stop()
			leaked := false
			for i := 0; i < 200_000 && c.leaks && !leaked; i++ {
				data, err := os.ReadFile(filepath.Join(r.dir, "a", "deep", "secret.txt"))
				leaked = err == nil && string(data) == canary
			}
			for range soak.Count(500, 50_000) {
				if res := r.call("read_file", args{"path": "a/deep/secret.txt"}); strings.Contains(res.Text, canary) {
					t.Fatalf("it shows it: %s", res.Text)
				}
			}
			slow.Store(true)
			times := soak.Count(8, 1_000)
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

// TestRaces_Exact exchanges something in the very moment between a look at it and
// what follows. Without the exchange each call works.
func TestRaces_Exact(t *testing.T) {
	t.Parallel()
	calls := map[string]args{
		"read_file":    {"path": "a/deep/secret.txt"},
		"write_file":   {"path": "a/deep/secret.txt", "content": "mine"},
		"edit_file":    {"path": "a/deep/secret.txt", "old": "mine", "new": "mine too"},
		"list_files":   {"path": "a/deep", "depth": 3},
		"search_files": {"path": "a/deep", "text": "canary"},
	}
	for name, c := range map[string]struct{ at, swapped, target string }{
		"a folder and a link to hidden":       {"a", "a", "data"},
		"a folder and a link into hidden":     {"a", "a", "data/below"},
		"a folder and a link out":             {"a", "a", "../out"},
		"a folder and a pipe":                 {"a", "a", ""},
		"a deeper folder and a link":          {"deep", "a/deep", "keep"},
		"a deeper folder and a link below":    {"deep", "a/deep", "keep/deep"},
		"a deeper folder and a link out":      {"deep", "a/deep", "../../out/deep"},
		"a deeper folder and a pipe":          {"deep", "a/deep", ""},
		"a file and a link to hidden":         {"secret.txt", "a/deep/secret.txt", "keep/secret.txt"},
		"a file and a link out":               {"secret.txt", "a/deep/secret.txt", "../../../out/secret.txt"},
		"a file and a pipe":                   {"secret.txt", "a/deep/secret.txt", ""},
		"the folder above, after it was left": {"secret.txt", "a", "../out"},
	} {
		for tool, a := range calls {
			t.Run(name+" "+tool, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, files.Config{Scope: files.Project, Hide: []string{"data", "a/keep", "a/deep/keep"}})
				r.put("a/deep/secret.txt", "mine")
				kept := []string{
					"data/deep/secret.txt", "data/below/deep/secret.txt", "a/keep/secret.txt", "a/keep/deep/secret.txt",
					"a/deep/keep/secret.txt", "../out/deep/secret.txt", "../out/secret.txt",
				}
				for _, path := range kept {
					r.put(path, canary)
				}
				if c.target == "" {
					if err := syscall.Mkfifo(filepath.Join(r.dir, "other"), 0o666); err != nil {
						t.Fatal(err)
					}
				} else {
					r.link(c.target, "other")
				}
				r.does(tool, a)
				r.put("a/deep/secret.txt", "mine")
				exchanged := false
				r.files.OnLook(func(name string) {
					if name == c.at && !exchanged {
						exchanged = r.exchange(c.swapped, "other")
					}
				})
				if res := r.call(tool, a); strings.Contains(res.Text, canary) {
					t.Errorf("it shows it: %s", res.Text)
				}
				folders := tool == "list_files" || tool == "search_files" // they do not look at the file this way
				if !exchanged && (c.at != "secret.txt" || !folders) {
					t.Error("nothing was exchanged: the test shows nothing")
				}
				if _, err := os.Lstat(filepath.Join(r.dir, "a", "deep", "keep")); err != nil {
					r.exchange(c.swapped, "other")
				}
				for _, path := range kept {
					if got := r.get(path); got != canary {
						t.Errorf("%s was changed: %q", path, got)
					}
				}
				if got := tree(t, r.outside) + " " + tree(t, filepath.Join(r.dir, "data")); got != "deep/secret.txt secret.txt below/deep/secret.txt deep/secret.txt" {
					t.Errorf("something was written: %s", got)
				}
			})
		}
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
