package access_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/internal/vectors"
)

// vector is a case of who may do what. What is not given does not matter to it, or
// is the plainest: the session is there, in the caller's channel, idle and direct,
// and the caller takes part.
type vector struct {
	ID    string `json:"id"`
	Given struct {
		Auth         json.RawMessage    `json:"auth"`
		Namespace    string             `json:"namespace"`
		Identity     *account           `json:"identity"`
		Role         parley.Role        `json:"role"`
		Participant  *bool              `json:"participant"`
		Op           string             `json:"op"`
		Session      parley.SessionID   `json:"session"`
		Sender       *account           `json:"sender"`
		Persisted    *bool              `json:"persisted"`
		Access       access.Door        `json:"access"`
		TokenOK      bool               `json:"token_ok"`
		Type         parley.SessionType `json:"type"`
		Status       string             `json:"status"`
		Exists       *bool              `json:"exists"`
		QueryChannel string             `json:"query_channel"`
		Pending      *bool              `json:"pending"`
		Requester    parley.Role        `json:"requester"`
		Turn         []string           `json:"turn"`
		Candidate    []string           `json:"candidate"`
	} `json:"given"`
	Expect struct {
		Allow   bool        `json:"allow"`
		Status  int         `json:"status"`
		Role    parley.Role `json:"role"`
		Sender  string      `json:"sender"`
		Visible string      `json:"visible"`
		Fold    *bool       `json:"fold"`
	} `json:"expect"`
}

type account struct {
	Channel string `json:"channel"`
	ID      string `json:"id"`
}

func (a *account) identity() parley.IdentityID {
	if a == nil {
		return ""
	}
	return parley.IdentityID(a.Channel + ":" + a.ID)
}

// elsewhere are the cases that other packages decide.
var elsewhere = map[string]string{
	"ac56": "which tools may run is the policy of package tool",
}

var statuses = map[parley.Code]int{
	parley.CodeUnauthorized: http.StatusUnauthorized, parley.CodeForbidden: http.StatusForbidden,
	parley.CodeNotFound: http.StatusNotFound, parley.CodeConflict: http.StatusConflict,
}

func TestVectors(t *testing.T) {
	t.Parallel()
	skipped := 0
	for _, v := range vectors.Load[vector](t, "cases.json") {
		if elsewhere[v.ID] != "" {
			skipped++
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			var err error
			switch v.Given.Op {
			case "fold":
				v.fold(t)
				return
			case "list":
				err = v.list(t)
			case "join":
				_, err = access.Join(v.Given.Access, v.Given.TokenOK)
			default:
				err = v.session(t)
			}
			if allowed := err == nil; allowed != v.Expect.Allow {
				t.Fatalf("got %v, want it allowed: %t", err, v.Expect.Allow)
			}
			if err != nil && statuses[parley.CodeOf(err)] != v.Expect.Status {
				t.Errorf("got %v, want status %d", err, v.Expect.Status)
			}
		})
	}
	if skipped != len(elsewhere) {
		t.Errorf("%d of %d cases of other packages are there", skipped, len(elsewhere))
	}
}

// caller makes the caller of a case.
func (v *vector) caller(t *testing.T) access.Caller {
	t.Helper()
	p := parley.Principal{Identity: v.Given.Identity.identity(), User: "u1", Role: v.Given.Role}
	if p.Identity == "" {
		p.Identity = anna
	}
	if p.Role == "" {
		p.Role = parley.RoleUser
	}
	switch string(v.Given.Auth) {
	case "null":
		return access.Caller{}
	case "", `"user"`:
	case `"owner"`:
		p.Role = parley.RoleOwner
	case `"channel"`:
		p = parley.Principal{Identity: parley.IdentityID(v.Given.Namespace + ":bot"), Role: parley.RoleGuest}
		c, err := access.NewChannel(v.Given.Namespace, p)
		if err != nil {
			t.Fatal(err)
		}
		return c
	default:
		t.Fatalf("what is %s?", v.Given.Auth)
	}
	return access.NewCaller(p)
}

func (v *vector) list(t *testing.T) error {
	t.Helper()
	c := v.caller(t)
	see, err := access.Visible(c)
	if v.Given.QueryChannel != "" {
		see, err = access.VisibleIn(c, v.Given.QueryChannel)
	}
	if err != nil {
		if !see.Empty() {
			t.Errorf("refused, and sees %+v", see)
		}
		return err
	}
	seesAway, known := map[string]bool{"telegram:*": false, "all (owners can view every session)": true}[v.Expect.Visible]
	if !known {
		t.Fatalf("what is %q?", v.Expect.Visible)
	}
	if !see.Allows(here, nil) || see.Allows(away, nil) != seesAway || see.Allows("telegrams:1", nil) != seesAway {
		t.Errorf("got %+v, want to see %s", see, v.Expect.Visible)
	}
	return nil
}

// session decides a case about one session: whether the door is open, who speaks,
// and whether they may.
func (v *vector) session(t *testing.T) error {
	t.Helper()
	g := v.Given
	c := v.caller(t)
	if g.Access != "" {
		role, err := access.Enter(g.Access, g.Role)
		if err != nil {
			return err
		}
		if role != v.Expect.Role {
			t.Errorf("enters as %q, want %q", role, v.Expect.Role)
		}
		return access.Check(access.NewCaller(parley.Principal{Identity: anna, Role: role}), access.OpOpen, access.Target{})
	}
	sender, err := c.Sender(g.Sender.identity())
	if err != nil {
		return err
	}
	if v.Expect.Sender == "caller" && sender != c.Principal().Identity {
		t.Errorf("%q speaks, want the caller", sender)
	}
	op, ok := map[string]access.Op{
		"history": access.OpRead, "events": access.OpRead, "post": access.OpPost, "open": access.OpOpen,
		"delete": access.OpDelete, "approve": access.OpApprove, "add_member": access.OpParticipants,
	}[g.Op]
	if !ok {
		t.Fatalf("what is %q?", g.Op)
	}
	return access.Check(c, op, v.target(op))
}

func (v *vector) target(op access.Op) access.Target {
	g := v.Given
	s := session(here, parley.SessionDirect)
	if g.Session != "" {
		s.ID = g.Session
	}
	if g.Type != "" {
		s.Type = g.Type
	}
	to := at(s)
	to.Participant = g.Participant == nil || *g.Participant
	switch {
	case op == access.OpApprove:
		to.Requester = g.Requester == ""
		to.Approval = parley.ApprovalPending
		if g.Pending != nil && !*g.Pending {
			to.Approval = ""
		}
		if g.Status != "" {
			to.Approval = parley.ApprovalState(g.Status)
		}
	case g.Status != "":
		s.Status = parley.Status(g.Status)
	}
	if g.Exists != nil && !*g.Exists {
		to.Session = nil
	}
	return to
}

func (v *vector) fold(t *testing.T) {
	t.Helper()
	by := func(who []string) parley.Principal {
		return parley.Principal{Identity: anna, User: parley.UserID(who[0]), Role: parley.Role(who[1])}
	}
	if got := access.Together(by(v.Given.Turn), by(v.Given.Candidate)); got != *v.Expect.Fold {
		t.Errorf("got %t, want %t", got, *v.Expect.Fold)
	}
}
