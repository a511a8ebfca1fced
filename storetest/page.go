package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// The functions here read lists to their end, page by page, and fail when a page
// breaks what its comment promises. maxPages is far above what any test needs:
// a list that takes more does not end.
const maxPages = 100_000

// errPage is a page that breaks its promise. It has no code of its own, so that
// no expected failure can be mistaken for it.
func errPage(format string, args ...any) error {
	return fmt.Errorf("broken page: "+format, args...)
}

func allSessions(
	ctx context.Context, s parley.Store, v parley.Visibility, q parley.SessionQuery,
) ([]parley.Session, error) {
	var list []parley.Session
	seen := map[string]bool{}
	for range maxPages {
		page, err := s.Sessions(ctx, v, q)
		if err != nil {
			return nil, err
		}
		if len(page.Sessions) > parley.PageSize(q.Limit) {
			return nil, errPage("%d sessions on a page of %d", len(page.Sessions), parley.PageSize(q.Limit))
		}
		list = append(list, page.Sessions...)
		if page.Cursor == "" {
			return list, nil
		}
		if seen[page.Cursor] {
			return nil, errPage("cursor %q comes twice", page.Cursor)
		}
		seen[page.Cursor] = true
		q.Cursor = page.Cursor
	}
	return nil, errPage("the list of sessions does not end")
}

// logAfter reads the log behind a position. It also gives the position it came
// to, from where a later call goes on.
func logAfter(
	ctx context.Context, s parley.Store, v parley.Visibility, after uint64, limit int,
) ([]parley.Event, uint64, error) {
	var list []parley.Event
	last := after
	for range maxPages {
		events, next, err := s.Log(ctx, v, after, limit)
		if err != nil {
			return nil, 0, err
		}
		if len(events) > parley.PageSize(limit) {
			return nil, 0, errPage("%d events on a page of %d", len(events), parley.PageSize(limit))
		}
		for _, e := range events {
			if e.Pos <= last || e.Pos > next {
				return nil, 0, errPage("event at pos %d between %d and %d", e.Pos, last, next)
			}
			last = e.Pos
		}
		list = append(list, events...)
		if next == after {
			return list, after, nil
		}
		if next < after {
			return nil, 0, errPage("the log goes back from %d to %d", after, next)
		}
		after, last = next, next
	}
	return nil, 0, errPage("the log does not end")
}

func allEvents(
	ctx context.Context, s parley.Store, v parley.Visibility, id parley.SessionID, limit int,
) ([]parley.Event, error) {
	var list []parley.Event
	for range maxPages {
		q := parley.EventQuery{After: uint64(len(list)), Limit: limit}
		page, err := s.Events(ctx, v, id, q)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(limit) {
			return nil, errPage("%d events on a page of %d", len(page), limit)
		}
		for i, e := range page {
			if want := uint64(len(list)+i) + 1; e.Seq != want {
				return nil, errPage("seq %d where %d comes next", e.Seq, want)
			}
		}
		list = append(list, page...)
	}
	return nil, errPage("the events of %s do not end", id)
}

func allEventsBackwards(
	ctx context.Context, s parley.Store, v parley.Visibility, id parley.SessionID, limit int,
) ([]parley.Event, error) {
	var list []parley.Event
	q := parley.EventQuery{Last: true, Limit: limit}
	for range maxPages {
		page, err := s.Events(ctx, v, id, q)
		if err != nil || len(page) == 0 {
			return list, err
		}
		list = append(page, list...)
		if q.Before = page[0].Seq; q.Before == 1 {
			return list, nil
		}
	}
	return nil, errPage("the events of %s do not begin", id)
}

func allOpenInputs(
	ctx context.Context, s parley.Store, v parley.Visibility, id parley.SessionID, limit int,
) ([]parley.Input, error) {
	var list []parley.Input
	var after parley.InputRef
	for range maxPages {
		page, err := s.OpenInputs(ctx, v, id, after, limit)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(limit) {
			return nil, errPage("%d inputs on a page of %d", len(page), limit)
		}
		list = append(list, page...)
		after = page[len(page)-1].Ref
	}
	return nil, errPage("the open inputs do not end")
}

func allUsers(ctx context.Context, s parley.Store, limit int) ([]parley.User, error) {
	var list []parley.User
	var after parley.UserID
	for range maxPages {
		page, err := s.Users(ctx, after, limit)
		if err != nil || len(page) == 0 {
			return list, err
		}
		list = append(list, page...)
		after = page[len(page)-1].ID
	}
	return nil, errPage("the users do not end")
}

func allIdentities(ctx context.Context, s parley.Store, limit int) ([]parley.Identity, error) {
	var list []parley.Identity
	var after parley.IdentityID
	for range maxPages {
		page, err := s.AllIdentities(ctx, after, limit)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(limit) {
			return nil, errPage("%d identities on a page of %d", len(page), limit)
		}
		list = append(list, page...)
		after = page[len(page)-1].ID
	}
	return nil, errPage("the identities do not end")
}

func allTokens(ctx context.Context, s parley.Store, of parley.IdentityID, limit int) ([]parley.Token, error) {
	var list []parley.Token
	var after parley.TokenID
	for range maxPages {
		page, err := s.Tokens(ctx, of, after, limit)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(limit) {
			return nil, errPage("%d tokens on a page of %d", len(page), limit)
		}
		list = append(list, page...)
		after = page[len(page)-1].ID
	}
	return nil, errPage("the tokens do not end")
}

// allAudit reads the lines that q chooses. It gives them without their numbers:
// those count up, but a store may leave some out.
func allAudit(ctx context.Context, s parley.Store, q parley.AuditQuery) ([]parley.AuditEntry, error) {
	var list []parley.AuditEntry
	for range maxPages {
		page, err := s.Audit(ctx, q)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(q.Limit) {
			return nil, errPage("%d lines on a page of %d", len(page), q.Limit)
		}
		for _, e := range page {
			if e.Nr == 0 || q.Before > 0 && e.Nr >= q.Before {
				return nil, errPage("line %d where one before %d comes next", e.Nr, q.Before)
			}
			q.Before = e.Nr
			e.Nr = 0
			list = append(list, e)
		}
	}
	return nil, errPage("the audit does not end")
}

func allBlobs(ctx context.Context, s parley.Store, limit int) ([]parley.Blob, error) {
	var list []parley.Blob
	var after parley.BlobHandle
	for range maxPages {
		page, err := s.Blobs(ctx, after, limit)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(limit) {
			return nil, errPage("%d blobs on a page of %d", len(page), limit)
		}
		list = append(list, page...)
		after = page[len(page)-1].Handle
	}
	return nil, errPage("the blobs do not end")
}

func allUnusedBlobs(ctx context.Context, s parley.Store, before time.Time, limit int) ([]parley.Blob, error) {
	var list []parley.Blob
	var after parley.Blob
	for range maxPages {
		page, err := s.UnusedBlobs(ctx, before, after, limit)
		if err != nil || len(page) == 0 {
			return list, err
		}
		if len(page) > parley.PageSize(limit) {
			return nil, errPage("%d blobs on a page of %d", len(page), limit)
		}
		list = append(list, page...)
		after = page[len(page)-1]
	}
	return nil, errPage("the unused blobs do not end")
}
