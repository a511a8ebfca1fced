package httpapi_test

import (
	"testing"

	"github.com/parley-run/parley"
)

// waits puts deliveries into the outbox.
func (w *world) waits(session parley.SessionID, state parley.DeliveryState, ids ...parley.DeliveryID) {
	w.t.Helper()
	change := parley.SessionChange{Session: session}
	for _, id := range ids {
		change.Deliveries = append(change.Deliveries, parley.DeliveryChange{New: &parley.Delivery{
			ID: id, Kind: parley.DeliveryNotice, Target: parley.Target{Channel: "telegram", Chat: "7"}, Text: "words of " + string(id),
			State: state, CreatedAt: w.Clock.Now(),
		}})
	}
	if _, err := w.Store.Commit(w.t.Context(), parley.Batch{At: w.Clock.Now(), Sessions: []parley.SessionChange{change}}); err != nil {
		w.t.Fatal(err)
	}
}

// TestOutbox: owners see what is on its way, page by page, and decide about it; to
// others it is not there.
func TestOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := parley.SessionID(w.open("cli:a", w.owner))
	w.waits(session, parley.DeliveryHeld, "d1", "d2", "d3")
	page := w.must(200, "GET", "/api/outbox?state=held&limit=2", w.owner, nil)
	if page.get("deliveries.0.id") != "d1" || page.get("deliveries.1.text") != "words of d2" || page.get("deliveries.0.target.chat") != "7" {
		t.Errorf("got %s", page)
	}
	rest := w.must(200, "GET", "/api/outbox?state=held&limit=2&cursor="+page.get("cursor"), w.owner, nil)
	if rest.get("deliveries.0.id") != "d3" || rest.get("cursor") != "" {
		t.Errorf("got %s", rest)
	}
	w.must(200, "POST", "/api/outbox/d1/retry", w.owner, nil)
	w.must(200, "POST", "/api/outbox/d2/drop", w.owner, nil)
	w.must(409, "POST", "/api/outbox/d2/retry", w.owner, nil)
	w.must(404, "POST", "/api/outbox/d9/drop", w.owner, nil)
	if open := w.must(200, "GET", "/api/outbox", w.owner, nil); open.get("deliveries.0.id") != "d1" || open.get("deliveries.0.state") != "pending" {
		t.Errorf("got %s", open)
	}
	user := w.person("web:bob", parley.RoleUser)
	w.must(403, "GET", "/api/outbox", user, nil)
	w.must(403, "POST", "/api/outbox/d3/drop", user, nil)
	w.must(403, "POST", "/api/outbox/d3/retry", w.channel("telegram"), nil)
}
