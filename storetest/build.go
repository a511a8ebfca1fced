package storetest

import (
	"fmt"

	"github.com/parley-run/parley"
)

// The sessions and people that named tests are about.
const (
	home  parley.SessionID  = "cli:home"
	away  parley.SessionID  = "web:away"
	anna  parley.IdentityID = "telegram:7"
	ben   parley.IdentityID = "discord:9"
	theme parley.Key        = "sk_v1_theme"
)

// newSession creates a session, with what its log starts with.
func newSession(id parley.SessionID, events ...parley.NewEvent) parley.SessionChange {
	return parley.SessionChange{
		Session: id,
		Create: &parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "helper"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect,
		},
		Events: events,
	}
}

// keyedSession creates a session that belongs to a key.
func keyedSession(id parley.SessionID, key parley.Key, events ...parley.NewEvent) parley.SessionChange {
	c := newSession(id, events...)
	c.Create.Key = key
	return c
}

// fork creates a session that shares the events of another.
func fork(id, parent parley.SessionID, seq uint64, events ...parley.NewEvent) parley.SessionChange {
	c := newSession(id, events...)
	c.Create.Fork = &parley.ForkPoint{Session: parent, Seq: seq}
	return c
}

// appendTo appends events to a session.
func appendTo(id parley.SessionID, events ...parley.NewEvent) parley.SessionChange {
	return parley.SessionChange{Session: id, Events: events}
}

// admit admits inputs to a session.
func admit(id parley.SessionID, inputs ...parley.Input) parley.SessionChange {
	return parley.SessionChange{Session: id, Admit: inputs}
}

// redact redacts events of a session.
func redact(id parley.SessionID, seqs ...uint64) parley.SessionChange {
	return parley.SessionChange{Session: id, Redact: seqs}
}

// drop deletes a session.
func drop(id parley.SessionID) parley.SessionChange {
	return parley.SessionChange{Session: id, Delete: true}
}

// post makes a queued input.
func post(id, text string) parley.Input {
	return parley.Input{
		Ref: parley.InputRef{Origin: "telegram/main/7", ID: id}, Kind: parley.InputMessage,
		Parts: []parley.Part{parley.TextPart(text)}, Sender: parley.Sender{ID: "7", Name: "Anna"},
		Principal: parley.Principal{Identity: anna, Role: parley.RoleUser}, State: parley.InputQueued,
	}
}

// say makes a message of a person; it shows these inputs.
func say(id, text string, inputs ...parley.InputRef) parley.NewEvent {
	return parley.NewEvent{Body: &parley.Message{
		ID: id, Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text)}, Inputs: inputs,
	}}
}

// reply makes a message of the agent.
func reply(id, text string) parley.NewEvent {
	return parley.NewEvent{Body: &parley.Message{
		ID: id, Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(text)},
	}}
}

// says makes n messages.
func says(n int) []parley.NewEvent {
	var list []parley.NewEvent
	for i := range n {
		list = append(list, say(fmt.Sprintf("m%d", i+1), fmt.Sprintf("message %d", i+1)))
	}
	return list
}

func join(id parley.IdentityID) parley.NewEvent {
	return parley.NewEvent{Body: &parley.ParticipantChanged{Identity: id}}
}

func leave(id parley.IdentityID) parley.NewEvent {
	return parley.NewEvent{Body: &parley.ParticipantChanged{Identity: id, Left: true}}
}

// startTurn starts a turn.
func startTurn(id parley.SessionID, turn parley.TurnID) parley.SessionChange {
	return parley.SessionChange{Session: id, Turns: []parley.TurnChange{{ID: turn, Start: true}}}
}

// delivery makes a delivery that waits to be sent.
func delivery(id parley.DeliveryID, seq uint64, text string) parley.DeliveryChange {
	return parley.DeliveryChange{New: &parley.Delivery{
		ID: id, Kind: parley.DeliveryMessage, Seq: seq, Target: parley.Target{Channel: "telegram", Chat: "7"}, Text: text, State: parley.DeliveryPending,
	}}
}
