package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// examine compares a session with its log, and gives what is wrong, one problem
// of a kind at most, and how many events it read.
func (d *doctor) examine(ctx context.Context, s parley.Session) ([]parley.Problem, int64, error) {
	x := examination{session: &s}
	if err := x.readLog(ctx, d.store); err != nil {
		if fatal(ctx, err) {
			return nil, 0, err
		}
		x.problem(KindUnreadable, "its events cannot be read: %v", err)
		return x.found, x.events, nil
	}
	// What a damaged log adds up to says nothing about the session.
	if !x.broken {
		x.compare()
	}
	for _, check := range []func(context.Context, parley.Store) error{x.participants, x.queued, x.key} {
		if err := check(ctx, d.store); err != nil {
			if fatal(ctx, err) {
				return nil, 0, err
			}
			x.problem(KindUnreadable, "%v", err)
			break
		}
	}
	return x.found, x.events, nil
}

// examination is the state of examining one session.
type examination struct {
	session *parley.Session
	tally   parley.Tally
	lastSeq uint64
	events  int64
	broken  bool                       // the log itself is damaged
	media   map[parley.BlobHandle]bool // looked for already
	found   []parley.Problem

	gone, unreferred complaints // about media
}

func (x *examination) problem(kind, format string, args ...any) {
	x.found = append(x.found, parley.Problem{Kind: kind, Session: x.session.ID, Detail: fmt.Sprintf(format, args...)})
}

// readLog reads the session's own log and adds it up.
func (x *examination) readLog(ctx context.Context, store parley.Store) error {
	if x.session.Parent != nil {
		x.lastSeq = x.session.Parent.Seq
	}
	var pos uint64
	var gaps, orders, bad complaints
	for e, err := range ownEvents(ctx, store, x.session) {
		if err != nil {
			return err
		}
		x.events++
		switch {
		case e.Seq > x.lastSeq+1:
			gaps.add("events %d to %d are missing", x.lastSeq+1, e.Seq-1)
		case e.Seq <= x.lastSeq:
			gaps.add("event %d comes after event %d", e.Seq, x.lastSeq)
		}
		x.lastSeq = max(x.lastSeq, e.Seq)
		if e.Pos <= pos {
			orders.add("event %d has position %d, the one before it %d", e.Seq, e.Pos, pos)
		}
		pos = e.Pos
		body, err := e.Decode()
		if err != nil {
			bad.add("event %d (%s) cannot be decoded: %v", e.Seq, e.Type, err)
			continue
		}
		x.tally.Add(e.Seq, e.At, body)
		if err := x.refers(ctx, store, e, body); err != nil {
			return err
		}
	}
	gaps.into(x, KindGap)
	orders.into(x, KindOrder)
	bad.into(x, KindEvent)
	x.broken = len(x.found) > 0
	x.gone.into(x, KindMedia)
	x.unreferred.into(x, KindReferences)
	return nil
}

// complaints counts problems of one kind and keeps the first.
type complaints struct {
	first string
	n     int
}

func (c *complaints) add(format string, args ...any) {
	if c.n++; c.n == 1 {
		c.first = fmt.Sprintf(format, args...)
	}
}

func (c *complaints) into(x *examination, kind string) {
	switch c.n {
	case 0:
	case 1:
		x.problem(kind, "%s", c.first)
	default:
		x.problem(kind, "%s, and %d more like it", c.first, c.n-1)
	}
}

// compare holds the session row against what its events add up to.
func (x *examination) compare() {
	s, t := x.session, &x.tally
	if s.LastSeq != x.lastSeq {
		doubt := ""
		if s.LastSeq > x.lastSeq {
			doubt = ": the number is wrong, or the end of the log is lost"
		}
		x.problem(KindLastSeq, "its last event is said to be %d, and in the log it is %d%s", s.LastSeq, x.lastSeq, doubt)
	}
	if diffs := counterDiffs(s.Counters, t.Counters); len(diffs) > 0 {
		x.problem(KindCounters, "%s", strings.Join(diffs, "; "))
	}
	// A fork that has said nothing yet shows its parent's preview.
	if s.Preview != t.Preview && (s.Parent == nil || t.PreviewSeq != 0) {
		x.problem(KindPreview, "its preview is not that of its last message, which is event %d", t.PreviewSeq)
	}
	last := t.LastActivity
	if last.IsZero() {
		last = s.CreatedAt
	}
	if !s.UpdatedAt.Equal(last) {
		x.problem(KindUpdatedAt, "its last activity is said to be %s, and in the log it is %s", stamp(s.UpdatedAt), stamp(last))
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// counterDiffs names the counters that differ.
func counterDiffs(row, log parley.Counters) []string {
	var diffs []string
	for _, c := range []struct {
		what     string
		row, log int64
	}{
		{"messages", row.Messages, log.Messages},
		{"turns", row.Turns, log.Turns},
		{"input tokens", row.InputTokens, log.InputTokens},
		{"output tokens", row.OutputTokens, log.OutputTokens},
		{"cache read tokens", row.CacheReadTokens, log.CacheReadTokens},
		{"cache write tokens", row.CacheWriteTokens, log.CacheWriteTokens},
		{"micro-dollars", row.CostMicroUSD, log.CostMicroUSD},
		{"last prompt tokens", row.LastPromptTokens, log.LastPromptTokens},
	} {
		if c.row != c.log {
			diffs = append(diffs, fmt.Sprintf("it counts %d %s, and its log has %d", c.row, c.what, c.log))
		}
	}
	return diffs
}

// participants compares who takes part with who joined and left.
func (x *examination) participants(ctx context.Context, store parley.Store) error {
	if x.broken {
		return nil
	}
	have, err := store.Participants(ctx, parley.SeeAll(), x.session.ID)
	if err != nil {
		return fmt.Errorf("its participants cannot be read: %w", err)
	}
	var want []parley.IdentityID
	for _, p := range x.tally.Participants {
		if !p.Left {
			want = append(want, p.Identity)
		}
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		x.problem(KindParticipants, "its participants are %s, and by its log %s", people(have), people(want))
	}
	return nil
}

// people names some of them.
func people(ids []parley.IdentityID) string {
	const most = 3
	if len(ids) == 0 {
		return "nobody"
	}
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		names = append(names, string(id))
	}
	if more := len(ids) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// queued compares the count of a session that says something waits with what
// waits. Sessions that say nothing waits are found by [doctor.waiting].
func (x *examination) queued(ctx context.Context, store parley.Store) error {
	if x.session.Queued == 0 {
		return nil
	}
	n := 0
	for in, err := range openInputs(ctx, store, x.session.ID) {
		if err != nil {
			return fmt.Errorf("its waiting inputs cannot be read: %w", err)
		}
		if in.State == parley.InputQueued {
			n++
		}
	}
	if n != x.session.Queued {
		x.problem(KindQueued, "it says that %d inputs wait, and %d do", x.session.Queued, n)
	}
	return nil
}

// key checks that no key leads to a session that has ended. Where keys of
// sessions that go on lead is primary data: nothing else could tell.
func (x *examination) key(ctx context.Context, store parley.Store) error {
	if x.session.Key == "" || x.session.Ended == nil {
		return nil
	}
	entry, err := store.Lookup(ctx, parley.SeeAll(), string(x.session.Key))
	switch {
	case errors.Is(err, parley.ErrNotFound):
		x.problem(KindKey, "its key %s is not in the store", x.session.Key)
	case err != nil:
		return fmt.Errorf("its key cannot be read: %w", err)
	case entry.Current == x.session.ID:
		x.problem(KindKey, "its key %s still leads to it, though it ended at %s", x.session.Key, stamp(x.session.Ended.At))
	}
	return nil
}
