package lifecycle_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the tests name zones, and not every machine has their data

	"github.com/parley-run/parley"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// utc reads an instant.
func utc(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

// session is an idle one with messages, and its last activity at an instant.
func session(last time.Time) parley.Session {
	return parley.Session{
		ID: "telegram:1", Type: parley.SessionDirect, Status: parley.StatusIdle,
		Recovery: parley.Recovery{State: parley.RecoveryNone},
		Counters: parley.Counters{Messages: 2}, CreatedAt: last.Add(-time.Second), UpdatedAt: last,
	}
}
