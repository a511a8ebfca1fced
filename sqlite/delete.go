package sqlite

import (
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// delete removes a session and all that belongs to it alone.
func (t *tx) delete(at time.Time, h *head) error {
	t.scrub, t.forget = true, true
	t.heads = slices.DeleteFunc(t.heads, func(other *head) bool { return other == h })
	if err := t.forgetInputs(h); err != nil {
		return err
	}
	shared, err := t.sharedLogs(h.nr)
	if err != nil {
		return err
	}
	for _, sql := range []string{
		`DELETE FROM sessions WHERE nr = ?`, `DELETE FROM heads WHERE nr = ?`,
		`DELETE FROM session_logs WHERE session = ?`, `DELETE FROM participants WHERE session = ?`,
		`DELETE FROM turns WHERE session = ?`, `DELETE FROM calls WHERE session = ?`, `DELETE FROM approvals WHERE session = ?`,
		`DELETE FROM outbox WHERE session = ?`, `DELETE FROM notices WHERE session = ?`,
	} {
		if err := t.c.exec(sql, h.nr); err != nil {
			return err
		}
	}
	if err := t.leaveKeys(h); err != nil {
		return err
	}
	for _, log := range append(shared, h.nr) {
		if err := t.dropLog(at, log); err != nil {
			return err
		}
	}
	// The highest position may have gone with the events; it is never given again.
	return t.c.exec(`INSERT INTO meta (name, value) VALUES ('pos', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, t.pos)
}

// forgetInputs keeps the names of a session's inputs and what became of them,
// and lets go of the rest.
func (t *tx) forgetInputs(h *head) error {
	var refs []parley.InputRef
	err := t.c.each(func(r row) error {
		if !r.isNull(1) {
			refs = append(refs, parley.InputRef{Origin: r.text(1), ID: r.text(2)})
			return nil
		}
		body, err := parley.DecodeBody(parley.EventInput, []byte(r.text(0)))
		if err != nil {
			return err
		}
		if in, ok := body.(*parley.Admitted); ok {
			refs = append(refs, parley.InputRef{Origin: in.Origin, ID: in.ID})
		}
		return nil
	}, `SELECT e.body, x.origin, x.id FROM events e LEFT JOIN redacted_inputs x ON x.event = e.id
		WHERE e.id BETWEEN ? AND ? AND e.type = 'session:input'`, eventID(h.nr, h.parentSeq+1), eventID(h.nr, h.lastSeq))
	if err != nil {
		return err
	}
	for _, ref := range refs {
		err := t.c.exec(`UPDATE inputs SET gone = ?, user = NULL, role = NULL, via = NULL, decision = NULL,
			state = CASE WHEN state IN ('queued', 'running') THEN 'dropped' ELSE state END WHERE origin = ? AND id = ?`,
			h.id, ref.Origin, ref.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// sharedLogs gives the logs of other sessions that a session shows.
func (t *tx) sharedLogs(session int64) (logs []int64, err error) {
	err = t.c.each(func(r row) error {
		logs = append(logs, r.int(0))
		return nil
	}, `SELECT log FROM session_logs WHERE session = ?`, session)
	return logs, err
}

// leaveKeys takes a deleted session out of the keys that led to it or that it
// had. Those that nobody takes up in the same batch go at its end.
func (t *tx) leaveKeys(h *head) error {
	err := t.c.each(func(r row) error {
		t.unused = append(t.unused, parley.Key(r.text(0)))
		return nil
	}, `SELECT key FROM keys WHERE current = ?`, h.id)
	if err != nil {
		return err
	}
	if h.key != "" {
		t.unused = append(t.unused, h.key)
	}
	return t.c.exec(`UPDATE keys SET current = NULL WHERE current = ?`, h.id)
}

// dropLog removes the events of a log whose session is gone, but for those that
// a fork still shows.
func (t *tx) dropLog(at time.Time, log int64) error {
	if used, err := t.c.exists(`SELECT 1 FROM sessions WHERE nr = ?`, log); err != nil || used {
		return err
	}
	var shown uint64
	if _, err := t.c.one(func(r row) { shown = r.seq(0) }, `SELECT max(upto) FROM session_logs WHERE log = ?`, log); err != nil {
		return err
	}
	first, last := restOfLog(log, shown+1)
	if err := t.c.exec(`DELETE FROM redacted_inputs WHERE event BETWEEN ? AND ?`, first, last); err != nil {
		return err
	}
	if err := t.dropRefs(at, first, last); err != nil {
		return err
	}
	return t.c.exec(`DELETE FROM events WHERE id BETWEEN ? AND ?`, first, last)
}
