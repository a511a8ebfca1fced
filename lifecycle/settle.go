package lifecycle

import (
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// Why a turn was cut off: the reason of a [parley.Recovery] that is pending.
const (
	RestartTimeout     = "restart_timeout"     // it was not done in time when the program restarted
	ShutdownTimeout    = "shutdown_timeout"    // it was not done in time when the program stopped
	RestartInterrupted = "restart_interrupted" // the program died
)

// Fresh reports whether something marked at an instant is recent enough to go on
// by itself: at most window ago. No mark (a zero time), a mark in the future and a
// window that is not positive count as fresh.
func Fresh(marked, now time.Time, window time.Duration) bool {
	return window <= 0 || marked.IsZero() || now.Sub(marked) <= window
}

// Resume says which turns go on by themselves after a stop. The zero value is
// the default.
type Resume struct {
	// Freshness is how long ago a turn may have given its last sign of life; nil
	// means an hour, 0 or less any time.
	Freshness *time.Duration
	// Strikes is how many starts without progress are one too many; 0 means 3.
	Strikes int
}

// Validate reports whether r makes sense: [parley.CodeInvalid] for a negative
// number of strikes.
func (r Resume) Validate() error {
	if r.Strikes < 0 {
		return parley.Errorf(parley.CodeInvalid, "%d strikes are not possible; it must be 1 or more", r.Strikes)
	}
	return nil
}

func (r Resume) freshness() time.Duration {
	if r.Freshness == nil {
		return DefaultFreshness
	}
	return *r.Freshness
}

func (r Resume) strikes() int {
	if r.Strikes == 0 {
		return DefaultStrikes
	}
	return r.Strikes
}

// Found is what is stored about an open turn beside its row.
type Found struct {
	Answered  bool      // its last message is written: the model's, and it asks for no tool
	Pending   bool      // one of its approvals is
	Progress  bool      // it got a tool's result or a piece of an answer since it was last started
	LastEvent time.Time // when its last event was written; zero if it has none
}

// Settlement is the decision about a turn that nobody works on.
type Settlement struct {
	Decision
	// Recovery is what the session's becomes.
	Recovery parley.Recovery
	// Tell says that the people in the chat need a message: they wait for an
	// answer that does not come.
	Tell bool
}

// Settle decides, after a start or when another node takes over, what becomes of
// an open turn. In this order:
//
//  1. Its answer is written: deliver. An answer that was committed before a
//     cancellation wins.
//  2. Its cancellation was requested: close, also if it waits for an approval.
//  3. It waits for a person's approval: wait, however long. That is no strike.
//  4. The session is suspended: suspend, which changes nothing there.
//  5. It is parked until a model is back: wait if that was recent, else close.
//  6. It was started [Resume.Strikes] times without progress: suspend.
//  7. Its last sign of life is recent: resume.
//  8. Otherwise close.
//
// A turn that was completed is kept as it is. Due is when a parked turn is tried
// again.
func Settle(s parley.Session, t parley.Turn, f Found, r Resume, now time.Time) Settlement {
	pending := s.Recovery.State == parley.RecoveryResumePending
	mark := latest(t.UpdatedAt, f.LastEvent)
	if pending {
		mark = latest(mark, s.Recovery.At)
	}
	strikes := r.count(s, t, f)
	set := Settlement{Recovery: s.Recovery}
	decide := func(action Action, reason Reason, format string, args ...any) Settlement {
		set.Action, set.Reason, set.Why = action, reason, fmt.Sprintf(format, args...)
		return set
	}
	// over is the recovery of a session in which nothing is left to resume.
	over := parley.Recovery{State: parley.RecoveryNone}
	if s.Recovery.State == parley.RecoverySuspended {
		over = s.Recovery
	}
	switch {
	case t.State == parley.TurnDone:
		return decide(ActionKeep, ReasonCompleted, "the turn is completed")
	case f.Answered:
		set.Recovery = over
		return decide(ActionDeliver, ReasonAnswered, "the answer was written before the stop")
	case t.CancelRequested:
		set.Recovery = over
		return decide(ActionClose, ReasonCanceled, "somebody canceled it before the stop")
	case f.Pending:
		return decide(ActionWait, ReasonApproval, "a person is asked for an approval")
	case s.Recovery.State == parley.RecoverySuspended:
		return decide(ActionSuspend, ReasonSuspended, "the session was suspended at %s", stamp(s.Recovery.At))
	case t.State == parley.TurnParked && Fresh(latest(mark, t.ParkedUntil), now, r.freshness()):
		set.Due = t.ParkedUntil
		return decide(ActionWait, ReasonParked, "it waits for a model to be back")
	case strikes >= r.strikes():
		set.Tell = true
		set.Recovery = parley.Recovery{State: parley.RecoverySuspended, Reason: string(ReasonStrikes), At: now, Strikes: strikes}
		return decide(ActionSuspend, ReasonStrikes, "it was started %d times without progress", strikes)
	case t.State != parley.TurnParked && Fresh(mark, now, r.freshness()):
		set.Recovery = parley.Recovery{State: parley.RecoveryResumePending, Reason: RestartInterrupted, At: mark, Strikes: strikes}
		if pending && s.Recovery.Reason != "" {
			set.Recovery.Reason = s.Recovery.Reason
		}
		return decide(ActionResume, ReasonFresh, "its last sign of life was at %s", stamp(mark))
	}
	set.Tell, set.Recovery = true, over
	return decide(ActionClose, ReasonStale, "its last sign of life was at %s, more than %s ago", stamp(mark), r.freshness())
}

// count gives how many starts there were in a row without progress, this one
// included. A turn that waited, for a person or a model, is not to blame.
func (r Resume) count(s parley.Session, t parley.Turn, f Found) int {
	switch {
	case f.Progress:
		return 0
	case t.State == parley.TurnRunning:
		return s.Recovery.Strikes + 1
	}
	return s.Recovery.Strikes
}
