package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

func TestSessionsText(t *testing.T) {
	t.Parallel()
	at := func(id parley.SessionID, title, preview string, status parley.Status, ago time.Duration) parley.Session {
		return parley.Session{ID: id, Title: parley.Title{Text: title}, Preview: preview, Status: status, UpdatedAt: noon.Add(-ago)}
	}
	const day = 24 * time.Hour
	suspended := at("cli:f", "Old", "", parley.StatusIdle, 300*day)
	suspended.Recovery.State = parley.RecoverySuspended
	v := command.SessionsView{
		Sessions: []parley.Session{
			at("cli:a", "Trip to Rome", "no", parley.StatusRunning, 0),
			at("cli:b", "", "what is a monad?", parley.StatusAwaitingApproval, 13*time.Hour),
			at("cli:c", "", "", parley.StatusIdle, 14*time.Hour),
			at("cli:d", "Cats", "", parley.StatusInactive, 20*day),
			at("cli:e", strings.Repeat("long ", 20), "", parley.StatusInactive, 100*day),
			suspended,
		},
		More: true, Current: "cli:a", Now: noon, Zone: berlin(t),
	}
	const want = `Your sessions:
1. "Trip to Rome", today 13:30 (this one, working)
   cli:a
2. "what is a monad?", today 00:30 (waits for an approval)
   cli:b
3. nothing said yet, yesterday 23:30
   cli:c
4. "Cats", 18 Feb 13:30 (put away)
   cli:d
5. "long long long long long long long long long long long long…", 30 Nov 2025 (put away)
   cli:e
6. "Old", 14 May 2025 (suspended)
   cli:f
There are others, which /resume finds by their id.
/resume and a number goes on in one of them; /new starts another.`
	if got := command.SessionsText(v); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const none = "There are no sessions yet. Write a message to begin one."
	if got := command.SessionsText(command.SessionsView{Now: noon}); got != none {
		t.Errorf("got %q", got)
	}
}

// TestSessionsTextAcrossTheClockChange holds that yesterday is a day of the
// calendar, and not 24 hours.
func TestSessionsTextAcrossTheClockChange(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	now := time.Date(2026, time.March, 30, 0, 30, 0, 0, zone) // the day before had 23 hours
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, time.March, 29, 0, 10, 0, 0, zone), "yesterday 00:10"},
		{time.Date(2026, time.March, 28, 23, 50, 0, 0, zone), "28 Mar 23:50"},
		{time.Date(2026, time.March, 31, 0, 0, 0, 0, zone), "31 Mar 00:00"},
		{time.Date(2025, time.March, 30, 0, 30, 0, 0, zone), "30 Mar 2025"},
	} {
		v := command.SessionsView{Sessions: []parley.Session{{ID: "cli:a", UpdatedAt: c.at}}, Now: now, Zone: zone}
		if got := command.SessionsText(v); !strings.Contains(got, "nothing said yet, "+c.want+"\n") {
			t.Errorf("want %s, got\n%s", c.want, got)
		}
	}
}

func TestQueueText(t *testing.T) {
	t.Parallel()
	file := parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: "h", Type: "image/png"}}
	in := func(name string, parts ...parley.Part) parley.Input {
		return parley.Input{Kind: parley.InputMessage, Sender: parley.Sender{Name: name}, Parts: parts}
	}
	automation := in("", parley.TextPart("the morning report"))
	automation.Kind = parley.InputAutomation
	const want = `5 messages wait:
1. "Alice": "and then the tests"
2. "write it"
3. "Bob": "look" and 2 files
4. 1 file
5. An automation: "the morning report"
They are answered in this order. /stop ends what the agent does now.`
	if got := command.QueueText([]parley.Input{
		in("Alice", parley.TextPart("and then\nthe tests")), in("", parley.TextPart("write it")),
		in("Bob", parley.TextPart("look"), file, file), in("", file), automation,
	}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := command.QueueText(make([]parley.Input, 32))
	if !strings.HasPrefix(got, "32 messages wait:\n1. nothing\n") || !strings.Contains(got, "10. nothing\nand 22 more.\n") {
		t.Errorf("got\n%s", got)
	}
	if got := command.QueueText(nil); got != "Nothing waits. /queue and a text sends a message that waits for its turn." {
		t.Errorf("got %q", got)
	}
}

func TestModelText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain   []string
		current string
		want    string
	}{
		{
			[]string{"a/large", "b/small"},
			"b/small",
			"The models of this agent:\n1. a/large\n2. b/small (in use)\n/model and a number or name chooses one, until the next reset.",
		},
		{[]string{"a/large"}, "a/large", "The models of this agent:\n1. a/large (in use)\nThere is no other to choose."},
		{nil, "scripted", "This agent uses scripted, and has no others."},
		{nil, "", "This agent has no models to choose from."},
	} {
		if got := command.ModelText(c.chain, c.current); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
