package lifecycle_test

import (
	"math"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
)

func TestInactive(t *testing.T) {
	t.Parallel()
	const after = lifecycle.DefaultInactiveAfter
	now := utc(t, "2026-06-16T12:00:00Z")
	tests := []struct {
		name   string
		last   time.Time
		status parley.Status
		work   lifecycle.Work
		after  time.Duration
		action lifecycle.Action
		reason lifecycle.Reason
	}{
		{"in use", now, parley.StatusIdle, lifecycle.Work{}, after, lifecycle.ActionKeep, lifecycle.ReasonActive},
		{"at the edge", now.Add(-after), parley.StatusIdle, lifecycle.Work{}, after, lifecycle.ActionKeep, lifecycle.ReasonActive},
		{"over the edge", now.Add(-after - 1), parley.StatusIdle, lifecycle.Work{}, after, lifecycle.ActionDeactivate, lifecycle.ReasonInactive},
		{"already", now.Add(-2 * after), parley.StatusInactive, lifecycle.Work{}, after, lifecycle.ActionKeep, lifecycle.ReasonInactive},
		{"an automation", now.Add(-2 * after), parley.StatusIdle, lifecycle.Work{Automation: true}, after, lifecycle.ActionKeep, lifecycle.ReasonAutomation},
		{"running", now.Add(-2 * after), parley.StatusRunning, lifecycle.Work{}, after, lifecycle.ActionKeep, lifecycle.ReasonRunning},
		{"no rule", now.Add(-99 * after), parley.StatusIdle, lifecycle.Work{}, 0, lifecycle.ActionKeep, lifecycle.ReasonNoRule},
		{"the longest rule", now.Add(-99 * after), parley.StatusIdle, lifecycle.Work{}, math.MaxInt64, lifecycle.ActionKeep, lifecycle.ReasonActive},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := session(test.last)
			s.Status = test.status
			got := lifecycle.Inactive(s, test.work, test.after, now)
			if got.Action != test.action || got.Reason != test.reason {
				t.Errorf("got %s (%s), want %s (%s)", got.Action, got.Reason, test.action, test.reason)
			}
			if got.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}

func TestRetain(t *testing.T) {
	t.Parallel()
	const after = 90 * 24 * time.Hour
	now := utc(t, "2026-06-16T12:00:00Z")
	tests := []struct {
		name   string
		last   time.Time
		typ    parley.SessionType
		work   lifecycle.Work
		rule   lifecycle.Retention
		action lifecycle.Action
		reason lifecycle.Reason
	}{
		{"no rule", now.Add(-99 * after), parley.SessionDirect, lifecycle.Work{}, lifecycle.Retention{}, lifecycle.ActionKeep, lifecycle.ReasonNoRule},
		{"at the edge", now.Add(-after), parley.SessionDirect, lifecycle.Work{}, lifecycle.Retention{After: after}, lifecycle.ActionKeep, lifecycle.ReasonActive},
		{"over the edge", now.Add(-after - 1), parley.SessionDirect, lifecycle.Work{}, lifecycle.Retention{After: after}, lifecycle.ActionDelete, lifecycle.ReasonExpired},
		{"a group", now.Add(-2 * after), parley.SessionGroup, lifecycle.Work{}, lifecycle.Retention{After: after}, lifecycle.ActionKeep, lifecycle.ReasonGroup},
		{"groups too", now.Add(-2 * after), parley.SessionGroup, lifecycle.Work{}, lifecycle.Retention{After: after, Groups: true}, lifecycle.ActionDelete, lifecycle.ReasonExpired},
		{"an automation", now.Add(-2 * after), parley.SessionDirect, lifecycle.Work{Automation: true}, lifecycle.Retention{After: after}, lifecycle.ActionKeep, lifecycle.ReasonAutomation},
		{"an approval", now.Add(-2 * after), parley.SessionDirect, lifecycle.Work{OpenApproval: true}, lifecycle.Retention{After: after}, lifecycle.ActionKeep, lifecycle.ReasonApproval},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := session(test.last)
			s.Type = test.typ
			got := lifecycle.Retain(s, test.work, test.rule, now)
			if got.Action != test.action || got.Reason != test.reason {
				t.Errorf("got %s (%s), want %s (%s)", got.Action, got.Reason, test.action, test.reason)
			}
			if got.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}
