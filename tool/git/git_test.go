//go:build unix

package git_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/tool/git"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// args are the arguments of a call.
type args map[string]any

// rig is the tool and its repository.
type rig struct {
	testing.TB
	*git.Git
	top string
	dir string
}

// newRig makes a repository with one commit of the file first.
func newRig(t testing.TB, cfg git.Config) *rig {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, top: top, dir: filepath.Join(top, "repo")}
	r.put("first", "1")
	r.git("init", "-q", "-b", "main")
	r.git("add", "first")
	r.git("commit", "-q", "-m", "first")
	cfg.Dir = r.dir
	if r.Git, err = git.New(cfg); err != nil {
		if !errors.Is(err, parley.ErrNotFound) {
			t.Fatal(err)
		}
		soak.SkipOrFail(t, "there is no git: %v", err)
	}
	return r
}

// git runs git as a person would, with a clean config.
func (r *rig) git(arguments ...string) string {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), "git", arguments...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=p", "GIT_AUTHOR_EMAIL=p@x", "GIT_COMMITTER_NAME=p", "GIT_COMMITTER_EMAIL=p@x")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		soak.SkipOrFail(r, "there is no git")
	}
	if err != nil {
		r.Fatalf("git %v: %v: %s", arguments, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *rig) put(path, text string) {
	r.Helper()
	path = filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) call(ctx context.Context, a args) (parley.ToolResult, error) {
	r.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		r.Fatal(err)
	}
	res, err := r.Tools()[0].Run(ctx, parley.ToolCaller{}, parley.ToolCall{ID: "c", Name: "git_commit", Arguments: raw})
	if strings.Contains(res.Text, r.top) {
		r.Errorf("%s names a path of the host: %s", raw, res.Text)
	}
	return res, err
}

// does makes a commit that has to work, and gives what was told without the id.
func (r *rig) does(a args) string {
	r.Helper()
	res, err := r.call(r.Context(), a)
	if err != nil || res.IsError {
		r.Fatalf("%v: got %q, %v", a, res.Text, err)
	}
	id := regexp.MustCompile(`^committed ([0-9a-f]{40})`).FindStringSubmatch(res.Text)
	if len(id) != 2 || id[1] != r.git("rev-parse", "HEAD") {
		r.Fatalf("got %q", res.Text)
	}
	return strings.Replace(res.Text, id[1], "ID", 1)
}

// refuses makes a call after which there is no other commit.
func (r *rig) refuses(a args, want string) {
	r.Helper()
	before := r.git("rev-parse", "HEAD")
	res, err := r.call(r.Context(), a)
	if err != nil || !res.IsError || !strings.Contains(res.Text, want) {
		r.Errorf("%v: got %v %q, %v, want an error with %q", a, res.IsError, res.Text, err, want)
	}
	if after := r.git("rev-parse", "HEAD"); after != before {
		r.Errorf("%v: it committed", a)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	r := newRig(t, git.Config{Name: "Ada Lovelace", Email: "ada@example.org"})
	r.put("staged", "x")
	r.put("other", "x")
	r.put("d/deep ä", "x")
	r.git("add", "staged")
	const message = "a title\n\n# no comment\nmore -m \"x\" $(touch pwned)\n"
	if got := r.does(args{"message": message}); got != "committed ID on main, 1 files:\nA staged" {
		t.Errorf("got %q", got)
	}
	if got := r.git("log", "-1", "--format=%an <%ae> %cn <%ce>%n%B"); got != "Ada Lovelace <ada@example.org> Ada Lovelace <ada@example.org>\n"+strings.TrimSpace(message) {
		t.Errorf("got %q", got)
	}
	// Only the paths, though something else is staged.
	r.put("staged", "y")
	r.git("add", "staged")
	r.put("first", "2")
	if got := r.does(args{"message": "m", "paths": []string{"d", "./first"}}); got != "committed ID on main, 2 files:\nA d/deep ä\nM first" {
		t.Errorf("got %q", got)
	}
	if got := r.git("status", "--porcelain"); got != "M  staged\n?? other" {
		t.Errorf("got %q", got)
	}
	if err := os.Remove(filepath.Join(r.dir, "first")); err != nil {
		t.Fatal(err)
	}
	if got := r.does(args{"message": "m", "paths": []string{"first"}}); got != "committed ID on main, 1 files:\nD first" {
		t.Errorf("got %q", got)
	}
	if got := r.does(args{"message": "m", "all": true}); got != "committed ID on main, 2 files:\nA other\nM staged" {
		t.Errorf("got %q", got)
	}
	r.refuses(args{"message": "m", "all": true}, "nothing to commit: nothing has changed")
	r.refuses(args{"message": "m"}, "nothing is staged; give paths")
	r.refuses(args{"message": "m", "paths": []string{"other"}}, "nothing has changed in these paths")
	if _, err := os.Stat(filepath.Join(r.dir, "pwned")); err == nil {
		t.Error("the message was run")
	}
}

func TestCommit_First(t *testing.T) {
	t.Parallel()
	r := newRig(t, git.Config{})
	if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	res, err := r.call(t.Context(), args{"message": "m", "all": true})
	if err != nil || !res.IsError || res.Text != "the folder is not a git repository" {
		t.Errorf("got %q, %v", res.Text, err)
	}
	r.git("init", "-q", "-b", "trunk")
	res, err = r.call(t.Context(), args{"message": "m"})
	if err != nil || !res.IsError || !strings.Contains(res.Text, "nothing is staged") {
		t.Errorf("got %q, %v", res.Text, err)
	}
	if got := r.does(args{"message": "m", "all": true}); got != "committed ID on trunk, 1 files:\nA first" {
		t.Errorf("got %q", got)
	}
	r.git("checkout", "-q", "--detach")
	r.put("x", "")
	if got := r.does(args{"message": "m", "all": true}); got != "committed ID on detached HEAD, 1 files:\nA x" {
		t.Errorf("got %q", got)
	}
}

// TestPaths tries paths that lead out, or mean something to git. A path that does
// neither is committed in the same set-up.
func TestPaths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, want string }{
		"up":                 {"../outside", "leads out"},
		"up from below":      {"d/../../outside", "leads out"},
		"absolute":           {"/etc/passwd", "leads out"},
		"git's own":          {".git/config", "belongs to git"},
		"git's own, spelt":   {"d/.GIT/config", "belongs to git"},
		"empty":              {"", "is no path"},
		"a zero byte":        {"a\x00b", "is no path"},
		"missing":            {"none", "did not match any files"},
		"all by magic":       {":/", "did not match any files"},
		"exclude by magic":   {":!x", "did not match any files"},
		"a glob":             {"*", "did not match any files"},
		"an option":          {"--all", "did not match any files"},
		"through a link":     {"link/outside", "beyond a symbolic link"},
		"a link, up":         {"link/../x", "leads out"},
		"from a file":        {"--pathspec-from-file=x", "did not match any files"},
		"ignored":            {"ignored", "ignored"},
		"another repository": {"sub/x", "git could not stage it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, git.Config{})
			r.put("../outside", "canary")
			r.put("d/x", "x")
			r.put("ignored", "x")
			r.put(".gitignore", "ignored\n")
			r.put("sub/x", "x")
			r.git("init", "-q", "sub")
			r.git("-C", "sub", "add", "x")
			r.git("-C", "sub", "commit", "-q", "-m", "sub")
			r.git("add", "sub", ".gitignore")
			r.git("commit", "-q", "-m", "second")
			if err := os.Symlink("..", filepath.Join(r.dir, "link")); err != nil {
				t.Fatal(err)
			}
			r.refuses(args{"message": "m", "paths": []string{c.path}}, c.want)
			r.refuses(args{"message": "m", "paths": []string{"d/x", c.path}}, c.want)
			if got := r.does(args{"message": "m", "paths": []string{"d"}}); got != "committed ID on main, 1 files:\nA d/x" {
				t.Errorf("got %q", got)
			}
			// A link is committed as one, without what it leads to.
			if got := r.does(args{"message": "m", "all": true}); got != "committed ID on main, 1 files:\nA link" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestNothingRuns has the repository name commands in every way that a commit could
// run. Hooks run if they are asked for, which shows that they would.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	for _, hooks := range []bool{false, true} {
		r := newRig(t, git.Config{Hooks: hooks})
		ran := filepath.Join(r.top, "ran")
		script := filepath.Join(r.top, "script")
		r.put("../script", "#!/bin/sh\necho \"$0\" >>"+ran+"\nexit 1\n")
		for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction"} {
			r.put(".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>"+ran+"\n")
		}
		for _, key := range []string{
			"core.fsmonitor", "core.editor", "core.pager", "gpg.program", "credential.helper", "core.sshCommand", "core.askPass", "diff.external", "sequence.editor",
		} {
			r.git("config", key, script)
		}
		r.git("config", "commit.gpgSign", "true")
		r.git("config", "commit.verbose", "true")
		r.git("config", "alias.commit", "!"+script)
		r.git("config", "alias.add", "!"+script)
		r.git("config", "gc.auto", "1")
		r.put("x", "x")
		r.does(args{"message": "m", "all": true})
		text, err := os.ReadFile(ran)
		if hooks {
			if got := string(text); !strings.Contains(got, "pre-commit\n") || !strings.Contains(got, "post-commit\n") || strings.Contains(got, "script") {
				t.Errorf("with hooks: %q", got)
			}
		} else if err == nil {
			t.Errorf("ran: %s", text)
		}
	}
}

// TestFilters: a file that should go through a filter which is not there is not
// committed as it is.
func TestFilters(t *testing.T) {
	t.Parallel()
	r := newRig(t, git.Config{})
	r.put(".gitattributes", "*.bin filter=lfs\n")
	r.put("large.bin", "x")
	r.refuses(args{"message": "m", "all": true}, "lfs")
	config := filepath.Join(r.top, "gitconfig")
	r.put("../gitconfig", "[filter \"lfs\"]\n\tclean = sed s/x/y/\n")
	g, err := git.New(git.Config{Dir: r.dir, GlobalConfig: config})
	if err != nil {
		t.Fatal(err)
	}
	r.Git = g
	r.does(args{"message": "m", "all": true})
	if got := r.git("show", "HEAD:large.bin"); got != "y" {
		t.Errorf("got %q", got)
	}
}

// TestWhere: only the top of a repository will do, not one above, and none that
// only looks like one.
func TestWhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, git.Config{})
	r.put("below/x", "x")
	bare := filepath.Join(r.top, "bare")
	r.git("init", "-q", "--bare", bare)
	tree := filepath.Join(r.top, "tree")
	r.git("worktree", "add", "-q", tree)
	for dir, want := range map[string]string{
		filepath.Join(r.dir, "below"): "not a git repository",
		filepath.Join(r.dir, ".git"):  "git cannot use the repository",
		bare:                          "git cannot use the repository",
		filepath.Join(r.top, "none"):  "cannot be started",
	} {
		g, err := git.New(git.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		r.Git = g
		r.refuses(args{"message": "m", "all": true}, want)
	}
	g, err := git.New(git.Config{Dir: tree})
	if err != nil {
		t.Fatal(err)
	}
	r.Git, r.dir = g, tree
	r.put("x", "x")
	if got := r.does(args{"message": "m", "all": true}); got != "committed ID on tree, 1 files:\nA x" {
		t.Errorf("got %q", got)
	}
}

// TestOwner: a repository that belongs to somebody else is used, because it was
// named.
func TestOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a repository away")
	}
	r := newRig(t, git.Config{})
	for _, path := range []string{".", ".git"} {
		if err := os.Chown(filepath.Join(r.dir, path), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	r.put("x", "x")
	res, err := r.call(t.Context(), args{"message": "m", "all": true})
	if err != nil || res.IsError {
		t.Errorf("got %q, %v", res.Text, err)
	}
}

// TestTogether: commits that come at once are all made.
func TestTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t, git.Config{})
	const count = 8
	var wg sync.WaitGroup
	for i := range count {
		name := fmt.Sprint("f", i)
		r.put(name, "x")
		wg.Go(func() {
			if res, err := r.call(t.Context(), args{"message": name, "paths": []string{name}}); err != nil || res.IsError {
				t.Errorf("%s: got %q, %v", name, res.Text, err)
			}
		})
	}
	wg.Wait()
	if got := r.git("rev-list", "--count", "HEAD"); got != fmt.Sprint(count+1) {
		t.Errorf("there are %s commits", got)
	}
}

// TestCancel ends commits while a hook runs, which waits. Git leaves no lock, and
// the next commit works.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancelled", "out of time"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cfg := git.Config{Hooks: true}
			if how == "out of time" {
				cfg.Timeout = 500 * time.Millisecond
			}
			r := newRig(t, cfg)
			up := filepath.Join(r.top, "up")
			if err := syscall.Mkfifo(up, 0o666); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.OpenFile(up, os.O_RDWR|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			r.put(".git/hooks/pre-commit", "#!/bin/sh\necho x >"+up+"\nexec sleep 1000\n")
			r.put("x", "x")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			type end struct {
				res parley.ToolResult
				err error
			}
			done := make(chan end)
			go func() {
				res, err := r.call(ctx, args{"message": "m", "all": true})
				done <- end{res, err}
			}()
			if how == "cancelled" {
				if err := errors.Join(pipe.SetReadDeadline(time.Now().Add(20*time.Second)), read(pipe)); err != nil {
					t.Error(err)
				}
				cancel()
			}
			got := <-done
			if how == "cancelled" && !errors.Is(got.err, context.Canceled) {
				t.Errorf("got %q, %v", got.res.Text, got.err)
			}
			if how == "out of time" && (got.err != nil || !strings.Contains(got.res.Text, "longer than 500ms")) {
				t.Errorf("got %q, %v", got.res.Text, got.err)
			}
			if _, err := os.Stat(filepath.Join(r.dir, ".git", "index.lock")); err == nil {
				t.Error("there is a lock")
			}
			g, err := git.New(git.Config{Dir: r.dir})
			if err != nil {
				t.Fatal(err)
			}
			r.Git = g
			r.does(args{"message": "m", "all": true})
		})
	}
}

// read waits for something to read.
func read(f *os.File) error {
	_, err := f.Read(make([]byte, 10))
	return err
}

func TestTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, git.Config{})
	if spec := r.Spec(); spec.Name != "git_commit" || !json.Valid(spec.Schema) {
		t.Errorf("got %+v", spec)
	}
	for _, bad := range []string{``, `[]`, `{"message":1}`, `{"message":"m","push":true}`, `{"message":"m"} {}`} {
		res, err := r.Run(t.Context(), parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(bad)})
		if err != nil || !res.IsError || !strings.Contains(res.Text, "arguments") {
			t.Errorf("%s: got %q, %v", bad, res.Text, err)
		}
	}
	r.put("x", "x")
	r.refuses(args{"message": " \n"}, "message is empty")
	r.refuses(args{"message": "a\x00"}, "zero byte")
	r.refuses(args{"message": strings.Repeat("x", 65537)}, "at most 65536")
	r.refuses(args{"message": "m", "all": true, "paths": []string{"x"}}, "either paths or all")
	r.refuses(args{"message": "m", "paths": make([]string, 1001)}, "at most 1000")
	for name, cfg := range map[string]git.Config{
		"no folder":         {},
		"an odd name":       {Dir: r.dir, Name: "a\nb"},
		"an odd address":    {Dir: r.dir, Email: "<x>"},
		"a relative path":   {Dir: r.dir, Path: []string{"bin"}},
		"a relative config": {Dir: r.dir, GlobalConfig: "x"},
	} {
		if _, err := git.New(cfg); parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := git.New(git.Config{Dir: r.dir, Path: []string{r.top}}); parley.CodeOf(err) != parley.CodeNotFound {
		t.Errorf("no git: %v", err)
	}
}
