package sqlite

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

const inputColumns = `i.origin, i.id, i.kind, i.state, i.user, i.role, i.via, e.identity, i.busy, i.decision, i.not_before,
	i.turn, i.seq, i.shown, i.at, ifnull(i.gone, s.id), e.body`

// inputTables joins an input with its session and its content. The content of a
// session that is gone is not read, even where a fork still shows it.
const inputTables = `inputs i LEFT JOIN sessions s ON s.nr = i.session AND i.gone IS NULL
	LEFT JOIN events e ON e.id = (i.session << 32 | i.seq) AND i.gone IS NULL`

// decodeInput reads inputColumns.
func decodeInput(r row) (in parley.Input, err error) {
	in = parley.Input{
		Ref: parley.InputRef{Origin: r.text(0), ID: r.text(1)}, Kind: parley.InputKind(r.text(2)), State: parley.InputState(r.text(3)),
		Principal: parley.Principal{
			User: parley.UserID(r.text(4)), Role: parley.Role(r.text(5)), Via: r.text(6), Identity: parley.IdentityID(r.text(7)),
		},
		Busy: parley.BusyMode(r.text(8)), Decision: r.text(9), NotBefore: r.time(10), Turn: parley.TurnID(r.text(11)),
		Seq: r.seq(12), Shown: r.seq(13), At: r.time(14), Session: parley.SessionID(r.text(15)),
	}
	if r.isNull(16) {
		return in, nil
	}
	body, err := parley.DecodeBody(parley.EventInput, []byte(r.text(16)))
	if err != nil {
		return in, err
	}
	if a, ok := body.(*parley.Admitted); ok {
		in.Parts, in.Sender, in.Mentioned, in.ReplyTo, in.MessageID, in.Target = a.Parts, a.Sender, a.Mentioned, a.ReplyTo, a.MessageID, a.Target
	}
	return in, nil
}

// readInput reads an input whoever asks.
func readInput(c *conn, ref parley.InputRef) (in parley.Input, err error) {
	var decodeErr error
	found, err := c.one(func(r row) { in, decodeErr = decodeInput(r) },
		`SELECT `+inputColumns+` FROM `+inputTables+` WHERE i.origin = ? AND i.id = ?`, ref.Origin, ref.ID)
	if err == nil {
		err = decodeErr
	}
	if err == nil && !found {
		err = notFound("there is no input %q of %q", ref.ID, ref.Origin)
	}
	return in, err
}

// Input implements [parley.WorkReader].
func (s *Store) Input(ctx context.Context, v parley.Visibility, ref parley.InputRef) (parley.Input, error) {
	var in parley.Input
	err := s.read(ctx, "read input", func(c *conn) (err error) {
		if in, err = readInput(c, ref); err != nil {
			return err
		}
		if v.All && v.Allows(in.Session, nil) {
			return nil
		}
		// By number: another session may have the id of one that is gone.
		condition, args := visible(v)
		allowed, err := c.exists(`SELECT 1 FROM inputs i JOIN sessions s ON s.nr = i.session WHERE i.origin = ? AND i.id = ? AND `+condition,
			slices.Concat([]any{ref.Origin, ref.ID}, args)...)
		if err == nil && !allowed {
			err = notFound("there is no input %q of %q", ref.ID, ref.Origin)
		}
		return err
	})
	if err != nil {
		return parley.Input{}, err
	}
	return in, nil
}

// OpenInputs implements [parley.WorkReader].
func (s *Store) OpenInputs(ctx context.Context, v parley.Visibility, id parley.SessionID, after parley.InputRef, limit int) ([]parley.Input, error) {
	var list []parley.Input
	err := s.read(ctx, "read open inputs", func(c *conn) error {
		condition, args, err := visibleIn(c, v, id)
		if err != nil {
			return err
		}
		var session, seq int64
		if after != (parley.InputRef{}) {
			found, err := c.one(func(r row) { session, seq = r.int(0), r.int(1) },
				`SELECT i.session, i.seq FROM inputs i JOIN sessions s ON s.nr = i.session WHERE i.origin = ? AND i.id = ? AND `+condition,
				slices.Concat([]any{after.Origin, after.ID}, args)...)
			if err != nil {
				return err
			}
			if !found {
				return notFound("there is no input %q of %q", after.ID, after.Origin)
			}
		}
		return c.each(func(r row) error {
			in, err := decodeInput(r)
			list = append(list, in)
			return err
		}, `SELECT `+inputColumns+` FROM `+inputTables+` WHERE i.state IN ('queued', 'running') AND (i.session, i.seq) > (?, ?) AND `+condition+
			` ORDER BY i.session, i.seq LIMIT ?`, slices.Concat([]any{session, seq}, args, []any{parley.PageSize(limit)})...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

const turnColumns = `t.id, s.id, t.state, t.attempt, t.cancel, t.stop_reason, ifnull(t.prompt, ''), ifnull(t.usage, ''), t.opaque,
	t.parked_until, t.started_at, t.updated_at`

func decodeTurn(r row) (t parley.Turn, err error) {
	t = parley.Turn{
		ID: parley.TurnID(r.text(0)), Session: parley.SessionID(r.text(1)), State: parley.TurnState(r.text(2)), Attempt: int(r.int(3)),
		CancelRequested: r.bool(4), StopReason: parley.StopReason(r.text(5)), Opaque: r.blob(8),
		ParkedUntil: r.time(9), StartedAt: r.time(10), UpdatedAt: r.time(11),
	}
	if err := fromJSON(r.text(6), &t.Prompt); err != nil {
		return t, err
	}
	return t, fromJSON(r.text(7), &t.Usage)
}

// turns reads the turns that a condition chooses, going through the given index.
func (s *Store) turns(ctx context.Context, v parley.Visibility, id parley.SessionID, index, which string, args ...any) ([]parley.Turn, error) {
	if id == "" && v.Empty() {
		return nil, nil
	}
	var list []parley.Turn
	err := s.read(ctx, "read turns", func(c *conn) error {
		condition, scopeArgs, err := visibleIn(c, v, id)
		if err != nil {
			return err
		}
		return c.each(func(r row) error {
			t, err := decodeTurn(r)
			list = append(list, t)
			return err
		}, `SELECT `+turnColumns+` FROM turns t `+index+` CROSS JOIN sessions s ON s.nr = t.session WHERE `+which+` AND `+condition+
			` ORDER BY t.session, t.id`, slices.Concat(args, scopeArgs)...)
	})
	return list, err
}

// Turn implements [parley.WorkReader].
func (s *Store) Turn(ctx context.Context, v parley.Visibility, id parley.SessionID, turn parley.TurnID) (parley.Turn, error) {
	if id == "" {
		return parley.Turn{}, notFound("there is no session %q", id)
	}
	list, err := s.turns(ctx, v, id, ``, `t.id = ?`, turn)
	switch {
	case err != nil:
		return parley.Turn{}, err
	case len(list) == 0:
		return parley.Turn{}, notFound("session %q has no turn %q", id, turn)
	}
	return list[0], nil
}

// OpenTurns implements [parley.WorkReader].
func (s *Store) OpenTurns(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Turn, error) {
	return s.turns(ctx, v, id, `INDEXED BY turns_open`, `t.state <> 'completed'`)
}

// Calls implements [parley.WorkReader].
func (s *Store) Calls(ctx context.Context, v parley.Visibility, id parley.SessionID, turn parley.TurnID) ([]parley.Call, error) {
	var list []parley.Call
	err := s.read(ctx, "read calls", func(c *conn) error {
		at, err := see(c, v, id)
		if err != nil {
			return err
		}
		if known, err := c.exists(`SELECT 1 FROM turns WHERE session = ? AND id = ?`, at.nr, turn); err != nil {
			return err
		} else if !known {
			return notFound("session %q has no turn %q", id, turn)
		}
		return c.each(func(r row) error {
			list = append(list, parley.Call{
				Turn: turn, ID: parley.CallID(r.text(0)), Tool: r.text(1), State: parley.CallState(r.text(2)),
				Result: r.blob(3), StartedAt: r.time(4),
			})
			return nil
		}, `SELECT id, tool, state, result, started_at FROM calls WHERE session = ? AND turn = ? ORDER BY nr`, at.nr, turn)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Approvals implements [parley.WorkReader].
func (s *Store) Approvals(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Approval, error) {
	var list []parley.Approval
	err := s.read(ctx, "read approvals", func(c *conn) error {
		condition, args, err := visibleIn(c, v, id)
		if err != nil {
			return err
		}
		if id == "" {
			condition += ` AND a.state = 'pending'`
		}
		return c.each(func(r row) error {
			list = append(list, parley.Approval{
				Session: parley.SessionID(r.text(0)), Turn: parley.TurnID(r.text(1)), Call: parley.CallID(r.text(2)), Tool: r.text(3),
				State: parley.ApprovalState(r.text(4)), Default: parley.ApprovalState(r.text(5)), Deadline: r.time(6),
				DecidedBy: parley.IdentityID(r.text(7)), DecidedAt: r.time(8), RequestedAt: r.time(9),
			})
			return nil
		}, `SELECT s.id, a.turn, a.call, a.tool, a.state, a.default_, a.deadline, ifnull(a.decided_by, ''), a.decided_at, a.requested_at
			FROM approvals a JOIN sessions s ON s.nr = a.session WHERE `+condition+` ORDER BY a.nr`, args...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Notices implements [parley.WorkReader].
func (s *Store) Notices(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Notice, error) {
	var list []parley.Notice
	err := s.read(ctx, "read notices", func(c *conn) error {
		at, err := see(c, v, id)
		if err != nil {
			return err
		}
		return c.each(func(r row) error {
			list = append(list, parley.Notice{
				ID: parley.NoticeID(r.text(0)), Session: id, Kind: r.text(1), Text: r.text(2), CreatedAt: r.time(3),
			})
			return nil
		}, `SELECT id, kind, text, created_at FROM notices WHERE session = ? ORDER BY nr`, at.nr)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
