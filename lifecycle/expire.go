package lifecycle

import (
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// Inactive decides whether a session nobody uses is put away: deactivate if more
// than after has passed since the last activity, else keep. An after of 0 or less
// puts nothing away. Work under way, and an enabled automation on the session's
// key, keep it. Nothing is lost: the next message, or a person who resumes it,
// goes on in it.
func Inactive(s parley.Session, w Work, after time.Duration, now time.Time) Decision {
	if s.Status == parley.StatusInactive {
		return Decision{Action: ActionKeep, Reason: ReasonInactive, Why: "it is inactive already"}
	}
	if after <= 0 {
		return Decision{Action: ActionKeep, Reason: ReasonNoRule, Why: "no rule puts sessions away"}
	}
	return aged(s, w, after, now, ActionDeactivate, ReasonInactive)
}

// Retention is a rule by which sessions are removed. The zero value removes none:
// time deletes nothing that a person did not tell it to.
type Retention struct {
	// After is how long after the last activity; 0 means never.
	After time.Duration
	// Groups says that sessions of groups are removed as well. Their history
	// belongs to several people, so they stay by default.
	Groups bool
}

// Validate reports whether r makes sense: [parley.CodeInvalid] for a negative
// time.
func (r Retention) Validate() error {
	if r.After < 0 {
		return parley.Errorf(parley.CodeInvalid, "sessions cannot be removed %s after their last activity; it must be above zero, or 0 for never", r.After)
	}
	return nil
}

// Retain decides whether a rule that a person wrote removes the session: delete
// if more than the rule's time has passed since the last activity, else keep.
// Work under way, and an enabled automation on the session's key, keep it.
func Retain(s parley.Session, w Work, r Retention, now time.Time) Decision {
	switch {
	case r.After <= 0:
		return Decision{Action: ActionKeep, Reason: ReasonNoRule, Why: "no rule removes sessions"}
	case s.Type != parley.SessionDirect && !r.Groups:
		return Decision{Action: ActionKeep, Reason: ReasonGroup, Why: "the rule does not remove sessions of groups"}
	}
	return aged(s, w, r.After, now, ActionDelete, ReasonExpired)
}

// aged decides by the time since the last activity alone.
func aged(s parley.Session, w Work, after time.Duration, now time.Time, then Action, because Reason) Decision {
	last := lastActivity(s)
	d := Decision{Action: ActionKeep, Due: passed(last, after)}
	if reason, why := blocked(s, w); reason != "" {
		d.Reason, d.Why = reason, why
		return d
	}
	if now.Before(d.Due) {
		d.Reason = ReasonActive
		d.Why = fmt.Sprintf("the last activity was at %s, not more than %s ago", stamp(last), after)
		return d
	}
	d.Action, d.Reason = then, because
	d.Why = fmt.Sprintf("the last activity was at %s, more than %s ago", stamp(last), after)
	return d
}
