package sqlite

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// maxScan is the number of sessions a page looks at, at most. A reader who sees
// few of many sessions gets short pages rather than slow ones.
const maxScan = 1000

// Sessions implements [parley.SessionReader].
func (s *Store) Sessions(ctx context.Context, v parley.Visibility, q parley.SessionQuery) (parley.SessionPage, error) {
	from, err := decodeCursor(q.Cursor)
	if err != nil {
		return parley.SessionPage{}, err
	}
	if v.Empty() {
		return parley.SessionPage{}, nil
	}
	var page parley.SessionPage
	err = s.read(ctx, "list sessions", func(c *conn) error {
		places, more, err := candidates(c, v, &q, from)
		if err != nil {
			return err
		}
		limit := parley.PageSize(q.Limit)
		for i, p := range places {
			if len(page.Sessions) == limit {
				page.Cursor = places[i-1].encode()
				return nil
			}
			got, ok, err := match(c, v, &q, p.nr)
			if err != nil {
				return err
			}
			if ok {
				page.Sessions = append(page.Sessions, got)
			}
		}
		if more {
			page.Cursor = places[len(places)-1].encode()
		}
		return nil
	})
	if err != nil {
		return parley.SessionPage{}, err
	}
	return page, nil
}

// candidates gives the places of sessions behind from that may be in the list,
// in its order, and whether there are more behind them. It goes the shortest
// way: by key, by the reader's identities, or, where those are many, through
// all sessions by activity.
func candidates(c *conn, v parley.Visibility, q *parley.SessionQuery, from cursor) (places []cursor, more bool, err error) {
	if q.Key != "" {
		places, few, err := collect(c, from, `SELECT h.updated_at, h.nr FROM sessions s JOIN heads h ON h.nr = s.nr
			WHERE s.key = ? LIMIT ?`, q.Key, maxScan+1)
		if err != nil || few {
			return places, false, err
		}
	}
	if !v.All {
		places, few, err := collect(c, from, `SELECT DISTINCT h.updated_at, h.nr FROM participants p JOIN heads h ON h.nr = p.session
			WHERE p.identity IN (SELECT value FROM json_each(?)) LIMIT ?`, identityList(v), maxScan+1)
		if err != nil || few {
			return places, false, err
		}
	}
	return recent(c, v, q, from)
}

// collect sorts a small set of sessions. It reports whether the set was small
// enough to be complete.
func collect(c *conn, from cursor, sql string, args ...any) (places []cursor, few bool, err error) {
	n := 0
	err = c.each(func(r row) error {
		n++
		if p := (cursor{updatedAt: r.int(0), nr: r.int(1)}); newerFirst(from, p) < 0 {
			places = append(places, p)
		}
		return nil
	}, sql, args...)
	slices.SortFunc(places, newerFirst)
	return places, n <= maxScan, err
}

func newerFirst(a, b cursor) int {
	return cmp.Or(cmp.Compare(b.updatedAt, a.updatedAt), cmp.Compare(b.nr, a.nr))
}

// recent walks through all sessions by activity.
func recent(c *conn, v parley.Visibility, q *parley.SessionQuery, from cursor) (places []cursor, more bool, err error) {
	// For who sees all, without a filter, every session looked at is in the
	// page; one more tells whether the list goes on.
	scan := maxScan
	if seesEverything(v) && q.Status == "" && q.Source == "" && q.Agent == "" && q.Key == "" && len(q.Metadata) == 0 {
		scan = min(scan, parley.PageSize(q.Limit)+1)
	}
	since := int64(math.MinInt64)
	if !q.ActiveSince.IsZero() {
		since = q.ActiveSince.UnixMicro()
	}
	part := func(hidden string) string {
		return `SELECT updated_at, nr FROM heads WHERE hidden = ` + hidden +
			` AND updated_at >= ?1 AND (updated_at, nr) < (?2, ?3)`
	}
	sql := part("0")
	switch {
	case q.Status == parley.StatusInactive:
		sql = part("1")
	case q.IncludeInactive:
		sql = part("0") + ` UNION ALL ` + part("1")
	}
	err = c.each(func(r row) error {
		places = append(places, cursor{updatedAt: r.int(0), nr: r.int(1)})
		return nil
	}, sql+` ORDER BY updated_at DESC, nr DESC LIMIT ?4`, since, from.updatedAt, from.nr, scan)
	return places, len(places) == scan, err
}

// match loads a session if it is in the list.
func match(c *conn, v parley.Visibility, q *parley.SessionQuery, nr int64) (s parley.Session, ok bool, err error) {
	if !v.All || v.Namespace != "" {
		condition, args := visible(v)
		if ok, err := c.exists(`SELECT 1 FROM sessions s WHERE s.nr = ? AND `+condition, append([]any{nr}, args...)...); err != nil || !ok {
			return s, false, err
		}
	}
	if s, err = loadSession(c, nr); err != nil {
		return s, false, err
	}
	switch {
	case q.Status != "" && s.Status != q.Status,
		q.Status == "" && s.Status == parley.StatusInactive && !q.IncludeInactive,
		q.Source != "" && s.Source.Kind != q.Source,
		q.Agent != "" && s.Agent.Name != q.Agent,
		q.Key != "" && s.Key != q.Key,
		!q.ActiveSince.IsZero() && s.UpdatedAt.UnixMicro() < q.ActiveSince.UnixMicro():
		return s, false, nil
	}
	for k, want := range q.Metadata {
		if got, ok := s.Metadata[k]; !ok || got != want {
			return s, false, nil
		}
	}
	return s, true, nil
}

// cursor is a place in the list of sessions: everything behind it is older, or
// as old with a lower number.
type cursor struct{ updatedAt, nr int64 }

func (c cursor) encode() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", c.updatedAt, c.nr))
}

func decodeCursor(text string) (c cursor, err error) {
	if text == "" {
		return cursor{updatedAt: time.Unix(1<<40, 0).UnixMicro()}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		_, err = fmt.Sscanf(string(raw), "%d.%d", &c.updatedAt, &c.nr)
	}
	if err != nil || c.encode() != text {
		return c, invalid("the cursor is not one this list gave; start again without it")
	}
	return c, nil
}
