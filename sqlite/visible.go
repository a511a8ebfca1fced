package sqlite

import (
	"encoding/json"

	"github.com/parley-run/parley"
)

// visible gives the condition on a session s under which v sees it, with the
// arguments of the condition.
func visible(v parley.Visibility) (condition string, args []any) {
	condition = "1"
	if v.Namespace != "" {
		// All ids from "telegram:" up to, and without, "telegram;".
		condition = "s.id >= ? AND s.id < ?"
		args = append(args, v.Namespace+":", v.Namespace+";")
	}
	switch {
	case v.All:
	case len(v.Identities) == 0:
		return "0", nil
	default:
		condition += " AND EXISTS (SELECT 1 FROM participants p WHERE p.session = s.nr AND p.identity IN (SELECT value FROM json_each(?)))"
		args = append(args, identityList(v))
	}
	return condition, args
}

// seesEverything reports whether v sees all sessions.
func seesEverything(v parley.Visibility) bool { return v.All && v.Namespace == "" }

func identityList(v parley.Visibility) string {
	// A list of strings cannot fail to encode.
	list, _ := json.Marshal(v.Identities)
	return string(list)
}

// seen is a session that a reader may see.
type seen struct {
	nr                 int64
	id                 parley.SessionID
	parentSeq, lastSeq uint64
}

// lastSeen is the session that a transaction which only reads has found last: most that are for one
// session ask several things of it.
type lastSeen struct {
	reading bool // such a transaction is under way
	seen
}

// see finds a session, if v allows it.
func see(c *conn, v parley.Visibility, id parley.SessionID) (s seen, err error) {
	if seesEverything(v) && c.lastSeen.reading && c.lastSeen.id == id && id != "" {
		return c.lastSeen.seen, nil
	}
	condition, args := visible(v)
	found, err := c.one(func(r row) { s = seen{nr: r.int(0), id: id, parentSeq: r.seq(1), lastSeq: r.seq(2)} },
		`SELECT s.nr, h.parent_seq, h.last_seq FROM sessions s JOIN heads h ON h.nr = s.nr WHERE s.id = ? AND `+condition,
		append([]any{string(id)}, args...)...)
	if err == nil && !found {
		err = notFound("there is no session %q", id)
	}
	if err == nil {
		c.lastSeen.seen = s
	}
	return s, err
}

// keyVisible reports whether v may find a key that leads to current: it sees that session,
// or everything if there is none. Who sees everything finds it without a read of the
// session, which is a page.
func keyVisible(c *conn, v parley.Visibility, current parley.SessionID) (bool, error) {
	if everything := seesEverything(v); everything || current == "" {
		return everything, nil
	}
	condition, args := visible(v)
	return c.exists(`SELECT 1 FROM sessions s WHERE s.id = ? AND `+condition, append([]any{current}, args...)...)
}

// visibleIn gives the condition on a session s that it is the one with the id,
// or, if that is empty, that v sees it.
func visibleIn(c *conn, v parley.Visibility, id parley.SessionID) (condition string, args []any, err error) {
	if id == "" {
		condition, args = visible(v)
		return condition, args, nil
	}
	at, err := see(c, v, id)
	return "s.nr = ?", []any{at.nr}, err
}
