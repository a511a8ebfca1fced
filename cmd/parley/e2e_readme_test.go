package main_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/soak"
)

// shown is a command of the README, and what it says that is printed.
type shown struct{ command, prints string }

// tryIt gives what the README shows for a first try.
func tryIt(t *testing.T) []shown {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(data), "\n## Try it\n")
	if !ok {
		t.Fatal("the README has no section Try it")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var all []shown
	for i, block := range strings.Split(section, "```console\n") {
		if i == 0 {
			continue
		}
		block, _, _ = strings.Cut(block, "```\n")
		more := false // the command goes on
		for line := range strings.Lines(block) {
			command, starts := strings.CutPrefix(line, "$ ")
			switch {
			case starts:
				all = append(all, shown{command: command})
			case len(all) == 0:
				t.Fatalf("%q is printed by nothing", line)
			case more:
				all[len(all)-1].command += line
			default:
				all[len(all)-1].prints += line
			}
			more = (starts || more) && strings.HasSuffix(line, "\\\n")
		}
	}
	return all
}

// fits fails unless something was printed as it is shown. In that, … stands for
// anything in a line, and alone on a line for any lines.
func (s shown) fits(t *testing.T, printed string) {
	t.Helper()
	pattern := regexp.QuoteMeta(s.prints)
	pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllLiteralString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]*`)
	if !regexp.MustCompile(`^` + pattern + `$`).MatchString(printed) {
		t.Errorf("%sprints\n%s\nand the README shows\n%s", s.command, printed, s.prints)
	}
}

// TestReadme runs the commands of the README, and compares what they print.
func TestReadme(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the README shows the folders of Linux")
	}
	for _, name := range []string{"make", "bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			soak.SkipOrFail(t, "there is no %s to run the README with", name)
		}
	}
	dir, home := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.Getenv("PARLEY_TEST_PROGRAM"), filepath.Join(dir, "bin", "parley")); err != nil {
		t.Fatal(err)
	}
	const address, you = "127.0.0.1:7788", "/home/you"
	var d *process
	listen, variables, runs := "127.0.0.1:0", "", 0
	all := tryIt(t)
	for _, s := range all {
		switch {
		case s.command == "make run\n":
			// It is the program that the tests have built, and takes a port that is free.
			d = startDaemon(t, "", []string{"HOME=" + home}, "--listen", listen)
			d.ready()
			listen = strings.TrimPrefix(d.url, "http://")
			printed := makeRun(t) + d.out.String()
			s.fits(t, strings.NewReplacer(listen, address, home, you).Replace(printed))
			if runs++; runs == 1 {
				d.signInAndSay("hello")
			}
		case d == nil:
			t.Fatalf("%sstands before make run", s.command)
		default:
			cmd := exec.CommandContext(t.Context(), "bash", "-c", variables+strings.ReplaceAll(s.command, address, listen))
			cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
			printed, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s%v", s.command, err)
			}
			s.fits(t, strings.NewReplacer(listen, address, home, you).Replace(string(printed)))
			if regexp.MustCompile(`^[A-Z]+=`).MatchString(s.command) {
				variables += s.command
			}
			if strings.HasPrefix(s.command, "kill ") {
				if status := d.ends(); status != -1 {
					t.Errorf("the daemon ended with %d", status)
				}
			}
		}
	}
	if runs != 2 || len(all) < 6 {
		t.Errorf("the README has %d commands, and starts the daemon %d times", len(all), runs)
	}
}

// makeRun gives what make prints before the program runs, and holds that it is the
// daemon.
func makeRun(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-n", "run")
	cmd.Dir = "../.."
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	build, ok := strings.CutSuffix(string(out), "exec bin/parley serve\n")
	if !ok {
		t.Fatalf("make run does\n%s", out)
	}
	return build
}

// signInAndSay does what the page behind the link does.
func (d *process) signInAndSay(text string) {
	d.t.Helper()
	_, code, _ := strings.Cut(d.link, "code=")
	in := d.do(http.MethodPost, "/login", "code="+code, "Authorization:", "Origin: "+d.url)
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	page := []string{"Authorization:", "Cookie: " + cookie, "Origin: " + d.url}
	session := d.open(`{"source":"web"}`, page...)
	if got := d.post("/api/sessions/"+session+"/messages?wait=30s", mustJSON(d.t, map[string]any{"text": text}), page...); got.status != http.StatusOK {
		d.t.Errorf("the page gets %d %s", got.status, got.body)
	}
}
