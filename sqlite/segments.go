package sqlite

// segment is a stretch of a log that a session shows: the events with the seqs
// from first to last.
type segment struct {
	log         int64
	first, last uint64
}

// segments gives the stretches that make up a session's history, in order. The
// last one is its own log. A session that is not a fork has just that.
func segments(c *conn, session int64, parentSeq, lastSeq uint64) ([]segment, error) {
	own := segment{log: session, first: parentSeq + 1, last: lastSeq}
	if parentSeq == 0 {
		return []segment{own}, nil
	}
	var list []segment
	next := uint64(1)
	err := c.each(func(r row) error {
		s := segment{log: r.int(0), first: next, last: r.seq(1)}
		next = s.last + 1
		list = append(list, s)
		return nil
	}, `SELECT log, upto FROM session_logs WHERE session = ? ORDER BY upto`, session)
	return append(list, own), err
}

// eventAt gives the id of the event with a seq.
func eventAt(list []segment, seq uint64) (id int64, ok bool) {
	for _, s := range list {
		if s.first <= seq && seq <= s.last {
			return eventID(s.log, seq), true
		}
	}
	return 0, false
}

// shareLogs lets a new session show its parent's events up to seq.
func (t *tx) shareLogs(session int64, parent *head, seq uint64) error {
	list, err := segments(t.c, parent.nr, parent.parentSeq, parent.lastSeq)
	if err != nil {
		return err
	}
	for _, s := range list {
		last := min(s.last, seq)
		if s.first > last {
			break
		}
		if err := t.c.exec(`INSERT INTO session_logs (session, log, upto) VALUES (?, ?, ?)`, session, s.log, last); err != nil {
			return err
		}
	}
	return t.resetPreview(session, list, seq)
}
