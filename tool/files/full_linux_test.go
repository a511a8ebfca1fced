package files_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parley-run/parley/tool/files"
)

// TestFull_Processes: what the system tells about processes, their variables among
// it, is not read in the scope full, by whichever way. A folder that only looks
// like it is.
func TestFull_Processes(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{Scope: files.Full})
	self := strconv.Itoa(os.Getpid())
	r.link("/proc/self", "l")
	r.link("/proc/self/root", "top")
	r.put("proc/self/environ", "mine")
	for _, path := range []string{
		"/proc/self/environ", "/proc/" + self + "/environ", "/proc/thread-self/environ", "//proc/./self/environ",
		"/proc/self/root" + r.outside + "/secret.txt", "l/environ", "top/proc/self/environ", "/dev/fd/0", "/dev/stdin",
	} {
		r.refuses("read_file", args{"path": path}, "")
	}
	r.refuses("list_files", args{"path": "/proc"}, "off limits")
	if got := r.does("read_file", args{"path": r.dir + "/proc/self/environ"}); got != "mine" {
		t.Errorf("got %q", got)
	}
	for _, path := range []string{"/dev/zero", "/dev/null", "/dev/tty"} {
		if _, err := os.Stat(path); err == nil {
			r.refuses("read_file", args{"path": path}, "a device")
		}
	}
}

// TestLinks_Absolute follows absolute links in the scope full, except to what is
// hidden.
func TestLinks_Absolute(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{Scope: files.Full, Hide: []string{"data"}})
	r.put("data/parley.db", canary)
	r.link(r.outside, "out")
	r.link(filepath.Join(r.dir, "data"), "hidden")
	r.link(r.dir+"/data/parley.db", "../out/db")
	if got := r.does("read_file", args{"path": "out/secret.txt"}); got != canary {
		t.Errorf("got %q", got)
	}
	r.refuses("read_file", args{"path": "hidden/parley.db"}, "off limits")
	r.refuses("read_file", args{"path": "out/db"}, "off limits")
	r.refuses("write_file", args{"path": "out/db", "content": "x"}, "off limits")
}

// TestHidden_Moved: a hidden folder stays hidden under another name, and so does the
// one that comes in its place.
func TestHidden_Moved(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{Hide: []string{"data"}})
	r.put("data/parley.db", canary)
	r.put("ok.txt", "mine")
	r.refuses("read_file", args{"path": "data/parley.db"}, "off limits")
	if err := os.Rename(filepath.Join(r.dir, "data"), filepath.Join(r.dir, "moved")); err != nil {
		t.Fatal(err)
	}
	r.put("data/parley.db", canary)
	for _, path := range []string{"moved/parley.db", "data/parley.db"} {
		r.refuses("read_file", args{"path": path}, "off limits")
		r.refuses("write_file", args{"path": path, "content": "x"}, "off limits")
	}
	if got := r.does("list_files", args{"depth": 3}); got != "ok.txt (4 bytes)" {
		t.Errorf("got %q", got)
	}
}
