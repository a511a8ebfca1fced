package lifecycle

import (
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// Opening is the decision about a session that a message leads to.
type Opening struct {
	Decision
	// Notify and Carry belong to a reset: whether people are told, and what the
	// next session starts with.
	Notify bool
	Carry  Carry
}

// Open decides whether what is sent to a session's key goes on in the session
// (reuse, or resume if a turn was cut off and is being settled) or in another
// (reset). In this order:
//
//  1. A session that has ended is kept as it is: its key leads elsewhere.
//  2. Work under way keeps the session: an approval, a turn, waiting messages, an
//     enabled automation on its key. A suspended session is kept by the first two
//     only: messages that wait there would wait forever, so a reset drops them
//     and tells their senders; an automation goes with the key.
//  3. A suspended session is reset, and carries nothing over: what was in it has
//     stopped the program before.
//  4. A session that waits for its turn to be resumed goes on.
//  5. The policy's clocks: idle if more than the idle time has passed since the
//     last activity, else daily if a day began after it.
//
// Due is when the policy's clocks reset the session.
func Open(s parley.Session, w Work, p Policy, now time.Time) Opening {
	last := lastActivity(s)
	due, clock := p.due(last)
	o := Opening{Decision: Decision{Action: ActionReuse, Due: due}}
	suspended := s.Recovery.State == parley.RecoverySuspended
	reason, why := blocked(s, w)
	switch {
	case s.Ended != nil:
		o.Action, o.Reason, o.Due = ActionKeep, ReasonEnded, time.Time{}
		o.Why = fmt.Sprintf("it ended at %s; its key leads to another session", stamp(s.Ended.At))
	case reason == ReasonApproval, reason == ReasonRunning, reason != "" && !suspended:
		o.Reason, o.Why = reason, why
	case suspended:
		o.Action, o.Reason, o.Carry = ActionReset, ReasonSuspended, CarryNone
		o.Why = "it was suspended at " + stamp(s.Recovery.At)
	case s.Recovery.State == parley.RecoveryResumePending:
		o.Action, o.Reason = ActionResume, ReasonResumePending
		o.Why = "a turn was cut off and goes on"
	case clock == "":
		o.Reason, o.Why = ReasonNoRule, "its policy is to reset nothing"
	case now.Before(due):
		o.Reason = ReasonActive
		o.Why = fmt.Sprintf("the last activity was at %s; without more of it, it is reset (%s) at %s", stamp(last), clock, stamp(due))
	default:
		o.Action, o.Carry = ActionReset, p.carry()
		o.Reason, o.Why = p.reset(last, now)
	}
	if o.Action == ActionReset {
		o.Notify = !p.Quiet && (s.Counters.Messages > 0 || s.Parent != nil)
	}
	return o
}

// due gives the first instant at which a session with this last activity is
// reset, and by which clock.
func (p Policy) due(last time.Time) (time.Time, Reason) {
	var due time.Time
	var clock Reason
	if p.hasDaily() {
		due, clock = p.NextBoundary(last), ReasonDaily
	}
	if p.hasIdle() {
		if idle := passed(last, p.idle()); clock == "" || idle.Before(due) {
			due, clock = idle, ReasonIdle
		}
	}
	return due, clock
}

// reset gives the reason for a reset that is due. Idle comes first if both are.
func (p Policy) reset(last, now time.Time) (Reason, string) {
	if p.hasIdle() && now.Sub(last) > p.idle() {
		return ReasonIdle, fmt.Sprintf("the last activity was at %s, more than %s ago", stamp(last), p.idle())
	}
	b := p.LastBoundary(now)
	return ReasonDaily, fmt.Sprintf("the last activity was at %s, and a day began at %s (%s)",
		stamp(last), stamp(b), b.In(p.zone()).Format("15:04 MST"))
}
