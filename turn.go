package parley

import (
	"encoding/json"
	"time"
)

// Turn is one run of the agent over one or more inputs, to its end.
type Turn struct {
	ID              TurnID
	Session         SessionID
	State           TurnState
	Attempt         int  // 1 at first; each time it is taken up again one more
	CancelRequested bool // durable before it is answered; recovery honours it
	StopReason      StopReason
	Prompt          PromptRef
	Usage           Usage
	Opaque          []byte    // a provider's state, such as signatures; gone when the turn is completed
	ParkedUntil     time.Time // when a parked turn is tried again
	StartedAt       time.Time
	UpdatedAt       time.Time
}

// TurnState says how far a turn is.
type TurnState string

// The turn states. All but completed are open.
const (
	TurnRunning          TurnState = "running"
	TurnAwaitingApproval TurnState = "awaiting_approval"
	TurnParked           TurnState = "parked"
	TurnDone             TurnState = "completed"
)

func (s TurnState) validate() error {
	switch s {
	case TurnRunning, TurnAwaitingApproval, TurnParked, TurnDone:
		return nil
	}
	return invalidf("turn state %s is not known", quote(string(s)))
}

// StopReason says why a turn ended.
type StopReason string

// The stop reasons.
const (
	StopDone          StopReason = "stop"
	StopLength        StopReason = "length"
	StopContentFilter StopReason = "content_filter"
	StopAborted       StopReason = "aborted"
	StopError         StopReason = "error"
)

func (r StopReason) validate() error {
	switch r {
	case StopDone, StopLength, StopContentFilter, StopAborted, StopError:
		return nil
	}
	return invalidf("stop reason %s is not known", quote(string(r)))
}

// TurnError says what went wrong in a turn, in words for the person in the
// chat: turn_limit, budget_exceeded, model_unavailable …
type TurnError struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// PromptRef names the template a turn's prompt was made from.
type PromptRef struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	SHA256  string `json:"sha256,omitempty"`
}

func (p PromptRef) validate() error {
	if err := checkText("prompt id", p.ID, 0, MaxIDBytes); err != nil {
		return err
	}
	return checkText("prompt hash", p.SHA256, 0, MaxIDBytes)
}

// Call is an entry of an open turn's journal: a tool call that must not run
// twice. The journal goes when the turn is completed; the transcript keeps what
// the call did.
type Call struct {
	Turn      TurnID
	ID        CallID
	Tool      string
	State     CallState
	Result    json.RawMessage
	StartedAt time.Time
}

// CallState says how far a call is.
type CallState string

// The call states.
const (
	CallStarted  CallState = "started"
	CallFinished CallState = "finished"
	CallUnknown  CallState = "unknown" // it ran when the process died, or was given up
)

func (s CallState) validate() error {
	switch s {
	case CallStarted, CallFinished, CallUnknown:
		return nil
	}
	return invalidf("call state %s is not known", quote(string(s)))
}

// Approval is the question to a person whether a call may run.
type Approval struct {
	Session     SessionID
	Turn        TurnID
	Call        CallID
	Tool        string
	State       ApprovalState
	Default     ApprovalState // the answer at the deadline
	Deadline    time.Time
	DecidedBy   IdentityID
	DecidedAt   time.Time
	RequestedAt time.Time
}

// ApprovalState says how an approval stands. One compare-and-set, an
// [ApprovalIs], decides between answer, deadline and cancel.
type ApprovalState string

// The approval states.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalApproved ApprovalState = "approved"
	ApprovalDenied   ApprovalState = "denied"
	ApprovalExpired  ApprovalState = "expired"
	ApprovalCanceled ApprovalState = "canceled"
)

func (s ApprovalState) validate() error {
	switch s {
	case ApprovalPending, ApprovalApproved, ApprovalDenied, ApprovalExpired, ApprovalCanceled:
		return nil
	}
	return invalidf("approval state %s is not known", quote(string(s)))
}
