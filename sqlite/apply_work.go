package sqlite

import (
	"time"

	"github.com/parley-run/parley"
)

// applyWork carries out what a batch does to the inputs, turns, calls,
// approvals, deliveries and notices of a session.
func (t *tx) applyWork(at time.Time, h *head, c *parley.SessionChange) error {
	for i := range c.Inputs {
		if err := t.changeInput(h, &c.Inputs[i]); err != nil {
			return err
		}
	}
	for i := range c.Turns {
		if err := t.changeTurn(at, h, &c.Turns[i]); err != nil {
			return err
		}
	}
	for i := range c.Calls {
		if err := t.changeCall(at, h, &c.Calls[i]); err != nil {
			return err
		}
	}
	for i := range c.Approvals {
		if err := t.changeApproval(at, h, &c.Approvals[i]); err != nil {
			return err
		}
	}
	for i := range c.Deliveries {
		if err := t.changeDelivery(at, h, &c.Deliveries[i], len(c.Events)); err != nil {
			return err
		}
	}
	for i := range c.Notices {
		if err := t.changeNotice(at, h, &c.Notices[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) changeInput(h *head, c *parley.InputChange) error {
	was, err := textOf[parley.InputState](t.c,
		`SELECT state FROM inputs WHERE origin = ? AND id = ? AND session = ?`, c.Ref.Origin, c.Ref.ID, h.nr)
	if err != nil {
		return err
	}
	if was == "" {
		return notFound("session %q has no input %q", h.id, c.Ref.ID)
	}
	if was == parley.InputQueued {
		h.queued--
	}
	if c.State == parley.InputQueued {
		h.queued++
	}
	err = t.c.exec(`UPDATE inputs SET state = ?, decision = ifnull(?, decision), turn = ifnull(?, turn) WHERE origin = ? AND id = ?`,
		c.State, orNull(c.Decision), orNull(c.Turn), c.Ref.Origin, c.Ref.ID)
	if err != nil || c.NotBefore == nil {
		return err
	}
	return t.c.exec(`UPDATE inputs SET not_before = ? WHERE origin = ? AND id = ?`, *c.NotBefore, c.Ref.Origin, c.Ref.ID)
}

func (t *tx) changeTurn(at time.Time, h *head, c *parley.TurnChange) error {
	was, err := t.turnState(h, c.ID)
	switch {
	case err != nil:
		return err
	case c.Start && was != "":
		return conflict("session %q has a turn %q already", h.id, c.ID)
	case !c.Start && was == "":
		return notFound("session %q has no turn %q", h.id, c.ID)
	case was == parley.TurnDone:
		return conflict("turn %q is completed", c.ID)
	}
	var set columns
	if c.Start {
		set = columns{
			{"session", h.nr}, {"id", c.ID}, {"state", parley.TurnRunning}, {"attempt", 1}, {"cancel", false}, {"stop_reason", ""}, {"started_at", at},
		}
	}
	if err := addTurnColumns(&set, at, c); err != nil {
		return err
	}
	if c.Start {
		err = set.insertInto(t.c, "turns")
	} else {
		err = set.update(t.c, "turns", "session = ? AND id = ?", h.nr, c.ID)
	}
	if err != nil || c.State == nil || *c.State != parley.TurnDone {
		return err
	}
	// Only an open turn needs its journal.
	return t.c.exec(`DELETE FROM calls WHERE session = ? AND turn = ?`, h.nr, c.ID)
}

// addTurnColumns adds the columns that a change of a turn sets. If it starts, they take the place of
// what every turn starts with.
func addTurnColumns(set *columns, at time.Time, c *parley.TurnChange) error {
	set.put("updated_at", at)
	if c.State != nil {
		set.put("state", *c.State)
	}
	if c.Attempt != nil {
		set.put("attempt", *c.Attempt)
	}
	if c.Cancel {
		set.put("cancel", true)
	}
	if c.StopReason != nil {
		set.put("stop_reason", *c.StopReason)
	}
	if c.ParkedUntil != nil {
		set.put("parked_until", *c.ParkedUntil)
	}
	if c.Prompt != nil {
		prompt, err := toJSON(*c.Prompt)
		if err != nil {
			return err
		}
		set.put("prompt", prompt)
	}
	if c.Usage != nil {
		usage, err := toJSON(*c.Usage)
		if err != nil {
			return err
		}
		set.put("usage", usage)
	}
	switch done := c.State != nil && *c.State == parley.TurnDone; {
	case done:
		set.put("opaque", nil) // only an open turn needs it
	case c.Opaque == nil:
	case len(c.Opaque) == 0:
		set.put("opaque", nil)
	default:
		set.put("opaque", c.Opaque)
	}
	return nil
}

func (t *tx) changeCall(at time.Time, h *head, c *parley.CallChange) error {
	switch turn, err := t.turnState(h, c.Turn); {
	case err != nil:
		return err
	case turn == "":
		return notFound("session %q has no turn %q", h.id, c.Turn)
	case turn == parley.TurnDone:
		return conflict("turn %q is completed; its journal is closed", c.Turn)
	}
	was, err := textOf[parley.CallState](t.c, `SELECT state FROM calls WHERE session = ? AND turn = ? AND id = ?`, h.nr, c.Turn, c.ID)
	switch {
	case err != nil:
		return err
	case was == parley.CallFinished:
		return conflict("call %q is finished", c.ID)
	case c.State == parley.CallStarted && was != "":
		return conflict("call %q was started before", c.ID)
	case c.State != parley.CallStarted && was == "":
		return notFound("turn %q has no call %q", c.Turn, c.ID)
	case c.State == parley.CallStarted:
		return t.c.exec(`INSERT INTO calls (session, turn, id, tool, state, result, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			h.nr, c.Turn, c.ID, c.Tool, c.State, orNull(string(c.Result)), at)
	}
	return t.c.exec(`UPDATE calls SET state = ?, result = ifnull(?, result) WHERE session = ? AND turn = ? AND id = ?`,
		c.State, orNull(string(c.Result)), h.nr, c.Turn, c.ID)
}

func (t *tx) changeApproval(at time.Time, h *head, c *parley.ApprovalChange) error {
	if turn, err := t.turnState(h, c.Turn); err != nil {
		return err
	} else if turn == "" {
		return notFound("session %q has no turn %q", h.id, c.Turn)
	}
	was, err := t.approvalState(h, c.Turn, c.Call)
	switch {
	case err != nil:
		return err
	case c.State == parley.ApprovalPending && was != "":
		return conflict("an approval for call %q was asked for before", c.Call)
	case c.State == parley.ApprovalPending:
		return t.c.exec(`INSERT INTO approvals (session, turn, call, tool, state, default_, deadline, requested_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			h.nr, c.Turn, c.Call, c.Tool, c.State, c.Default, c.Deadline, at)
	case was == "":
		return notFound("no approval was asked for call %q", c.Call)
	case was != parley.ApprovalPending:
		return conflict("the approval for call %q is %s already", c.Call, was)
	}
	return t.c.exec(`UPDATE approvals SET state = ?, decided_by = ?, decided_at = ? WHERE session = ? AND turn = ? AND call = ?`,
		c.State, orNull(c.By), at, h.nr, c.Turn, c.Call)
}

func (t *tx) changeNotice(at time.Time, h *head, c *parley.NoticeChange) error {
	if n := c.Add; n != nil {
		added, err := t.c.changed(`INSERT INTO notices (session, id, kind, text, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			h.nr, n.ID, n.Kind, n.Text, at)
		if err == nil && !added {
			err = conflict("session %q has a notice %q already", h.id, n.ID)
		}
		return err
	}
	gone, err := t.c.changed(`DELETE FROM notices WHERE session = ? AND id = ?`, h.nr, c.Consume)
	if err == nil && !gone {
		err = notFound("session %q has no notice %q", h.id, c.Consume)
	}
	return err
}
