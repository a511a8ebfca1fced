package storetest

import (
	"context"
	"fmt"

	"github.com/parley-run/parley"
)

// audit gives the lines that a query chooses, without their numbers.
func (f *fixture) audit(q parley.AuditQuery) []parley.AuditEntry {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.AuditEntry, error) { return allAudit(ctx, s, q) })
}

// checkAudit makes sure that a query gives the lines with these subjects.
func (f *fixture) checkAudit(what string, q parley.AuditQuery, want ...string) {
	f.Helper()
	var got []string
	for _, e := range f.audit(q) {
		got = append(got, e.Subject)
	}
	f.equal("lines "+what, want, got)
}

var auditTests = []test{
	{"lines have the instant of their batch, and the rest as it is given", func(f *fixture) {
		whole := parley.AuditEntry{
			Action: "role changed", Actor: anna, Via: "token", Session: home, Subject: "ben Ü", Detail: "two\nlines",
		}
		given := whole
		given.Nr, given.At = 77, startOfTime.AddDate(-1, 0, 0)
		f.commit(parley.Batch{Audit: []parley.AuditEntry{given, {Action: "sign_in"}}})
		whole.At = f.now
		f.equal("lines", []parley.AuditEntry{{Action: "sign_in", At: f.now}, whole}, f.audit(parley.AuditQuery{}))
		f.crash()
		f.equal("lines after a crash", []parley.AuditEntry{{Action: "sign_in", At: f.now}, whole}, f.audit(parley.AuditQuery{}))
	}},
	{"numbers count up and stay", func(f *fixture) {
		f.commit(parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Subject: "1"}, {Action: "a", Subject: "2"}}})
		f.refuse(parley.CodeNotFound, parley.Batch{
			Audit: []parley.AuditEntry{{Action: "a", Subject: "none"}}, Tokens: []parley.TokenChange{{ID: "none"}},
		})
		f.reopen()
		f.commit(parley.Batch{At: startOfTime.AddDate(-1, 0, 0), Audit: []parley.AuditEntry{{Action: "a", Subject: "3"}}})
		f.checkAudit("newest first", parley.AuditQuery{}, "3", "2", "1")
		read := func(q parley.AuditQuery) []parley.AuditEntry {
			return get(f, func(ctx context.Context, s parley.Store) ([]parley.AuditEntry, error) { return s.Audit(ctx, q) })
		}
		lines := read(parley.AuditQuery{})
		f.reopen()
		f.equal("lines after a reopen", lines, read(parley.AuditQuery{}))
		f.equal("lines before the newest", lines[1:], read(parley.AuditQuery{Before: lines[0].Nr}))
		f.equal("lines before the oldest", 0, len(read(parley.AuditQuery{Before: lines[2].Nr})))
		f.equal("lines before what comes", lines, read(parley.AuditQuery{Before: lines[0].Nr + 1}))
		f.equal("lines before the last number there is", lines, read(parley.AuditQuery{Before: 1<<64 - 1}))
	}},
	{"lines are chosen by action, actor and session", func(f *fixture) {
		f.commit(parley.Batch{Audit: []parley.AuditEntry{
			{Action: "a", Subject: "1"},
			{Action: "a", Actor: anna, Subject: "2"},
			{Action: "a", Actor: anna, Session: home, Subject: "3"},
			{Action: "b", Actor: anna, Session: home, Subject: "4"},
			{Action: "b", Actor: ben, Session: home, Subject: "5"},
			{Action: "b", Session: away, Subject: "6"},
			{Action: "A", Actor: ben, Subject: "7"},
		}})
		for _, limit := range []int{0, 1, 2} {
			for _, c := range []struct {
				q    parley.AuditQuery
				want []string
			}{
				{parley.AuditQuery{}, []string{"7", "6", "5", "4", "3", "2", "1"}},
				{parley.AuditQuery{Action: "a"}, []string{"3", "2", "1"}},
				{parley.AuditQuery{Actor: anna}, []string{"4", "3", "2"}},
				{parley.AuditQuery{Session: home}, []string{"5", "4", "3"}},
				{parley.AuditQuery{Action: "a", Actor: anna}, []string{"3", "2"}},
				{parley.AuditQuery{Action: "b", Session: home}, []string{"5", "4"}},
				{parley.AuditQuery{Actor: anna, Session: home}, []string{"4", "3"}},
				{parley.AuditQuery{Action: "b", Actor: anna, Session: home}, []string{"4"}},
				{parley.AuditQuery{Action: "A", Actor: anna}, nil},
				{parley.AuditQuery{Action: "none"}, nil},
			} {
				c.q.Limit = limit
				f.checkAudit("of "+describe(c.q), c.q, c.want...)
			}
		}
	}},
	{"lines outlive what they are about", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{newSession(home)}, Users: []parley.UserChange{{User: person("anna")}},
			Identities: []parley.IdentityChange{linked(anna, "anna")},
			Audit:      []parley.AuditEntry{{Action: "a", Actor: anna, Session: home, Subject: "1"}},
		})
		f.change(drop(home))
		f.commit(parley.Batch{
			Users:      []parley.UserChange{{User: person("anna"), Remove: true}},
			Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: anna}, Remove: true}},
		})
		f.checkAudit("of who is gone", parley.AuditQuery{Actor: anna, Session: home}, "1")
	}},
	{"a repeated batch writes nothing down", func(f *fixture) {
		f.change(newSession(home))
		b := parley.Batch{Sessions: []parley.SessionChange{admit(home, post("1", "x"))}, Audit: []parley.AuditEntry{{Action: "a", Subject: "1"}}}
		f.commit(b)
		f.duplicate(b)
		f.checkAudit("of both", parley.AuditQuery{}, "1")
	}},
	{"a page has the size that was asked for", func(f *fixture) {
		var b parley.Batch
		for i := range parley.MaxPageSize + 1 {
			b.Audit = append(b.Audit, parley.AuditEntry{Action: "a", Subject: fmt.Sprint(i)})
		}
		f.commit(b)
		for limit, want := range map[int]int{-1: 50, 0: 50, 7: 7, parley.MaxPageSize: parley.MaxPageSize, parley.MaxPageSize + 1: parley.MaxPageSize} {
			page, err := f.store.Audit(f.Context(), parley.AuditQuery{Limit: limit})
			f.code("Audit", "", err)
			f.equal(fmt.Sprintf("lines of a page of %d", limit), want, len(page))
		}
		f.equal("all", len(b.Audit), len(f.audit(parley.AuditQuery{Limit: 400})))
	}},
}
