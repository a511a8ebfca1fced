package access_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// matrix is what comes of every operation on a session that is there and idle:
// yes, not found (-), forbidden (no), conflict (409). Own columns are those where
// the caller asked for the turn, the input or the call.
const matrix = `
              | guest: out direct own group own | user: out direct own group own | owner: out direct group | channel, guest: in group elsewhere routed | channel, owner: in group elsewhere routed
 open         |         -   yes   yes yes   yes |        -   yes   yes yes   yes |         yes yes    yes   |                 yes yes  no        yes    |                 yes yes  no        yes
 read         |         -   yes   yes yes   yes |        -   yes   yes yes   yes |         yes yes    yes   |                 yes yes  no        yes    |                 yes yes  no        yes
 export       |         -   yes   yes yes   yes |        -   yes   yes yes   yes |         yes yes    yes   |                 yes yes  no        yes    |                 yes yes  no        yes
 post         |         -   yes   yes yes   yes |        -   yes   yes yes   yes |         yes yes    yes   |                 yes yes  no        yes    |                 yes yes  no        yes
 append       |         -   yes   yes yes   yes |        -   yes   yes yes   yes |         yes yes    yes   |                 yes yes  no        yes    |                 yes yes  no        yes
 withdraw     |         -   no    yes no    yes |        -   no    yes no    yes |         yes yes    yes   |                 no  no   no        no     |                 yes yes  no        yes
 cancel       |         -   no    yes no    yes |        -   yes   yes yes   yes |         yes yes    yes   |                 no  no   no        no     |                 yes yes  no        yes
 approve      |         -   no    no  no    no  |        -   no    yes no    yes |         yes yes    yes   |                 no  no   no        no     |                 yes yes  no        yes
 reset        |         -   yes   yes no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 yes no   no        yes    |                 yes yes  no        yes
 resume       |         -   yes   yes no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 yes no   no        yes    |                 yes yes  no        yes
 fork         |         -   yes   yes no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 yes no   no        yes    |                 yes yes  no        yes
 rewind       |         -   yes   yes no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 yes no   no        yes    |                 yes yes  no        yes
 patch        |         -   yes   yes no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 yes no   no        yes    |                 yes yes  no        yes
 compact      |         -   no    no  no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 no  no   no        no     |                 yes yes  no        yes
 checkpoint   |         -   no    no  no    no  |        -   yes   yes yes   yes |         yes yes    yes   |                 no  no   no        no     |                 yes yes  no        yes
 delete       |         -   yes   yes no    no  |        -   yes   yes 409   409 |         yes yes    409   |                 no  no   no        no     |                 no  no   no        no
 redact       |         no  no    no  no    no  |        no  no    no  no    no  |         yes yes    yes   |                 no  no   no        no     |                 no  no   no        no
 participants |         no  no    no  no    no  |        no  no    no  no    no  |         yes yes    yes   |                 no  no   no        no     |                 no  no   no        no
 purge        |         no  no    no  no    no  |        no  no    no  no    no  |         yes yes    yes   |                 no  no   no        no     |                 no  no   no        no
`

// column is who asks, and about which session.
type column struct {
	name   string
	caller access.Caller
	target access.Target
}

func columns(t *testing.T) []column {
	t.Helper()
	one, many, far := session(here, parley.SessionDirect), session(here, parley.SessionGroup), session(away, parley.SessionDirect)
	to := func(s *parley.Session, in, requester bool) access.Target {
		a := at(s)
		a.Participant, a.Requester, a.Approval = in, requester, parley.ApprovalPending
		return a
	}
	var list []column
	for _, role := range []parley.Role{parley.RoleGuest, parley.RoleUser} {
		name, c := string(role), person(role)
		list = append(list,
			column{name + " out", c, to(one, false, false)},
			column{name + " direct", c, to(one, true, false)}, column{name + " direct, own", c, to(one, true, true)},
			column{name + " group", c, to(many, true, false)}, column{name + " group, own", c, to(many, true, true)})
	}
	owner := person(parley.RoleOwner)
	list = append(list,
		column{"owner out", owner, to(one, false, false)},
		column{"owner direct", owner, to(one, true, false)}, column{"owner group", owner, to(many, true, false)})
	routed := to(far, false, false)
	routed.Routed = true
	for _, role := range []parley.Role{parley.RoleGuest, parley.RoleOwner} {
		name, c := "channel, "+string(role), channel(t, role)
		list = append(list,
			column{name + " in", c, to(one, false, false)}, column{name + " group", c, to(many, false, false)},
			column{name + " elsewhere", c, to(far, true, false)}, column{name + " routed", c, routed})
	}
	return list
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	codes := map[string]parley.Code{"yes": "", "no": parley.CodeForbidden, "-": parley.CodeNotFound, "409": parley.CodeConflict}
	lines := strings.Split(strings.TrimSpace(matrix), "\n")[1:]
	cols := columns(t)
	var seen []access.Op
	for _, line := range lines {
		cells := strings.Fields(strings.ReplaceAll(line, "|", " "))
		op := access.Op(cells[0])
		seen = append(seen, op)
		if len(cells) != len(cols)+1 {
			t.Fatalf("%s has %d cells, want %d", op, len(cells)-1, len(cols))
		}
		for i, col := range cols {
			want, ok := codes[cells[i+1]]
			if !ok {
				t.Fatalf("%s: what is %q?", op, cells[i+1])
			}
			code(t, string(op)+", "+col.name, want, access.Check(col.caller, op, col.target))
		}
	}
	if !slices.Equal(seen, access.Ops()) {
		t.Errorf("the matrix has %v, the package %v", seen, access.Ops())
	}
}
