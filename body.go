package parley

import (
	"slices"
	"time"
)

// bodies makes an empty body for each type of event this package knows.
var bodies = map[EventType]func() EventBody{
	EventStarted:           func() EventBody { return new(Started) },
	EventUpdated:           func() EventBody { return new(Updated) },
	EventInput:             func() EventBody { return new(Admitted) },
	EventMessage:           func() EventBody { return new(Message) },
	EventTurnStarted:       func() EventBody { return new(TurnStarted) },
	EventToolStarted:       func() EventBody { return new(ToolStarted) },
	EventToolCompleted:     func() EventBody { return new(ToolCompleted) },
	EventApprovalRequested: func() EventBody { return new(ApprovalRequested) },
	EventApprovalResolved:  func() EventBody { return new(ApprovalResolved) },
	EventTurnCompleted:     func() EventBody { return new(TurnCompleted) },
	EventDirectiveInjected: func() EventBody { return new(DirectiveInjected) },
	EventReset:             func() EventBody { return new(Reset) },
	EventResumed:           func() EventBody { return new(Resumed) },
	EventSuspended:         func() EventBody { return new(Suspended) },
	EventRewound:           func() EventBody { return new(Rewound) },
	EventForked:            func() EventBody { return new(Forked) },
	EventPromoted:          func() EventBody { return new(Promoted) },
	EventRedacted:          func() EventBody { return new(Redacted) },
	EventDeliveryFailed:    func() EventBody { return new(DeliveryFailed) },
	EventParticipant:       func() EventBody { return new(ParticipantChanged) },
	EventEnded:             func() EventBody { return new(Ended) },
}

// EventTypes lists the types this package knows, sorted.
func EventTypes() []EventType {
	types := make([]EventType, 0, len(bodies))
	for t := range bodies {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}

// The bodies. What somebody wrote stands only in [Admitted] and [Message]: no
// other body copies it, so that redacting those two leaves nothing behind.
type (
	// Started opens a session's log.
	Started struct {
		Agent  string `json:"agent"`
		Source Source `json:"source"`
	}
	// Updated says which fields of the session changed; readers fetch the
	// session anew.
	Updated struct {
		Fields []string `json:"fields"`
	}
	// Admitted is the content of an input. The store writes this event itself,
	// when it admits the [Input].
	Admitted struct {
		ID        string    `json:"input_id"`
		Origin    string    `json:"origin"`
		Kind      InputKind `json:"kind"`
		Parts     []Part    `json:"parts"`
		Sender    Sender    `json:"sender,omitzero"`
		Mentioned bool      `json:"mentioned,omitempty"`
		ReplyTo   string    `json:"reply_to,omitempty"`
		MessageID string    `json:"message_id,omitempty"`
		Target    *Target   `json:"target,omitempty"`
	}
	// TurnStarted opens a turn, or goes on with one: then Attempt is above 1.
	TurnStarted struct {
		Attempt int       `json:"attempt"`
		Prompt  PromptRef `json:"prompt,omitzero"`
	}
	// ToolStarted and ToolCompleted say that a call began and ended; its
	// arguments and its result are in the messages around.
	ToolStarted struct {
		Call CallID `json:"call_id"`
		Tool string `json:"tool"`
	}
	// ToolCompleted ends what ToolStarted began.
	ToolCompleted struct {
		Call  CallID    `json:"call_id"`
		Tool  string    `json:"tool"`
		State CallState `json:"state"`
	}
	// ApprovalRequested asks a person to allow a call.
	ApprovalRequested struct {
		Call     CallID        `json:"call_id"`
		Tool     string        `json:"tool"`
		Deadline time.Time     `json:"deadline,omitzero"`
		Default  ApprovalState `json:"default"`
	}
	// ApprovalResolved is the answer.
	ApprovalResolved struct {
		Call  CallID        `json:"call_id"`
		State ApprovalState `json:"state"`
		By    IdentityID    `json:"by,omitempty"`
	}
	// TurnCompleted closes a turn.
	TurnCompleted struct {
		StopReason   StopReason `json:"stop_reason"`
		Usage        Usage      `json:"usage"`
		PromptTokens int64      `json:"prompt_tokens,omitempty"` // of the last model call
		Error        *TurnError `json:"error,omitempty"`
		// Uncounted turns, those of automations and of recovery, do not count
		// against a session's limit of turns.
		Uncounted bool `json:"uncounted,omitempty"`
	}
	// DirectiveInjected says that people spoke to a running turn.
	DirectiveInjected struct {
		Inputs []InputRef `json:"inputs"`
	}
	// Reset opens the session that replaces From. If it carries something over,
	// the model is shown the messages of From with seqs from TailFrom to TailUpto
	// before its own; they stay where they are, so that redacting them there is
	// enough.
	Reset struct {
		From     SessionID `json:"from"`
		Reason   string    `json:"reason"`
		TailFrom uint64    `json:"tail_from,omitempty"`
		TailUpto uint64    `json:"tail_upto,omitempty"`
	}
	// Resumed makes the session its key's current one again.
	Resumed struct {
		Instead SessionID `json:"instead,omitempty"`
	}
	// Suspended says that recovery gave up until a person comes.
	Suspended struct {
		Reason string `json:"reason"`
	}
	// Rewound takes the events after ToSeq out of the model's context. They
	// stay in the log.
	Rewound struct {
		ToSeq uint64 `json:"to_seq"`
		Turns int    `json:"turns"`
	}
	// Forked opens a session that shares another's events.
	Forked struct {
		From  SessionID `json:"from"`
		AtSeq uint64    `json:"at_seq"`
	}
	// Promoted says that a key was pointed at this session through an older
	// name of it.
	Promoted struct {
		Key   Key   `json:"key"`
		Alias Alias `json:"alias"`
	}
	// Redacted says whose bodies were taken away, and why.
	Redacted struct {
		Seqs   []uint64 `json:"seqs"`
		Reason string   `json:"reason,omitempty"`
	}
	// DeliveryFailed says that a reply could not be brought to its chat.
	DeliveryFailed struct {
		Delivery DeliveryID `json:"delivery"`
		Channel  string     `json:"channel"`
		Reason   string     `json:"reason"`
	}
	// ParticipantChanged says who joined or left.
	ParticipantChanged struct {
		Identity IdentityID `json:"identity"`
		Left     bool       `json:"left,omitempty"`
	}
	// Ended says that the session is no longer its key's current one.
	Ended struct {
		Reason string    `json:"reason"`
		Next   SessionID `json:"next,omitempty"`
	}
)

// The type of each body's event.
func (*Started) EventType() EventType            { return EventStarted }
func (*Updated) EventType() EventType            { return EventUpdated }
func (*Admitted) EventType() EventType           { return EventInput }
func (*Message) EventType() EventType            { return EventMessage }
func (*TurnStarted) EventType() EventType        { return EventTurnStarted }
func (*ToolStarted) EventType() EventType        { return EventToolStarted }
func (*ToolCompleted) EventType() EventType      { return EventToolCompleted }
func (*ApprovalRequested) EventType() EventType  { return EventApprovalRequested }
func (*ApprovalResolved) EventType() EventType   { return EventApprovalResolved }
func (*TurnCompleted) EventType() EventType      { return EventTurnCompleted }
func (*DirectiveInjected) EventType() EventType  { return EventDirectiveInjected }
func (*Reset) EventType() EventType              { return EventReset }
func (*Resumed) EventType() EventType            { return EventResumed }
func (*Suspended) EventType() EventType          { return EventSuspended }
func (*Rewound) EventType() EventType            { return EventRewound }
func (*Forked) EventType() EventType             { return EventForked }
func (*Promoted) EventType() EventType           { return EventPromoted }
func (*Redacted) EventType() EventType           { return EventRedacted }
func (*DeliveryFailed) EventType() EventType     { return EventDeliveryFailed }
func (*ParticipantChanged) EventType() EventType { return EventParticipant }
func (*Ended) EventType() EventType              { return EventEnded }

func (b *Started) validate() error {
	if err := checkText("agent name", b.Agent, 1, MaxNameBytes); err != nil {
		return err
	}
	return b.Source.validate()
}

func (b *Updated) validate() error {
	if len(b.Fields) > 64 {
		return invalidf("an update names %d fields; at most 64 are allowed", len(b.Fields))
	}
	for _, f := range b.Fields {
		if err := checkText("field", f, 1, MaxIDBytes); err != nil {
			return err
		}
	}
	return nil
}

func (b *Admitted) validate() error {
	if err := (InputRef{Origin: b.Origin, ID: b.ID}).Validate(); err != nil {
		return err
	}
	if err := b.Kind.validate(); err != nil {
		return err
	}
	if err := b.Sender.validate(); err != nil {
		return err
	}
	if err := checkText("reply-to", b.ReplyTo, 0, MaxIDBytes); err != nil {
		return err
	}
	if err := checkText("platform message id", b.MessageID, 0, MaxIDBytes); err != nil {
		return err
	}
	if b.Target != nil {
		if err := b.Target.validate(); err != nil {
			return err
		}
	}
	return ValidateParts(b.Parts)
}

func (b *TurnStarted) validate() error {
	if b.Attempt < 1 {
		return invalidf("a turn's attempts count from 1")
	}
	return b.Prompt.validate()
}

func (b *ToolStarted) validate() error {
	if err := checkID("call id", string(b.Call)); err != nil {
		return err
	}
	return checkText("tool name", b.Tool, 1, MaxNameBytes)
}

func (b *ToolCompleted) validate() error {
	if err := b.State.validate(); err != nil {
		return err
	}
	return (&ToolStarted{Call: b.Call, Tool: b.Tool}).validate()
}

func (b *ApprovalRequested) validate() error {
	if err := b.Default.validate(); err != nil {
		return err
	}
	return (&ToolStarted{Call: b.Call, Tool: b.Tool}).validate()
}

func (b *ApprovalResolved) validate() error {
	if b.By != "" {
		if err := b.By.Validate(); err != nil {
			return err
		}
	}
	if err := b.State.validate(); err != nil {
		return err
	}
	return checkID("call id", string(b.Call))
}

func (b *TurnCompleted) validate() error {
	if err := b.StopReason.validate(); err != nil {
		return err
	}
	if b.PromptTokens < 0 || b.PromptTokens > 1<<53 {
		return invalidf("%d prompt tokens are not possible", b.PromptTokens)
	}
	if b.Error != nil {
		if err := checkText("error code", b.Error.Code, 1, MaxIDBytes); err != nil {
			return err
		}
		if err := checkProse("error message", b.Error.Message, MaxTextBytes); err != nil {
			return err
		}
	}
	return b.Usage.validate()
}

func (b *DirectiveInjected) validate() error {
	if len(b.Inputs) == 0 || len(b.Inputs) > MaxParts {
		return invalidf("a directive names 1 to %d inputs, not %d", MaxParts, len(b.Inputs))
	}
	for _, ref := range b.Inputs {
		if err := ref.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Reset) validate() error {
	if err := b.From.Validate(); err != nil {
		return err
	}
	if b.TailFrom > b.TailUpto {
		return invalidf("a reset carries over from %d to %d, which is nothing", b.TailFrom, b.TailUpto)
	}
	return checkText("reason", b.Reason, 1, MaxNameBytes)
}

func (b *Resumed) validate() error {
	if b.Instead == "" {
		return nil
	}
	return b.Instead.Validate()
}

func (b *Suspended) validate() error { return checkText("reason", b.Reason, 1, MaxNameBytes) }

func (b *Rewound) validate() error {
	if b.Turns < 0 {
		return invalidf("a rewind cannot undo %d turns", b.Turns)
	}
	return nil
}

func (b *Forked) validate() error { return b.From.Validate() }

func (b *Promoted) validate() error {
	if err := b.Alias.Validate(); err != nil {
		return err
	}
	return b.Key.Validate()
}

func (b *Redacted) validate() error {
	if len(b.Seqs) == 0 {
		return invalidf("a redaction names the events it took away")
	}
	return checkProse("reason", b.Reason, MaxTextBytes)
}

func (b *DeliveryFailed) validate() error {
	if err := checkID("delivery id", string(b.Delivery)); err != nil {
		return err
	}
	if err := checkText("channel", b.Channel, 1, MaxNameBytes); err != nil {
		return err
	}
	return checkProse("reason", b.Reason, MaxTextBytes)
}

func (b *ParticipantChanged) validate() error { return b.Identity.Validate() }

func (b *Ended) validate() error {
	if b.Next != "" {
		if err := b.Next.Validate(); err != nil {
			return err
		}
	}
	return checkText("reason", b.Reason, 1, MaxNameBytes)
}
