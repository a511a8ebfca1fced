package sqlite

import (
	"bytes"
	"time"

	"github.com/parley-run/parley"
)

// tx is one batch inside a transaction.
type tx struct {
	c      *conn
	pos    uint64                      // of the last event
	wrote  bool                        // there is something to commit
	scrub  bool                        // bodies were taken away
	forget bool                        // what is known of other sessions may be wrong now
	unused []parley.Key                // keys that may have lost their last session
	blobs  map[parley.BlobHandle]int64 // numbers of those that the batch's media name
	heads  []*head
	known  knownHeads
	result *parley.Result
}

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

// headEdits are the changes to a head that most batches do not make, until they are saved.
type headEdits struct {
	status     bool
	counters   bool
	preview    string
	previewSeq uint64 // 0: the preview stays
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

// apply carries the batch out, in the order [parley.Batch] promises. That an
// input is there already is looked up by findDuplicate.
func (p *prepared) apply(t *tx) error {
	for i, e := range p.Expect {
		if err := t.expect(i, e); err != nil {
			return err
		}
	}
	t.wrote = true
	if err := t.applyBlobs(p.At, p.Blobs); err != nil {
		return err
	}
	if err := t.findBlobs(p.blobs); err != nil {
		return err
	}
	before := t.pos
	t.result.Sessions = make([]parley.SessionResult, len(p.changes))
	for i := range p.changes {
		if err := t.applySession(p.At, &p.changes[i], &t.result.Sessions[i]); err != nil {
			return err
		}
	}
	if t.pos > before {
		t.result.Pos = t.pos
	}
	for i := range p.Keys {
		if err := t.pointKey(&p.Keys[i]); err != nil {
			return err
		}
	}
	for _, a := range p.Aliases {
		if err := t.claimAlias(a); err != nil {
			return err
		}
	}
	for _, key := range t.unused {
		if err := t.dropKey(key); err != nil {
			return err
		}
	}
	if err := t.applyPeople(p.Batch); err != nil {
		return err
	}
	return t.applyCredentials(p.Batch)
}

// findDuplicate looks for an admitted input that is there already, and makes it
// the result. The same name with other content is a conflict.
func (p *prepared) findDuplicate(t *tx) (found bool, err error) {
	for i := range p.changes {
		for j := range p.changes[i].inputs {
			ref := p.changes[i].Admit[j].Ref
			var hash []byte
			found, err := t.c.one(func(r row) { hash = r.blob(0) },
				`SELECT hash FROM inputs WHERE origin = ? AND id = ?`, ref.Origin, ref.ID)
			if err != nil {
				return false, err
			}
			if !found {
				continue
			}
			if len(hash) > 0 && !bytes.Equal(hash, p.changes[i].inputs[j].hash) {
				return false, conflict("input %q of %q was sent before with other content; a new message needs a new id", ref.ID, ref.Origin)
			}
			in, err := readInput(t.c, ref)
			*t.result = parley.Result{Duplicate: &in}
			t.wrote = false
			return true, err
		}
	}
	return false, nil
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

// headUpdates are the statements that save a head, by what was edited: 1 for the status, 2
// for the preview, 4 for the counters. Each begins and ends with the same parameters.
var headUpdates = func() (list [8]string) {
	for i := range list {
		sql := `UPDATE heads SET fence = ?, queued = ?, last_seq = ?, updated_at = ?`
		if i&1 != 0 {
			sql += `, status = ?, hidden = ?`
		}
		if i&2 != 0 {
			sql += `, preview_seq = ?, preview = ?`
		}
		if i&4 != 0 {
			sql += `, messages = ?, turns = ?, input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
				cost_microusd = ?, last_prompt_tokens = ?`
		}
		list[i] = sql + ` WHERE nr = ?`
	}
	return list
}()

// saveHead writes the changing part of a session, with one statement: each has its price,
// and one that names a column of an index writes to the index, too.
func (t *tx) saveHead(h *head) error {
	e := h.edits
	h.edits = headEdits{}
	which := 0
	args := []any{h.fence, h.queued, h.lastSeq, h.updatedAt}
	if e.status {
		which |= 1
		args = append(args, h.status, h.status == parley.StatusInactive)
	}
	if e.previewSeq > 0 {
		which |= 2
		args = append(args, e.previewSeq, e.preview)
	}
	if e.counters {
		which |= 4
		n := &h.counters
		args = append(args, n.Messages, n.Turns, n.InputTokens, n.OutputTokens, n.CacheReadTokens, n.CacheWriteTokens, n.CostMicroUSD, n.LastPromptTokens)
	}
	return t.c.exec(headUpdates[which], append(args, h.nr)...)
}
