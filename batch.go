package parley

import (
	"encoding/json"
	"time"
)

// Batch is one change of a store: all of it or nothing. What it refers to belongs
// to the store while [Store.Commit] runs, and for good if that ends with an
// unknown outcome.
//
// A store first looks for inputs it already has, then checks what the batch
// expects, then applies blobs, makes sure that those which the batch's media name
// are there, and applies sessions, keys, aliases, users, identities, tokens,
// passcodes and the audit, each in the order given.
type Batch struct {
	// At is the instant of the change; rows and events carry it. Required.
	At time.Time
	// MayWait says that nobody is kept by this batch: a store may hold it back for a
	// moment, a few milliseconds at most, so that one sync serves it and those who come.
	MayWait bool
	// Expect is what must hold for the batch to be applied.
	Expect []Expectation
	// Blobs are registered or removed.
	Blobs []BlobChange
	// Sessions are created, changed or deleted. Each session once.
	Sessions []SessionChange
	// Keys are pointed at sessions.
	Keys []KeyChange
	// Aliases are claimed or released.
	Aliases []AliasChange
	// Users and Identities are stored as they are given, or removed.
	Users      []UserChange
	Identities []IdentityChange
	// Tokens and Passcodes are made, used up, revoked or removed.
	Tokens    []TokenChange
	Passcodes []PasscodeChange
	// Audit is written down, at the instant of the batch.
	Audit []AuditEntry
}

// SessionChange is what a batch does to one session. The parts are applied in
// the order of the fields; a session that does not exist and is not created is
// [CodeNotFound].
type SessionChange struct {
	Session SessionID
	// Create makes the session. An id that is taken is [CodeConflict].
	Create *NewSession
	// Claim raises the fence by one; the result says what it became.
	Claim bool
	// Patch changes fields of the session.
	Patch SessionPatch
	// Admit stores inputs, each with its session:input event.
	Admit []Input
	// Events are appended after the events of the admitted inputs.
	Events []NewEvent
	// Inputs of this session change their state.
	Inputs []InputChange
	// Turns of this session start or change.
	Turns []TurnChange
	// Calls are written to the journal of an open turn.
	Calls []CallChange
	// Approvals are asked for or settled.
	Approvals []ApprovalChange
	// Deliveries enter the outbox or change there.
	Deliveries []DeliveryChange
	// Notices are added or consumed.
	Notices []NoticeChange
	// Redact takes away the bodies of these events and every copy of them. Only
	// redactable types can be named. With a message of an open turn goes the turn's
	// opaque state, which may hold a copy; its runner may write it again.
	Redact []uint64
	// Delete removes the session, at the end. Its inputs stay as names without
	// content, so that what comes again is still known: those that were open are
	// dropped. Events stay as long as a fork shares them.
	Delete bool
}

// NewSession is what a session starts with.
type NewSession struct {
	Key      Key // may be empty: a session that no scope leads to
	Agent    AgentSnapshot
	Source   Source
	Type     SessionType
	Title    Title
	Metadata map[string]string
	Chat     *Target    // see [Session]
	Fork     *ForkPoint // share the events of another session up to a point
}

// SessionPatch changes the fields that are set. Metadata is merged: an empty
// value removes its name, and what comes out beyond [MaxMetadataBytes] is [CodeTooLarge].
type SessionPatch struct {
	// Key moves the session to another key. That does not make it the key's
	// current one; a [KeyChange] does.
	Key         *Key
	Status      *Status
	Ended       *Ending // a zero time makes the session not ended again
	Recovery    *Recovery
	Title       *Title
	Description *string
	Busy        *BusyMode
	Metadata    map[string]string
	Chat        *Target
}

// InputChange moves an input of the session to another state.
type InputChange struct {
	Ref       InputRef
	State     InputState
	Decision  string // "" leaves it
	Turn      TurnID // "" leaves it
	NotBefore *time.Time
}

// TurnChange starts a turn or changes one. A turn that is completed loses its
// journal and its opaque state, and is not changed any more: [CodeConflict].
type TurnChange struct {
	ID          TurnID
	Start       bool // make it: running, attempt 1; an id that is taken is [CodeConflict]
	State       *TurnState
	Attempt     *int
	Cancel      bool // request its cancellation; never undone
	StopReason  *StopReason
	Prompt      *PromptRef
	Usage       *Usage
	Opaque      []byte // nil leaves it, empty clears it
	ParkedUntil *time.Time
}

// CallChange writes a call to the journal: started first, then finished with a
// result, or unknown. A call that was finished is not changed any more:
// [CodeConflict].
//
// A result is the runner's own and refers to no blob: media in it are kept by the
// message that shows it to the model, which is written before the blob has been
// unused for too long.
type CallChange struct {
	Turn   TurnID
	ID     CallID
	Tool   string
	State  CallState
	Result json.RawMessage
}

// ApprovalChange asks for an approval (State pending) or settles one.
type ApprovalChange struct {
	Turn     TurnID
	Call     CallID
	Tool     string
	State    ApprovalState
	Default  ApprovalState
	Deadline time.Time
	By       IdentityID
}

// DeliveryChange puts a delivery into the outbox (New), or changes the fields
// that are set. A part of one that is not the session's is [CodeNotFound].
type DeliveryChange struct {
	New *Delivery
	ID  DeliveryID
	// Event says which of [SessionChange.Events] the delivery carries: 1 is the first.
	// The store fills in its seq. 0: Seq is as it is.
	Event       int
	Text        *string
	Markup      *string
	Media       *[]Media
	Draft       *bool
	Again       *bool
	State       *DeliveryState
	Attempts    *int
	NextAttempt *time.Time
	AttemptedAt *time.Time
	PlatformID  *string
	LastError   *string
}

// NoticeChange adds a notice or consumes one. Consuming a notice that is gone
// is [CodeNotFound], so that two turns never tell the same one.
type NoticeChange struct {
	Add     *Notice
	Consume NoticeID
}

// KeyChange points a key at a session of the store. An empty session leaves the
// key without a current one. Scope, if set, is stored with the key.
type KeyChange struct {
	Key     Key
	Session SessionID
	Scope   *Scope
}

// AliasChange claims an alias for a key, or releases it if the key is empty. An
// alias has one key, and the first claim stays: a later one changes nothing and
// is reported in [Result.Clashes].
type AliasChange struct {
	Alias Alias
	Key   Key
}

// UserChange stores a user as it is given, or removes it; then its identities
// belong to nobody.
type UserChange struct {
	User   User
	Remove bool
}

// IdentityChange stores an identity as it is given, or removes it. A user that
// is not there is [CodeNotFound].
type IdentityChange struct {
	Identity Identity
	Remove   bool
}

// Result is what a commit did.
type Result struct {
	// Duplicate is set if an admitted input was there before, with the same
	// content: then nothing of the batch was written, and this is the input as
	// it stands.
	Duplicate *Input
	// Sessions has one entry for each change, in their order.
	Sessions []SessionResult
	// Clashes are aliases that belong to another key.
	Clashes []AliasClash
	// Pos is the position of the batch's last event, or 0 if it had none.
	Pos uint64
}

// SessionResult says what a commit assigned to a session. The batch's events
// have the seqs from FirstSeq to LastSeq; without events FirstSeq is
// LastSeq + 1.
type SessionResult struct {
	FirstSeq uint64
	LastSeq  uint64
	Fence    Fence
}

// AliasClash is an alias that another key had first.
type AliasClash struct {
	Alias Alias
	Owner Key
}
