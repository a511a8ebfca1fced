package parley

import "time"

// AuditEntry is one line of what people did that others may ask about. It holds
// no content of conversations and no secret.
type AuditEntry struct {
	Nr      uint64     `json:"nr"` // counts up; set by the store
	At      time.Time  `json:"at"`
	Action  string     `json:"action"`            // sign_in, token_created, role_changed, approval …
	Actor   IdentityID `json:"actor,omitempty"`   // empty: nobody who is known
	Via     string     `json:"via,omitempty"`     // as in [Principal]
	Session SessionID  `json:"session,omitempty"` // in which it was done
	Subject string     `json:"subject,omitempty"` // to whom or what: a user, a token's id, a call
	Detail  string     `json:"detail,omitempty"`  // for people
}

func (e *AuditEntry) validate() error {
	if err := checkText("audit action", e.Action, 1, MaxIDBytes); err != nil {
		return err
	}
	if e.Actor != "" {
		if err := e.Actor.Validate(); err != nil {
			return err
		}
	}
	if e.Session != "" {
		if err := e.Session.Validate(); err != nil {
			return err
		}
	}
	for _, f := range []struct{ what, value string }{{"audit way", e.Via}, {"audit subject", e.Subject}} {
		if err := checkText(f.what, f.value, 0, MaxNameBytes); err != nil {
			return err
		}
	}
	return checkProse("audit detail", e.Detail, MaxTextBytes)
}

// AuditQuery chooses lines of the audit, the newest first: those before Before (0:
// the end), of an action, an actor and a session, as far as they are given.
type AuditQuery struct {
	Before  uint64
	Action  string
	Actor   IdentityID
	Session SessionID
	Limit   int // see [PageSize]
}
