package main

import (
	"context"
	"testing"
)

// TestHealth_AskerGone: that who asks goes away does not make the store one that
// cannot be written.
func TestHealth_AskerGone(t *testing.T) {
	t.Parallel()
	b := newBed(t, "")
	<-b.engine.Ready()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got := newHealth(b.installation).readiness(gone); !got.Ready || got.Store != "ok" {
		t.Errorf("got %+v", got)
	}
}
