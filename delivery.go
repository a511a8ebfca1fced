package parley

import "time"

// Delivery is one outgoing message to a chat: a row in the outbox until the
// platform confirms it.
type Delivery struct {
	ID      DeliveryID
	Session SessionID
	Turn    TurnID
	Seq     uint64 // the message it carries; redacting that takes the text here too
	Target  Target
	Part    int // of a reply that was split, counted from 0
	Text    string

	State       DeliveryState
	Attempts    int
	NextAttempt time.Time
	PlatformID  string // the platform's id of the message, once known
	LastError   string
	CreatedAt   time.Time
}

// Target is the chat a delivery goes to.
type Target struct {
	Channel string `json:"channel"`
	Account string `json:"account,omitempty"`
	Chat    string `json:"chat"`
	Topic   string `json:"topic,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"`
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
	for _, f := range []struct {
		what, value string
		least       int
	}{
		{"channel", d.Target.Channel, 1},
		{"account", d.Target.Account, 0},
		{"chat", d.Target.Chat, 1},
		{"topic", d.Target.Topic, 0},
		{"reply-to", d.Target.ReplyTo, 0},
		{"platform message id", d.PlatformID, 0},
	} {
		if err := checkText("delivery "+f.what, f.value, f.least, MaxNameBytes); err != nil {
			return err
		}
	}
	for _, at := range []time.Time{d.NextAttempt, d.CreatedAt} {
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
	return checkProse("delivery text", d.Text, MaxBodyBytes)
}
