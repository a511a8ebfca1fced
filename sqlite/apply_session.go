package sqlite

import (
	"crypto/sha256"
	"time"

	"github.com/parley-run/parley"
)

// applySession carries out one session's part of a batch, in the order of the
// fields of [parley.SessionChange].
func (t *tx) applySession(at time.Time, c *change, result *parley.SessionResult) error {
	if c.Create != nil {
		if err := t.create(at, c.Session, c.Create); err != nil {
			return err
		}
	}
	h, err := t.head(c.Session)
	if err != nil {
		return err
	}
	if c.Claim {
		h.fence++
	}
	if err := t.patch(h, &c.Patch); err != nil {
		return err
	}
	result.FirstSeq = h.lastSeq + 1
	counters := h.counters
	if err := t.appendEvents(at, h, c); err != nil {
		return err
	}
	result.LastSeq, result.Fence = h.lastSeq, h.fence
	if err := t.applyWork(at, h, c.SessionChange); err != nil {
		return err
	}
	h.edits.countersChanged = h.counters != counters
	if err := t.saveHead(h); err != nil {
		return err
	}
	for _, seq := range c.Redact {
		if err := t.redact(at, h, seq); err != nil {
			return err
		}
	}
	if c.Delete {
		return t.delete(at, h)
	}
	return nil
}

func (t *tx) create(at time.Time, id parley.SessionID, n *parley.NewSession) error {
	if taken, err := t.c.exists(`SELECT 1 FROM sessions WHERE id = ?`, id); err != nil {
		return err
	} else if taken {
		return conflict("there is a session %q already", id)
	}
	snapshot, err := t.snapshot(&n.Agent)
	if err != nil {
		return err
	}
	if n.Key != "" {
		if _, err := t.ensureKey(n.Key); err != nil {
			return err
		}
	}
	source, err := toJSON(n.Source)
	if err != nil {
		return err
	}
	metadata, err := encodeMetadata(n.Metadata)
	if err != nil {
		return err
	}
	var parent *head
	var parentID any
	var parentSeq uint64
	if n.Fork != nil {
		if parent, err = t.head(n.Fork.Session); err != nil {
			return err
		}
		if n.Fork.Seq > parent.lastSeq {
			return invalid("session %q cannot be forked at %d; it has %d events", parent.id, n.Fork.Seq, parent.lastSeq)
		}
		parentID, parentSeq = string(parent.id), n.Fork.Seq
	}
	chat, err := encodeChat(n.Chat)
	if err != nil {
		return err
	}
	err = t.c.exec(`INSERT INTO sessions (id, key, snapshot, source, type, title, title_seq, metadata, chat, parent, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, orNull(n.Key), snapshot, source, n.Type, n.Title.Text, n.Title.Seq, metadata, chat, parentID, at)
	if err != nil {
		return err
	}
	nr := t.c.db.LastInsertRowID()
	err = t.c.exec(`INSERT INTO heads (nr, parent_seq, recovery, status, hidden, fence, queued, last_seq, messages, turns,
		input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_microusd, last_prompt_tokens, updated_at)
		VALUES (?1, ?2, ?3, ?4, 0, 0, 0, ?2, 0, 0, 0, 0, 0, 0, 0, 0, ?5)`,
		nr, parentSeq, parley.RecoveryNone, parley.StatusIdle, at)
	if err != nil || parent == nil {
		return err
	}
	return t.shareLogs(nr, parent, parentSeq)
}

// snapshot stores an agent's configuration once, however many sessions use it.
func (t *tx) snapshot(a *parley.AgentSnapshot) (nr int64, err error) {
	h := sha256.New()
	h.Write([]byte(a.Name))
	h.Write([]byte{0})
	h.Write(a.Config)
	hash := h.Sum(nil)
	found, err := t.c.one(func(r row) { nr = r.int(0) }, `SELECT nr FROM snapshots WHERE hash = ?`, hash)
	if err != nil || found {
		return nr, err
	}
	err = t.c.exec(`INSERT INTO snapshots (agent, hash, config) VALUES (?, ?, ?)`, a.Name, hash, orNull(string(a.Config)))
	return t.c.db.LastInsertRowID(), err
}

func encodeMetadata(m map[string]string) (any, error) {
	if len(m) == 0 {
		return nil, nil
	}
	return toJSON(m)
}

func encodeChat(chat *parley.Target) (any, error) {
	if chat == nil {
		return nil, nil
	}
	return toJSON(*chat)
}

// patch changes the seldom changing part of a session, and its status.
func (t *tx) patch(h *head, p *parley.SessionPatch) error {
	if p.Key != nil && *p.Key != h.key {
		if err := t.moveToKey(h, *p.Key); err != nil {
			return err
		}
	}
	if p.Status != nil && *p.Status != h.status {
		h.status, h.edits.statusChanged = *p.Status, true
	}
	if p.Ended != nil {
		h.ended = !p.Ended.At.IsZero()
		if err := t.c.exec(`UPDATE sessions SET ended_at = ?, ended_reason = ? WHERE nr = ?`,
			p.Ended.At, p.Ended.Reason, h.nr); err != nil {
			return err
		}
	}
	if r := p.Recovery; r != nil {
		h.recovery = r.State
		if err := t.c.exec(`UPDATE heads SET recovery = ? WHERE nr = ?`, r.State, h.nr); err != nil {
			return err
		}
		if err := t.c.exec(`UPDATE sessions SET recovery_reason = ?, recovery_at = ?, strikes = ? WHERE nr = ?`,
			r.Reason, r.At, r.Strikes, h.nr); err != nil {
			return err
		}
	}
	if p.Title != nil {
		if err := t.c.exec(`UPDATE sessions SET title = ?, title_seq = ? WHERE nr = ?`, p.Title.Text, p.Title.Seq, h.nr); err != nil {
			return err
		}
	}
	if p.Description != nil {
		if err := t.c.exec(`UPDATE sessions SET description = ? WHERE nr = ?`, *p.Description, h.nr); err != nil {
			return err
		}
	}
	if p.Busy != nil {
		if err := t.c.exec(`UPDATE sessions SET busy = ? WHERE nr = ?`, *p.Busy, h.nr); err != nil {
			return err
		}
	}
	if p.Chat != nil {
		chat, err := encodeChat(p.Chat)
		if err != nil {
			return err
		}
		if err := t.c.exec(`UPDATE sessions SET chat = ? WHERE nr = ?`, chat, h.nr); err != nil {
			return err
		}
	}
	return t.mergeMetadata(h, p.Metadata)
}

// moveToKey gives a session another key. The old one goes if nobody has it any
// more.
func (t *tx) moveToKey(h *head, key parley.Key) error {
	if _, err := t.ensureKey(key); err != nil {
		return err
	}
	if h.key != "" {
		t.unused = append(t.unused, h.key)
	}
	t.forget = true
	h.key, h.current = key, false
	return t.c.exec(`UPDATE sessions SET key = ? WHERE nr = ?`, key, h.nr)
}

func (t *tx) mergeMetadata(h *head, changes map[string]string) error {
	if len(changes) == 0 {
		return nil
	}
	text, err := textOf[string](t.c, `SELECT ifnull(metadata, '') FROM sessions WHERE nr = ?`, h.nr)
	if err != nil {
		return err
	}
	merged := map[string]string{}
	if err := fromJSON(text, &merged); err != nil {
		return err
	}
	size := 0
	for k, v := range changes {
		if v == "" {
			delete(merged, k)
			continue
		}
		merged[k] = v
	}
	for k, v := range merged {
		size += len(k) + len(v)
	}
	if size > parley.MaxMetadataBytes {
		return parley.Errorf(parley.CodeTooLarge, "metadata would be %d bytes long; at most %d are allowed", size, parley.MaxMetadataBytes)
	}
	metadata, err := encodeMetadata(merged)
	if err != nil {
		return err
	}
	return t.c.exec(`UPDATE sessions SET metadata = ? WHERE nr = ?`, metadata, h.nr)
}
