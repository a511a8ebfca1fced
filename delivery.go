package parley

import "time"

// Delivery is one outgoing message to a chat: a row in the outbox until the
// platform confirms it.
type Delivery struct {
	ID      DeliveryID
	Session SessionID
	Turn    TurnID
	Kind    DeliveryKind
	Call    CallID // of an approval: the call that is asked about
	Seq     uint64 // the message it carries; redacting that takes the text here too
	Target  Target
	// Of is the first part of a reply that was split, and Part counts from 0. The
	// first part is the delivery that was split, and has no Of.
	Of   DeliveryID
	Part int
	Text string
	// Markup is how Text looks, as who split it wrote it down; empty: Text is
	// Markdown, as it was written.
	Markup string
	// Media are what goes with Text; once the delivery is split, one at most. Redacting
	// the message takes them from here too.
	Media []Media
	// Draft says that the reply is still being written: the chat shows its
	// beginning, and the message that ends it goes into this delivery.
	Draft bool
	// Again says that it may be in the chat already. Its message says so.
	Again bool

	State       DeliveryState
	Attempts    int
	NextAttempt time.Time
	AttemptedAt time.Time // when the platform was called for it, first of those calls whose outcome is open
	PlatformID  string    // the platform's id of the message, once known
	LastError   string
	CreatedAt   time.Time
}

// DeliveryKind says what a delivery is for.
type DeliveryKind string

// The kinds of deliveries.
const (
	DeliveryMessage  DeliveryKind = "message"  // what the agent says
	DeliveryNotice   DeliveryKind = "notice"   // what the runtime says: errors, answers to commands
	DeliveryApproval DeliveryKind = "approval" // the question whether a call may run, then the answer
	DeliveryBacklog  DeliveryKind = "backlog"  // that deliveries of the chat are held
)

func (k DeliveryKind) validate() error {
	switch k {
	case DeliveryMessage, DeliveryNotice, DeliveryApproval, DeliveryBacklog:
		return nil
	}
	return invalidf("delivery kind %s is not known", quote(string(k)))
}

// Target is a chat: where a delivery goes, and where an input came from.
type Target struct {
	Channel string `json:"channel"`
	Account string `json:"account,omitempty"`
	Chat    string `json:"chat"`
	Topic   string `json:"topic,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"`
}

func (t *Target) validate() error {
	for _, f := range []struct {
		what, value string
		least       int
	}{
		{"channel", t.Channel, 1},
		{"account", t.Account, 0},
		{"chat", t.Chat, 1},
		{"topic", t.Topic, 0},
		{"reply-to", t.ReplyTo, 0},
	} {
		if err := checkText("target's "+f.what, f.value, f.least, MaxNameBytes); err != nil {
			return err
		}
	}
	return nil
}

// DeliveryState says how far a delivery is.
type DeliveryState string

// The delivery states. Pending, sending and unknown ones are open.
const (
	DeliveryPending DeliveryState = "pending"
	DeliverySending DeliveryState = "sending" // durable before the platform is called
	DeliverySent    DeliveryState = "sent"
	DeliveryUnknown DeliveryState = "unknown" // the platform may have it
	DeliveryHeld    DeliveryState = "held"    // too old to be poured out; a person decides
	DeliveryDead    DeliveryState = "dead"
	DeliveryDropped DeliveryState = "dropped"
)

// Open reports whether a delivery in this state still needs work.
func (s DeliveryState) Open() bool {
	return s == DeliveryPending || s == DeliverySending || s == DeliveryUnknown
}

func (s DeliveryState) validate() error {
	switch s {
	case DeliveryPending, DeliverySending, DeliverySent, DeliveryUnknown, DeliveryHeld, DeliveryDead, DeliveryDropped:
		return nil
	}
	return invalidf("delivery state %s is not known", quote(string(s)))
}

func (d *Delivery) validate() error {
	if err := checkID("delivery id", string(d.ID)); err != nil {
		return err
	}
	if d.Turn != "" {
		if err := checkID("turn id", string(d.Turn)); err != nil {
			return err
		}
	}
	if err := d.Kind.validate(); err != nil {
		return err
	}
	if d.Call != "" {
		if err := checkID("call id", string(d.Call)); err != nil {
			return err
		}
	}
	if d.Of != "" {
		if err := checkID("delivery id", string(d.Of)); err != nil {
			return err
		}
	}
	if err := d.Target.validate(); err != nil {
		return err
	}
	if err := checkText("platform message id", d.PlatformID, 0, MaxNameBytes); err != nil {
		return err
	}
	for _, at := range []time.Time{d.NextAttempt, d.AttemptedAt, d.CreatedAt} {
		if err := checkTime("delivery times", at); err != nil {
			return err
		}
	}
	if d.Part < 0 || d.Attempts < 0 {
		return invalidf("delivery part and attempts must not be negative")
	}
	if err := checkProse("delivery error", d.LastError, MaxTextBytes); err != nil {
		return err
	}
	if err := d.State.validate(); err != nil {
		return err
	}
	if err := checkProse("delivery markup", d.Markup, MaxBodyBytes); err != nil {
		return err
	}
	if err := checkDeliveryMedia(d.Media); err != nil {
		return err
	}
	return checkProse("delivery text", d.Text, MaxBodyBytes)
}

func checkDeliveryMedia(list []Media) error {
	if len(list) > MaxParts {
		return tooLargef("a delivery has %d media; at most %d are allowed", len(list), MaxParts)
	}
	for i := range list {
		if err := list[i].validate(); err != nil {
			return err
		}
	}
	return nil
}
