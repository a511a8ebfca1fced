package command_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests name zones, and not every machine has their data

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

// noon is the time of the tests: half past one in Berlin.
var noon = time.Date(2026, time.March, 10, 12, 30, 0, 0, time.UTC)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func rome() parley.Session {
	return parley.Session{
		ID: "cli:a", Title: parley.Title{Text: "Trip to Rome"}, Agent: parley.AgentSnapshot{Name: "main"},
		Status: parley.StatusIdle, Recovery: parley.Recovery{State: parley.RecoveryNone},
		Counters: parley.Counters{Messages: 12, Turns: 5}, UpdatedAt: noon.Add(-time.Hour),
	}
}

func TestStatusText(t *testing.T) {
	t.Parallel()
	full := command.StatusView{
		Session: rome(), Model: "openai/gpt-2", Busy: parley.BusyQueue, Waiting: 2, Now: noon, Zone: berlin(t),
		Turn: &command.TurnView{State: parley.TurnRunning, Since: noon.Add(-75 * time.Second), Tool: "run_command"},
	}
	const want = `"Trip to Rome" (cli:a)
Working for 1 min, in run_command. /stop ends the turn.
2 messages wait. /queue shows them.
Agent: main, with openai/gpt-2.
So far: 12 messages in 5 turns, last today 12:30.
While the agent works, each message waits for its turn (queue).`
	if got := command.StatusText(full); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	bare := command.StatusView{Session: parley.Session{
		ID: "cli:b", Agent: parley.AgentSnapshot{Name: "main"}, Counters: parley.Counters{Messages: 1, Turns: 1}, UpdatedAt: noon,
	}, Now: noon}
	const wantBare = `Session cli:b
Ready for your message.
Agent: main.
So far: 1 message in 1 turn, last today 12:30.`
	if got := command.StatusText(bare); got != wantBare {
		t.Errorf("got\n%s\nwant\n%s", got, wantBare)
	}
}

func TestStatusTextDoing(t *testing.T) {
	t.Parallel()
	turn := func(state parley.TurnState, ago time.Duration, tool string) func(*command.StatusView) {
		return func(v *command.StatusView) {
			v.Turn = &command.TurnView{State: state, Since: noon.Add(-ago), Tool: tool}
		}
	}
	for _, c := range []struct {
		change func(*command.StatusView)
		want   string
	}{
		{func(*command.StatusView) {}, "Ready for your message."},
		{turn(parley.TurnRunning, 0, ""), "Working for less than a second. /stop ends the turn."},
		{turn(parley.TurnRunning, -time.Hour, ""), "Working for less than a second. /stop ends the turn."},
		{turn(parley.TurnRunning, 59*time.Second, "git"), "Working for 59 s, in git. /stop ends the turn."},
		{turn(parley.TurnRunning, 2*time.Hour+5*time.Minute, ""), "Working for 2 h 5 min. /stop ends the turn."},
		{turn(parley.TurnRunning, 10*time.Hour, ""), "Working for 10 h. /stop ends the turn."},
		{turn(parley.TurnAwaitingApproval, 50*time.Hour, "git"), "Waiting for somebody to allow git (2 d 2 h). /stop ends the turn."},
		{turn(parley.TurnAwaitingApproval, 48*time.Hour, ""), "Waiting for somebody to allow a tool (2 d). /stop ends the turn."},
		{turn(parley.TurnParked, time.Minute, ""), "Interrupted 1 min ago; it goes on by itself. /stop ends the turn."},
		{func(v *command.StatusView) { v.Session.Status = parley.StatusInactive }, "Put away. /resume cli:a goes on in it."},
		{
			func(v *command.StatusView) { v.Session.Recovery.State = parley.RecoverySuspended },
			"Suspended: the next message starts another session. /resume cli:a goes on in this one.",
		},
		{
			func(v *command.StatusView) { v.Session.Recovery.State = parley.RecoveryResumePending },
			"A turn was cut off; it is about to be taken up again.",
		},
	} {
		v := command.StatusView{Session: rome(), Now: noon}
		c.change(&v)
		if got := strings.Split(command.StatusText(v), "\n")[1]; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestUsageText(t *testing.T) {
	t.Parallel()
	full := command.UsageView{
		Counters: parley.Counters{
			Messages: 12, Turns: 5, LastPromptTokens: 8000,
			Usage: parley.Usage{InputTokens: 1000, OutputTokens: 2345, CacheReadTokens: 10000, CacheWriteTokens: 1345, CostMicroUSD: 12_345},
		},
		Context: 200_000,
		Budgets: []command.BudgetView{{What: "today", Spent: 120_000, Limit: 5_000_000}, {What: "this month", Spent: 1_500_000}},
	}
	const want = `This session: 5 turns, 12 messages.
Tokens: 12,345 in, 2,345 out (cache: 10,000 read, 1,345 written).
Cost: $0.0123.
The last request: 8,000 of 200,000 tokens (4 %).
Today: $0.1200 of $5.00 (2 %).
This month: $1.50.`
	if got := command.UsageText(full); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const wantBare = `This session: 1 turn, 2 messages.
Tokens: 7 in, 1 out.
Cost: $0.00, and what a model costs whose price is not known.
The last request: 7 tokens.`
	bare := command.UsageView{
		Counters: parley.Counters{Messages: 2, Turns: 1, LastPromptTokens: 7, Usage: parley.Usage{InputTokens: 7, OutputTokens: 1}},
		Unpriced: true,
	}
	if got := command.UsageText(bare); got != wantBare {
		t.Errorf("got\n%s\nwant\n%s", got, wantBare)
	}
	const wantNone = "This session: 0 turns, 0 messages.\nTokens: 0 in, 0 out.\nCost: $0.00."
	if got := command.UsageText(command.UsageView{}); got != wantNone {
		t.Errorf("got\n%s\nwant\n%s", got, wantNone)
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for micro, want := range map[int64]string{
		0: "$0.00", 1: "less than $0.0001", 49: "less than $0.0001", 50: "$0.0001", 149: "$0.0001", 150: "$0.0002",
		12_345: "$0.0123", 999_949: "$0.9999", 999_950: "$1.00", 1_000_000: "$1.00", 1_004_999: "$1.00", 1_005_000: "$1.01",
		1_234_567_890_000: "$1,234,567.89", 1<<63 - 1: "$9,223,372,036,854.78", -12_345: "-$0.0123", -1 << 63: "-$4,611,686,018,427.39",
	} {
		if got := command.Money(micro); got != want {
			t.Errorf("%d: got %s, want %s", micro, got, want)
		}
	}
}
