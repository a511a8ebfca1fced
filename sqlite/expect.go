package sqlite

import (
	"fmt"
	"slices"

	"github.com/parley-run/parley"
)

// expect checks one expectation.
func (t *tx) expect(index int, e parley.Expectation) error {
	holds, actual, err := t.holds(e)
	if err != nil {
		return err
	}
	if holds {
		return nil
	}
	return &parley.Error{
		Code: parley.CodeConflict, Op: "commit", Message: "the store has changed",
		Err: &parley.ExpectError{Index: index, Expect: e, Actual: actual},
	}
}

// holds reports whether an expectation holds, and what is there.
func (t *tx) holds(e parley.Expectation) (holds bool, actual any, err error) {
	switch e := e.(type) {
	case parley.KeyIs:
		return t.keyIs(e)
	case parley.AliasIs:
		got, err := textOf[parley.Key](t.c, `SELECT k.key FROM aliases a JOIN keys k ON k.nr = a.key WHERE a.alias = ?`, e.Alias)
		return got == e.Key, got, err
	case parley.InputIs:
		got, err := textOf[parley.InputState](t.c, `SELECT state FROM inputs WHERE origin = ? AND id = ?`, e.Ref.Origin, e.Ref.ID)
		return got == e.State, got, err
	case parley.DeliveryIs:
		got, err := textOf[parley.DeliveryState](t.c, `SELECT state FROM outbox WHERE id = ?`, e.Delivery)
		return got == e.State, got, err
	case parley.IdentityIs:
		got, err := textOf[parley.UserID](t.c, `SELECT ifnull(user, '') FROM identities WHERE id = ?`, e.Identity)
		return got == e.User, got, err
	case parley.FenceIs:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		return h.fence == e.Fence, h.fence, nil
	case parley.StatusIn:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		return slices.Contains(e.Any, h.status), h.status, nil
	case parley.RecoveryIs:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		return h.recovery == e.State, h.recovery, nil
	case parley.EndedIs:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		return h.ended == e.Ended, h.ended, nil
	case parley.QueuedAtMost:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		return h.queued <= e.Max, h.queued, nil
	case parley.EventIntact:
		got, err := t.intact(e)
		return got, got, err
	case parley.TurnIs:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		got, err := t.turnState(h, e.Turn)
		return got == e.State, got, err
	case parley.ApprovalIs:
		h, err := t.head(e.Session)
		if err != nil {
			return false, nil, err
		}
		got, err := t.approvalState(h, e.Turn, e.Call)
		return got == e.State, got, err
	}
	return false, nil, fmt.Errorf("expectation %T is not known to this store", e)
}

// intact reports whether a session has an event that was not redacted.
func (t *tx) intact(e parley.EventIntact) (bool, error) {
	h, err := t.head(e.Session)
	if err != nil {
		return false, err
	}
	list, err := segments(t.c, h.nr, h.parentSeq, h.lastSeq)
	if err != nil {
		return false, err
	}
	id, ok := eventAt(list, e.Seq)
	if !ok {
		return false, nil
	}
	return t.c.exists(`SELECT 1 FROM events WHERE id = ? AND body <> ?`, id, string(parley.TombstoneData))
}

// keyIs mostly needs no look at the keys: what the session's own key leads to
// came with its head.
func (t *tx) keyIs(e parley.KeyIs) (holds bool, actual any, err error) {
	if e.Session != "" {
		h, err := t.head(e.Session)
		if err == nil && h.key == e.Key && h.current {
			return true, e.Session, nil
		}
		if err != nil && !refused(err) {
			return false, nil, err
		}
	}
	got, err := textOf[parley.SessionID](t.c, `SELECT ifnull(current, '') FROM keys WHERE key = ?`, e.Key)
	return got == e.Session, got, err
}

// textOf gives the first column of the first row, or "" if there is none.
func textOf[S ~string](c *conn, sql string, args ...any) (S, error) {
	var got S
	_, err := c.one(func(r row) { got = S(r.text(0)) }, sql, args...)
	return got, err
}

func (t *tx) turnState(h *head, id parley.TurnID) (parley.TurnState, error) {
	return textOf[parley.TurnState](t.c, `SELECT state FROM turns WHERE session = ? AND id = ?`, h.nr, id)
}

func (t *tx) approvalState(h *head, turn parley.TurnID, call parley.CallID) (parley.ApprovalState, error) {
	return textOf[parley.ApprovalState](t.c,
		`SELECT state FROM approvals WHERE session = ? AND turn = ? AND call = ?`, h.nr, turn, call)
}
