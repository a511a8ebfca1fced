package httpapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// Outbox is what is on its way to chats. Its methods refuse everybody but owners.
type Outbox interface {
	List(ctx context.Context, by parley.Principal, q parley.DeliveryQuery) ([]parley.Delivery, error)
	Retry(ctx context.Context, by parley.Principal, id parley.DeliveryID) error
	Drop(ctx context.Context, by parley.Principal, id parley.DeliveryID) error
}

func (s *Server) outboxRoutes() {
	add(s, owners, endpoint[outboxIn, outboxOut]{
		method: http.MethodGet, path: "/api/outbox", name: "listOutbox",
		summary: "What is on its way to chats, the oldest first: what is open, or what is in one state.", do: (*call).listOutbox,
	})
	add(s, owners, endpoint[deliveryIn, deliveryOut]{
		method: http.MethodPost, path: "/api/outbox/{id}/retry", name: "retryDelivery",
		summary: "Send what was held or given up, or what waits for its next attempt, now. Parts of the same reply that were held or given up are sent too.", do: (*call).retryDelivery,
	})
	add(s, owners, endpoint[deliveryIn, deliveryOut]{
		method: http.MethodPost, path: "/api/outbox/{id}/drop", name: "dropDelivery",
		summary: "Take something out of the outbox unsent. What was said stays in its session.", do: (*call).dropDelivery,
	})
}

type outboxIn struct {
	State   parley.DeliveryState `query:"state" json:"-" jsonschema:"pending, sending, sent, unknown, held, dead or dropped; without one, what is open"`
	Session parley.SessionID     `query:"session" json:"-" jsonschema:"of this session alone"`
	Limit   int                  `query:"limit" json:"-" jsonschema:"how many at most; 50 if it is not given, never more than 1000"`
	Cursor  string               `query:"cursor" json:"-" jsonschema:"that of the page before"`
}

type outboxOut struct {
	Deliveries []deliveryView `json:"deliveries"`
	Cursor     string         `json:"cursor"`
}

// deliveryView is a message on its way to a chat.
type deliveryView struct {
	ID          parley.DeliveryID    `json:"id"`
	Session     parley.SessionID     `json:"session_id"`
	Turn        parley.TurnID        `json:"turn_id,omitempty"`
	Kind        parley.DeliveryKind  `json:"kind"`
	Target      parley.Target        `json:"target"`
	Of          parley.DeliveryID    `json:"of,omitempty" jsonschema:"the first part of the reply, if this is a later one"`
	Part        int                  `json:"part,omitempty" jsonschema:"of a reply that was too long for one message, counted from 0"`
	Text        string               `json:"text"`
	Media       []parley.Media       `json:"media,omitempty" jsonschema:"what goes with the text, or alone"`
	State       parley.DeliveryState `json:"state"`
	Attempts    int                  `json:"attempts"`
	NextAttempt *time.Time           `json:"next_attempt,omitempty"`
	LastError   string               `json:"last_error,omitempty"`
	CreatedAt   time.Time            `json:"created_at"`
}

func viewDelivery(d *parley.Delivery) deliveryView {
	v := deliveryView{
		ID: d.ID, Session: d.Session, Turn: d.Turn, Kind: d.Kind, Target: d.Target, Of: d.Of, Part: d.Part, Text: d.Text, Media: d.Media,
		State: d.State, Attempts: d.Attempts, LastError: d.LastError, CreatedAt: d.CreatedAt.UTC(),
	}
	if !d.NextAttempt.IsZero() {
		v.NextAttempt = new(d.NextAttempt.UTC())
	}
	return v
}

// deliveryStates are those that can be asked for.
var deliveryStates = []parley.DeliveryState{
	parley.DeliveryPending, parley.DeliverySending, parley.DeliverySent, parley.DeliveryUnknown, parley.DeliveryHeld, parley.DeliveryDead, parley.DeliveryDropped,
}

func (c *call) listOutbox(in *outboxIn) (outboxOut, error) {
	if in.State != "" && !slices.Contains(deliveryStates, in.State) {
		return outboxOut{}, invalidf("state must be pending, sending, sent, unknown, held, dead or dropped")
	}
	after, err := readCursor("outbox", "", in.Cursor)
	if err != nil {
		return outboxOut{}, err
	}
	list, err := c.cfg.Outbox.List(c.r.Context(), c.cred.Caller.Principal(), parley.DeliveryQuery{
		State: in.State, Session: in.Session, After: parley.DeliveryID(after), Limit: in.Limit,
	})
	out := outboxOut{Deliveries: make([]deliveryView, len(list))}
	for i := range list {
		out.Deliveries[i] = viewDelivery(&list[i])
	}
	if n := len(list); n > 0 {
		out.Cursor = nextPage("outbox", in.Limit, n, string(list[n-1].ID))
	}
	return out, err
}

type deliveryIn struct {
	ID parley.DeliveryID `path:"id" json:"-" jsonschema:"the delivery"`
}

type deliveryOut struct {
	ID parley.DeliveryID `json:"id"`
}

func (c *call) retryDelivery(in *deliveryIn) (deliveryOut, error) {
	return deliveryOut{ID: in.ID}, c.cfg.Outbox.Retry(c.r.Context(), c.cred.Caller.Principal(), in.ID)
}

func (c *call) dropDelivery(in *deliveryIn) (deliveryOut, error) {
	return deliveryOut{ID: in.ID}, c.cfg.Outbox.Drop(c.r.Context(), c.cred.Caller.Principal(), in.ID)
}
