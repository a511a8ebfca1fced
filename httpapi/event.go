package httpapi

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/parley-run/parley"
)

// eventView is an event as clients see it.
type eventView struct {
	Type     parley.EventType  `json:"type" jsonschema:"what happened; also the name of a server-sent event"`
	Session  parley.SessionID  `json:"session_id,omitempty"`
	Seq      uint64            `json:"seq,omitempty" jsonschema:"counts 1, 2, 3 … in the session; events that are not stored have none"`
	At       time.Time         `json:"at"`
	Turn     parley.TurnID     `json:"turn_id,omitempty"`
	Identity parley.IdentityID `json:"identity,omitempty" jsonschema:"who caused it"`
	Data     json.RawMessage   `json:"data" jsonschema:"what belongs to the type"`
}

// The types of events that are not stored.
const (
	eventDelta    parley.EventType = "session:delta"
	eventSnapshot parley.EventType = "session:snapshot"
	eventStatus   parley.EventType = "session:status"
	eventResync   parley.EventType = "session:resync"
)

// viewEvent shows a stored event.
func viewEvent(e *parley.Event) eventView {
	return eventView{
		Type: e.Type, Session: e.Session, Seq: e.Seq, At: e.At.UTC(), Turn: e.Turn, Identity: e.Identity, Data: viewData(e),
	}
}

// viewData shows the body of an event. Inputs are named by their ids alone, and
// what a turn cost stands beside its usage.
func viewData(e *parley.Event) json.RawMessage {
	var body any
	switch e.Type {
	case parley.EventMessage, parley.EventTurnCompleted, parley.EventDirectiveInjected:
		decoded, err := e.Decode()
		if err != nil {
			return e.Data // as it is stored
		}
		switch b := decoded.(type) {
		case *parley.Message:
			body = viewMessage(b)
		case *parley.TurnCompleted:
			body = struct {
				*parley.TurnCompleted
				Cost int64 `json:"cost_microusd"`
			}{b, b.Usage.CostMicroUSD}
		case *parley.DirectiveInjected:
			body = struct {
				Inputs []string `json:"input_ids"`
			}{inputIDs(b.Inputs)}
		}
	}
	if body == nil {
		return e.Data
	}
	data, err := encode(body)
	if err != nil {
		return e.Data
	}
	return bytes.TrimSpace(data)
}
