package access_test

import (
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

const (
	anna = parley.IdentityID("telegram:7")
	bert = parley.IdentityID("telegram:8")
	webA = parley.IdentityID("web:anna")
	here = parley.SessionID("telegram:20260501_090000_ab12cd34")
	away = parley.SessionID("web:work")
)

// person is the caller of Anna's own token.
func person(role parley.Role) access.Caller {
	return access.NewCaller(parley.Principal{Identity: anna, User: "anna", Role: role, Via: "token"}, webA, anna)
}

// channel is the Telegram channel, speaking for Anna.
func channel(t testing.TB, role parley.Role) access.Caller {
	t.Helper()
	c, err := access.NewChannel("telegram", parley.Principal{Identity: anna, User: "anna", Role: role, Via: "channel"}, anna, webA)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// session is an idle one.
func session(id parley.SessionID, kind parley.SessionType) *parley.Session {
	return &parley.Session{ID: id, Type: kind, Status: parley.StatusIdle}
}

// at is a target that was named by its id.
func at(s *parley.Session) access.Target { return access.Target{ID: s.ID, Session: s} }

// code fails the test if err does not have the code; "" stands for no error.
func code(t testing.TB, what string, want parley.Code, err error) {
	t.Helper()
	if got := parley.CodeOf(err); got != want {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
	}
}
