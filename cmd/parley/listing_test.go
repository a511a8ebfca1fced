package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

func TestListing(t *testing.T) {
	t.Parallel()
	l := listing{head: []string{"TITLE", "ID"}}
	l.add("a long title that does not fit", "cli:a")
	l.add("漢字漢字漢字漢字漢字漢字", "cli:b")
	l.add("short\x1b[31m", "cli:c")
	want := "TITLE         ID\na long title…  cli:a\n漢字漢字漢字…  cli:b\nshort\\x1b[31m  cli:c\n"
	if got := l.text(20); got != strings.Replace(want, "TITLE  ", "TITLE   ", 1) {
		t.Errorf("the listing is\n%s", got)
	}
	for line := range strings.Lines(l.text(20)) {
		if w := textWidth(strings.TrimSuffix(line, "\n")); w > 20 {
			t.Errorf("%q is %d columns wide", line, w)
		}
	}
	if got := l.text(0); !strings.Contains(got, "does not fit  cli:a") {
		t.Errorf("without a terminal something is cut:\n%s", got)
	}
	if got := l.text(3); !strings.Contains(got, "a long ti…  cli:a") {
		t.Errorf("in a narrow terminal too much is cut:\n%s", got)
	}
}

func TestTextWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "漢字": 4, "e\u0301": 1, "🎉!": 3, "ｗ": 2, "ﾊ": 1} {
		if got := textWidth(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
	for text, want := range map[string]string{"abcdef": "abc…", "漢字漢": "漢…", "abcd": "abcd", "ab漢": "ab漢"} {
		if got := cutWidth(text, 4); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 59 * time.Second: "now", 5 * time.Minute: "5m", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 59 * 24 * time.Hour: "59d",
	} {
		if got := age(now.Add(-d), now); got != want {
			t.Errorf("%s ago is %q, want %q", d, got, want)
		}
	}
	if got := age(time.Time{}, now); got != "never" {
		t.Errorf("no time is %q", got)
	}
	for n, want := range map[int64]string{0: "$0.00", 1: "$0.000001", 1_500_000: "$1.50", 1_234_567_890: "$1,234.56789"} {
		if got := money(n); got != want {
			t.Errorf("money(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "": -1, "d": -1, "-1d": -1, "1d-1h": -1, "1.5d": -1,
		"soon": -1, "10": -1, "-1h": -1, "999999999d": -1, "1h1d": -1,
	} {
		got, err := period("--x", text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
}

func TestOnlyOne(t *testing.T) {
	t.Parallel()
	all := []string{"ada", "adam", "bob"}
	of := func(s string) names { return names{ids: []string{s}, whole: []string{strings.ToUpper(s)}} }
	for text, want := range map[string]string{"ada": "ada", "adam": "adam", "b": "bob", "ADAM": "adam"} {
		if got, err := onlyOne("user", text, all, of); err != nil || got != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]parley.Code{"a": parley.CodeInvalid, "AD": parley.CodeNotFound, "BO": parley.CodeNotFound, "x": parley.CodeNotFound, "": parley.CodeNotFound} {
		if got, err := onlyOne("user", text, all, of); parley.CodeOf(err) != want {
			t.Errorf("%q is %q, %v, want %s", text, got, err, want)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal, yes bool
		typed         string
		asks, does    bool
	}{
		"yes":           {true, false, "y\n", true, true},
		"in full":       {true, false, " YES \n", true, true},
		"no":            {true, false, "n\n", true, false},
		"nothing":       {true, false, "\n", true, false},
		"end":           {true, false, "", true, false},
		"end after yes": {true, false, "y", true, true},
		"--yes":         {true, true, "", false, true},
		"nobody":        {false, false, "y\n", false, false},
		"nobody, --yes": {false, true, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked bytes.Buffer
			a := &app{in: strings.NewReader(c.typed), err: &asked, inTerminal: c.terminal}
			err := a.confirm(t.Context(), "Remove it?", c.yes)
			if (err == nil) != c.does || (asked.String() == "Remove it? [y/N] ") != c.asks {
				t.Errorf("it asked %q, and said %v", asked.String(), err)
			}
		})
	}
}

func TestNearURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://127.0.0.1:7788": "http://127.0.0.1:7788", "http://0.0.0.0:80": "http://127.0.0.1:80", "https://[::]:7788": "https://[::1]:7788",
		"http://192.168.1.5:7788": "http://192.168.1.5:7788", "http://parley.example:1": "http://parley.example:1",
	} {
		if got := nearURL(url); got != want {
			t.Errorf("%s is near at %s, want %s", url, got, want)
		}
	}
}

func TestScopeWords(t *testing.T) {
	t.Parallel()
	group := parley.Session{Type: parley.SessionGroup, Key: "sk_v1_x"}
	for name, c := range map[string]struct {
		scope *parley.Scope
		s     parley.Session
		want  []string
	}{
		"chosen":  {nil, parley.Session{Key: "mine"}, []string{"the key is a name that somebody chose: messages that name it land here"}},
		"none":    {nil, parley.Session{}, nil},
		"unified": {&parley.Scope{Agent: "main", Channel: "unified", Values: map[parley.Dimension]string{parley.DimensionSender: "ada"}}, group, []string{`it is the one conversation of user "ada" with the agent main: direct messages of theirs land here from every channel`}},
		"group": {
			&parley.Scope{Agent: "ops", Channel: "telegram", Account: "bot2", Values: map[parley.Dimension]string{parley.DimensionChat: "group:-1", parley.DimensionTopic: "42"}}, group,
			[]string{`messages for the agent ops land here that come from telegram, account bot2, with chat "group:-1", topic "42"`, "it makes no difference here: space, sender"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := scopeWords(c.scope, c.s); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
