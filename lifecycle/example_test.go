package lifecycle_test

import (
	"fmt"
	"log"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
)

// Somebody writes in the evening, and again the next morning. In between, at
// four, a day began.
func ExampleOpen() {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		log.Fatal(err)
	}
	policies := lifecycle.Policies{
		Default: lifecycle.Policy{Zone: berlin},
		Types:   map[parley.SessionType]lifecycle.Policy{parley.SessionGroup: {Mode: lifecycle.ModeNone}},
	}
	evening := time.Date(2026, 3, 28, 22, 0, 0, 0, berlin)
	s := parley.Session{
		Type: parley.SessionDirect, Status: parley.StatusIdle,
		Counters: parley.Counters{Messages: 12}, UpdatedAt: evening,
	}
	policy, rule := policies.For("telegram", s.Type)
	for _, now := range []time.Time{evening.Add(time.Hour), evening.Add(10 * time.Hour)} {
		o := lifecycle.Open(s, lifecycle.Work{}, policy, now)
		fmt.Printf("%s (%s, %s): %s\n", o.Action, o.Reason, rule, o.Why)
	}
	// A message that still waits has the session to itself.
	s.Queued = 1
	o := lifecycle.Open(s, lifecycle.Work{}, policy, evening.Add(10*time.Hour))
	fmt.Printf("%s (%s): %s\n", o.Action, o.Reason, o.Why)
	// Output:
	// reuse (active, default): the last activity was at 2026-03-28T21:00:00Z; without more of it, it is reset (daily) at 2026-03-29T02:00:00Z
	// reset (daily, default): the last activity was at 2026-03-28T21:00:00Z, and a day began at 2026-03-29T02:00:00Z (04:00 CEST)
	// reuse (queued): messages wait for their turn
}

// A program died during a turn, and starts again ten minutes later.
func ExampleSettle() {
	died := time.Date(2026, 6, 16, 12, 0, 0, 0, time.UTC)
	turn := parley.Turn{State: parley.TurnRunning, UpdatedAt: died}
	s := parley.Session{Status: parley.StatusRunning, Recovery: parley.Recovery{State: parley.RecoveryNone}}

	soon := lifecycle.Settle(s, turn, lifecycle.Found{}, lifecycle.Resume{}, died.Add(10*time.Minute))
	fmt.Println(soon.Action, soon.Recovery.State, soon.Recovery.Strikes)
	late := lifecycle.Settle(s, turn, lifecycle.Found{}, lifecycle.Resume{}, died.Add(2*time.Hour))
	fmt.Println(late.Action, late.Recovery.State, late.Why)
	// Output:
	// resume resume_pending 1
	// close none its last sign of life was at 2026-06-16T12:00:00Z, more than 1h0m0s ago
}
