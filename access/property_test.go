package access_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// targets gives the combinations of what can be known about a session that was
// named by its id, by a name, or not at all.
func targets() []access.Target {
	list := []access.Target{{}}
	vary := func(ways ...func(*access.Target)) {
		var next []access.Target
		for _, to := range list {
			for _, way := range ways {
				changed := to
				way(&changed)
				next = append(next, changed)
			}
		}
		list = next
	}
	keep := func(*access.Target) {}
	is := func(id parley.SessionID, kind parley.SessionType, status parley.Status) func(*access.Target) {
		return func(to *access.Target) {
			to.Session = session(id, kind)
			to.Session.Status = status
		}
	}
	vary(
		is(here, parley.SessionDirect, parley.StatusIdle), is(here, parley.SessionDirect, parley.StatusRunning),
		is(here, parley.SessionGroup, parley.StatusIdle), is(here, parley.SessionGroup, parley.StatusAwaitingApproval),
		is(away, parley.SessionDirect, parley.StatusInactive), is(away, parley.SessionGroup, parley.StatusIdle),
	)
	vary(keep, func(to *access.Target) { to.ID = to.Session.ID }, func(to *access.Target) { to.Name = "plans" })
	vary(keep, func(to *access.Target) { to.Participant = true })
	vary(keep, func(to *access.Target) { to.Requester = true })
	vary(keep, func(to *access.Target) { to.Routed = true })
	vary(keep, func(to *access.Target) { to.Automations = 2 }, // two things that never matter to one operation
		func(to *access.Target) { to.Approval = parley.ApprovalPending }, func(to *access.Target) { to.Approval = parley.ApprovalDenied })
	vary(keep, func(to *access.Target) {
		to.Scope = &parley.Scope{Channel: "telegram", Values: map[parley.Dimension]string{parley.DimensionChat: "group:-1"}}
	})
	return list
}

// gone is the target as it would be if nothing were there.
func gone(to access.Target) access.Target {
	return access.Target{ID: to.ID, Name: to.Name, Scope: to.Scope}
}

// TestOutsiders: whoever neither takes part nor is an owner may do nothing to a
// session, and learns nothing about it: not from the code, not from the words.
func TestOutsiders(t *testing.T) {
	t.Parallel()
	refused := 0
	for _, to := range targets() {
		if to.Participant {
			continue
		}
		for _, role := range []parley.Role{parley.RoleGuest, parley.RoleUser} {
			c := person(role)
			for _, op := range access.Ops() {
				err := access.Check(c, op, to)
				if err == nil {
					t.Fatalf("%s may %s %+v", role, op, to)
				}
				refused++
				if op == access.OpOpen && to.Scope == nil {
					// Where nothing is, it may be started; so the name alone says
					// whether it is taken, as names do.
					code(t, "start", "", access.Check(c, op, gone(to)))
					code(t, "open", parley.CodeNotFound, err)
					continue
				}
				if a, b := message(t, err), message(t, access.Check(c, op, gone(to))); a != b {
					t.Fatalf("%s, %s: %q for what is hidden and %q for what is not there", role, op, a, b)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("there were no outsiders")
	}
}

// TestNobody: without a credential there is one answer.
func TestNobody(t *testing.T) {
	t.Parallel()
	nobodies := []access.Caller{{}, access.NewCaller(parley.Principal{Role: parley.RoleOwner}, anna), access.Caller{}.Person()}
	for _, c := range nobodies {
		first := message(t, access.Check(c, access.OpRead, access.Target{}))
		for _, to := range targets() {
			for _, op := range access.Ops() {
				err := access.Check(c, op, to)
				if !errors.Is(err, parley.ErrUnauthorized) || message(t, err) != first {
					t.Fatalf("%s: got %v", op, err)
				}
			}
		}
		if c.In([]parley.IdentityID{anna, ""}) || c.Is(parley.Principal{}) {
			t.Error("nobody is somebody")
		}
	}
}

// TestChannelStays: a channel does nothing outside its namespace, except where its
// own inbound led it; and never what is not for chats.
func TestChannelStays(t *testing.T) {
	t.Parallel()
	allowed := map[bool]int{}
	for _, role := range []parley.Role{parley.RoleGuest, parley.RoleUser, parley.RoleOwner} {
		c := channel(t, role)
		for _, to := range targets() {
			for _, op := range access.Ops() {
				if access.Check(c, op, to) != nil {
					continue
				}
				if to.Session.ID != here && !to.Routed {
					t.Fatalf("%s may %s %+v", role, op, to)
				}
				if slices.Contains([]access.Op{access.OpDelete, access.OpRedact, access.OpParticipants, access.OpPurge}, op) {
					t.Fatalf("%s may %s", role, op)
				}
				allowed[to.Routed]++
			}
		}
	}
	if allowed[true] == 0 || allowed[false] == 0 {
		t.Errorf("allowed %v", allowed)
	}
}

// TestRolesGrow: what a guest may, a user may, and what a user may, an owner.
func TestRolesGrow(t *testing.T) {
	t.Parallel()
	people := []access.Caller{person(parley.RoleGuest), person(parley.RoleUser), person(parley.RoleOwner)}
	channels := []access.Caller{channel(t, parley.RoleGuest), channel(t, parley.RoleUser), channel(t, parley.RoleOwner)}
	for name, callers := range map[string][]access.Caller{"person": people, "channel": channels} {
		for _, to := range targets() {
			for _, op := range access.Ops() {
				guest, user, owner := access.Check(callers[0], op, to), access.Check(callers[1], op, to), access.Check(callers[2], op, to)
				if guest == nil && user != nil || user == nil && owner != nil {
					t.Fatalf("%s, %s: guest %v, user %v, owner %v", name, op, guest, user, owner)
				}
				if name == "person" && errors.Is(owner, parley.ErrForbidden) {
					t.Fatalf("an owner may not %s: %v", op, owner)
				}
			}
		}
	}
}

// TestVisibleIsRead: lists show what can be read, no more and no less.
func TestVisibleIsRead(t *testing.T) {
	t.Parallel()
	callers := []access.Caller{
		person(parley.RoleGuest), person(parley.RoleUser), person(parley.RoleOwner),
		channel(t, parley.RoleGuest), channel(t, parley.RoleOwner), channel(t, parley.RoleUser).Person(),
	}
	for _, c := range callers {
		for _, to := range targets() {
			if to.Scope != nil {
				continue // it says how the session was asked for, not what may be seen
			}
			people := []parley.IdentityID{bert}
			if to.Participant {
				people = append(people, webA)
			}
			if c.In(people) != to.Participant {
				t.Fatalf("%v takes part in %v: %t", c.Principal(), people, !to.Participant)
			}
			readable := access.Check(c, access.OpRead, to) == nil
			on, err := access.VisibleOn(c, to)
			if err != nil {
				t.Fatal(err)
			}
			if on.Allows(to.Session.ID, people) != readable {
				t.Fatalf("%v may read %+v: %t, and sees %+v", c.Principal(), to, readable, on)
			}
			list, err := access.Visible(c)
			if err != nil {
				t.Fatal(err)
			}
			if to.Routed && c.Namespace() != "" {
				continue // it is read, and not listed
			}
			if !reflect.DeepEqual(on, list) {
				t.Fatalf("%v lists %+v, and reads with %+v", c.Principal(), list, on)
			}
			if list.Allows(to.Session.ID, people) != readable {
				t.Fatalf("%v may read %+v: %t, and lists %+v", c.Principal(), to, readable, list)
			}
		}
	}
}
