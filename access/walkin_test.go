package access_test

import (
	"errors"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Who walked in through a public door is a stranger at every other, until somebody
// gives them a role.
func TestWalkIns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	owner, err := w.People.Local(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := w.People.CreateToken(t.Context(), owner, access.NewToken{Kind: parley.TokenChannel, Namespace: "telegram"})
	if err != nil {
		t.Fatal(err)
	}
	cred, err := w.People.Authenticate(t.Context(), token, "token")
	if err != nil {
		t.Fatal(err)
	}
	as := func() access.Caller {
		t.Helper()
		c, err := w.People.Speaker(t.Context(), cred.Caller, parley.Sender{ID: "99"}, "telegram")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	enter := func(d access.Door) error {
		_, err := w.People.Enter(t.Context(), as(), d)
		return err
	}
	if err := enter(access.DoorPrivate); !errors.Is(err, parley.ErrNotFound) {
		t.Errorf("a stranger: %v", err)
	}
	if err := enter(access.DoorPublic); err != nil {
		t.Fatal(err)
	}
	for _, d := range []access.Door{access.DoorPrivate, access.DoorProtected} {
		if err := enter(d); !errors.Is(err, parley.ErrNotFound) {
			t.Errorf("a guest of another agent, at a %s one: %v", d, err)
		}
	}
	if err := enter(access.DoorPublic); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if _, err := w.People.SetRole(t.Context(), owner, as().Principal().User, parley.RoleUser); err != nil {
		t.Fatal(err)
	}
	if err := enter(access.DoorPrivate); err != nil {
		t.Errorf("with a role: %v", err)
	}
}
