package parley

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// InputRef is the name of an input, unique in a store for good: what an origin
// sends twice under one id is one input.
type InputRef struct {
	// Origin is <channel>/<account>/<chat> for channels and
	// <identity>/<key or session> for requests.
	Origin string `json:"origin"`
	ID     string `json:"id"`
}

// Validate reports whether ref can name an input.
func (ref InputRef) Validate() error {
	if err := checkText("input origin", ref.Origin, 1, MaxAliasBytes); err != nil {
		return err
	}
	return checkText("input id", ref.ID, 1, MaxIDBytes)
}

// Input is an inbound that was admitted to a session. Its content is the body
// of its session:input event and stored only there.
//
// The caller of [Store.Commit] sets the fields above the line; the store fills
// in the others.
type Input struct {
	Ref       InputRef
	Kind      InputKind
	Parts     []Part
	Sender    Sender
	Mentioned bool
	ReplyTo   string // the platform's id of the message it answers
	MessageID string // the platform's id of the message itself
	// Target is the chat it came from, where an answer goes; nil: it came another
	// way, and whoever wrote it reads the session.
	Target    *Target
	Principal Principal
	Busy      BusyMode   // how the sender wants it treated during a turn; "" as the session says
	State     InputState // queued, or what admission decided at once
	Decision  string     // why it has this state, for people
	NotBefore time.Time  // do not start its turn earlier
	Turn      TurnID     // the turn that took it

	// ----

	Session SessionID
	Seq     uint64 // of its session:input event
	Shown   uint64 // seq of the message that showed it to the model, or 0
	At      time.Time
}

// InputKind says what an input asks for.
type InputKind string

// The kinds of inputs.
const (
	InputMessage    InputKind = "message"
	InputCommand    InputKind = "command"
	InputAutomation InputKind = "automation"
	InputRecovery   InputKind = "recovery"
)

func (k InputKind) validate() error {
	switch k {
	case InputMessage, InputCommand, InputAutomation, InputRecovery:
		return nil
	}
	return invalidf("input kind %s is not known", quote(string(k)))
}

// InputState says what became of an input.
type InputState string

// The input states. Queued and running inputs are open; the others are final.
const (
	InputQueued     InputState = "queued"
	InputRunning    InputState = "running"
	InputDone       InputState = "done"
	InputLogged     InputState = "logged"  // kept as context, no turn
	InputSteered    InputState = "steered" // shown to a turn that was running
	InputCarriedOut InputState = "command" // a slash command, carried out
	InputDropped    InputState = "dropped" // withdrawn, or its session was reset or deleted
)

// Open reports whether an input in this state still needs work.
func (s InputState) Open() bool { return s == InputQueued || s == InputRunning }

func (s InputState) validate() error {
	switch s {
	case InputQueued, InputRunning, InputDone, InputLogged, InputSteered, InputCarriedOut, InputDropped:
		return nil
	}
	return invalidf("input state %s is not known", quote(string(s)))
}

// BusyMode says what happens to a message that comes during a turn.
type BusyMode string

// The busy modes.
const (
	BusyQueue     BusyMode = "queue"
	BusyCollect   BusyMode = "collect"
	BusySteer     BusyMode = "steer"
	BusyInterrupt BusyMode = "interrupt"
	BusyReject    BusyMode = "reject"
)

func (m BusyMode) validate() error {
	switch m {
	case "", BusyQueue, BusyCollect, BusySteer, BusyInterrupt, BusyReject:
		return nil
	}
	return invalidf("busy mode %s is not known; it must be queue, collect, steer, interrupt or reject", quote(string(m)))
}

// Admitted gives the body of the input's session:input event.
func (in *Input) Admitted() *Admitted {
	return &Admitted{
		ID: in.Ref.ID, Origin: in.Ref.Origin, Kind: in.Kind, Parts: in.Parts, Sender: in.Sender,
		Mentioned: in.Mentioned, ReplyTo: in.ReplyTo, MessageID: in.MessageID, Target: in.Target,
	}
}

// ContentHash tells two inputs with the same ref apart: it covers the kind, the
// parts and the sender's id, with line endings and outer white space of texts
// normalised. It does not cover names, which change by themselves.
func (in *Input) ContentHash() [sha256.Size]byte {
	h := sha256.New()
	field := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	field(string(in.Kind))
	field(in.Sender.ID)
	field(in.Sender.AltID)
	for _, p := range in.Parts {
		field(string(p.Kind))
		field(strings.TrimSpace(strings.ReplaceAll(p.Text, "\r\n", "\n")))
		if p.Media != nil {
			field(p.Media.Handle)
		}
		if p.Call != nil {
			field(string(p.Call.ID))
			field(p.Call.Name)
			field(string(p.Call.Arguments))
		}
		if p.Result != nil {
			field(string(p.Result.CallID))
			field(p.Result.Text)
			field(strconv.FormatBool(p.Result.IsError))
			field(strconv.FormatBool(p.Result.Unknown))
			handle := ""
			if p.Result.Media != nil {
				handle = p.Result.Media.Handle
			}
			field(handle)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (in *Input) validate() error {
	if err := in.Principal.validate(); err != nil {
		return err
	}
	if err := in.Busy.validate(); err != nil {
		return err
	}
	if err := in.State.validate(); err != nil {
		return err
	}
	if err := checkText("decision", in.Decision, 0, MaxNameBytes); err != nil {
		return err
	}
	if in.Turn != "" {
		if err := checkID("turn id", string(in.Turn)); err != nil {
			return err
		}
	}
	return checkTime("the input's earliest time", in.NotBefore)
}
