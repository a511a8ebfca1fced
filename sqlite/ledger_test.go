package sqlite_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// ledger remembers what was acknowledged over the lives of one store.
type ledger struct {
	mu    sync.Mutex
	acked map[string]ack
	// last is the highest number acknowledged to each writer since the last
	// check: only the batch after it can have been under way.
	last map[string]int
	// refused are batches that failed without a doubt: they must not be there.
	refused map[string]bool
	// redacted are sessions outside the load whose first event was taken away.
	redacted map[parley.SessionID]bool
	// key is that of the store, if it is encrypted.
	key []byte
	// inCrowd counts those that were acknowledged in a crowd.
	inCrowd int
	// compared are batches whose rows were compared once; they do not change.
	compared map[string]bool
}

func newLedger() *ledger {
	return &ledger{
		acked: map[string]ack{}, last: map[string]int{}, refused: map[string]bool{},
		redacted: map[parley.SessionID]bool{}, compared: map[string]bool{},
	}
}

func (l *ledger) add(a ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[a.Name] = a
	if a.InCrowd {
		l.inCrowd++
	}
	delete(l.refused, a.Name)
	if i := strings.LastIndexByte(a.Name, '.'); i > 0 {
		n, _ := strconv.Atoi(a.Name[i+1:])
		l.last[a.Name[:i]] = max(n, l.last[a.Name[:i]])
	}
}

func (l *ledger) clone() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &ledger{
		acked: maps.Clone(l.acked), last: maps.Clone(l.last), refused: maps.Clone(l.refused),
		redacted: maps.Clone(l.redacted), compared: maps.Clone(l.compared), key: l.key,
	}
}

// begin says that writers start to commit.
func (l *ledger) begin(life, writers int) {
	for w := range writers {
		l.last[fmt.Sprintf("%d.%d", life, w)] = 0
	}
}

// stored is a batch as the log shows it: per session its events, with their
// first and last seq.
type stored map[parley.SessionID]*storedPart

type storedPart struct {
	events      []string
	first, last uint64
}

// check opens the store of a folder as a program would after a crash and
// compares it with the ledger: every acknowledged batch is there, every other
// one whole or absent, no gaps, counters as the log says, and the store works.
// life names the batches it adds.
func (l *ledger) check(ctx context.Context, dir string, life int, cfg sqlite.Config) (err error) {
	path := filepath.Join(dir, "store.db")
	cfg.Key = l.key
	s, err := sqlite.Open(ctx, path, cfg)
	if err != nil {
		return fmt.Errorf("open what is left: %w", err)
	}
	defer func() {
		err = errors.Join(err, s.Close())
		if err == nil && l.key == nil {
			err = integrity(path)
		}
	}()
	batches, tallies, err := readLog(ctx, s)
	if err != nil {
		return err
	}
	if err := l.compareLog(batches); err != nil {
		return err
	}
	queued := map[parley.SessionID]int{}
	for name := range batches {
		for _, p := range partsOf(name) {
			if !p.turn {
				queued[p.session] += p.inputs
			}
		}
	}
	if err := compareSessions(ctx, s, tallies, queued); err != nil {
		return err
	}
	if err := l.compareRows(ctx, s, batches); err != nil {
		return err
	}
	for id := range l.redacted {
		events, err := s.Events(ctx, parley.SeeAll(), id, parley.EventQuery{})
		if err != nil || len(events) != 1 || !events[0].Redacted() {
			return fmt.Errorf("session %s was redacted, but has %v, %w", id, events, err)
		}
	}
	l.last = map[string]int{}
	return runLoad(ctx, s, life, 1, 1, l.add)
}

// sessionTally is what the log says about a session.
type sessionTally struct {
	parley.Tally
	seq uint64
}

// readLog reads all events, checks their numbers and sorts them by batch.
func readLog(ctx context.Context, s parley.Store) (map[string]stored, map[parley.SessionID]*sessionTally, error) {
	batches, tallies := map[string]stored{}, map[parley.SessionID]*sessionTally{}
	last := uint64(0)
	for after := uint64(0); ; {
		events, next, err := s.Log(ctx, parley.SeeAll(), after, parley.MaxPageSize)
		if err != nil {
			return nil, nil, fmt.Errorf("read the log: %w", err)
		}
		for _, e := range events {
			if e.Pos <= last {
				return nil, nil, fmt.Errorf("pos %d comes after pos %d", e.Pos, last)
			}
			last = e.Pos
			t := tallies[e.Session]
			if t == nil {
				t = &sessionTally{}
				tallies[e.Session] = t
			}
			if e.Seq != t.seq+1 {
				return nil, nil, fmt.Errorf("session %s goes from seq %d to %d", e.Session, t.seq, e.Seq)
			}
			t.seq = e.Seq
			body, err := e.Decode()
			if err != nil {
				return nil, nil, fmt.Errorf("event %d of %s: %w", e.Seq, e.Session, err)
			}
			t.Add(e.Seq, e.At, body)
			note(batches, e, body)
		}
		if next == after {
			return batches, tallies, nil
		}
		after = next
	}
}

// note puts an event to its batch, which stands in its ids.
func note(batches map[string]stored, e parley.Event, body parley.EventBody) {
	if e.Session.Namespace() == redacted {
		return
	}
	name, text := string(e.Turn), string(e.Type)
	switch b := body.(type) {
	case *parley.Admitted:
		name, text = b.ID, text+" "+b.ID
	case *parley.Message:
		name, text = b.ID, text+" "+b.ID
	case *parley.Started:
		name = poolBatch
		if own, ok := strings.CutPrefix(string(e.Session), "load:own-"); ok {
			name = own
		}
	}
	name, _, _ = strings.Cut(name, "#")
	if batches[name] == nil {
		batches[name] = stored{}
	}
	p := batches[name][e.Session]
	if p == nil {
		p = &storedPart{first: e.Seq}
		batches[name][e.Session] = p
	}
	p.events = append(p.events, text)
	p.last = e.Seq
}

// compareLog finds acknowledged batches that are missing and batches of which
// only a part is there.
func (l *ledger) compareLog(batches map[string]stored) error {
	for name, got := range batches {
		if l.refused[name] {
			return fmt.Errorf("batch %s failed for certain, but it is there", name)
		}
		parts := partsOf(name)
		for i, p := range parts {
			sp := got[p.session]
			if sp == nil {
				return fmt.Errorf("half a batch: %s has nothing in session %s", name, p.session)
			}
			if want := p.events(name); !slices.Equal(sp.events, want) {
				return fmt.Errorf("half a batch: %s left %q in session %s, want %q", name, sp.events, p.session, want)
			}
			if sp.last-sp.first+1 != uint64(len(sp.events)) {
				return fmt.Errorf("batch %s is spread over seq %d to %d in session %s", name, sp.first, sp.last, p.session)
			}
			// A repeated batch was told nothing but that it is there.
			if a := l.acked[name]; len(a.Sessions) > 0 && (a.Sessions[i].FirstSeq != sp.first || a.Sessions[i].LastSeq != sp.last) {
				return fmt.Errorf("batch %s was told seq %d to %d in session %s, but has %d to %d",
					name, a.Sessions[i].FirstSeq, a.Sessions[i].LastSeq, p.session, sp.first, sp.last)
			}
		}
		if len(got) != len(parts) {
			return fmt.Errorf("batch %s is in %d sessions, want %d", name, len(got), len(parts))
		}
	}
	for name := range l.acked {
		if batches[name] == nil {
			return fmt.Errorf("lost: batch %s was acknowledged and is not there (%d acknowledged, %d there)", name, len(l.acked), len(batches))
		}
	}
	return nil
}

// compareSessions compares every session row with its log.
func compareSessions(ctx context.Context, s parley.Store, tallies map[parley.SessionID]*sessionTally, queued map[parley.SessionID]int) error {
	for id, t := range tallies {
		got, err := s.Session(ctx, parley.SeeAll(), id)
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		switch {
		case got.LastSeq != t.seq:
			return fmt.Errorf("session %s says last seq %d, the log has %d", id, got.LastSeq, t.seq)
		case got.Counters != t.Counters:
			return fmt.Errorf("session %s says %+v, the log has %+v", id, got.Counters, t.Counters)
		case got.Preview != t.Preview:
			return fmt.Errorf("session %s says preview %q, the log has %q", id, got.Preview, t.Preview)
		case !got.UpdatedAt.Equal(t.LastActivity):
			return fmt.Errorf("session %s says it was active %s, the log says %s", id, got.UpdatedAt, t.LastActivity)
		case got.Queued != queued[id]:
			return fmt.Errorf("session %s says %d queued, its batches left %d", id, got.Queued, queued[id])
		}
	}
	return compareUsage(ctx, s, tallies)
}

// compareUsage compares what was spent with the log, from which no session of the
// load has gone.
func compareUsage(ctx context.Context, s parley.Store, tallies map[parley.SessionID]*sessionTally) error {
	var want parley.Usage
	for _, t := range tallies {
		want = want.Plus(t.Counters.Usage)
	}
	got, err := s.Spent(ctx, parley.SpentQuery{Agent: loadAgent})
	if err == nil && got != want {
		err = fmt.Errorf("spent was %+v, the log has %+v", got, want)
	}
	return err
}

// compareRows looks for the rows of each batch beside its events, and for rows
// of batches that left no events.
func (l *ledger) compareRows(ctx context.Context, s parley.Store, batches map[string]stored) error {
	names := map[string]bool{}
	for name := range batches {
		if !l.compared[name] {
			names[name] = true
		}
	}
	for writer, n := range l.last {
		names[fmt.Sprintf("%s.%d", writer, n+1)] = true
	}
	for name := range names {
		for _, p := range partsOf(name) {
			if err := p.compareRows(ctx, s, name, batches[name][p.session]); err != nil {
				return err
			}
		}
		if err := compareCredentials(ctx, s, name, batches[name] != nil); err != nil {
			return err
		}
		l.compared[name] = batches[name] != nil
	}
	return nil
}

// compareCredentials looks for the token of a batch and for its line of the audit.
func compareCredentials(ctx context.Context, s parley.Store, name string, there bool) error {
	token, err := s.TokenByHash(ctx, sha256.Sum256([]byte(name)))
	switch {
	case err != nil && !errors.Is(err, parley.ErrNotFound):
		return fmt.Errorf("token of batch %s: %w", name, err)
	case (err == nil) != there, there && token.ID != parley.TokenID(name):
		return fmt.Errorf("half a batch: events of %s are there %v, its token is %q, %w", name, there, token.ID, err)
	}
	lines, err := s.Audit(ctx, parley.AuditQuery{Action: name})
	if err != nil {
		return fmt.Errorf("audit of batch %s: %w", name, err)
	}
	if len(lines) > 1 || (len(lines) == 1) != there {
		return fmt.Errorf("half a batch: events of %s are there %v, %d lines of the audit are", name, there, len(lines))
	}
	return nil
}

func (p part) compareRows(ctx context.Context, s parley.Store, name string, there *storedPart) error {
	has := func(what string, err error) error {
		switch {
		case err != nil && !errors.Is(err, parley.ErrNotFound):
			return fmt.Errorf("%s of batch %s: %w", what, name, err)
		case (err == nil) != (there != nil):
			return fmt.Errorf("half a batch: %s of %s: events are there %v, %s is there %v", p.session, name, there != nil, what, err == nil)
		}
		return nil
	}
	for i := range p.inputs {
		in, err := s.Input(ctx, parley.SeeAll(), p.input(name, i))
		if err := has("input", err); err != nil {
			return err
		}
		if err == nil && (in.Session != p.session || in.Seq != there.first+uint64(i)) {
			return fmt.Errorf("input %d of batch %s is at %s seq %d, want %s seq %d", i, name, in.Session, in.Seq, p.session, there.first+uint64(i))
		}
	}
	if p.turn {
		turn, err := s.Turn(ctx, parley.SeeAll(), p.session, parley.TurnID(name))
		if err := has("turn", err); err != nil {
			return err
		}
		if err == nil && turn.State != parley.TurnDone {
			return fmt.Errorf("half a batch: turn of %s is %s", name, turn.State)
		}
	}
	if p.create {
		entry, err := s.Lookup(ctx, parley.SeeAll(), string(p.alias()))
		if err := has("key", err); err != nil {
			return err
		}
		if err == nil && entry.Current != p.session {
			return fmt.Errorf("alias of %s leads to %q", p.session, entry.Current)
		}
	}
	for i := range p.deliveries {
		want := parley.DeliveryState("")
		if there != nil {
			want = parley.DeliveryPending
		}
		// Nothing is written: an expectation is the way to ask for one delivery.
		_, err := s.Commit(ctx, parley.Batch{At: someTime, Expect: []parley.Expectation{
			parley.DeliveryIs{Delivery: p.delivery(name, i), State: want},
		}})
		if err != nil {
			return fmt.Errorf("half a batch: delivery %d of %s: %w", i, name, err)
		}
	}
	return nil
}

// integrity lets SQLite look for damage in a closed store.
func integrity(path string) error {
	c, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	s, _, err := c.Prepare("PRAGMA integrity_check")
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	for s.Step() {
		if line := s.ColumnText(0); line != "ok" {
			return fmt.Errorf("integrity: %s", line)
		}
	}
	return s.Err()
}
