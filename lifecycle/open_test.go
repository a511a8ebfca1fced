package lifecycle_test

import (
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/vectors"
	"github.com/parley-run/parley/lifecycle"
)

// TestResetVectors holds the cases in zones whose wall clock differs from UTC by
// odd amounts, which must not matter.
func TestResetVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		ID      string `json:"id"`
		Updated string `json:"updated_at"`
		Now     string `json:"now"`
		Policy  struct {
			Mode        lifecycle.Mode `json:"mode"`
			AtHour      int            `json:"at_hour"`
			IdleMinutes int            `json:"idle_minutes"`
		} `json:"policy"`
		Active   bool    `json:"active_process"`
		Expected *string `json:"expected"`
	}
	for _, v := range vectors.Load[vector](t, "reset_policy.json") {
		for _, name := range []string{"UTC", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago"} {
			t.Run(v.ID+"/"+name, func(t *testing.T) {
				t.Parallel()
				z := zone(t, name)
				wall := func(text string) time.Time {
					at, err := time.ParseInLocation("2006-01-02T15:04:05.999999999", text, z)
					if err != nil {
						t.Fatal(err)
					}
					return at
				}
				p := lifecycle.Policy{
					Mode: v.Policy.Mode, AtHour: &v.Policy.AtHour, Zone: z,
					Idle: time.Duration(v.Policy.IdleMinutes) * time.Minute,
				}
				if err := p.Validate(); err != nil {
					t.Fatal(err)
				}
				got := lifecycle.Open(session(wall(v.Updated)), lifecycle.Work{OpenTurn: v.Active}, p, wall(v.Now))
				if v.Expected == nil {
					if got.Action != lifecycle.ActionReuse {
						t.Errorf("got %s (%s), want reuse", got.Action, got.Reason)
					}
					return
				}
				if got.Action != lifecycle.ActionReset || string(got.Reason) != *v.Expected {
					t.Errorf("got %s (%s), want a reset (%s)", got.Action, got.Reason, *v.Expected)
				}
			})
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	last := utc(t, "2026-06-16T12:00:00Z")
	longAgo := last.Add(-7 * 24 * time.Hour)
	now := last.Add(time.Hour)
	suspended := parley.Recovery{State: parley.RecoverySuspended, At: longAgo}
	pending := parley.Recovery{State: parley.RecoveryResumePending, At: last}
	tests := []struct {
		name   string
		last   time.Time
		edit   func(*parley.Session)
		work   lifecycle.Work
		policy lifecycle.Policy
		action lifecycle.Action
		reason lifecycle.Reason
	}{
		{name: "in use", last: last, action: lifecycle.ActionReuse, reason: lifecycle.ReasonActive},
		{name: "idle", last: longAgo, action: lifecycle.ActionReset, reason: lifecycle.ReasonIdle},
		{
			name: "a policy of none", last: longAgo, policy: lifecycle.Policy{Mode: lifecycle.ModeNone},
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonNoRule,
		},
		{
			name: "running", last: longAgo, edit: func(s *parley.Session) { s.Status = parley.StatusRunning },
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonRunning,
		},
		{
			name: "a parked turn", last: longAgo, work: lifecycle.Work{OpenTurn: true},
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonRunning,
		},
		{
			name: "queued", last: longAgo, edit: func(s *parley.Session) { s.Queued = 1 },
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonQueued,
		},
		{
			name: "awaiting approval", last: longAgo, edit: func(s *parley.Session) { s.Status = parley.StatusAwaitingApproval },
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonApproval,
		},
		{
			name: "an open approval", last: longAgo, work: lifecycle.Work{OpenApproval: true},
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonApproval,
		},
		{
			name: "an automation", last: longAgo, work: lifecycle.Work{Automation: true},
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonAutomation,
		},
		{
			name: "inactive, and no clock", last: longAgo, edit: func(s *parley.Session) { s.Status = parley.StatusInactive },
			policy: lifecycle.Policy{Mode: lifecycle.ModeNone}, action: lifecycle.ActionReuse, reason: lifecycle.ReasonNoRule,
		},
		{
			name: "inactive, and idle", last: longAgo, edit: func(s *parley.Session) { s.Status = parley.StatusInactive },
			action: lifecycle.ActionReset, reason: lifecycle.ReasonIdle,
		},
		{
			name: "a turn to resume", last: longAgo, edit: func(s *parley.Session) { s.Recovery = pending },
			action: lifecycle.ActionResume, reason: lifecycle.ReasonResumePending,
		},
		{
			name: "suspended", last: last, edit: func(s *parley.Session) { s.Recovery = suspended },
			policy: lifecycle.Policy{Mode: lifecycle.ModeNone}, action: lifecycle.ActionReset, reason: lifecycle.ReasonSuspended,
		},
		{
			name: "suspended, and messages wait", last: last, edit: func(s *parley.Session) { s.Recovery = suspended; s.Queued = 3 },
			work: lifecycle.Work{Automation: true}, action: lifecycle.ActionReset, reason: lifecycle.ReasonSuspended,
		},
		{
			name: "suspended, and a turn runs", last: last, edit: func(s *parley.Session) { s.Recovery = suspended; s.Queued = 3 },
			work: lifecycle.Work{OpenTurn: true}, action: lifecycle.ActionReuse, reason: lifecycle.ReasonRunning,
		},
		{
			name: "ended", last: longAgo, edit: func(s *parley.Session) {
				s.Ended = &parley.Ending{At: last, Reason: "idle"}
				s.Recovery = suspended
			},
			action: lifecycle.ActionKeep, reason: lifecycle.ReasonEnded,
		},
		{
			name: "activity in the future", last: now.Add(48 * time.Hour),
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonActive,
		},
		{
			name: "no activity yet", edit: func(s *parley.Session) { s.CreatedAt = last },
			action: lifecycle.ActionReuse, reason: lifecycle.ReasonActive,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := session(test.last)
			if test.edit != nil {
				test.edit(&s)
			}
			test.policy.Zone = time.UTC
			got := lifecycle.Open(s, test.work, test.policy, now)
			if got.Action != test.action || got.Reason != test.reason {
				t.Errorf("got %s (%s), want %s (%s)", got.Action, got.Reason, test.action, test.reason)
			}
			if got.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}

// TestOpenReset looks at what a reset brings with it.
func TestOpenReset(t *testing.T) {
	t.Parallel()
	last := utc(t, "2026-06-16T12:00:00Z")
	suspended := func(s *parley.Session) { s.Recovery.State = parley.RecoverySuspended }
	tests := []struct {
		name   string
		edit   func(*parley.Session)
		policy lifecycle.Policy
		notify bool
		carry  lifecycle.Carry
	}{
		{name: "by default", notify: true, carry: lifecycle.CarryTail},
		{name: "quiet", policy: lifecycle.Policy{Quiet: true}, carry: lifecycle.CarryTail},
		{name: "nothing carried", policy: lifecycle.Policy{Carry: lifecycle.CarryNone}, notify: true, carry: lifecycle.CarryNone},
		{name: "nothing said before", edit: func(s *parley.Session) { s.Counters.Messages = 0 }, carry: lifecycle.CarryTail},
		{
			name: "a fork without messages of its own",
			edit: func(s *parley.Session) {
				s.Counters.Messages = 0
				s.Parent = &parley.ForkPoint{Session: "telegram:0", Seq: 9}
			}, notify: true, carry: lifecycle.CarryTail,
		},
		{name: "suspended", edit: suspended, notify: true, carry: lifecycle.CarryNone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := session(last)
			if test.edit != nil {
				test.edit(&s)
			}
			got := lifecycle.Open(s, lifecycle.Work{}, test.policy, last.Add(72*time.Hour))
			if got.Action != lifecycle.ActionReset || got.Notify != test.notify || got.Carry != test.carry {
				t.Errorf("got %s, notify %t, carry %q; want a reset, %t, %q", got.Action, got.Notify, got.Carry, test.notify, test.carry)
			}
		})
	}
}
