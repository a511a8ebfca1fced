package keep_test

import (
	"context"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/sqlite"
)

// moving is a store that changes while it is looked at, as one in use does.
type moving struct {
	*sqlite.Store
	sessionFunc func(parley.Session, error) (parley.Session, error)
	pageFunc    func(*parley.SessionPage)
}

func (m *moving) Session(ctx context.Context, v parley.Visibility, id parley.SessionID) (parley.Session, error) {
	s, err := m.Store.Session(ctx, v, id)
	if m.sessionFunc != nil {
		return m.sessionFunc(s, err)
	}
	return s, err
}

func (m *moving) Sessions(ctx context.Context, v parley.Visibility, q parley.SessionQuery) (parley.SessionPage, error) {
	page, err := m.Store.Sessions(ctx, v, q)
	if m.pageFunc != nil {
		m.pageFunc(&page)
	}
	return page, err
}

// What was read first is from before a commit, and what was read then from
// after it.
func TestDoctor_SessionMovesOn(t *testing.T) {
	t.Parallel()
	store := &moving{Store: open(t, clinic(t), true), pageFunc: func(page *parley.SessionPage) {
		for i := range page.Sessions {
			page.Sessions[i].LastSeq--
			page.Sessions[i].Counters.Messages--
			page.Sessions[i].UpdatedAt = noon.AddDate(0, 0, -1)
		}
	}}
	if report := doctor(t, store, keep.Config{}); !report.OK() || report.Busy != 0 || report.Sessions != 4 {
		t.Errorf("found %v, %d busy", named(report), report.Busy)
	}
}

func TestDoctor_SessionIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	store := &moving{Store: open(t, clinic(t), true), pageFunc: func(page *parley.SessionPage) {
		page.Sessions = append(page.Sessions, parley.Session{ID: "cli:gone", LastSeq: 3})
	}}
	if report := doctor(t, store, keep.Config{}); !report.OK() {
		t.Errorf("found %v", named(report))
	}
}

func TestDoctor_SessionNeverHoldsStill(t *testing.T) {
	t.Parallel()
	path := clinic(t)
	harm(t, path, `UPDATE heads SET messages = 9 WHERE nr = (SELECT nr FROM sessions WHERE id = 'cli:work')`)
	var fence parley.Fence
	store := &moving{Store: open(t, path, true), sessionFunc: func(s parley.Session, err error) (parley.Session, error) {
		fence++
		s.Fence = fence
		return s, err
	}}
	report := doctor(t, store, keep.Config{Workers: 1})
	if !report.OK() || report.Busy != 1 {
		t.Errorf("found %v, %d busy, want nothing and 1", named(report), report.Busy)
	}
}

// checking is a store that finds something which only it can see.
type checking struct {
	*sqlite.Store
	problem  parley.Problem
	fixes    bool // Rebuild helps
	repaired bool
}

func (c *checking) Check(_ context.Context, report func(parley.Problem)) error {
	if !c.repaired {
		report(c.problem)
	}
	return nil
}

func (c *checking) Rebuild(context.Context, parley.SessionID) error {
	c.repaired = c.fixes
	return nil
}

func TestDoctor_RebuildsWhatTheStoreFinds(t *testing.T) {
	t.Parallel()
	store := open(t, clinic(t), false)
	problem := parley.Problem{Kind: keep.KindLastSeq, Session: "cli:work", Detail: "too low"}
	for name, c := range map[string]struct {
		problem        parley.Problem
		fixes, rebuild bool
		fixed, left    int64
	}{
		"only looked at":  {problem: problem, fixes: true, left: 1},
		"repaired":        {problem: problem, fixes: true, rebuild: true, fixed: 1},
		"did not help":    {problem: problem, rebuild: true, left: 1},
		"not repairable":  {problem: parley.Problem{Kind: "orphan", Session: "cli:work"}, fixes: true, rebuild: true, left: 1},
		"of no session":   {problem: parley.Problem{Kind: keep.KindLastSeq}, fixes: true, rebuild: true, left: 1},
		"the file itself": {problem: parley.Problem{Kind: "damaged file"}, fixes: true, rebuild: true, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := doctor(t, &checking{Store: store, problem: c.problem, fixes: c.fixes}, keep.Config{Rebuild: c.rebuild})
			if report.Found != 1 || report.Fixed != c.fixed || report.Remaining != c.left {
				t.Errorf("found %d, fixed %d, remaining %d", report.Found, report.Fixed, report.Remaining)
			}
		})
	}
}
