package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// universe is every name a reader may ask for, whether anything of that name is
// there or not.
type universe struct {
	sessions   []parley.SessionID
	turns      []parley.TurnID
	names      []string // of keys and aliases
	refs       []parley.InputRef
	users      []parley.UserID
	identities []parley.IdentityID
	hashes     [][32]byte // of tokens and passcodes
	actions    []string   // in the audit
	blobs      []parley.BlobHandle
	agents     []string
	queries    []parley.SessionQuery
}

// question is one read of a store. Lists are read to their end in small pages,
// and what the pages promise is checked on the way.
type question struct {
	method string
	args   []any
	ask    func(ctx context.Context, s parley.Store) (any, error)
}

func (q question) String() string { return fmt.Sprintf("%s%s", q.method, describe(q.args)) }

// answer is what a question got.
type answer struct {
	Value any
	Code  parley.Code
}

func (q question) of(ctx context.Context, s parley.Store) answer {
	value, err := q.ask(ctx, s)
	if err != nil {
		return answer{Code: parley.CodeOf(err)}
	}
	return answer{Value: value}
}

// questions are all reads of a store that names of u lead to, as v sees it.
func questions(u universe, v parley.Visibility) []question {
	list := slices.Concat(aboutLists(u, v), aboutNames(u, v), aboutWork(v), aboutBlobs(u, v))
	for _, id := range u.sessions {
		list = slices.Concat(list, aboutSession(v, id), aboutTurns(u, v, id))
	}
	if v.All && v.Namespace == "" {
		list = slices.Concat(list, aboutPeople(u), aboutCredentials(u), aboutAudit(u), aboutUsage(u), aboutAllBlobs())
	}
	return list
}

// ask makes a question of one call.
func ask[T any](method string, args []any, read func(context.Context, parley.Store) (T, error)) question {
	return question{method, args, func(ctx context.Context, s parley.Store) (any, error) { return read(ctx, s) }}
}

func aboutLists(u universe, v parley.Visibility) []question {
	list := []question{aboutHead()}
	for _, q := range u.queries {
		list = append(list, ask("Sessions", []any{v, q}, func(ctx context.Context, s parley.Store) ([]parley.Session, error) {
			return allSessions(ctx, s, v, q)
		}))
	}
	for _, limit := range []int{3, 0} {
		list = append(list, ask("Log", []any{v, limit}, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
			events, _, err := logAfter(ctx, s, v, 0, limit)
			return events, err
		}))
	}
	return list
}

func aboutNames(u universe, v parley.Visibility) []question {
	var list []question
	for _, name := range u.names {
		list = append(list, ask("Lookup", []any{v, name}, func(ctx context.Context, s parley.Store) (parley.KeyEntry, error) {
			return s.Lookup(ctx, v, name)
		}), ask("Aliases", []any{v, name}, func(ctx context.Context, s parley.Store) ([]parley.Alias, error) {
			return s.Aliases(ctx, v, parley.Key(name))
		}))
	}
	for _, ref := range u.refs {
		list = append(list, ask("Input", []any{v, ref}, func(ctx context.Context, s parley.Store) (parley.Input, error) {
			return s.Input(ctx, v, ref)
		}))
	}
	return list
}

func aboutSession(v parley.Visibility, id parley.SessionID) []question {
	list := []question{
		ask("Session", []any{v, id}, func(ctx context.Context, s parley.Store) (parley.Session, error) {
			return s.Session(ctx, v, id)
		}),
		ask("Participants", []any{v, id}, func(ctx context.Context, s parley.Store) ([]parley.IdentityID, error) {
			return s.Participants(ctx, v, id)
		}),
		ask("OpenInputs", []any{v, id}, func(ctx context.Context, s parley.Store) ([]parley.Input, error) {
			return allOpenInputs(ctx, s, v, id, 2)
		}),
		ask("OpenTurns", []any{v, id}, func(ctx context.Context, s parley.Store) ([]parley.Turn, error) {
			return s.OpenTurns(ctx, v, id)
		}),
		ask("Approvals", []any{v, id}, func(ctx context.Context, s parley.Store) ([]parley.Approval, error) {
			return s.Approvals(ctx, v, id)
		}),
		ask("Notices", []any{v, id}, func(ctx context.Context, s parley.Store) ([]parley.Notice, error) {
			return s.Notices(ctx, v, id)
		}),
		ask("Events", []any{v, id, "all, 4 at a time"}, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
			return allEvents(ctx, s, v, id, 4)
		}),
		ask("Events", []any{v, id, "all, from the end"}, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
			return allEventsBackwards(ctx, s, v, id, 3)
		}),
	}
	for _, q := range []parley.EventQuery{
		{Types: []parley.EventType{parley.EventMessage}},
		{Types: []parley.EventType{parley.EventInput + " " + parley.EventMessage}},
		{Types: []parley.EventType{parley.EventInput, parley.EventMessage}, After: 2, Limit: 3},
		{Types: []parley.EventType{parley.EventInput, parley.EventMessage}, After: 1},
		{Types: []parley.EventType{parley.EventInput, parley.EventMessage}, Last: true, Limit: 2},
		{Types: []parley.EventType{parley.EventTurnCompleted}, Last: true, Before: 20, Limit: 1},
		{After: 5, Limit: 2},
		{Types: []parley.EventType{"nothing:known"}},
	} {
		list = append(list, ask("Events", []any{v, id, q}, func(ctx context.Context, s parley.Store) ([]parley.Event, error) {
			return s.Events(ctx, v, id, q)
		}))
	}
	for _, state := range deliveryStates {
		list = append(list, askDeliveries(v, parley.DeliveryQuery{Session: id, State: state}))
	}
	list = append(list,
		askDeliveries(v, parley.DeliveryQuery{Session: id, Draft: new(true)}),
		askDeliveries(v, parley.DeliveryQuery{Session: id, After: "d4"}))
	return list
}

func aboutTurns(u universe, v parley.Visibility, id parley.SessionID) []question {
	var list []question
	for _, turn := range u.turns {
		list = append(list,
			ask("Turn", []any{v, id, turn}, func(ctx context.Context, s parley.Store) (parley.Turn, error) {
				return s.Turn(ctx, v, id, turn)
			}),
			ask("Calls", []any{v, id, turn}, func(ctx context.Context, s parley.Store) ([]parley.Call, error) {
				return s.Calls(ctx, v, id, turn)
			}))
	}
	return list
}

func aboutWork(v parley.Visibility) []question {
	list := []question{
		ask("OpenInputs", []any{v}, func(ctx context.Context, s parley.Store) ([]parley.Input, error) {
			return allOpenInputs(ctx, s, v, "", 3)
		}),
		ask("OpenTurns", []any{v}, func(ctx context.Context, s parley.Store) ([]parley.Turn, error) {
			return s.OpenTurns(ctx, v, "")
		}),
		ask("Approvals", []any{v}, func(ctx context.Context, s parley.Store) ([]parley.Approval, error) {
			return s.Approvals(ctx, v, "")
		}),
	}
	for _, q := range []parley.DeliveryQuery{
		{},
		{Limit: 2},
		{State: parley.DeliverySent},
		{Due: startOfTime},
		{Due: startOfTime.Add(oneSequence), Limit: 3},
		{Chat: parley.Target{Channel: "telegram", Chat: "12"}},
		{Chat: parley.Target{Channel: "telegram", Account: "main", Chat: "-100 7"}, Draft: new(false)},
		{Draft: new(true)},
		{State: parley.DeliveryHeld, Chat: parley.Target{Channel: "telegram", Chat: "12"}},
		{ID: "d3"},
		{ID: "d0"},
		{After: "d2", Limit: 2},
		{After: "d5", State: parley.DeliverySent},
	} {
		list = append(list, askDeliveries(v, q))
	}
	return list
}

func askDeliveries(v parley.Visibility, q parley.DeliveryQuery) question {
	return ask("Deliveries", []any{v, q}, func(ctx context.Context, s parley.Store) ([]parley.Delivery, error) {
		return s.Deliveries(ctx, v, q)
	})
}

func aboutPeople(u universe) []question {
	list := []question{
		ask("Users", nil, func(ctx context.Context, s parley.Store) ([]parley.User, error) { return allUsers(ctx, s, 1) }),
		ask("AllIdentities", nil, func(ctx context.Context, s parley.Store) ([]parley.Identity, error) {
			return allIdentities(ctx, s, 2)
		}),
	}
	for _, id := range u.users {
		list = append(list,
			ask("User", []any{id}, func(ctx context.Context, s parley.Store) (parley.User, error) { return s.User(ctx, id) }),
			ask("Identities", []any{id}, func(ctx context.Context, s parley.Store) ([]parley.Identity, error) {
				return s.Identities(ctx, id)
			}))
	}
	for _, id := range u.identities {
		list = append(list, ask("Identity", []any{id}, func(ctx context.Context, s parley.Store) (parley.Identity, error) {
			return s.Identity(ctx, id)
		}))
	}
	return list
}

// aboutUsage asks what each has spent and all have, over all days, on one, and in
// the days before.
func aboutUsage(u universe) []question {
	next := startOfTime.AddDate(0, 0, 1)
	queries := []parley.SpentQuery{
		{}, {From: startOfTime}, {Until: startOfTime}, {From: startOfTime, Until: next}, {From: next, Until: startOfTime},
	}
	for i, id := range u.users {
		queries = append(queries, parley.SpentQuery{User: id}, parley.SpentQuery{User: id, From: startOfTime, Until: next})
		if len(u.agents) > 0 {
			queries = append(queries, parley.SpentQuery{User: id, Agent: u.agents[i%len(u.agents)]})
		}
		if len(u.identities) > 0 {
			queries = append(queries, parley.SpentQuery{User: id, Identity: u.identities[i%len(u.identities)]})
		}
	}
	for _, id := range u.identities {
		queries = append(queries, parley.SpentQuery{Identity: id}, parley.SpentQuery{Identity: id, Until: startOfTime})
	}
	for _, agent := range u.agents {
		queries = append(queries, parley.SpentQuery{Agent: agent},
			parley.SpentQuery{Agent: agent, From: startOfTime.AddDate(0, 0, -15), Until: startOfTime.AddDate(0, 0, -1)})
	}
	var list []question
	for _, q := range queries {
		list = append(list, ask("Spent", []any{q}, func(ctx context.Context, s parley.Store) (parley.Usage, error) {
			return s.Spent(ctx, q)
		}))
	}
	return list
}

func aboutBlobs(u universe, v parley.Visibility) []question {
	var list []question
	for _, handle := range u.blobs {
		list = append(list, ask("Blob", []any{v, handle}, func(ctx context.Context, s parley.Store) (parley.Blob, error) {
			return s.Blob(ctx, v, handle)
		}))
	}
	return list
}

func aboutAllBlobs() []question {
	list := []question{
		ask("Blobs", nil, func(ctx context.Context, s parley.Store) ([]parley.Blob, error) { return allBlobs(ctx, s, 2) }),
	}
	for _, before := range []time.Time{{}, startOfTime.Add(oneSequence / 8), startOfTime.Add(20 * oneSequence)} {
		list = append(list, ask("UnusedBlobs", []any{before}, func(ctx context.Context, s parley.Store) ([]parley.Blob, error) {
			return allUnusedBlobs(ctx, s, before, 1)
		}))
	}
	return list
}

// aboutHead asks how far the store is. Epochs differ between stores, so what is
// compared of them is only that there is one.
func aboutHead() question {
	return ask("Head", nil, func(ctx context.Context, s parley.Store) (string, error) {
		head, err := s.Head(ctx)
		return fmt.Sprint(head.Epoch != "", " ", head.Pos), err
	})
}
