package client_test

import (
	"errors"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

func TestOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	s := must[client.Opened](t)(w.Open(ctx, client.Opening{Key: "work"})).Session.ID
	change := parley.SessionChange{Session: s}
	for _, id := range []parley.DeliveryID{"d1", "d2", "d3"} {
		change.Deliveries = append(change.Deliveries, parley.DeliveryChange{New: &parley.Delivery{
			ID: id, Kind: parley.DeliveryNotice, Target: parley.Target{Channel: "telegram", Chat: "7"}, Text: "words",
			State: parley.DeliveryHeld, CreatedAt: w.near.Clock.Now(),
		}})
	}
	if _, err := w.near.Store.Commit(ctx, parley.Batch{At: w.near.Clock.Now(), Sessions: []parley.SessionChange{change}}); err != nil {
		t.Fatal(err)
	}
	page := must[client.DeliveryPage](t)
	first := page(w.Outbox(ctx, parley.DeliveryHeld, "", 2))
	rest := page(w.Outbox(ctx, parley.DeliveryHeld, first.Cursor, 2))
	if len(first.Deliveries) != 2 || first.Deliveries[0].Target.Chat != "7" || len(rest.Deliveries) != 1 || rest.Deliveries[0].ID != "d3" || rest.Cursor != "" {
		t.Errorf("got %+v and %+v", first, rest)
	}
	if err := errors.Join(w.RetryDelivery(ctx, "d1"), w.DropDelivery(ctx, "d2")); err != nil {
		t.Error(err)
	}
	if err := w.DropDelivery(ctx, "d2"); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if open := page(w.Outbox(ctx, "", "", 0)).Deliveries; len(open) != 1 || open[0].ID != "d1" || open[0].State != parley.DeliveryPending {
		t.Errorf("got %+v", open)
	}
}
