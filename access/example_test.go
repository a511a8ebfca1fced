package access_test

import (
	"fmt"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// A session is not there for whoever does not take part, unless they are an owner,
// and then it is to be written down.
func ExampleCheck() {
	s := parley.Session{ID: "cli:work", Type: parley.SessionDirect, Status: parley.StatusRunning}
	participants := []parley.IdentityID{"cli:anna"}
	for _, p := range []parley.Principal{
		{Identity: "cli:anna", User: "anna", Role: parley.RoleUser},
		{Identity: "web:bert", User: "bert", Role: parley.RoleUser},
		{Identity: "web:olga", User: "olga", Role: parley.RoleOwner},
	} {
		c := access.NewCaller(p)
		to := access.Target{ID: s.ID, Session: &s, Participant: c.In(participants)}
		for _, op := range []access.Op{access.OpRead, access.OpDelete} {
			fmt.Printf("%s %s: %v, audited: %t\n", p.User, op, access.Check(c, op, to), access.Audited(c, op, to))
		}
	}
	// Output:
	// anna read: <nil>, audited: false
	// anna delete: a turn is running; stop it first, audited: false
	// bert read: there is no session "cli:work", audited: false
	// bert delete: there is no session "cli:work", audited: false
	// olga read: <nil>, audited: true
	// olga delete: a turn is running; stop it first, audited: true
}

// The adapter of a chat platform names who wrote; what that account may do is looked
// up, and counts.
func ExampleCaller_As() {
	telegram, err := access.NewChannel("telegram", parley.Principal{Identity: "telegram:bot", Role: parley.RoleGuest, Via: "channel"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, named := range []parley.IdentityID{"telegram:7", "cli:root"} {
		id, err := telegram.Sender(named)
		if err != nil {
			fmt.Println(err)
			continue
		}
		// Here the store says whose account it is.
		c, err := telegram.As(parley.Principal{Identity: id, User: "anna", Role: parley.RoleUser, Via: "channel"})
		fmt.Println(c.Principal().User, c.Principal().Role, err)
	}
	// Output:
	// anna user <nil>
	// this credential speaks for senders of telegram: alone
}
