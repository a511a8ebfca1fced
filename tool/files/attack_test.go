//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/tool/files"
)

// reaching are calls that reach a path.
func reaching(path string) map[string]args {
	return map[string]args{
		"read_file":    {"path": path},
		"write_file":   {"path": path, "content": "overwritten"},
		"edit_file":    {"path": path, "old": "canary", "new": "overwritten"},
		"list_files":   {"path": path},
		"search_files": {"path": path, "text": "canary"},
	}
}

// TestPaths tries paths that lead out, each with every tool, and beside each one
// that does not, which has to work in the same set-up.
func TestPaths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, fair string }{
		"up":                      {"../out/secret.txt", "a/../ok.txt"},
		"up and up":               {"../../../../../../../../etc/passwd", "a/b/../../ok.txt"},
		"up from below":           {"a/../../out/secret.txt", "a/./../ok.txt"},
		"up from deep below":      {"a/b/../../../out/secret.txt", "a/b/../c.txt"},
		"up past a missing one":   {"none/../../out/secret.txt", "a/b/../../a/c.txt"},
		"up out and in again":     {"../in/ok.txt", "ok.txt"},
		"many":                    {strings.Repeat("a/../", 60) + "../out/secret.txt", strings.Repeat("a/../", 20) + "ok.txt"},
		"absolute":                {"/etc/passwd", "./ok.txt"},
		"two slashes":             {"//etc/passwd", ".//ok.txt"},
		"three slashes":           {"///etc///passwd", "a///c.txt"},
		"absolute by dots":        {"/../../etc/passwd", "././ok.txt"},
		"through the process":     {"/proc/self/root/etc/passwd", "ok.txt"},
		"working folder":          {"/proc/self/cwd/doc.go", "ok.txt"},
		"zero byte":               {"ok.txt\x00/../../out/secret.txt", "ok.txt"},
		"zero byte at the end":    {"../out/secret.txt\x00.txt", "ok.txt"},
		"very long":               {strings.Repeat("../", 2000) + "etc/passwd", "ok.txt"},
		"a very long name":        {strings.Repeat("n", 5000), "ok.txt"},
		"long name":               {strings.Repeat("n", 300) + "/x", "ok.txt"},
		"deep":                    {strings.Repeat("d/", 200) + "x", "a/c.txt"},
		"the folder above":        {"..", "a/c.txt"},
		"the folder above, slash": {"../", "a/c.txt"},
		"up, dot":                 {"../.", "a/c.txt"},
		"a file as a folder":      {"ok.txt/../../out/secret.txt", "a/../ok.txt"},
		"hidden":                  {"data/parley.db", "ok.txt"},
		"hidden folder":           {"data", "ok.txt"},
		"hidden, spelt otherwise": {"a/..//data/./parley.db", "ok.txt"},
		"hidden, not there yet":   {"later/x", "ok.txt"},
		"hidden file":             {"key", "ok.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, scope := range []files.Scope{files.Sandboxed, files.Project} {
				r := newRig(t, files.Config{Scope: scope, Hide: []string{"data", "later", "key"}})
				r.put("ok.txt", "canary of mine")
				r.put("a/c.txt", "canary of mine")
				r.put("a/b/c.txt", "canary of mine")
				r.put("data/parley.db", canary)
				r.put("key", canary)
				for tool, a := range reaching(c.path) {
					res := r.call(tool, a)
					if !res.IsError || strings.Contains(res.Text, canary) || strings.Contains(res.Text, "root:") {
						t.Errorf("%s %s %q: got %v %q", scope, tool, c.path, res.IsError, res.Text)
					}
				}
				if got := r.does("read_file", args{"path": c.fair}); got != "canary of mine" {
					t.Errorf("%s %q: got %q", scope, c.fair, got)
				}
				r.does("edit_file", args{"path": c.fair, "old": "mine", "new": "yours"})
				r.does("write_file", args{"path": c.fair, "content": "mine"})
				r.untouched()
				if got := r.get("data/parley.db") + r.get("key"); got != canary+canary {
					t.Errorf("what is hidden was changed: %q", got)
				}
				if got := tree(t, r.dir); got != "a/b/c.txt a/c.txt data/parley.db key ok.txt" {
					t.Errorf("%s %q left %s", scope, c.path, got)
				}
			}
		})
	}
}

// TestPlainNames writes to names that look like ways out and are none: they are
// names of files, inside.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"home":                "~/.ssh/authorized_keys",
		"home of another":     "~root/x",
		"backslashes":         `..\..\out\secret.txt`,
		"one dot leader":      "\u2024\u2024/out/secret.txt",
		"two dot leader":      "\u2025/out/secret.txt",
		"fullwidth dots":      "\uff0e\uff0e/out/secret.txt",
		"fullwidth slash":     "..\uff0fout",
		"percent":             "%2e%2e/out/secret.txt",
		"three dots":          ".../out/secret.txt",
		"dots and a space":    ".. /out/secret.txt",
		"variable":            "$HOME/x",
		"shell":               "`id`;x",
		"drive":               `C:\x`,
		"option":              "-rf",
		"right to left":       "a\u202etxt",
		"zero width":          "\u200b../x",
		"newline":             "a\nb",
		"the folder, of ours": "in/ok.txt",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, files.Config{})
			r.refuses("read_file", args{"path": path}, "there is no")
			r.does("write_file", args{"path": path, "content": "mine"})
			if got := r.get(path); got != "mine" {
				t.Errorf("got %q", got)
			}
			if got := r.does("read_file", args{"path": path}); got != "mine" {
				t.Errorf("got %q", got)
			}
			r.untouched()
		})
	}
}

// TestLinks tries symbolic links. A link whose target is inside works, which shows
// that the others fail because of where they lead.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		links [][2]string // target, path; OUT is the folder outside, IN the one inside
		path  string
		ok    bool
	}{
		"to a file":                {[][2]string{{"ok.txt", "l"}}, "l", true},
		"to a file out":            {[][2]string{{"../out/secret.txt", "l"}}, "l", false},
		"absolute, out":            {[][2]string{{"OUT/secret.txt", "l"}}, "l", false},
		"absolute, in":             {[][2]string{{"IN/ok.txt", "l"}}, "l", false},
		"to a folder":              {[][2]string{{"a", "l"}}, "l/c.txt", true},
		"to a folder out":          {[][2]string{{"../out", "l"}}, "l/secret.txt", false},
		"to a folder out, slash":   {[][2]string{{"../out/", "l"}}, "l//secret.txt", false},
		"to the folder above":      {[][2]string{{"..", "l"}}, "l/out/secret.txt", false},
		"to the top":               {[][2]string{{"/", "l"}}, "l/etc/passwd", false},
		"chain":                    {[][2]string{{"m", "l"}, {"n", "m"}, {"ok.txt", "n"}}, "l", true},
		"chain out":                {[][2]string{{"m", "l"}, {"n", "m"}, {"../out/secret.txt", "n"}}, "l", false},
		"in a folder":              {[][2]string{{"../ok.txt", "a/l"}}, "a/l", true},
		"in a folder, out":         {[][2]string{{"../../out/secret.txt", "a/l"}}, "a/l", false},
		"to a folder, then up":     {[][2]string{{"a/b", "l"}}, "l/../c.txt", true},
		"to a folder, then up out": {[][2]string{{"a/b", "l"}}, "l/../../../out/secret.txt", false},
		"up through a link":        {[][2]string{{"a/b", "l"}}, "l/../../ok.txt", true},
		"loop":                     {[][2]string{{"m", "l"}, {"l", "m"}}, "l", false},
		"to itself":                {[][2]string{{"l", "l"}}, "l", false},
		"to itself, below":         {[][2]string{{"l/x", "l"}}, "l/y", false},
		"to a process":             {[][2]string{{"/proc/self/root", "l"}}, "l/etc/passwd", false},
		"out and in again":         {[][2]string{{"../in/ok.txt", "l"}}, "l", false},
		"to what is hidden":        {[][2]string{{"data/parley.db", "l"}}, "l", false},
		"to a hidden folder":       {[][2]string{{"data", "l"}}, "l/parley.db", false},
		"hidden through two":       {[][2]string{{"a/../data", "l"}, {"l/parley.db", "m"}}, "m", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, files.Config{Scope: files.Project, Hide: []string{"data"}})
			for _, path := range []string{"ok.txt", "a/c.txt", "a/b/d.txt"} {
				r.put(path, "canary of mine")
			}
			r.put("data/parley.db", canary)
			for _, l := range c.links {
				target := strings.NewReplacer("OUT", r.outside, "IN", r.dir).Replace(l[0])
				r.link(target, l[1])
			}
			for tool, a := range reaching(c.path) {
				if tool == "list_files" || tool == "search_files" {
					if c.ok {
						continue // it is no folder
					}
				}
				res := r.call(tool, a)
				if res.IsError == c.ok && (tool == "read_file" || !c.ok) {
					t.Errorf("%s: got %v %q", tool, res.IsError, res.Text)
				}
				if strings.Contains(res.Text, canary) || strings.Contains(res.Text, "root:") {
					t.Errorf("%s shows it: %s", tool, res.Text)
				}
			}
			// Trees are not left either.
			list := r.does("list_files", args{"depth": 9})
			found := r.does("search_files", args{"text": "canary"})
			if strings.Contains(list+found, "secret") || strings.Contains(list+found, "parley.db (") || strings.Contains(found, canary) {
				t.Errorf("a tree shows it: %s\n%s", list, found)
			}
			if !strings.Contains(list, "a/b/d.txt") || !strings.Contains(found, "a/b/d.txt:1:") {
				t.Errorf("a tree lacks what is there: %s\n%s", list, found)
			}
			r.untouched()
			if got := r.get("data/parley.db"); got != canary {
				t.Errorf("what is hidden was changed: %q", got)
			}
		})
	}
}

// TestLinks_Write checks that writing through a link inside changes its target, and
// leaves the link.
func TestLinks_Write(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{})
	r.put("a/ok.txt", "one")
	r.link("a/ok.txt", "l")
	r.link("b/later.txt", "dangling")
	r.does("write_file", args{"path": "l", "content": "two"})
	r.does("edit_file", args{"path": "l", "old": "two", "new": "three"})
	if got := r.get("a/ok.txt"); got != "three" {
		t.Errorf("got %q", got)
	}
	if target, err := os.Readlink(filepath.Join(r.dir, "l")); err != nil || target != "a/ok.txt" {
		t.Errorf("the link is %q, %v", target, err)
	}
	r.does("write_file", args{"path": "dangling", "content": "four"})
	if got := r.get("b/later.txt"); got != "four" {
		t.Errorf("got %q", got)
	}
}

// TestHardLinks: a write leaves the file that shares its content alone.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{})
	if err := os.Link(filepath.Join(r.outside, "secret.txt"), filepath.Join(r.dir, "l")); err != nil {
		t.Fatal(err)
	}
	r.does("write_file", args{"path": "l", "content": "mine"})
	if got := r.get("l"); got != "mine" {
		t.Errorf("got %q", got)
	}
	r.untouched()
}

// TestOddFiles: what is no regular file is refused at once. That a pipe has no
// other end would otherwise hang the call.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{})
	if err := syscall.Mkfifo(filepath.Join(r.dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(r.dir, "sock")}); err != nil {
		soak.SkipOrFail(t, "no socket with a path as long: %v", err)
	}
	for name, want := range map[string]string{"pipe": "a named pipe", "sock": "a socket"} {
		for _, tool := range []string{"read_file", "write_file", "edit_file"} {
			r.refuses(tool, reaching(name)[tool], want)
		}
		r.refuses("read_file", args{"path": name, "from_line": 1}, want)
		r.refuses("read_file", args{"path": name + "/x"}, "not a folder")
	}
	if got, want := r.does("list_files", args{}), "pipe (a named pipe)\nsock (a socket)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := r.does("search_files", args{"text": "x"}); got != "[nothing found in 0 files]" {
		t.Errorf("got %q", got)
	}
}

// TestGit: the files of a repository can be read and not written, however the way
// there is spelt. The same in the scope full can.
func TestGit(t *testing.T) {
	t.Parallel()
	paths := []string{
		".git/config", ".git/hooks/post-commit", "a/../.git/config", ".GIT/config", "sub/.git/config", "sub/.Git/hooks/x",
		".git./config", "link/config", "sub/.git",
	}
	for _, scope := range []files.Scope{files.Sandboxed, files.Project, files.Full} {
		r := newRig(t, files.Config{Scope: scope})
		r.put(".git/config", "[core] canary")
		r.put("a/ok.txt", "canary")
		r.put("sub/ok.txt", "canary")
		r.link(".git", "link")
		if got := r.does("read_file", args{"path": ".git/config"}); got != "[core] canary" {
			t.Errorf("got %q", got)
		}
		if list := r.does("list_files", args{"depth": 5}); !strings.Contains(list, ".git/") || strings.Contains(list, "config") {
			t.Errorf("got %s", list)
		}
		if scope == files.Full {
			r.does("write_file", args{"path": ".git/hooks/post-commit", "content": "x"})
			continue
		}
		for _, path := range paths {
			r.refuses("write_file", args{"path": path, "content": "x"}, "belongs to git")
		}
		r.refuses("edit_file", args{"path": ".git/config", "old": "canary", "new": "x"}, "belongs to git")
		r.does("write_file", args{"path": ".gitignore", "content": "x"})
		r.does("write_file", args{"path": "git/config", "content": "x"})
		if got := tree(t, r.dir); got != ".git/config .gitignore a/ok.txt git/config link sub/ok.txt" {
			t.Errorf("%s: there is %s", scope, got)
		}
	}
}
