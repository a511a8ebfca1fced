package lifecycle

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// Decision is what to do, and why.
type Decision struct {
	Action Action
	Reason Reason
	// Why is a sentence for people. It holds instants, in UTC, and nothing that
	// anybody wrote.
	Why string
	// Due is the first instant at which time alone brings the action that the
	// function is about, or brought it: before, the answer is to leave things as
	// they are. It is zero if time never does. Work under way puts the action
	// off, and activity puts Due off.
	Due time.Time
}

// Action is what to do.
type Action string

// The actions. Each function says which of them it gives.
const (
	ActionReuse      Action = "reuse"      // go on in the session
	ActionReset      Action = "reset"      // end it and start another
	ActionResume     Action = "resume"     // go on with its turn
	ActionDeliver    Action = "deliver"    // the turn's answer is there: bring it to its end
	ActionWait       Action = "wait"       // leave the turn as it is
	ActionClose      Action = "close"      // end the turn without an answer
	ActionSuspend    Action = "suspend"    // end the turn, and try nothing by itself in this session
	ActionKeep       Action = "keep"       // leave the session as it is
	ActionDeactivate Action = "deactivate" // hide it from lists; it can be resumed
	ActionDelete     Action = "delete"     // remove it
)

// Reason says why, in one word that programs may compare. Those of a reset are
// stored with it, as the reason of its events and of the old session's end.
type Reason string

// The reasons.
const (
	// Time passed, or not yet.
	ReasonIdle     Reason = "idle"
	ReasonDaily    Reason = "daily"
	ReasonActive   Reason = "active"
	ReasonInactive Reason = "inactive"
	ReasonExpired  Reason = "expired"
	ReasonNoRule   Reason = "no_rule"
	ReasonEnded    Reason = "ended"

	// Work under way.
	ReasonRunning    Reason = "running"
	ReasonQueued     Reason = "queued"
	ReasonApproval   Reason = "awaiting_approval"
	ReasonAutomation Reason = "automation"
	ReasonParked     Reason = "parked"

	// What a stop left behind.
	ReasonAnswered      Reason = "answered"
	ReasonCanceled      Reason = "canceled"
	ReasonFresh         Reason = "fresh"
	ReasonStale         Reason = "stale"
	ReasonStrikes       Reason = "strikes"
	ReasonSuspended     Reason = "suspended"
	ReasonResumePending Reason = "resume_pending"
	ReasonCompleted     Reason = "completed"

	// A group's history belongs to all of them.
	ReasonGroup Reason = "group"
)

// Work is what depends on a session beside its row.
type Work struct {
	OpenTurn     bool // a turn is not completed, whatever it waits for
	OpenApproval bool // a person is asked whether a call may run
	Automation   bool // an enabled automation is bound to the session's key
}

// blocked gives the reason why a clock must leave the session alone, and a
// sentence; or "".
func blocked(s parley.Session, w Work) (Reason, string) {
	switch {
	case s.Status == parley.StatusAwaitingApproval || w.OpenApproval:
		return ReasonApproval, "a person is asked for an approval"
	case s.Status == parley.StatusRunning || w.OpenTurn:
		return ReasonRunning, "a turn is not completed"
	case s.Queued > 0:
		return ReasonQueued, "messages wait for their turn"
	case w.Automation:
		return ReasonAutomation, "an enabled automation is bound to its key"
	}
	return "", ""
}

// lastActivity is what all clocks count from.
func lastActivity(s parley.Session) time.Time { return latest(s.UpdatedAt, s.CreatedAt) }

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}

// passed gives the first instant that is more than d after t.
func passed(t time.Time, d time.Duration) time.Time { return t.Add(d).Add(time.Nanosecond) }

// stamp shows an instant to people.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// at says where an invalid value stands.
func at(where string, err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return &parley.Error{Code: e.Code, Message: where + e.Message}
	}
	return err
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
