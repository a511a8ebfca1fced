package main

import (
	"context"
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// deadOutbox is a desk whose outbox has dead deliveries.
type deadOutbox struct {
	desk
	dead    []client.Delivery
	retried []parley.DeliveryID
	dropped []parley.DeliveryID
}

func (d *deadOutbox) Outbox(_ context.Context, state parley.DeliveryState, _ string, _ int) (client.DeliveryPage, error) {
	if state != parley.DeliveryDead {
		return client.DeliveryPage{}, nil
	}
	return client.DeliveryPage{Deliveries: d.dead}, nil
}

func (d *deadOutbox) RetryDelivery(_ context.Context, id parley.DeliveryID) error {
	d.retried = append(d.retried, id)
	return nil
}

func (d *deadOutbox) DropDelivery(_ context.Context, id parley.DeliveryID) error {
	d.dropped = append(d.dropped, id)
	return nil
}

// TestOutbox_Parts names replies of which parts were given up. A reply is retried once,
// and what is dropped is dropped part by part.
func TestOutbox_Parts(t *testing.T) {
	t.Parallel()
	dead := []client.Delivery{{ID: "d_1"}, {ID: "d_2.1", Of: "d_2", Part: 1}, {ID: "d_2.2", Of: "d_2", Part: 2}, {ID: "d_22"}}
	type ids = []parley.DeliveryID
	for what, c := range map[string]struct {
		names            []string
		retried, dropped ids
		code             parley.Code
	}{
		"all":          {nil, ids{"d_1", "d_2.1", "d_22"}, ids{"d_1", "d_2.1", "d_2.2", "d_22"}, ""},
		"a reply":      {[]string{"d_2"}, ids{"d_2.1"}, ids{"d_2.1", "d_2.2"}, ""},
		"a part":       {[]string{"d_2.2"}, ids{"d_2.2"}, ids{"d_2.2"}, ""},
		"parts":        {[]string{"d_2."}, ids{"d_2.1"}, ids{"d_2.1", "d_2.2"}, ""},
		"a whole id":   {[]string{"d_22"}, ids{"d_22"}, ids{"d_22"}, ""},
		"several":      {[]string{"d_"}, nil, nil, parley.CodeConflict},
		"one unknown":  {[]string{"x"}, nil, nil, parley.CodeNotFound},
		"one, unknown": {[]string{"d_1", "x"}, nil, nil, parley.CodeNotFound},
	} {
		d := &deadOutbox{dead: dead}
		chosen, err := chooseDeliveries(t.Context(), d, c.names)
		if c.code != "" {
			if parley.CodeOf(err) != c.code {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if err := retryEach(t.Context(), d, chosen); err != nil || !slices.Equal(d.retried, c.retried) {
			t.Errorf("%s: %v is retried, %v", what, d.retried, err)
		}
		if err := dropEach(t.Context(), d, chosen); err != nil || !slices.Equal(d.dropped, c.dropped) {
			t.Errorf("%s: %v is dropped, %v", what, d.dropped, err)
		}
	}
}
