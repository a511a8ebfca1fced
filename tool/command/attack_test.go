//go:build unix

package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/tool/command"
)

// TestAllowed tries argument vectors against a list. Those that are run show that
// the others are not because of what they are.
func TestAllowed(t *testing.T) {
	t.Parallel()
	const no = "the command is not allowed"
	for name, c := range map[string]struct {
		argv []string
		want string // of a refusal; "": it runs
	}{
		"the entry":                   {[]string{"show", "status"}, ""},
		"more behind it":              {[]string{"show", "status", "--short"}, ""},
		"exactly":                     {[]string{"show", "one", "two"}, ""},
		"absolute, as in the list":    {[]string{"/bin/echo", "x"}, ""},
		"the name alone":              {[]string{"show"}, no},
		"another argument":            {[]string{"show", "push"}, no},
		"an argument between":         {[]string{"show", "-c", "core.pager=x", "status"}, no},
		"the arguments the other way": {[]string{"status", "show"}, no},
		"a longer argument":           {[]string{"show", "status;touch pwned"}, no},
		"a shorter argument":          {[]string{"show", "stat"}, no},
		"an empty argument between":   {[]string{"show", "", "status"}, no},
		"one word":                    {[]string{"show status"}, no},
		"upper case":                  {[]string{"SHOW", "status"}, no},
		"white space":                 {[]string{"show ", "status"}, no},
		"a line end":                  {[]string{"show\n", "status"}, no},
		"exactly, and more":           {[]string{"show", "one", "two", "three"}, no},
		"exactly, and the sign":       {[]string{"show", "one", "two", "$"}, no},
		"exactly, and less":           {[]string{"show", "one"}, no},
		"here":                        {[]string{"./show", "status"}, no},
		"above":                       {[]string{"../bin/show", "status"}, no},
		"absolute":                    {[]string{"/usr/bin/env", "show", "status"}, no},
		"absolute, spelt otherwise":   {[]string{"/bin/../bin/echo", "x"}, no},
		"absolute, two slashes":       {[]string{"//bin/echo", "x"}, no},
		"the name of an absolute one": {[]string{"echo", "x"}, no},
		"through another":             {[]string{"env", "show", "status"}, no},
		"a shell":                     {[]string{"sh", "-c", "show status"}, no},
		"a variable before":           {[]string{"PATH=.", "show", "status"}, no},
		"an empty name":               {[]string{"", "status"}, no},
		"nothing":                     {[]string{}, "argv is empty"},
		"none":                        {nil, "argv is empty"},
		"a zero byte":                 {[]string{"show", "status", "a\x00b"}, "zero byte"},
		"a zero byte in the name":     {[]string{"show\x00x", "status"}, "zero byte"},
		"very long":                   {[]string{"show", "status", strings.Repeat("x", 100<<10)}, "at most"},
		"very many":                   {slices.Repeat([]string{"show"}, 1001), "at most"},
		"only in the folder":          {[]string{"planted"}, "there is no command"},
		"a folder":                    {[]string{"folder"}, "there is no command"},
		"not executable":              {[]string{"plain"}, "there is no command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, command.Config{Allowed: [][]string{
				{"show", "status"}, {"show", "one", "two", "$"}, {"/bin/echo"}, {"planted"}, {"folder"}, {"plain"},
			}})
			r.script("in/planted", "touch pwned")
			r.script("in/show", "touch pwned")
			r.script("bin/folder/x", "touch pwned")
			r.file("bin/plain", "#!/bin/sh\ntouch pwned", 0o644)
			if c.want == "" {
				want := "x"
				if c.argv[0] == "show" {
					want = "[" + strings.Join(c.argv[1:], "]\n[") + "]"
				}
				if got := r.does(args{"argv": c.argv}); got != want+"\n" {
					t.Errorf("got %q, want %q", got, want)
				}
			} else {
				r.refuses(args{"argv": c.argv}, c.want)
			}
			if got := r.left(); got != "planted show" {
				t.Errorf("it did something: %s", got)
			}
		})
	}
	r := newRig(t, command.Config{})
	r.refuses(args{"argv": []string{"show"}}, "No command is allowed")
}

// TestArguments gives a command arguments that would mean something to a shell. They
// arrive as they are.
func TestArguments(t *testing.T) {
	t.Parallel()
	r := newRig(t, command.Config{Allowed: [][]string{{"show"}, {"sh", "-c"}}})
	for _, arg := range []string{
		"; touch pwned", "&& touch pwned", "| touch pwned", "> pwned", "$(touch pwned)", "`touch pwned`", "& touch pwned &",
		"\ntouch pwned\n", "*", "?", "~", "$HOME", "${PATH}", "$((1+1))", "'", `"`, `\`, "a b", "", "-rf", "--", "#x", "!x", "{a,b}", "<(touch pwned)", "\x1b[2J", "ä\u202e",
	} {
		if got, want := r.does(args{"argv": []string{"show", arg}}), "["+arg+"]\n"; got != want {
			t.Errorf("%q: got %q", arg, got)
		}
	}
	if got := r.left(); got != "" {
		t.Errorf("it did something: %s", got)
	}
	r.does(args{"argv": []string{"sh", "-c", "true; touch pwned"}})
	if got := r.left(); got != "pwned" {
		t.Errorf("a shell that is allowed does not do it: %s", got)
	}
}

// TestPlanted puts commands under the names of others where the agent can. The real
// one runs.
func TestPlanted(t *testing.T) {
	t.Parallel()
	r := newRig(t, command.Config{Allowed: [][]string{{"fake"}}})
	r.script("in/fake", "echo the planted one")
	r.script("in/bin/fake", "echo the planted one")
	for _, dir := range []string{"", ".", "bin", "./bin/.", "bin/../bin"} {
		if got := r.does(args{"argv": []string{"fake"}, "dir": dir}); got != "the real one\n" {
			t.Errorf("in %q: got %q", dir, got)
		}
	}
	for name, cfg := range map[string]command.Config{
		"no folder":                 {},
		"an empty entry":            {Dir: r.dir, Allowed: [][]string{{}}},
		"the sign alone":            {Dir: r.dir, Allowed: [][]string{{"$"}}},
		"an empty name":             {Dir: r.dir, Allowed: [][]string{{""}}},
		"a relative command":        {Dir: r.dir, Allowed: [][]string{{"./fake"}}},
		"a zero byte":               {Dir: r.dir, Allowed: [][]string{{"fake", "\x00"}}},
		"a relative path":           {Dir: r.dir, Path: []string{"bin"}},
		"this folder as path":       {Dir: r.dir, Path: []string{"."}},
		"an empty path":             {Dir: r.dir, Path: []string{""}},
		"two paths in one":          {Dir: r.dir, Path: []string{"/bin:."}},
		"a path in the folder":      {Dir: r.dir, Path: []string{filepath.Join(r.dir, "bin")}},
		"the folder as path":        {Dir: r.dir, Path: []string{r.dir}},
		"a path through the folder": {Dir: r.dir, Path: []string{r.dir + "/../in/bin"}},
		"no variable":               {Dir: r.dir, Env: []string{"x"}},
		"no name of a variable":     {Dir: r.dir, Env: []string{"=x"}},
		"the mark":                  {Dir: r.dir, Env: []string{"PARLEY_RUN=x"}},
	} {
		if _, err := command.New(cfg); parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := command.New(command.Config{Dir: filepath.Join(r.dir, "none")}); parley.CodeOf(err) != parley.CodeNotFound {
		t.Errorf("a missing folder: %v", err)
	}
	link := filepath.Join(filepath.Dir(r.dir), "link")
	if err := os.Symlink(filepath.Join(r.dir, "bin"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := command.New(command.Config{Dir: r.dir, Path: []string{link}}); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("a link into the folder: %v", err)
	}
}

// TestEnvironment: commands see what they were given, and nothing of ours.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	// Something that a child gets unless somebody sees to it.
	inherited, err := syscall.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	r := newRig(t, command.Config{Allowed: [][]string{{"env"}, {"ls", "/proc/self/fd"}, {"sh", "-c"}}, Env: []string{"LANG=de", "EXTRA=a=b"}})
	var names []string
	got := r.does(args{"argv": []string{"env"}})
	for line := range strings.Lines(got) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	want := "EXTRA GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_TERMINAL_PROMPT HOME LANG PARLEY_RUN PATH"
	if text := strings.Join(names, " "); text != want || strings.Contains(got, "canary") {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(got, "\nLANG=de\n") || !strings.Contains(got, "EXTRA=a=b\n") || !strings.Contains(got, "HOME=/nonexistent\n") {
		t.Errorf("got %s", got)
	}
	if os.Getenv("PARLEY_TEST_KEY") == "" {
		t.Error("there is nothing that could have been seen")
	}
	// Nothing else is open but the three, and the folder that is listed, and there
	// is no terminal.
	if runtime.GOOS == "linux" {
		if got := r.does(args{"argv": []string{"ls", "/proc/self/fd"}}); got != "0\n1\n2\n3\n" {
			t.Errorf("open are %s", got)
		}
	}
	if got := r.does(args{"argv": []string{"sh", "-c", "(: </dev/tty) 2>/dev/null || echo none"}}); got != "none\n" {
		t.Errorf("there is a terminal: %s", got)
	}
}

// TestDir tries folders to run in.
func TestDir(t *testing.T) {
	t.Parallel()
	r := newRig(t, command.Config{Allowed: [][]string{{"pwd", "-P", "$"}}})
	for _, dir := range []string{"a/b", "../out"} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.file("in/file", "", 0o644)
	for path, target := range map[string]string{"out": "../out", "abs": "/", "in": "a", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(r.dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(r.dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": "", ".": "", "a": "/a", "a/b/": "/a/b", "in/b": "/a/b", "a/..": ""} {
		if got := r.does(args{"argv": []string{"pwd", "-P"}, "dir": dir}); got != base+want+"\n" {
			t.Errorf("%q: got %q", dir, got)
		}
	}
	for _, dir := range []string{"..", "../out", "/", "/tmp", "a/../..", "out", "abs", "up", "up/out", "none", "file", "pipe", "a\x00", "in/../.."} {
		r.refuses(args{"argv": []string{"pwd", "-P"}, "dir": dir}, "dir: ")
	}
}

// TestGit: what the agent writes into its folder does not make git run something,
// even though git may be run. Without what keeps it from that, it does.
func TestGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		soak.SkipOrFail(t, "there is no git")
	}
	const evil = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch PWNED; false\"\n"
	for _, guarded := range []bool{true, false} {
		r := newRig(t, command.Config{Allowed: [][]string{{"git", "status"}}})
		cfg := command.Config{Allowed: [][]string{{"git", "status"}}, Dir: r.dir}
		if !guarded {
			cfg.Home = r.dir
			cfg.Env = []string{"GIT_CONFIG_COUNT=0"}
		}
		c, err := command.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		r.Command = c
		pwned := filepath.Join(filepath.Dir(r.dir), "pwned")
		text := strings.ReplaceAll(evil, "PWNED", pwned)
		r.file("in/bare/HEAD", "ref: refs/heads/main\n", 0o644)
		r.file("in/bare/config", text, 0o644)
		r.file("in/bare/objects/x", "", 0o644)
		r.file("in/bare/refs/x", "", 0o644)
		if _, err := r.call(t.Context(), args{"argv": []string{"git", "status"}, "dir": "bare"}); err != nil {
			t.Error(err)
		}
		_, err = os.Stat(pwned)
		if ran := err == nil; ran == guarded {
			t.Errorf("a folder like a repository, guarded %v: ran %v", guarded, ran)
		}
		os.Remove(pwned)
		if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", filepath.Join(r.dir, "repo")).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
		r.file("in/.gitconfig", "[core]\n\tfsmonitor = \"touch "+pwned+"; false\"\n", 0o644)
		if _, err := r.call(t.Context(), args{"argv": []string{"git", "status"}, "dir": "repo"}); err != nil {
			t.Error(err)
		}
		_, err = os.Stat(pwned)
		if ran := err == nil; ran == guarded {
			t.Errorf("a .gitconfig, guarded %v: ran %v", guarded, ran)
		}
	}
}

// TestNothingSurvives runs commands that try to outlive the call, which ends in
// several ways.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	const up = "printf x >&9; "
	for name, c := range map[string]struct {
		script string
		lives  int  // processes that come to life
		linux  bool // others let it get away
		ends   bool // the command ends by itself
	}{
		"a command":            {up + "exec sleep 1000", 1, false, false},
		"ignores signals":      {"trap '' TERM INT HUP QUIT; " + up + "while :; do sleep 1000; done", 1, false, false},
		"stops itself":         {up + "kill -STOP $$", 1, false, false},
		"a child":              {"(" + up + "exec sleep 1000) & " + up + "wait", 2, false, false},
		"a child left behind":  {"(" + up + "exec sleep 1000) &", 1, false, true},
		"with closed output":   {"(" + up + "exec sleep 1000) >/dev/null 2>&1 </dev/null &", 1, false, true},
		"nohup":                {"nohup sh -c '" + up + "exec sleep 1000' >/dev/null 2>&1 &", 1, false, true},
		"a session of its own": {"setsid sh -c '" + up + "exec sleep 1000' & " + up + "wait", 2, true, false},
		"a daemon":             {"(setsid sh -c '(" + up + "exec sleep 1000) & exit' >/dev/null 2>&1 </dev/null &)", 1, true, true},
		"a daemon's children":  {"(setsid sh -c 'for i in 1 2 3; do (setsid sh -c \"" + up + "exec sleep 1000\" &) ; done; " + up + "sleep 1000' &) ; sleep 1000", 4, true, false},
		"a tree":               {"f() { if [ $1 -gt 0 ]; then f $(($1-1)) & f $(($1-1)) & fi; " + up + "sleep 1000; }; f 4", 31, false, false},
		"a group of its own":   {"set -m; (" + up + "exec sleep 1000) & " + up + "wait", 2, true, false},
		"one after the other":  {"i=0; while [ $i -lt 40 ]; do (exec sleep 1000) & i=$(($i+1)); done; " + up + "wait", 1, false, false},
	} {
		for _, how := range []string{"cancelled", "out of time", "by itself"} {
			if c.ends != (how == "by itself") || (c.linux && runtime.GOOS != "linux") {
				continue
			}
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, command.Config{Allowed: [][]string{{"sh", "-c"}}})
				p := r.pulse()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				a := args{"argv": []string{"sh", "-c", "exec 9>alive; " + c.script}}
				if how == "out of time" {
					a["timeout_seconds"] = 1
				}
				type end struct {
					res parley.ToolResult
					err error
				}
				done := make(chan end)
				go func() {
					res, err := r.call(ctx, a)
					done <- end{res, err}
				}()
				if how != "by itself" {
					p.started(c.lives)
				}
				if how == "cancelled" {
					cancel()
				}
				got := <-done
				switch how {
				case "cancelled":
					if !errors.Is(got.err, context.Canceled) {
						t.Errorf("got %q, %v", got.res.Text, got.err)
					}
				case "out of time":
					if got.err != nil || !got.res.IsError || !strings.Contains(got.res.Text, "it took longer than 1s") {
						t.Errorf("got %q, %v", got.res.Text, got.err)
					}
				default:
					if got.err != nil || got.res.IsError || !strings.Contains(got.res.Text, "[exit code 0") {
						t.Errorf("got %q, %v", got.res.Text, got.err)
					}
				}
				p.over()
			})
		}
	}
}

// TestEscape: what does get away, by taking the mark off and leaving the group and
// the session, does not hang the call, though it holds the output.
func TestEscape(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs setsid")
	}
	r := newRig(t, command.Config{Allowed: [][]string{{"sh", "-c"}}})
	p := r.pulse()
	script := `exec 9>alive; setsid env -i /bin/sh -c 'echo $$ >pid; printf x >&9; exec sleep 1000' & while ! [ -s pid ]; do :; done; echo over`
	if got := r.does(args{"argv": []string{"sh", "-c", script}}); got != "over\n" {
		t.Errorf("got %q", got)
	}
	p.started(1)
	text, err := os.ReadFile(filepath.Join(r.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil || pid < 2 {
		t.Fatalf("got %q, %v", text, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("it did not get away, so the call was not tried: %v", err)
	}
	p.over()
}

// TestCancel_Quick measures how long a call takes to return when it is cancelled.
func TestCancel_Quick(t *testing.T) {
	t.Parallel()
	r := newRig(t, command.Config{Allowed: [][]string{{"sh", "-c"}}})
	p := r.pulse()
	var took []time.Duration
	for range soak.Count(50, 1000) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := r.call(ctx, args{"argv": []string{"sh", "-c", "exec 9>alive; trap '' TERM; sleep 1000 & printf x >&9; wait"}})
			done <- err
		}()
		p.started(1)
		began := time.Now()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	p.over()
	slices.Sort(took)
	median, p99 := took[len(took)/2], took[len(took)*99/100]
	t.Logf("cancelled: median %v, p99 %v, most %v", median, p99, took[len(took)-1])
	if median > 100*time.Millisecond || p99 > 2*time.Second { // others use the machine as well
		t.Errorf("cancelled: median %v, p99 %v", median, p99)
	}
}

// TestTool checks the description and arguments that do not fit.
func TestTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, command.Config{Allowed: [][]string{{"show", "a b"}, {"git", "status"}, {"date", "$"}}})
	spec := r.Spec()
	if !json.Valid(spec.Schema) || spec.Name != "run_command" || !strings.Contains(spec.Description, `["show" "a b"] …, git status …, date.`) {
		t.Errorf("got %+v", spec)
	}
	for _, bad := range []string{`{"argv":"date"}`, `{"argv":["date"],"shell":true}`, `[]`, ``, `{} {}`, `{"argv":[1]}`} {
		res, err := r.Run(t.Context(), parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(bad)})
		if err != nil || !res.IsError || !strings.Contains(res.Text, "arguments") {
			t.Errorf("%s: got %q, %v", bad, res.Text, err)
		}
	}
	r.refuses(args{"argv": []string{"date"}, "timeout_seconds": 601}, "at most 600")
	r.refuses(args{"argv": []string{"date"}, "timeout_seconds": int64(1) << 40}, "at most 600")
	r.refuses(args{"argv": []string{"date"}, "timeout_seconds": -1}, "positive")
	r.refuses(args{"argv": []string{"date"}, "stdin": strings.Repeat("x", 1<<20+1)}, "stdin has")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.call(ctx, args{"argv": []string{"date"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.call(t.Context(), args{"argv": []string{"date"}}); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("closed: %v", err)
	}
}
