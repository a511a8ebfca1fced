package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// StatusView is what /status tells.
type StatusView struct {
	Session parley.Session
	Model   string          // the one that answers, or "" if that is not known
	Busy    parley.BusyMode // the one that holds: the session's, else the configured one; "" leaves it out
	Turn    *TurnView       // the turn that is open, if there is one
	Waiting int             // how many messages wait

	Now  time.Time
	Zone *time.Location // nil: UTC
}

// TurnView is an open turn.
type TurnView struct {
	State parley.TurnState
	Since time.Time
	Tool  string // the tool that runs, or that waits for an approval, or ""
}

// StatusText is the answer to /status.
func StatusText(v StatusView) string {
	s := &v.Session
	lines := []string{name(s), v.doing()}
	if v.Waiting > 0 {
		lines = append(lines, count(v.Waiting, "message waits", "messages wait")+". /queue shows them.")
	}
	agent := "Agent: " + label(s.Agent.Name, 64)
	if v.Model != "" {
		agent += ", with " + label(v.Model, 64)
	}
	lines = append(lines, agent+".", fmt.Sprintf("So far: %s in %s, last %s.",
		count(s.Counters.Messages, "message", "messages"), count(s.Counters.Turns, "turn", "turns"), when(s.UpdatedAt, v.Now, v.Zone)))
	if v.Busy != "" {
		lines = append(lines, busySentence(v.Busy))
	}
	return strings.Join(lines, "\n")
}

// doing says what the session is doing, and what can be done about it.
func (v *StatusView) doing() string {
	if v.Turn != nil {
		return v.Turn.doing(v.Now)
	}
	switch {
	case v.Session.Recovery.State == parley.RecoverySuspended:
		return "Suspended: the next message starts another session. /resume " + line(string(v.Session.ID), parley.MaxIDBytes) + " goes on in this one."
	case v.Session.Recovery.State == parley.RecoveryResumePending:
		return "A turn was cut off; it is about to be taken up again."
	case v.Session.Status == parley.StatusInactive:
		return "Put away. /resume " + line(string(v.Session.ID), parley.MaxIDBytes) + " goes on in it."
	}
	return "Ready for your message."
}

func (t *TurnView) doing(now time.Time) string {
	tool, since := label(t.Tool, 64), long(now.Sub(t.Since))
	switch t.State {
	case parley.TurnAwaitingApproval:
		if tool == "" {
			tool = "a tool"
		}
		return "Waiting for somebody to allow " + tool + " (" + since + "). /stop ends the turn."
	case parley.TurnParked:
		return "Interrupted " + since + " ago; it goes on by itself. /stop ends the turn."
	}
	if tool != "" {
		tool = ", in " + tool
	}
	return "Working for " + since + tool + ". /stop ends the turn."
}

// UsageView is what /usage tells.
type UsageView struct {
	Counters parley.Counters
	Context  int64 // how many tokens the model can take, or 0 if that is not known
	// Unpriced says that a model was used whose price is not known, so that there is
	// more to pay than what is shown.
	Unpriced bool
	Budgets  []BudgetView
}

// BudgetView is what was spent of a budget.
type BudgetView struct {
	What  string // what it is for, such as "today"
	Spent int64  // millionths of a dollar
	Limit int64  // the same, or 0 for none
}

// UsageText is the answer to /usage.
func UsageText(v UsageView) string {
	c := &v.Counters
	lines := []string{fmt.Sprintf("This session: %s, %s.", count(c.Turns, "turn", "turns"), count(c.Messages, "message", "messages"))}
	tokens := "Tokens: " + number(c.PromptTokens()) + " in, " + number(c.OutputTokens) + " out"
	if cached := c.CacheReadTokens + c.CacheWriteTokens; cached > 0 {
		tokens += fmt.Sprintf(" (cache: %s read, %s written)", number(c.CacheReadTokens), number(c.CacheWriteTokens))
	}
	cost := "Cost: " + Money(c.CostMicroUSD) + "."
	if v.Unpriced {
		cost = "Cost: " + Money(c.CostMicroUSD) + ", and what a model costs whose price is not known."
	}
	lines = append(lines, tokens+".", cost)
	switch used := c.LastPromptTokens; {
	case used > 0 && v.Context > 0:
		lines = append(lines, fmt.Sprintf("The last request: %s of %s tokens%s.", number(used), number(v.Context), percent(used, v.Context)))
	case used > 0:
		lines = append(lines, "The last request: "+count(used, "token", "tokens")+".")
	}
	for _, b := range v.Budgets {
		of := ""
		if b.Limit > 0 {
			of = " of " + Money(b.Limit) + percent(b.Spent, b.Limit)
		}
		lines = append(lines, sentence(label(b.What, 32)+": "+Money(b.Spent)+of))
	}
	return strings.Join(lines, "\n")
}

// percent gives " (12 %)", cut and not rounded: 100 is reached when it is.
func percent(part, whole int64) string {
	return fmt.Sprintf(" (%d %%)", int64(float64(part)/float64(whole)*100))
}
