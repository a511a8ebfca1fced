package sqlite

import (
	"context"
	"fmt"

	"github.com/parley-run/parley"
)

// Session implements [parley.SessionReader].
func (s *Store) Session(ctx context.Context, v parley.Visibility, id parley.SessionID) (parley.Session, error) {
	var found parley.Session
	err := s.read(ctx, "read session", func(c *conn) error {
		at, err := see(c, v, id)
		if err != nil {
			return err
		}
		found, err = loadSession(c, at.nr)
		return err
	})
	return found, err
}

// Participants implements [parley.SessionReader].
func (s *Store) Participants(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.IdentityID, error) {
	var list []parley.IdentityID
	err := s.read(ctx, "read participants", func(c *conn) error {
		at, err := see(c, v, id)
		if err != nil {
			return err
		}
		return c.each(func(r row) error {
			list = append(list, parley.IdentityID(r.text(0)))
			return nil
		}, `SELECT identity FROM participants WHERE session = ? ORDER BY identity`, at.nr)
	})
	return list, err
}

// loadSession reads a whole session row.
func loadSession(c *conn, nr int64) (parley.Session, error) {
	var s parley.Session
	var source, metadata, config, chat string
	found, err := c.one(func(r row) {
		s.ID, s.Key, s.Agent.Name = parley.SessionID(r.text(0)), parley.Key(r.text(1)), r.text(2)
		config, source, s.Type = r.text(3), r.text(4), parley.SessionType(r.text(5))
		if at := r.time(6); !at.IsZero() {
			s.Ended = &parley.Ending{At: at, Reason: r.text(7)}
		}
		s.Recovery = parley.Recovery{
			State: parley.RecoveryState(r.text(8)), Reason: r.text(9), At: r.time(10), Strikes: int(r.int(11)),
		}
		s.Title = parley.Title{Text: r.text(12), Seq: r.seq(13)}
		s.Description, s.Busy, metadata = r.text(14), parley.BusyMode(r.text(15)), r.text(16)
		if !r.isNull(17) {
			s.Parent = &parley.ForkPoint{Session: parley.SessionID(r.text(17)), Seq: r.seq(18)}
		}
		s.CreatedAt, s.Preview = r.time(19), r.text(20)
		s.Status, s.Fence, s.Queued, s.LastSeq = parley.Status(r.text(21)), parley.Fence(r.int(22)), int(r.int(23)), r.seq(24)
		s.UpdatedAt, s.Counters = r.time(25), readCounters(r, 26)
		chat = r.text(34)
	}, `SELECT s.id, ifnull(s.key, ''), a.agent, ifnull(a.config, ''), s.source, s.type, s.ended_at, s.ended_reason,
			h.recovery, s.recovery_reason, s.recovery_at, s.strikes, s.title, s.title_seq, s.description, s.busy, ifnull(s.metadata, ''),
			s.parent, h.parent_seq, s.created_at, h.preview,
			h.status, h.fence, h.queued, h.last_seq, h.updated_at, `+counterColumns+`, ifnull(s.chat, '')
		FROM sessions s JOIN heads h ON h.nr = s.nr JOIN snapshots a ON a.nr = s.snapshot WHERE s.nr = ?`, nr)
	if err != nil {
		return s, err
	}
	if !found {
		return s, fmt.Errorf("session number %d has no row, or its parts are missing", nr)
	}
	if config != "" {
		s.Agent.Config = []byte(config)
	}
	if err := fromJSON(source, &s.Source); err != nil {
		return s, err
	}
	if err := fromJSON(chat, &s.Chat); err != nil {
		return s, err
	}
	return s, fromJSON(metadata, &s.Metadata)
}
