package storetest

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

// costs makes the end of a turn that cost something, which one identity asked for.
func costs(by parley.IdentityID, microUSD int64) parley.NewEvent {
	return parley.NewEvent{Identity: by, Body: &parley.TurnCompleted{
		StopReason: parley.StopDone, Usage: parley.Usage{CostMicroUSD: microUSD},
	}}
}

// costsAt is costs at a time of its own.
func costsAt(at time.Time, microUSD int64) parley.NewEvent {
	d := costs(anna, microUSD)
	d.At = at
	return d
}

// agentSession creates a session of an agent.
func agentSession(id parley.SessionID, agent string, events ...parley.NewEvent) parley.SessionChange {
	c := newSession(id, events...)
	c.Create.Agent.Name = agent
	return c
}

// linked makes an identity that belongs to a user, or to nobody.
func linked(id parley.IdentityID, user parley.UserID) parley.IdentityChange {
	return parley.IdentityChange{Identity: parley.Identity{ID: id, User: user, CreatedAt: startOfTime}}
}

// spends makes sure that a query gives this sum of money.
func (f *fixture) spends(what string, want int64, q parley.SpentQuery) {
	f.Helper()
	f.equal("cost "+what, parley.Usage{CostMicroUSD: want}, get(f, func(ctx context.Context, s parley.Store) (parley.Usage, error) {
		return s.Spent(ctx, q)
	}))
}

var usageTests = []test{
	{"all that completed turns used is added up", func(f *fixture) {
		used := parley.Usage{InputTokens: 1, OutputTokens: 20, CacheReadTokens: 300, CacheWriteTokens: 4_000, CostMicroUSD: 1 << 40}
		end := parley.NewEvent{Identity: anna, Body: &parley.TurnCompleted{StopReason: parley.StopError, Usage: used}}
		f.spends("of nothing", 0, parley.SpentQuery{})
		f.change(newSession(home, end, end), newSession(away, end))
		f.change(appendTo(home, end))
		want := used.Plus(used).Plus(used).Plus(used)
		sum := func() parley.Usage {
			return get(f, func(ctx context.Context, s parley.Store) (parley.Usage, error) {
				return s.Spent(ctx, parley.SpentQuery{})
			})
		}
		f.equal("sum", want, sum())
		f.crash()
		f.equal("sum after a crash", want, sum())
	}},
	{"it is kept by agent and by identity", func(f *fixture) {
		f.change(agentSession(home, "helper", costs(anna, 1), costs(ben, 10), costs("", 100)))
		f.change(agentSession(away, "Helper", costs(anna, 1_000)))
		for _, c := range []struct {
			what string
			want int64
			q    parley.SpentQuery
		}{
			{"of all", 1_111, parley.SpentQuery{}},
			{"of an agent", 111, parley.SpentQuery{Agent: "helper"}},
			{"of an agent of nearly that name", 1_000, parley.SpentQuery{Agent: "Helper"}},
			{"of no agent", 0, parley.SpentQuery{Agent: "help%"}},
			{"of an identity", 1_001, parley.SpentQuery{Identity: anna}},
			{"of another identity", 10, parley.SpentQuery{Identity: ben}},
			{"of an unknown identity", 0, parley.SpentQuery{Identity: "web:nobody"}},
			{"of both", 1, parley.SpentQuery{Identity: anna, Agent: "helper"}},
			{"of an unknown user", 0, parley.SpentQuery{User: "anna"}},
		} {
			f.spends(c.what, c.want, c.q)
		}
	}},
	{"a user's are the identities of that moment", func(f *fixture) {
		f.change(newSession(home, costs(anna, 1), costs(ben, 10), costs("", 100)))
		f.commit(parley.Batch{Users: []parley.UserChange{{User: person("anna")}, {User: person("ben")}}})
		ofAnna, ofBen := parley.SpentQuery{User: "anna"}, parley.SpentQuery{User: "ben"}
		f.spends("of a user without identities", 0, ofAnna)
		f.commit(parley.Batch{Identities: []parley.IdentityChange{linked(anna, "anna"), linked(ben, "ben")}})
		f.spends("of a user", 1, ofAnna)
		f.commit(parley.Batch{Identities: []parley.IdentityChange{linked(ben, "anna")}})
		f.spends("of a user with two", 11, ofAnna)
		f.spends("of one of these", 10, parley.SpentQuery{User: "anna", Identity: ben})
		f.spends("of who has lost it", 0, ofBen)
		f.spends("of what another has", 0, parley.SpentQuery{User: "ben", Identity: ben})
		f.commit(parley.Batch{Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: anna}, Remove: true}}})
		f.spends("of a user without one of them", 10, ofAnna)
		f.commit(parley.Batch{Users: []parley.UserChange{{User: parley.User{ID: "anna"}, Remove: true}}})
		f.spends("of a user that is gone", 0, ofAnna)
		f.spends("of all", 111, parley.SpentQuery{})
	}},
	{"a day is one of UTC, an imported event has its own", func(f *fixture) {
		day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
		next := day.AddDate(0, 0, 1)
		east := time.FixedZone("east", 14*60*60)
		f.change(newSession(home,
			costsAt(day.Add(-time.Microsecond), 1), costsAt(day, 10), costsAt(next.Add(-time.Microsecond), 100),
			costsAt(next, 1_000), costsAt(next.Add(time.Hour).In(east), 10_000), costs(anna, 100_000)))
		for _, c := range []struct {
			what        string
			want        int64
			from, until time.Time
		}{
			{"of a day", 110, day, next},
			{"of a day, by instants within", 110, day.Add(23 * time.Hour), next.Add(time.Hour)},
			{"of a day, by another zone", 110, day.In(east), next.In(east)},
			{"of the day before", 1, day.AddDate(0, 0, -1), day},
			{"up to a day", 1, time.Time{}, day},
			{"from a day on", 111_000, next, time.Time{}},
			{"of the day of the batch", 100_000, startOfTime, startOfTime.AddDate(0, 0, 1)},
			{"of no day", 0, day, day.Add(time.Hour)},
			{"of days in the wrong order", 0, next, day},
		} {
			f.spends(c.what, c.want, parley.SpentQuery{From: c.from, Until: c.until})
			f.spends(c.what+", of one", c.want, parley.SpentQuery{Identity: anna, Agent: "helper", From: c.from, Until: c.until})
		}
	}},
	{"days before 1970 are days", func(f *fixture) {
		day := time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
		f.change(newSession(home,
			costsAt(day.Add(-time.Second), 1), costsAt(day, 10), costsAt(day.Add(time.Hour), 100), costsAt(day.AddDate(0, 0, 1), 1_000)))
		f.spends("of a day", 110, parley.SpentQuery{From: day, Until: day.AddDate(0, 0, 1)})
		f.spends("of the day before", 1, parley.SpentQuery{Until: day})
		f.spends("of the days after", 1_000, parley.SpentQuery{From: day.AddDate(0, 0, 1)})
	}},
	{"it was spent, whatever becomes of the session", func(f *fixture) {
		f.change(newSession(home, say("m1", "hello"), costs(anna, 1)))
		f.change(redact(home, 1))
		f.spends("after a redaction", 1, parley.SpentQuery{})
		f.change(fork("cli:fork", home, 2, costs(anna, 10)))
		f.spends("of a fork, without what it shares", 11, parley.SpentQuery{})
		f.change(drop(home), drop("cli:fork"))
		f.spends("after a deletion", 11, parley.SpentQuery{})
		once := newSession(away, costs(ben, 100))
		once.Delete = true
		f.change(once)
		f.spends("of a session that came and went", 100, parley.SpentQuery{Identity: ben, Agent: "helper"})
		f.change(agentSession(home, "coder", costs(anna, 1_000)))
		f.spends("of an agent whose sessions are gone", 111, parley.SpentQuery{Agent: "helper"})
		f.reopen()
		f.spends("after a reopen", 1_111, parley.SpentQuery{})
	}},
	{"a batch that is refused or repeated spends nothing", func(f *fixture) {
		f.change(newSession(home, costs(anna, 1)))
		f.change(admit(home, post("1", "x")))
		again := admit(home, post("1", "x"))
		again.Events = []parley.NewEvent{costs(anna, 10)}
		f.duplicate(parley.Batch{Sessions: []parley.SessionChange{again}})
		f.refuse(parley.CodeConflict, parley.Batch{
			Expect:   []parley.Expectation{parley.FenceIs{Session: home, Fence: 7}},
			Sessions: []parley.SessionChange{appendTo(home, costs(anna, 100))},
		})
		f.refuseChange(parley.CodeNotFound, appendTo(home, costs(anna, 1_000)), appendTo(away, costs(anna, 10_000)))
		f.spends("of all", 1, parley.SpentQuery{})
	}},
}
