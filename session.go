package parley

import (
	"encoding/json"
	"time"
)

// Session is one conversation. What its events determine (LastSeq, Counters,
// Preview, UpdatedAt) can be rebuilt from them; see [Tally].
type Session struct {
	ID     SessionID     `json:"id"`
	Key    Key           `json:"key,omitempty"`
	Agent  AgentSnapshot `json:"agent"`
	Source Source        `json:"source"`
	Type   SessionType   `json:"type"`

	Status   Status   `json:"status"`
	Ended    *Ending  `json:"ended,omitempty"`
	Recovery Recovery `json:"recovery"`
	Fence    Fence    `json:"-"`
	Queued   int      `json:"queued"`

	LastSeq  uint64   `json:"last_seq"`
	Counters Counters `json:"counters"`

	Title       Title             `json:"title"`
	Description string            `json:"description,omitempty"`
	Preview     string            `json:"preview,omitempty"`
	Busy        BusyMode          `json:"busy,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Parent      *ForkPoint        `json:"parent,omitempty"`
	// Chat is where somebody last spoke to it from; nil: nobody did from a chat. What
	// nobody there asked for, such as the answer to an automation, goes there.
	Chat *Target `json:"-"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // the last activity: an input, a message, a turn
}

// Status says what a session is doing.
type Status string

// The statuses.
const (
	StatusIdle             Status = "idle"
	StatusRunning          Status = "running"
	StatusAwaitingApproval Status = "awaiting_approval"
	StatusInactive         Status = "inactive" // replaced by a reset, or stale; hidden from lists, can be resumed
)

func (s Status) validate() error {
	switch s {
	case StatusIdle, StatusRunning, StatusAwaitingApproval, StatusInactive:
		return nil
	}
	return invalidf("status %s is not known", quote(string(s)))
}

// SessionType says whether a session is between the agent and one person.
type SessionType string

// The types.
const (
	SessionDirect SessionType = "direct"
	SessionGroup  SessionType = "group"
)

// Source is where a session was started, for good.
type Source struct {
	Kind        string `json:"kind"` // cli, web, api, channel, schedule …
	Platform    string `json:"platform,omitempty"`
	Interactive bool   `json:"interactive"`
	Trigger     string `json:"trigger,omitempty"`
}

// AgentSnapshot is the agent a session is bound to, as configured when the
// session started. Config is opaque to the store.
type AgentSnapshot struct {
	Name   string          `json:"name"`
	Config json.RawMessage `json:"config,omitempty"`
}

// Ending says when and why a session stopped being its key's current one.
type Ending struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Recovery says what a restart left to do.
type Recovery struct {
	State   RecoveryState `json:"state"`
	Reason  string        `json:"reason,omitempty"` // restart_timeout, shutdown_timeout, restart_interrupted
	At      time.Time     `json:"at,omitzero"`
	Strikes int           `json:"strikes,omitempty"`
}

// RecoveryState is the state of a [Recovery].
type RecoveryState string

// The recovery states.
const (
	RecoveryNone          RecoveryState = "none"
	RecoveryResumePending RecoveryState = "resume_pending"
	RecoverySuspended     RecoveryState = "suspended"
)

// Title is what a session is called. Seq is the event it was made from, or 0 if
// a person wrote it: redacting that event takes the title with it.
type Title struct {
	Text string `json:"text,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
}

// ForkPoint is where a session branched off another: it shares the parent's
// events up to and including Seq, and counts on from there.
type ForkPoint struct {
	Session SessionID `json:"session"`
	Seq     uint64    `json:"seq"`
}

// Counters are sums over the events of a session's own log; what a fork shares
// with its parent is counted there.
type Counters struct {
	Messages int64 `json:"messages"`
	Turns    int64 `json:"turns"`
	Usage
	LastPromptTokens int64 `json:"last_prompt_tokens"`
}

// Usage is what model calls consumed. Tokens of a request are counted once: those
// that a provider's cache had or took are not among InputTokens. Money is in
// millionths of a US dollar.
type Usage struct {
	InputTokens      int64 `json:"input_tokens"`
	OutputTokens     int64 `json:"output_tokens"`
	CacheReadTokens  int64 `json:"cache_read_tokens"`
	CacheWriteTokens int64 `json:"cache_write_tokens"`
	CostMicroUSD     int64 `json:"cost_microusd"`
}

// Plus gives the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		CostMicroUSD:     u.CostMicroUSD + v.CostMicroUSD,
	}
}

// PromptTokens gives the tokens of the requests.
func (u Usage) PromptTokens() int64 { return u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens }

func (u Usage) validate() error {
	const most = 1 << 53 // exact in JSON numbers everywhere
	for _, n := range []int64{u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CostMicroUSD} {
		if n < 0 || n > most {
			return invalidf("usage of %d is not possible", n)
		}
	}
	return nil
}

func (s Source) validate() error {
	for _, f := range []struct{ what, value string }{
		{"source platform", s.Platform}, {"source trigger", s.Trigger},
	} {
		if err := checkText(f.what, f.value, 0, MaxNameBytes); err != nil {
			return err
		}
	}
	return checkText("source kind", s.Kind, 1, MaxNameBytes)
}

func (r Recovery) validate() error {
	switch r.State {
	case RecoveryNone, RecoveryResumePending, RecoverySuspended:
	default:
		return invalidf("recovery state %s is not known", quote(string(r.State)))
	}
	if r.Strikes < 0 {
		return invalidf("recovery strikes must not be negative")
	}
	if err := checkTime("the time of the recovery mark", r.At); err != nil {
		return err
	}
	return checkText("recovery reason", r.Reason, 0, MaxNameBytes)
}

func (a AgentSnapshot) validate() error {
	if err := checkText("agent name", a.Name, 1, MaxNameBytes); err != nil {
		return err
	}
	if len(a.Config) > MaxSnapshotBytes {
		return tooLargef("agent snapshot is %d bytes long; at most %d are allowed", len(a.Config), MaxSnapshotBytes)
	}
	return checkJSON("agent snapshot", a.Config)
}

func checkMetadata(m map[string]string) error {
	size := 0
	for k, v := range m {
		if err := checkText("metadata name", k, 1, MaxIDBytes); err != nil {
			return err
		}
		if err := checkProse("metadata value of "+k, v, MaxMetadataBytes); err != nil {
			return err
		}
		size += len(k) + len(v)
	}
	if size > MaxMetadataBytes {
		return tooLargef("metadata is %d bytes long; at most %d are allowed", size, MaxMetadataBytes)
	}
	return nil
}
