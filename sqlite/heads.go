package sqlite

import (
	"errors"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// head is what a batch knows of a session: as it was when first looked at, and
// then as the batch changes it.
type head struct {
	nr        int64
	id        parley.SessionID
	key       parley.Key
	current   bool // the key leads to this session
	parentSeq uint64
	recovery  parley.RecoveryState
	ended     bool

	status    parley.Status
	fence     parley.Fence
	queued    int
	lastSeq   uint64
	counters  parley.Counters
	updatedAt time.Time

	edits headEdits
}

// headEdits are changes to a head that are not saved yet, of those that most batches do not make.
type headEdits struct {
	statusChanged   bool
	countersChanged bool
	preview         string
	previewSeq      uint64 // 0: the preview stays
}

// knownHeads are the heads of sessions that were written to lately, so that the
// next commit to one of them need not look it up. The writer is the only one who
// changes them. When a transaction is taken back, they are forgotten.
type knownHeads map[parley.SessionID]head

// maxKnown bounds what is remembered: a busy machine's running sessions.
const maxKnown = 1024

// remember takes over what a batch that was applied knows.
func (k knownHeads) remember(t *tx) {
	if t.forget || len(k)+len(t.heads) > maxKnown {
		clear(k)
	}
	if !t.forget {
		for _, h := range t.heads {
			k[h.id] = *h
		}
	}
}

// head gives what the batch knows of a session.
func (t *tx) head(id parley.SessionID) (*head, error) {
	for _, h := range t.heads {
		if h.id == id {
			return h, nil
		}
	}
	h := &head{id: id}
	if known, ok := t.known[id]; ok && !t.forget {
		*h = known
		t.heads = append(t.heads, h)
		return h, nil
	}
	found, err := t.c.one(func(r row) {
		h.nr, h.key, h.parentSeq = r.int(0), parley.Key(r.text(1)), r.seq(2)
		h.recovery = parley.RecoveryState(r.text(3))
		h.status, h.fence, h.queued, h.lastSeq = parley.Status(r.text(4)), parley.Fence(r.int(5)), int(r.int(6)), r.seq(7)
		h.counters = readCounters(r, 8)
		h.updatedAt = r.time(16)
		h.current, h.ended = r.text(17) == string(id), r.bool(18)
	}, `SELECT h.nr, ifnull(s.key, ''), h.parent_seq, h.recovery, h.status, h.fence, h.queued, h.last_seq, `+counterColumns+`, h.updated_at, ifnull(k.current, ''), s.ended_at IS NOT NULL
		FROM sessions s JOIN heads h ON h.nr = s.nr LEFT JOIN keys k ON k.key = s.key WHERE s.id = ?`, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, notFound("there is no session %q", id)
	}
	t.heads = append(t.heads, h)
	return h, nil
}

const counterColumns = `h.messages, h.turns, h.input_tokens, h.output_tokens, h.cache_read_tokens, h.cache_write_tokens,
	h.cost_microusd, h.last_prompt_tokens`

// readCounters reads counterColumns from column i on.
func readCounters(r row, i int) parley.Counters {
	return parley.Counters{
		Messages: r.int(i), Turns: r.int(i + 1),
		Usage: parley.Usage{
			InputTokens: r.int(i + 2), OutputTokens: r.int(i + 3),
			CacheReadTokens: r.int(i + 4), CacheWriteTokens: r.int(i + 5), CostMicroUSD: r.int(i + 6),
		},
		LastPromptTokens: r.int(i + 7),
	}
}

// What was edited, as bits.
const (
	editedStatus = 1 << iota
	editedPreview
	editedCounters
	editCombinations
)

// headUpdates are the statements that save a head, by what was edited. Each begins and ends with
// the same parameters. They are made once, because every commit needs one.
var headUpdates = func() (list [editCombinations]string) {
	for edited := range list {
		sql := `UPDATE heads SET fence = ?, queued = ?, last_seq = ?, updated_at = ?`
		if edited&editedStatus != 0 {
			sql += `, status = ?, hidden = ?`
		}
		if edited&editedPreview != 0 {
			sql += `, preview_seq = ?, preview = ?`
		}
		if edited&editedCounters != 0 {
			sql += `, messages = ?, turns = ?, input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
				cost_microusd = ?, last_prompt_tokens = ?`
		}
		list[edited] = sql + ` WHERE nr = ?`
	}
	return list
}()

// saveHead writes the changing part of a session. It is one statement, because each that names a
// column of the index for lists writes to that index as well.
func (t *tx) saveHead(h *head) error {
	e := h.edits
	h.edits = headEdits{}
	edited := 0
	args := []any{h.fence, h.queued, h.lastSeq, h.updatedAt}
	if e.statusChanged {
		edited |= editedStatus
		args = append(args, h.status, h.status == parley.StatusInactive)
	}
	if e.previewSeq > 0 {
		edited |= editedPreview
		args = append(args, e.previewSeq, e.preview)
	}
	if e.countersChanged {
		edited |= editedCounters
		n := &h.counters
		args = append(args, n.Messages, n.Turns, n.InputTokens, n.OutputTokens, n.CacheReadTokens, n.CacheWriteTokens, n.CostMicroUSD, n.LastPromptTokens)
	}
	return t.c.exec(headUpdates[edited], append(args, h.nr)...)
}

// setPreview writes a preview at once, also to the head of another session than those of the batch.
func (t *tx) setPreview(session int64, seq uint64, text string) error {
	return t.c.exec(`UPDATE heads SET preview_seq = ?, preview = ? WHERE nr = ?`, seq, text, session)
}

// resetPreview sets a session's preview to that of the last message at or before
// seq that has one, and removes it if there is none. It walks back from there,
// so it takes as long as the last message is away.
func (t *tx) resetPreview(session int64, list []segment, seq uint64) error {
	for _, s := range slices.Backward(list) {
		last := min(s.last, seq)
		if s.first > last {
			continue
		}
		var at uint64
		var text string
		err := t.c.each(func(r row) error {
			body, err := parley.DecodeBody(parley.EventMessage, []byte(r.text(1)))
			if err != nil {
				return err
			}
			m, ok := body.(*parley.Message)
			if !ok {
				return nil
			}
			if text = m.Preview(); text == "" {
				return nil
			}
			at = seqOf(r.int(0))
			return errStop
		}, `SELECT id, body FROM events WHERE id BETWEEN ? AND ? AND type = 'session:message' ORDER BY id DESC`,
			eventID(s.log, s.first), eventID(s.log, last))
		switch {
		case errors.Is(err, errStop):
			return t.setPreview(session, at, text)
		case err != nil:
			return err
		}
	}
	return t.setPreview(session, 0, "")
}
