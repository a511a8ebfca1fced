package access_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// TestDocs holds the table of rights in docs/access.md.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "access.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "<!-- rights:begin -->\n")
	table, _, ok := strings.Cut(after, "<!-- rights:end -->")
	if !ok {
		t.Fatal("the page has no table of rights")
	}
	var ops []access.Op
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 6 {
			t.Fatalf("%s: got %d cells", row, len(cells))
		}
		op := access.Op(strings.Trim(cells[0], "`"))
		ops = append(ops, op)
		for i, role := range []parley.Role{parley.RoleGuest, parley.RoleUser, parley.RoleOwner} {
			if got := shown(person(role), op); got != cells[i+1] {
				t.Errorf("%s as %s: the page says %q, and it is %q", op, role, cells[i+1], got)
			}
		}
		if got := shown(channel(t, parley.RoleOwner), op); got != cells[4] {
			t.Errorf("%s by a channel: the page says %q, and it is %q", op, cells[4], got)
		}
	}
	if !slices.Equal(ops, access.Ops()) {
		t.Errorf("the page has %v, the package %v", ops, access.Ops())
	}
}

// shown gives the word for how far a caller may go in sessions it takes part in.
func shown(c access.Caller, op access.Op) string {
	may := func(kind parley.SessionType, requester bool) bool {
		to := at(session(here, kind))
		to.Participant, to.Requester, to.Approval = true, requester, parley.ApprovalPending
		err := access.Check(c, op, to)
		return err == nil || parley.CodeOf(err) == parley.CodeConflict // a state, not a right
	}
	one, many := parley.SessionDirect, parley.SessionGroup
	switch [4]bool{may(one, false), may(one, true), may(many, false), may(many, true)} {
	case [4]bool{true, true, true, true}:
		return "yes"
	case [4]bool{false, true, false, true}:
		return "own"
	case [4]bool{true, true, false, false}:
		return "direct"
	case [4]bool{}:
		return "no"
	}
	return "something else"
}
