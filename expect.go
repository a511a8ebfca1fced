package parley

import "fmt"

// Expectation is something a [Batch] expects of the store. If it does not hold,
// nothing is written and the commit fails with [CodeConflict] and an
// [*ExpectError] that has the actual value.
//
// An expectation about a session that does not exist fails with [CodeNotFound].
type Expectation interface {
	fmt.Stringer
	validate() error
	size() int
}

// The expectations.
type (
	// KeyIs expects the key's current session to be Session; empty: none.
	KeyIs struct {
		Key     Key
		Session SessionID
	}
	// AliasIs expects the alias to belong to Key; empty: to none.
	AliasIs struct {
		Alias Alias
		Key   Key
	}
	// FenceIs expects the session's fence. Every write of a turn has one.
	FenceIs struct {
		Session SessionID
		Fence   Fence
	}
	// StatusIn expects the session's status to be one of Any.
	StatusIn struct {
		Session SessionID
		Any     []Status
	}
	// RecoveryIs expects the session's recovery state.
	RecoveryIs struct {
		Session SessionID
		State   RecoveryState
	}
	// EndedIs expects whether the session has ended; see [Session].Ended.
	EndedIs struct {
		Session SessionID
		Ended   bool
	}
	// QueuedAtMost expects that no more than Max inputs of the session are
	// queued.
	QueuedAtMost struct {
		Session SessionID
		Max     int
	}
	// InputIs expects the state of an input; empty: that it is unknown.
	InputIs struct {
		Ref   InputRef
		State InputState
	}
	// TurnIs expects the state of a turn; empty: that it is unknown.
	TurnIs struct {
		Session SessionID
		Turn    TurnID
		State   TurnState
	}
	// ApprovalIs expects the state of an approval; empty: that it is unknown.
	ApprovalIs struct {
		Session SessionID
		Turn    TurnID
		Call    CallID
		State   ApprovalState
	}
	// DeliveryIs expects the state of a delivery; empty: that it is unknown.
	DeliveryIs struct {
		Delivery DeliveryID
		State    DeliveryState
	}
	// EventIntact expects that the session has the event, and that it was not
	// redacted.
	EventIntact struct {
		Session SessionID
		Seq     uint64
	}
	// IdentityIs expects the identity to belong to User; empty: to nobody.
	IdentityIs struct {
		Identity IdentityID
		User     UserID
	}
)

// ExpectError is an expectation that did not hold. Actual has the type of the
// expected field, and its zero value where nothing is there.
type ExpectError struct {
	Index  int // in [Batch.Expect]
	Expect Expectation
	Actual any
}

// Error says what was expected and what is.
func (e *ExpectError) Error() string {
	return fmt.Sprintf("expected %s, but it is %s", e.Expect, quote(fmt.Sprint(e.Actual)))
}

func (e KeyIs) String() string {
	return fmt.Sprintf("session %s for key %s", quote(string(e.Session)), quote(string(e.Key)))
}

func (e AliasIs) String() string {
	return fmt.Sprintf("key %s for alias %s", quote(string(e.Key)), quote(string(e.Alias)))
}

func (e FenceIs) String() string {
	return fmt.Sprintf("fence %d of session %s", e.Fence, quote(string(e.Session)))
}

func (e StatusIn) String() string {
	return fmt.Sprintf("a status of %v of session %s", e.Any, quote(string(e.Session)))
}

func (e RecoveryIs) String() string {
	return fmt.Sprintf("recovery state %s of session %s", quote(string(e.State)), quote(string(e.Session)))
}

func (e EndedIs) String() string {
	return fmt.Sprintf("ended %t of session %s", e.Ended, quote(string(e.Session)))
}

func (e QueuedAtMost) String() string {
	return fmt.Sprintf("at most %d queued inputs in session %s", e.Max, quote(string(e.Session)))
}

func (e InputIs) String() string {
	return fmt.Sprintf("state %s of input %s", quote(string(e.State)), quote(e.Ref.ID))
}

func (e TurnIs) String() string {
	return fmt.Sprintf("state %s of turn %s", quote(string(e.State)), quote(string(e.Turn)))
}

func (e ApprovalIs) String() string {
	return fmt.Sprintf("state %s of the approval for call %s", quote(string(e.State)), quote(string(e.Call)))
}

func (e DeliveryIs) String() string {
	return fmt.Sprintf("state %s of delivery %s", quote(string(e.State)), quote(string(e.Delivery)))
}

func (e EventIntact) String() string {
	return fmt.Sprintf("event %d of session %s to be there", e.Seq, quote(string(e.Session)))
}

func (e IdentityIs) String() string {
	return fmt.Sprintf("user %s for identity %s", quote(string(e.User)), quote(string(e.Identity)))
}

func (e KeyIs) validate() error   { return e.Key.Validate() }
func (e AliasIs) validate() error { return e.Alias.Validate() }
func (e FenceIs) validate() error { return e.Session.Validate() }

func (e StatusIn) validate() error {
	for _, s := range e.Any {
		if err := s.validate(); err != nil {
			return err
		}
	}
	return e.Session.Validate()
}

func (e RecoveryIs) validate() error   { return e.Session.Validate() }
func (e EndedIs) validate() error      { return e.Session.Validate() }
func (e QueuedAtMost) validate() error { return e.Session.Validate() }
func (e InputIs) validate() error      { return e.Ref.Validate() }

func (e TurnIs) validate() error {
	if err := e.Session.Validate(); err != nil {
		return err
	}
	return checkID("turn id", string(e.Turn))
}

func (e ApprovalIs) validate() error {
	if err := (TurnIs{Session: e.Session, Turn: e.Turn}).validate(); err != nil {
		return err
	}
	return checkID("call id", string(e.Call))
}

func (e DeliveryIs) validate() error  { return checkID("delivery id", string(e.Delivery)) }
func (e EventIntact) validate() error { return e.Session.Validate() }
func (e IdentityIs) validate() error  { return e.Identity.Validate() }
