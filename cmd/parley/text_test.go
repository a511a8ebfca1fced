package main

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDataDir(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the folders are those of Linux")
	}
	for name, c := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"flag":            {"/srv/p", map[string]string{"PARLEY_DATA": "/var/p", "HOME": "/home/ada"}, "/srv/p"},
		"variable":        {"", map[string]string{"PARLEY_DATA": "/var/p", "HOME": "/home/ada"}, "/var/p"},
		"XDG":             {"", map[string]string{"XDG_DATA_HOME": "/xdg", "HOME": "/home/ada"}, "/xdg/parley"},
		"XDG is relative": {"", map[string]string{"XDG_DATA_HOME": "xdg", "HOME": "/home/ada"}, "/home/ada/.local/share/parley"},
		"home":            {"", map[string]string{"HOME": "/home/ada"}, "/home/ada/.local/share/parley"},
		"none":            {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &app{data: c.flag, getenv: func(name string) string { return c.env[name] }}
			got, err := a.dataDir()
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("data folder is %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestBenchDir(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := &app{data: filepath.Join(home, "not", "yet", "parley"), getenv: func(string) string { return "" }}
	if got, err := a.benchDir(""); err != nil || got != home {
		t.Errorf("bench folder is %q, %v; want the nearest that exists, %q", got, err, home)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		1234567.8: "1,234,568", 999.6: "1000", 123.4: "123", 12.34: "12.3", 0.0123: "0.012", 0: "0.000", -3.25: "-3.2",
	} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %q, want %q", v, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		done, total int64
		took        time.Duration
		want        string
	}{
		{0, 0, 3 * time.Second, "storing sessions  3s"},
		{1500, 0, time.Minute, "storing sessions  1,500  1m0s"},
		{25, 100, time.Second, "storing sessions  25%"},
		{25, 100, 30 * time.Second, "storing sessions  25%  about 1m30s left"},
		{100, 100, time.Minute, "storing sessions  100%"},
	} {
		if got := progressLine("storing sessions", c.done, c.total, c.took); got != c.want {
			t.Errorf("%+v gives %q", c, got)
		}
	}
	if line := progressLine(strings.Repeat("ä", 200), 1, 2, 0); utf8.RuneCountInString(line) != progressWidth {
		t.Errorf("a long line has %d characters", utf8.RuneCountInString(line))
	}

	var out bytes.Buffer
	p := &progress{out: &out, quit: make(chan struct{})}
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p.draw(begin) // nothing to show yet
	p.update(begin, "storing", 1, 4)
	p.draw(begin.Add(time.Second))
	p.update(begin.Add(5*time.Second), "storing", 2, 4)
	p.draw(begin.Add(10 * time.Second))
	p.stop()
	if got, want := out.String(), "\r\x1b[Kstoring  25%\r\x1b[Kstoring  50%  about 10s left\r\x1b[K"; got != want {
		t.Errorf("progress wrote %q, want %q", got, want)
	}

	nowhere := (&app{}).startProgress()
	if nowhere.fn() != nil {
		t.Error("without a terminal there is progress")
	}
	nowhere.stop()
}
