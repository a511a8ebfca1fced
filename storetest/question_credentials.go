package storetest

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

// aboutCredentials asks for tokens and passcodes by their hashes, passcodes also at
// instants at which they are over, and for the tokens of each and of all.
func aboutCredentials(u universe) []question {
	var list []question
	for _, hash := range u.hashes {
		list = append(list, ask("TokenByHash", []any{hash}, func(ctx context.Context, s parley.Store) (parley.Token, error) {
			return s.TokenByHash(ctx, hash)
		}))
		for _, at := range []time.Time{{}, startOfTime, startOfTime.Add(oneSequence / 16), startOfTime.Add(oneSequence)} {
			list = append(list, ask("Passcode", []any{hash, at}, func(ctx context.Context, s parley.Store) (parley.Passcode, error) {
				return s.Passcode(ctx, hash, at)
			}))
		}
	}
	for _, of := range append([]parley.IdentityID{""}, u.identities...) {
		list = append(list, ask("Tokens", []any{of}, func(ctx context.Context, s parley.Store) ([]parley.Token, error) {
			return allTokens(ctx, s, of, 2)
		}))
	}
	return list
}

// aboutAudit asks for all lines, and for those of each action, actor and session,
// alone and together.
func aboutAudit(u universe) []question {
	queries := []parley.AuditQuery{{Limit: 2}, {}}
	for i, action := range u.actions {
		queries = append(queries, parley.AuditQuery{Action: action, Limit: 1})
		if len(u.sessions) > 0 {
			queries = append(queries, parley.AuditQuery{Action: action, Session: u.sessions[i%len(u.sessions)]})
		}
	}
	for i, actor := range u.identities {
		queries = append(queries, parley.AuditQuery{Actor: actor, Limit: 3})
		for _, action := range u.actions {
			queries = append(queries, parley.AuditQuery{Actor: actor, Action: action, Limit: 2})
		}
		if len(u.sessions) > 0 {
			q := parley.AuditQuery{Actor: actor, Session: u.sessions[i%len(u.sessions)]}
			queries = append(queries, q)
			if len(u.actions) > 0 {
				q.Action = u.actions[i%len(u.actions)]
				queries = append(queries, q)
			}
		}
	}
	for _, id := range u.sessions {
		queries = append(queries, parley.AuditQuery{Session: id, Limit: 1})
	}
	var list []question
	for _, q := range queries {
		list = append(list, ask("Audit", []any{q}, func(ctx context.Context, s parley.Store) ([]parley.AuditEntry, error) {
			return allAudit(ctx, s, q)
		}))
	}
	return list
}
