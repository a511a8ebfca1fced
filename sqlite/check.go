package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// orphans are queries for rows that belong to nothing, each with what to say of
// the row's name. NULL is in no list, not even in an empty one, so columns that
// may be NULL are asked for values first.
var orphans = []struct{ kind, sql string }{
	{"a log that no session shows", `SELECT DISTINCT id >> 32 FROM events WHERE id >> 32 NOT IN (SELECT nr FROM sessions)
		AND id >> 32 NOT IN (SELECT log FROM session_logs)`},
	{"a session without its head", `SELECT id FROM sessions WHERE nr NOT IN (SELECT nr FROM heads)`},
	{"the head of a missing session", `SELECT nr FROM heads WHERE nr NOT IN (SELECT nr FROM sessions)`},
	{"a session whose agent is missing", `SELECT id FROM sessions WHERE snapshot NOT IN (SELECT nr FROM snapshots)`},
	{"a key that leads to a missing session", `SELECT key FROM keys WHERE current IS NOT NULL AND current NOT IN (SELECT id FROM sessions)`},
	{"a session whose key is missing", `SELECT id FROM sessions WHERE key IS NOT NULL AND key NOT IN (SELECT key FROM keys)`},
	{"an alias of a missing key", `SELECT alias FROM aliases WHERE key NOT IN (SELECT nr FROM keys)`},
	{"a fork's share in a missing log", `SELECT l.log FROM session_logs l
		WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = (l.log << 32 | l.upto))`},
	{"a missing session's share in a log", `SELECT log FROM session_logs WHERE session NOT IN (SELECT nr FROM sessions)`},
	{"a participant of a missing session", `SELECT identity FROM participants WHERE session NOT IN (SELECT nr FROM sessions)`},
	{"an input of a missing session", `SELECT origin || ' ' || id FROM inputs WHERE gone IS NULL AND session NOT IN (SELECT nr FROM sessions)`},
	{"an input without its event", `SELECT origin || ' ' || id FROM inputs i WHERE gone IS NULL
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = (i.session << 32 | i.seq) AND e.type = 'session:input')`},
	{"an input without the message that shows it", `SELECT origin || ' ' || id FROM inputs i WHERE gone IS NULL AND shown IS NOT NULL
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = (i.session << 32 | i.shown) AND e.type = 'session:message')`},
	{"a redacted input without its event", `SELECT origin || ' ' || id FROM redacted_inputs x
		WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.id = x.event AND e.type = 'session:input')`},
	{"a turn of a missing session", `SELECT id FROM turns WHERE session NOT IN (SELECT nr FROM sessions)`},
	{"a call of a turn that is not open", `SELECT id FROM calls c
		WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = c.session AND t.id = c.turn AND t.state <> 'completed')`},
	{"an approval of a missing turn", `SELECT call FROM approvals a
		WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = a.session AND t.id = a.turn)`},
	{"a delivery of a missing session", `SELECT id FROM outbox WHERE session NOT IN (SELECT nr FROM sessions)`},
	{"a part of a missing delivery", `SELECT id FROM outbox WHERE first NOT IN (SELECT nr FROM outbox)`},
	{"a notice of a missing session", `SELECT id FROM notices WHERE session NOT IN (SELECT nr FROM sessions)`},
	{"a reference to a missing blob", `SELECT (event >> 32) || ' ' || (event & 0xFFFFFFFF) FROM blob_refs WHERE blob NOT IN (SELECT nr FROM blobs)`},
	{"a reference of a missing or redacted event", `SELECT b.handle FROM blob_refs r JOIN blobs b ON b.nr = r.blob
		LEFT JOIN events e ON e.id = r.event WHERE e.body IS NULL OR e.body = '` + string(parley.TombstoneData) + `'`},
	{"a blob that is said to be used by nothing", `SELECT handle FROM blobs WHERE unused_since IS NULL AND nr NOT IN (SELECT blob FROM blob_refs)`},
	{"a blob that is said to be unused", `SELECT handle FROM blobs WHERE unused_since IS NOT NULL AND nr IN (SELECT blob FROM blob_refs)`},
	{"an identity of a missing user", `SELECT id FROM identities WHERE user IS NOT NULL AND user NOT IN (SELECT id FROM users)`},
}

// Check looks at what only the store itself can see: whether the file is whole,
// and whether rows belong to something. It reads everything, in several reads,
// so that the WAL can be emptied between them.
func (s *Store) Check(ctx context.Context, report func(parley.Problem)) error {
	err := s.read(ctx, "check store", func(c *conn) error {
		return c.each(func(r row) error {
			for line := range strings.Lines(r.text(0)) {
				if line = strings.TrimSpace(line); line != "ok" && !strings.HasPrefix(line, "***") { // which is a heading
					report(parley.Problem{Kind: "damaged file", Detail: line})
				}
			}
			return nil
		}, `PRAGMA integrity_check`)
	})
	for _, o := range orphans {
		if err != nil {
			return err
		}
		err = s.read(ctx, "look for "+o.kind, func(c *conn) error {
			return c.each(func(r row) error {
				report(parley.Problem{Kind: "orphan", Detail: o.kind + ": " + r.text(0)})
				return nil
			}, o.sql)
		})
	}
	if err != nil {
		return err
	}
	return s.read(ctx, "check store", func(c *conn) error { return checkLastSeqs(c, report) })
}

// checkLastSeqs looks for events behind what their session says is its last one:
// reading stops there, so nobody else would notice.
func checkLastSeqs(c *conn, report func(parley.Problem)) error {
	return c.each(func(r row) error {
		report(parley.Problem{
			Kind: "last_seq", Session: parley.SessionID(r.text(0)),
			Detail: fmt.Sprintf("the session says its last event is %d, its log says %d", r.int(1), r.int(2)),
		})
		return nil
	}, `SELECT * FROM (SELECT s.id, h.last_seq, ifnull((SELECT max(e.id) & 0xFFFFFFFF FROM events e
			WHERE e.id BETWEEN h.nr << 32 AND h.nr << 32 | 0xFFFFFFFF), h.parent_seq) AS last
		FROM heads h JOIN sessions s ON s.nr = h.nr) WHERE last > last_seq`)
}

// Rebuild computes anew what a session's events determine: its counters, last
// seq, preview, activity and participants, and which blobs they refer to; and
// how many of its inputs are queued.
func (s *Store) Rebuild(ctx context.Context, id parley.SessionID) error {
	return s.writer.submit(ctx, &request{apply: func(t *tx) error { return t.rebuild(time.Now(), id) }})
}

func (t *tx) rebuild(at time.Time, id parley.SessionID) error {
	h, err := t.head(id)
	if err != nil {
		return err
	}
	t.wrote, t.scrub = true, true // events may have been kept as if there were more of them
	var tally parley.Tally
	h.lastSeq = h.parentSeq
	first, last := restOfLog(h.nr, 0)
	if err := t.dropRefs(at, first, last); err != nil {
		return err
	}
	err = t.c.each(func(r row) error {
		e := readEvent(r, id)
		body, err := e.Decode()
		if err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		tally.Add(e.Seq, e.At, body)
		h.lastSeq = e.Seq
		return t.rebuildRefs(eventID(h.nr, e.Seq), body)
	}, `SELECT `+eventColumns+` FROM events WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
	if err != nil {
		return err
	}
	// The second condition on the state is that of the index over open inputs.
	if _, err := t.c.one(func(r row) { h.queued, h.updatedAt = int(r.int(0)), r.time(1) },
		`SELECT (SELECT count(*) FROM inputs WHERE session = ?1 AND state = 'queued' AND state IN ('queued', 'running')), created_at
		FROM sessions WHERE nr = ?1`, h.nr); err != nil {
		return err
	}
	h.counters = parley.Counters{}
	if err := t.c.exec(`DELETE FROM participants WHERE session = ?`, h.nr); err != nil {
		return err
	}
	if err := t.applyTally(h, &tally); err != nil {
		return err
	}
	h.edits.countersChanged = true
	if err := t.saveHead(h); err != nil {
		return err
	}
	list, err := segments(t.c, h.nr, h.parentSeq, h.lastSeq)
	if err != nil {
		return err
	}
	// After saveHead, which saves the preview of the tally: that does not know what a fork shares.
	return t.resetPreview(h.nr, list, h.lastSeq)
}
