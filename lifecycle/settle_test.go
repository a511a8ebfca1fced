package lifecycle_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/vectors"
	"github.com/parley-run/parley/lifecycle"
)

func TestFreshVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Marked json.RawMessage `json:"marked"`
		Now    int64           `json:"now"`
		Window int64           `json:"window"`
		Fresh  bool            `json:"expected_fresh"`
	}
	for _, v := range vectors.Load[vector](t, "resume_freshness.json") {
		t.Run(string(v.Marked), func(t *testing.T) {
			t.Parallel()
			var marked time.Time // no mark, also for what is no time
			var seconds *float64
			if err := json.Unmarshal(v.Marked, &seconds); err == nil && seconds != nil {
				marked = time.UnixMilli(int64(*seconds * 1000))
			}
			got := lifecycle.Fresh(marked, time.Unix(v.Now, 0), time.Duration(v.Window)*time.Second)
			if got != v.Fresh {
				t.Errorf("got %t, want %t", got, v.Fresh)
			}
		})
	}
}

func TestFresh(t *testing.T) {
	t.Parallel()
	now := utc(t, "2026-06-16T12:00:00Z")
	tests := []struct {
		name   string
		marked time.Time
		window time.Duration
		want   bool
	}{
		{"at the edge", now.Add(-time.Hour), time.Hour, true},
		{"over the edge", now.Add(-time.Hour - time.Microsecond), time.Hour, false},
		{"in the future", now.Add(24 * time.Hour), time.Hour, true},
		{"no mark", time.Time{}, time.Hour, true},
		{"no window", now.Add(-10_000 * time.Hour), 0, true},
		{"older than a duration can say", time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), lifecycle.MaxIdle, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := lifecycle.Fresh(test.marked, now, test.window); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	now := utc(t, "2026-06-16T12:00:00Z")
	recent, old := now.Add(-10*time.Minute), now.Add(-3*time.Hour)
	none := parley.Recovery{State: parley.RecoveryNone}
	pending := func(at time.Time, strikes int) parley.Recovery {
		return parley.Recovery{State: parley.RecoveryResumePending, Reason: lifecycle.ShutdownTimeout, At: at, Strikes: strikes}
	}
	suspended := parley.Recovery{State: parley.RecoverySuspended, Reason: "strikes", At: old, Strikes: 3}
	running := func(at time.Time) parley.Turn { return parley.Turn{State: parley.TurnRunning, UpdatedAt: at} }
	tests := []struct {
		name     string
		recovery parley.Recovery
		turn     parley.Turn
		found    lifecycle.Found
		resume   lifecycle.Resume
		action   lifecycle.Action
		reason   lifecycle.Reason
		after    parley.Recovery
		tell     bool
	}{
		{
			name: "completed", recovery: pending(recent, 1), turn: parley.Turn{State: parley.TurnDone}, found: lifecycle.Found{Answered: true},
			action: lifecycle.ActionKeep, reason: lifecycle.ReasonCompleted, after: pending(recent, 1),
		},
		{
			name: "answered", recovery: pending(recent, 2), turn: running(old), found: lifecycle.Found{Answered: true},
			action: lifecycle.ActionDeliver, reason: lifecycle.ReasonAnswered, after: none,
		},
		{
			name: "answered before it was canceled", recovery: none,
			turn: parley.Turn{State: parley.TurnRunning, UpdatedAt: recent, CancelRequested: true}, found: lifecycle.Found{Answered: true},
			action: lifecycle.ActionDeliver, reason: lifecycle.ReasonAnswered, after: none,
		},
		{
			name: "answered in a suspended session", recovery: suspended, turn: running(recent), found: lifecycle.Found{Answered: true},
			action: lifecycle.ActionDeliver, reason: lifecycle.ReasonAnswered, after: suspended,
		},
		{
			name: "canceled", recovery: pending(recent, 1), turn: parley.Turn{State: parley.TurnRunning, UpdatedAt: recent, CancelRequested: true},
			action: lifecycle.ActionClose, reason: lifecycle.ReasonCanceled, after: none,
		},
		{
			name: "canceled while a person is asked", recovery: none,
			turn: parley.Turn{State: parley.TurnAwaitingApproval, UpdatedAt: recent, CancelRequested: true}, found: lifecycle.Found{Pending: true},
			action: lifecycle.ActionClose, reason: lifecycle.ReasonCanceled, after: none,
		},
		{
			name: "a person is asked, for long", recovery: pending(old, 2), turn: parley.Turn{State: parley.TurnAwaitingApproval, UpdatedAt: old},
			found: lifecycle.Found{Pending: true}, action: lifecycle.ActionWait, reason: lifecycle.ReasonApproval, after: pending(old, 2),
		},
		{
			name: "a person has answered, and no strike", recovery: pending(old, 2),
			turn: parley.Turn{State: parley.TurnAwaitingApproval, UpdatedAt: old}, found: lifecycle.Found{LastEvent: recent},
			action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh, after: pending(recent, 2),
		},
		{
			name: "cut off", recovery: none, turn: running(recent), action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh,
			after: parley.Recovery{State: parley.RecoveryResumePending, Reason: lifecycle.RestartInterrupted, At: recent, Strikes: 1},
		},
		{
			name: "marked at the stop", recovery: pending(recent, 0), turn: running(old),
			action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh, after: pending(recent, 1),
		},
		{
			name: "marked before, alive after", recovery: pending(old, 1), turn: running(old), found: lifecycle.Found{Progress: true, LastEvent: recent},
			action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh, after: pending(recent, 0),
		},
		{
			name: "the mark of something else", recovery: parley.Recovery{State: parley.RecoveryNone, At: recent}, turn: running(old),
			action: lifecycle.ActionClose, reason: lifecycle.ReasonStale, after: none, tell: true,
		},
		{
			name: "stale", recovery: pending(old, 1), turn: running(old), action: lifecycle.ActionClose, reason: lifecycle.ReasonStale, after: none, tell: true,
		},
		{
			name: "exactly an hour", recovery: none, turn: running(now.Add(-time.Hour)), action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh,
			after: parley.Recovery{State: parley.RecoveryResumePending, Reason: lifecycle.RestartInterrupted, At: now.Add(-time.Hour), Strikes: 1},
		},
		{
			name: "any age", recovery: none, turn: running(old), resume: lifecycle.Resume{Freshness: new(time.Duration(0))},
			action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh,
			after: parley.Recovery{State: parley.RecoveryResumePending, Reason: lifecycle.RestartInterrupted, At: old, Strikes: 1},
		},
		{
			name: "the second start", recovery: pending(recent, 1), turn: running(recent),
			action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh, after: pending(recent, 2),
		},
		{
			name: "the third start", recovery: pending(recent, 2), turn: running(recent), action: lifecycle.ActionSuspend, reason: lifecycle.ReasonStrikes,
			after: parley.Recovery{State: parley.RecoverySuspended, Reason: "strikes", At: now, Strikes: 3}, tell: true,
		},
		{
			name: "the third start, with progress", recovery: pending(recent, 2), turn: running(recent), found: lifecycle.Found{Progress: true},
			action: lifecycle.ActionResume, reason: lifecycle.ReasonFresh, after: pending(recent, 0),
		},
		{
			name: "the third start, long after", recovery: pending(old, 2), turn: running(old), action: lifecycle.ActionSuspend, reason: lifecycle.ReasonStrikes,
			after: parley.Recovery{State: parley.RecoverySuspended, Reason: "strikes", At: now, Strikes: 3}, tell: true,
		},
		{
			name: "one strike is enough", recovery: none, turn: running(recent), resume: lifecycle.Resume{Strikes: 1},
			action: lifecycle.ActionSuspend, reason: lifecycle.ReasonStrikes,
			after: parley.Recovery{State: parley.RecoverySuspended, Reason: "strikes", At: now, Strikes: 1}, tell: true,
		},
		{
			name: "suspended before", recovery: suspended, turn: running(recent), action: lifecycle.ActionSuspend, reason: lifecycle.ReasonSuspended, after: suspended,
		},
		{
			name: "parked", recovery: pending(recent, 2), turn: parley.Turn{State: parley.TurnParked, UpdatedAt: recent, ParkedUntil: now.Add(time.Minute)},
			action: lifecycle.ActionWait, reason: lifecycle.ReasonParked, after: pending(recent, 2),
		},
		{
			name: "parked until just now", recovery: none, turn: parley.Turn{State: parley.TurnParked, UpdatedAt: old, ParkedUntil: recent},
			action: lifecycle.ActionWait, reason: lifecycle.ReasonParked, after: none,
		},
		{
			name: "parked long ago", recovery: pending(old, 2), turn: parley.Turn{State: parley.TurnParked, UpdatedAt: old, ParkedUntil: old},
			action: lifecycle.ActionClose, reason: lifecycle.ReasonStale, after: none, tell: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := session(now)
			s.Recovery = test.recovery
			got := lifecycle.Settle(s, test.turn, test.found, test.resume, now)
			if got.Action != test.action || got.Reason != test.reason || got.Tell != test.tell {
				t.Errorf("got %s (%s), tell %t; want %s (%s), %t", got.Action, got.Reason, got.Tell, test.action, test.reason, test.tell)
			}
			if diff := cmp.Diff(test.after, got.Recovery); diff != "" {
				t.Errorf("recovery (-want +got):\n%s", diff)
			}
			if got.Why == "" {
				t.Error("it does not say why")
			}
			parked := test.action == lifecycle.ActionWait && test.reason == lifecycle.ReasonParked
			if want := test.turn.ParkedUntil; parked && !got.Due.Equal(want) || !parked && !got.Due.IsZero() {
				t.Errorf("due at %s", got.Due)
			}
		})
	}
}

// TestSettleEnds starts a program that dies at every turn: in the end the turn is
// suspended, and no start runs it a fourth time.
func TestSettleEnds(t *testing.T) {
	t.Parallel()
	now := utc(t, "2026-06-16T12:00:00Z")
	s := session(now)
	turn := parley.Turn{State: parley.TurnRunning, UpdatedAt: now}
	runs := 1
	for {
		now = now.Add(time.Second)
		got := lifecycle.Settle(s, turn, lifecycle.Found{}, lifecycle.Resume{}, now)
		s.Recovery = got.Recovery
		if got.Action != lifecycle.ActionResume {
			if got.Action != lifecycle.ActionSuspend {
				t.Fatalf("got %s (%s)", got.Action, got.Reason)
			}
			break
		}
		runs++
		turn.UpdatedAt = now
	}
	if runs != lifecycle.DefaultStrikes {
		t.Fatalf("it ran %d times, want %d", runs, lifecycle.DefaultStrikes)
	}
	if got := lifecycle.Open(s, lifecycle.Work{}, lifecycle.Policy{}, now); got.Action != lifecycle.ActionReset {
		t.Errorf("the next message gives %s (%s), want a reset", got.Action, got.Reason)
	}
}
