package access_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/sqlite"
)

// TestStart is about conversations that are not there yet.
func TestStart(t *testing.T) {
	t.Parallel()
	scope := func(channel, chat, sender string) *parley.Scope {
		s := &parley.Scope{Version: 1, Agent: "main", Channel: channel, Values: map[parley.Dimension]string{}}
		if chat != "" {
			s.Values[parley.DimensionChat] = chat
		}
		if sender != "" {
			s.Values[parley.DimensionSender] = sender
		}
		return s
	}
	guest, user, owner := person(parley.RoleGuest), person(parley.RoleUser), person(parley.RoleOwner)
	telegram := channel(t, parley.RoleGuest)
	tests := []struct {
		name   string
		caller access.Caller
		target access.Target
		want   parley.Code
	}{
		{"anew", guest, access.Target{}, ""},
		{"under an id", user, access.Target{ID: away}, ""},
		{"under a name", user, access.Target{Name: "plans"}, ""},
		{"nobody", access.Caller{}, access.Target{}, parley.CodeUnauthorized},

		{"the own chat", user, access.Target{Scope: scope("telegram", "direct:7", "")}, ""},
		{"the own part of a group", user, access.Target{Scope: scope("telegram", "group:-1", "7")}, ""},
		{"the own chat, through another account", user, access.Target{Scope: scope("web", "direct:anna", "")}, ""},
		{"somebody else's chat", user, access.Target{Scope: scope("telegram", "direct:8", "")}, parley.CodeNotFound},
		{"somebody else's part of a group", user, access.Target{Scope: scope("telegram", "group:-1", "8")}, parley.CodeNotFound},
		{"a group", user, access.Target{Scope: scope("telegram", "group:-1", "")}, parley.CodeNotFound},
		{"a group with the number of the own chat", user, access.Target{Scope: scope("telegram", "group:7", "")}, parley.CodeNotFound},
		{"the own number elsewhere", user, access.Target{Scope: scope("signal", "direct:7", "7")}, parley.CodeNotFound},
		{"no chat", user, access.Target{Scope: scope("telegram", "", "")}, parley.CodeNotFound},
		{"being routed is nothing to a user", user, access.Target{Scope: scope("telegram", "group:-1", ""), Routed: true}, parley.CodeNotFound},
		{"an owner, any chat", owner, access.Target{Scope: scope("telegram", "group:-1", "")}, ""},

		{"a channel, a chat of its own", telegram, access.Target{Scope: scope("telegram", "group:-1", "")}, ""},
		{"a channel, anew", telegram, access.Target{}, ""},
		{"a channel, under an id", telegram, access.Target{ID: "telegram:work"}, ""},
		{"a channel, under an id of another", telegram, access.Target{ID: away}, parley.CodeForbidden},
		{"a channel, under an id without a namespace", telegram, access.Target{ID: "telegram"}, parley.CodeForbidden},
		{"a channel, a chat of another", telegram, access.Target{Scope: scope("web", "direct:anna", "")}, parley.CodeForbidden},
		{"a channel, unified", telegram, access.Target{Scope: scope("unified", "", "anna"), Routed: true}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code(t, "open", test.want, access.Check(test.caller, access.OpOpen, test.target))
			if test.want == "" {
				code(t, "read what is not there", parley.CodeNotFound, access.Check(test.caller, access.OpRead, test.target))
			}
		})
	}
}

// TestChannelByName is about names that lead a channel out of its namespace: unlike
// an id, a name does not say where it leads, so the answer must not.
func TestChannelByName(t *testing.T) {
	t.Parallel()
	telegram := channel(t, parley.RoleOwner)
	far := access.Target{Name: "plans", Session: session(away, parley.SessionDirect), Participant: true}
	code(t, "a name that leads elsewhere", parley.CodeNotFound, access.Check(telegram, access.OpOpen, far))
	far.Name, far.ID = "", here // named in the namespace, and led out of it
	code(t, "another session than was named", parley.CodeNotFound, access.Check(telegram, access.OpOpen, far))
	near := access.Target{Name: "plans", Session: session(here, parley.SessionDirect)}
	code(t, "a name that stays", "", access.Check(telegram, access.OpOpen, near))
}

func TestStates(t *testing.T) {
	t.Parallel()
	user, owner := person(parley.RoleUser), person(parley.RoleOwner)
	tests := []struct {
		name   string
		kind   parley.SessionType
		status parley.Status
		bound  int
		del    parley.Code // for user and owner
		purge  parley.Code // for the owner
	}{
		{"idle", parley.SessionDirect, parley.StatusIdle, 0, "", ""},
		{"inactive", parley.SessionDirect, parley.StatusInactive, 0, "", ""},
		{"running", parley.SessionDirect, parley.StatusRunning, 0, parley.CodeConflict, parley.CodeConflict},
		{"awaiting", parley.SessionDirect, parley.StatusAwaitingApproval, 0, parley.CodeConflict, parley.CodeConflict},
		{"automations", parley.SessionDirect, parley.StatusIdle, 1, parley.CodeConflict, parley.CodeConflict},
		{"group", parley.SessionGroup, parley.StatusIdle, 0, parley.CodeConflict, ""},
		{"running group", parley.SessionGroup, parley.StatusRunning, 0, parley.CodeConflict, parley.CodeConflict},
		{"a type nobody knows", "stage", parley.StatusIdle, 0, parley.CodeConflict, ""},
		{"no type", "", parley.StatusIdle, 0, parley.CodeConflict, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := session(here, test.kind)
			s.Status = test.status
			to := at(s)
			to.Participant, to.Automations = true, test.bound
			code(t, "delete by a user", test.del, access.Check(user, access.OpDelete, to))
			code(t, "delete by an owner", test.del, access.Check(owner, access.OpDelete, to))
			code(t, "purge", test.purge, access.Check(owner, access.OpPurge, to))
			to.Participant = false
			code(t, "delete by somebody else", parley.CodeNotFound, access.Check(user, access.OpDelete, to))
		})
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	answer := func(role parley.Role, requester bool, state parley.ApprovalState) error {
		to := at(session(here, parley.SessionGroup))
		to.Participant, to.Requester, to.Approval = true, requester, state
		return access.Check(person(role), access.OpApprove, to)
	}
	code(t, "owner", "", answer(parley.RoleOwner, false, parley.ApprovalPending))
	code(t, "requester", "", answer(parley.RoleUser, true, parley.ApprovalPending))
	code(t, "somebody else", parley.CodeForbidden, answer(parley.RoleUser, false, parley.ApprovalPending))
	code(t, "a guest who asked", parley.CodeForbidden, answer(parley.RoleGuest, true, parley.ApprovalPending))
	code(t, "no such call", parley.CodeNotFound, answer(parley.RoleUser, false, ""))
	for _, state := range []parley.ApprovalState{parley.ApprovalApproved, parley.ApprovalDenied, parley.ApprovalExpired, parley.ApprovalCanceled} {
		code(t, "settled, for the requester", parley.CodeConflict, answer(parley.RoleUser, true, state))
		code(t, "settled, for somebody else", parley.CodeForbidden, answer(parley.RoleUser, false, state))
	}
}

func TestNoRole(t *testing.T) {
	t.Parallel()
	to := at(session(here, parley.SessionDirect))
	to.Participant, to.Requester, to.Routed, to.Approval = true, true, true, parley.ApprovalPending
	for _, role := range []parley.Role{"", "admin", "OWNER"} {
		c := person(role)
		for _, op := range access.Ops() {
			code(t, string(op)+" as "+string(role), parley.CodeForbidden, access.Check(c, op, to))
		}
		v, err := access.Visible(c)
		code(t, "visible", parley.CodeForbidden, err)
		if !v.Empty() {
			t.Errorf("role %q sees %+v", role, v)
		}
	}
	for _, op := range []access.Op{"", "fly", "Read"} {
		code(t, "an operation "+string(op), parley.CodeInvalid, access.Check(person(parley.RoleOwner), op, to))
		if access.Audited(person(parley.RoleOwner), op, to) {
			t.Errorf("%q is audited", op)
		}
	}
}

func TestAudited(t *testing.T) {
	t.Parallel()
	out := at(session(here, parley.SessionDirect))
	in := out
	in.Participant = true
	owner, user, telegram := person(parley.RoleOwner), person(parley.RoleUser), channel(t, parley.RoleOwner)
	sensitive := map[access.Op]bool{access.OpApprove: true, access.OpExport: true, access.OpRedact: true, access.OpParticipants: true, access.OpPurge: true}
	for _, op := range access.Ops() {
		for _, test := range []struct {
			name string
			got  bool
			want bool
		}{
			{"an owner who is not in it", access.Audited(owner, op, out), true},
			{"an owner who is", access.Audited(owner, op, in), sensitive[op]},
			{"a user", access.Audited(user, op, in), sensitive[op]},
			{"an owner in a chat", access.Audited(telegram, op, out), sensitive[op]},
			{"nothing there", access.Audited(owner, op, access.Target{ID: here}), false},
		} {
			if test.got != test.want {
				t.Errorf("%s, %s: got %t", op, test.name, test.got)
			}
		}
	}
}

// TestSameWords compares the refusal with what a store says about a session that is
// not there: whoever asks twice must not learn more.
func TestSameWords(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	_, missing := store.Session(t.Context(), parley.SeeAs(anna), here)
	hidden := access.Check(person(parley.RoleUser), access.OpRead, at(session(here, parley.SessionDirect)))
	if a, b := message(t, missing), message(t, hidden); a != b {
		t.Errorf("the store says %q, and the refusal %q", a, b)
	}
}

// message gives what a client reads.
func message(t testing.TB, err error) string {
	t.Helper()
	e, ok := errors.AsType[*parley.Error](err)
	if !ok || e.Message == "" {
		t.Fatalf("got %v, want an error with a message", err)
	}
	return string(e.Code) + ": " + e.Message
}
