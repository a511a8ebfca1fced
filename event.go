package parley

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Event is one stored entry of a session's log. Seq counts 1, 2, 3 … without
// gaps in its session; Pos orders all events of a store as they were committed.
// Data is the encoded body; see [Event.Decode]. It must not be changed: a store may
// give the same bytes to others.
//
// A fork shows its parent's events under its own id, with the seq and pos they
// have there.
type Event struct {
	Session  SessionID       `json:"session_id"`
	Seq      uint64          `json:"seq"`
	Pos      uint64          `json:"-"`
	Type     EventType       `json:"type"`
	Turn     TurnID          `json:"turn_id,omitempty"`
	At       time.Time       `json:"at"`
	Identity IdentityID      `json:"identity,omitempty"`
	Data     json.RawMessage `json:"data"`
}

// NewEvent is an event to be stored: it has no seq, and no time of its
// own unless At is set (an importer's events happened before they are stored).
type NewEvent struct {
	Turn     TurnID
	Identity IdentityID
	At       time.Time
	Body     EventBody
}

// EventType names what happened.
type EventType string

// The types of stored events.
const (
	EventStarted           EventType = "session:started"
	EventUpdated           EventType = "session:updated"
	EventInput             EventType = "session:input"
	EventMessage           EventType = "session:message"
	EventTurnStarted       EventType = "session:turn_started"
	EventToolStarted       EventType = "session:tool_started"
	EventToolCompleted     EventType = "session:tool_completed"
	EventApprovalRequested EventType = "session:approval_requested"
	EventApprovalResolved  EventType = "session:approval_resolved"
	EventTurnCompleted     EventType = "session:turn_completed"
	EventDirectiveInjected EventType = "agent:directive_injected"
	EventReset             EventType = "session:reset"
	EventResumed           EventType = "session:resumed"
	EventSuspended         EventType = "session:suspended"
	EventRewound           EventType = "session:rewound"
	EventForked            EventType = "session:forked"
	EventPromoted          EventType = "session:promoted"
	EventRedacted          EventType = "session:redacted"
	EventDeliveryFailed    EventType = "session:delivery_failed"
	EventParticipant       EventType = "session:participant"
	EventEnded             EventType = "session:ended"
)

// Activity reports whether an event of this type makes its session the most
// recently used one.
func (t EventType) Activity() bool {
	switch t {
	case EventStarted, EventInput, EventMessage, EventTurnStarted, EventTurnCompleted:
		return true
	}
	return false
}

// Redactable reports whether an event of this type holds what somebody wrote.
// The others hold only facts that counters are made of.
func (t EventType) Redactable() bool {
	return t == EventInput || t == EventMessage || !t.known()
}

func (t EventType) known() bool { _, ok := bodies[t]; return ok }

// EventBody is the content of an event. The bodies of this package are known by
// their type; [Custom] carries those of embedding programs.
type EventBody interface {
	EventType() EventType
	validate() error
}

// Decode gives the event's body: one of the body types of this package as a
// pointer, *[Tombstone] if it was redacted, *[Custom] for a type this package
// does not know. A body that does not fit its type is [CodeInvalid].
func (e Event) Decode() (EventBody, error) { return DecodeBody(e.Type, e.Data) }

// Redacted reports whether the event's body was taken away.
func (e Event) Redacted() bool { return bytes.Equal(e.Data, TombstoneData) }

// bodyDepth is how deep in a body of this package stands what a caller brings:
// a message's parts, a part, its call, the call's arguments.
const bodyDepth = 4

// DecodeBody decodes and checks an event body.
func DecodeBody(t EventType, data []byte) (EventBody, error) {
	if len(data) > MaxBodyBytes {
		return nil, tooLargef("event data is %d bytes long; at most %d are allowed", len(data), MaxBodyBytes)
	}
	if bytes.Equal(data, TombstoneData) {
		return &Tombstone{Of: t}, nil
	}
	newBody, known := bodies[t]
	if !known {
		c := &Custom{Type: t, Data: bytes.Clone(data)}
		if err := c.check(); err != nil {
			return nil, err
		}
		return c, nil
	}
	if t == EventMessage {
		if m, ok := scanMessage(data); ok {
			if err := m.validate(); err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	if err := checkDepth("event data", data, MaxDepth+bodyDepth); err != nil {
		return nil, err
	}
	body := newBody()
	if err := json.Unmarshal(data, body); err != nil {
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, notJSON("event data")
		}
		return nil, &Error{Code: CodeInvalid, Message: fmt.Sprintf("data does not fit %s", t), Err: err}
	}
	if err := body.validate(); err != nil {
		return nil, err
	}
	return body, nil
}

// NewBody gives an empty body of a type, or nil if that is none of [EventTypes].
func NewBody(t EventType) EventBody {
	if newBody, known := bodies[t]; known {
		return newBody()
	}
	return nil
}

// checkHasBody refuses no body, and a pointer to none.
func checkHasBody(body EventBody) error {
	if v := reflect.ValueOf(body); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return invalidf("an event has no body")
	}
	return nil
}

// EncodeBody checks a body and encodes it for storage. It fails with
// [CodeInvalid] or [CodeTooLarge].
func EncodeBody(body EventBody) (json.RawMessage, error) {
	if err := checkHasBody(body); err != nil {
		return nil, err
	}
	if err := body.validate(); err != nil {
		return nil, err
	}
	data, err := encodeJSON(body)
	if err != nil {
		return nil, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s cannot be encoded", body.EventType()), Err: err}
	}
	if bytes.Equal(data, TombstoneData) {
		return nil, invalidf("event data must not look like that of a redacted event")
	}
	if len(data) > MaxBodyBytes {
		return nil, tooLargef("%s event is %d bytes long; at most %d are allowed; put large content into a blob",
			body.EventType(), len(data), MaxBodyBytes)
	}
	return data, nil
}

// encodeJSON is json.Marshal without HTML escapes, which would triple the size
// of code that people paste.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// TombstoneData is the body of a redacted event.
var TombstoneData = json.RawMessage(`{"redacted":true}`)

// Tombstone stands where a redacted body was.
type Tombstone struct {
	Of EventType `json:"-"`
}

// EventType gives the type of the event that was redacted.
func (t *Tombstone) EventType() EventType { return t.Of }

func (t *Tombstone) validate() error {
	return invalidf("a tombstone cannot be written; redact the event instead")
}

// Custom is the body of an event whose type an embedding program brought. The
// type is <namespace>:<name> and not in the namespaces session and agent.
type Custom struct {
	Type EventType
	Data json.RawMessage
}

// EventType gives the program's type.
func (c *Custom) EventType() EventType { return c.Type }

// MarshalJSON gives the program's data as it is.
func (c *Custom) MarshalJSON() ([]byte, error) { return c.Data, nil }

// UnmarshalJSON keeps the program's data as it is.
func (c *Custom) UnmarshalJSON(data []byte) error {
	c.Data = bytes.Clone(data)
	return nil
}

func (c *Custom) validate() error {
	if ns, _, _ := strings.Cut(string(c.Type), ":"); ns == "session" || ns == "agent" {
		return invalidf("event type %s is taken: session and agent are Parley's own", quote(string(c.Type)))
	}
	return c.check()
}

// check is what holds for a body that is read, whose type may be one of ours
// that a later version brought.
func (c *Custom) check() error {
	if err := checkID("event type", string(c.Type)); err != nil {
		return err
	}
	if ns, name, ok := strings.Cut(string(c.Type), ":"); !ok || ns == "" || name == "" {
		return invalidf("event type %s must be <namespace>:<name>", quote(string(c.Type)))
	}
	if len(c.Data) == 0 {
		return invalidf("event data is missing")
	}
	return checkJSON("event data", c.Data)
}
