package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// line is something that was told to somebody, or that really happened, whatever
// the store knows of it.
type line struct {
	Kind    string            `json:"kind"` // ack, withdraw, cancel, created, delete, rewind, ran, window, clock, bad
	Session parley.SessionID  `json:"session,omitempty"`
	Turn    parley.TurnID     `json:"turn,omitempty"`
	Ref     parley.InputRef   `json:"ref,omitzero"`
	Text    string            `json:"text,omitempty"`
	Who     parley.IdentityID `json:"who,omitempty"`
	Busy    parley.BusyMode   `json:"busy,omitempty"`
	Sender  parley.Sender     `json:"sender,omitzero"`
	Input   parley.InputKind  `json:"input,omitempty"`
	Call    parley.CallID     `json:"call,omitempty"`
	Fence   parley.Fence      `json:"fence,omitempty"`
	Past    []string          `json:"past,omitempty"`
	At      time.Time         `json:"at,omitzero"`
}

// ledger is a file of lines. It outlives the process that writes it.
type ledger struct {
	path string
	mu   sync.Mutex
}

func (l *ledger) write(entry line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	data, err := json.Marshal(entry)
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err = f.Write(append(data, '\n')); err != nil {
		panic(err)
	}
	if err = f.Close(); err != nil {
		panic(err)
	}
}

// bad writes down that something happened which must not.
func (l *ledger) bad(format string, args ...any) {
	l.write(line{Kind: "bad", Text: fmt.Sprintf(format, args...)})
}

func (l *ledger) read() ([]line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	data, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var lines []line
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		var entry line
		if err := json.Unmarshal(scan.Bytes(), &entry); err != nil {
			return nil, err
		}
		lines = append(lines, entry)
	}
	return lines, nil
}

// pick gives a random line of a kind.
func (l *ledger) pick(rng *rand.Rand, kind string) (line, bool) {
	lines, err := l.read()
	if err != nil {
		panic(err)
	}
	lines = slices.DeleteFunc(lines, func(entry line) bool { return entry.Kind != kind })
	if len(lines) == 0 {
		return line{}, false
	}
	return lines[rng.IntN(len(lines))], true
}

// checker compares what is stored at the end of a history with what was promised.
// It looks at the store and at the ledger, never at the engine.
type checker struct {
	h        *history
	ctx      context.Context //nolint:containedctx // of the one call
	store    parley.Store
	lines    []line
	sessions map[parley.SessionID]parley.Session
	events   map[parley.SessionID][]parley.Event // of its own log
	bodies   map[parley.SessionID][]parley.EventBody
	ends     map[parley.TurnID]*parley.TurnCompleted
	found    []string
}

func (h *history) check(ctx context.Context, path string, covered *coverage) []string {
	store, err := sqlite.Open(ctx, filepath.Join(path, "parley.db"), sqlite.Config{Key: h.key})
	if err != nil {
		return []string{err.Error()}
	}
	defer store.Close()
	c := &checker{
		h: h, ctx: ctx, store: store, sessions: map[parley.SessionID]parley.Session{}, events: map[parley.SessionID][]parley.Event{},
		bodies: map[parley.SessionID][]parley.EventBody{}, ends: map[parley.TurnID]*parley.TurnCompleted{},
	}
	if err := c.load(); err != nil {
		return []string{err.Error()}
	}
	for _, l := range c.lines {
		if l.Kind == "bad" {
			c.bad("%s", l.Text)
		}
	}
	for id := range c.sessions {
		c.oneWriter(id)
	}
	c.durable()
	c.once()
	c.inOrder()
	c.noGaps()
	c.noBlindRepeat()
	c.canceled()
	c.atRest()
	c.kept()
	c.windows()
	c.cover(covered)
	return c.found
}

func (c *checker) bad(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

func (c *checker) load() (err error) {
	if c.lines, err = c.h.ledger.read(); err != nil {
		return err
	}
	for q := (parley.SessionQuery{IncludeInactive: true}); ; {
		page, err := c.store.Sessions(c.ctx, parley.SeeAll(), q)
		if err != nil {
			return err
		}
		for _, s := range page.Sessions {
			c.sessions[s.ID] = s
		}
		if q.Cursor = page.Cursor; q.Cursor == "" {
			break
		}
	}
	for after := uint64(0); ; {
		events, next, err := c.store.Log(c.ctx, parley.SeeAll(), after, parley.MaxPageSize)
		if err != nil {
			return err
		}
		if next == after {
			return nil
		}
		after = next
		for _, e := range events {
			body, err := e.Decode()
			if err != nil {
				return err
			}
			c.events[e.Session] = append(c.events[e.Session], e)
			c.bodies[e.Session] = append(c.bodies[e.Session], body)
		}
	}
}

// oneWriter: turns do not overlap, nothing of a turn stands after its end, and none
// starts in a session that another has replaced.
func (c *checker) oneWriter(id parley.SessionID) {
	open := parley.TurnID("")
	attempt, over := 0, false
	for i, e := range c.events[id] {
		switch b := c.bodies[id][i].(type) {
		case *parley.Ended:
			over = true
		case *parley.Resumed:
			over = false
		case *parley.TurnStarted:
			switch {
			case b.Attempt == 1 && over && c.sessions[id].Key != "":
				c.bad("%s: turn %s starts at %d, and the session has ended", id, e.Turn, e.Seq)
			case b.Attempt == 1 && open != "":
				c.bad("%s: turn %s starts at %d, and %s is open", id, e.Turn, e.Seq, open)
			case b.Attempt > 1 && (e.Turn != open || b.Attempt != attempt+1):
				c.bad("%s: turn %s goes on at %d for the %d. time, and %s is open for the %d.", id, e.Turn, e.Seq, b.Attempt, open, attempt)
			}
			open, attempt = e.Turn, b.Attempt
		case *parley.TurnCompleted:
			if e.Turn != open {
				c.bad("%s: turn %s ends at %d, and %q is open", id, e.Turn, e.Seq, open)
			}
			if c.ends[e.Turn] != nil {
				c.bad("%s: turn %s ends twice", id, e.Turn)
			}
			c.ends[e.Turn], open = b, ""
		default:
			// An input that is admitted together with the start of its turn stands before it.
			if e.Turn != "" && e.Turn != open && e.Type != parley.EventInput {
				c.bad("%s: %s at %d is of turn %s, and %q is open", id, e.Type, e.Seq, e.Turn, open)
			}
		}
	}
	if open != "" {
		c.bad("%s: turn %s has no end", id, open)
	}
	fence := parley.Fence(0)
	for i, l := range c.lines {
		if l.Kind != "window" || l.Session != id {
			continue
		}
		if l.Fence < fence || l.Fence == fence && i > 0 && fence > 0 {
			c.bad("%s: the fence is %d for turn %s, after %d", id, l.Fence, l.Turn, fence)
		}
		fence = l.Fence
	}
}

// durable: what was acknowledged is there, with its content, and was dealt with.
func (c *checker) durable() {
	for _, l := range c.lines {
		if l.Kind != "ack" {
			continue
		}
		in, err := c.store.Input(c.ctx, parley.SeeAll(), l.Ref)
		if err != nil {
			c.bad("input %s was acknowledged: %v", l.Ref.ID, err)
			continue
		}
		if in.Session != l.Session {
			c.bad("input %s is in %s, not in %s", l.Ref.ID, in.Session, l.Session)
		}
		if _, live := c.sessions[in.Session]; !live {
			continue
		}
		if got := parley.PlainText(in.Parts); got != l.Text && (got != "" || !c.h.takes) {
			c.bad("input %s says %q, not %q", l.Ref.ID, got, l.Text)
		}
		switch in.State {
		case parley.InputQueued, parley.InputRunning:
			c.bad("input %s in %s is %s", l.Ref.ID, in.Session, in.State)
		case parley.InputDone, parley.InputSteered:
			if c.ends[in.Turn] == nil {
				c.bad("input %s is %s by turn %q, which did not end", l.Ref.ID, in.State, in.Turn)
			}
			if in.Shown == 0 {
				c.bad("input %s is %s, and was not shown", l.Ref.ID, in.State)
			}
		case parley.InputCarriedOut:
			if in.Shown == 0 && !c.h.takes {
				c.bad("command %s was not answered", l.Ref.ID)
			}
		case parley.InputDropped:
			if in.Shown != 0 || !c.mayBeDropped(in) {
				c.bad("input %s in %s was dropped: %q", l.Ref.ID, in.Session, in.Decision)
			}
		}
	}
}

func (c *checker) mayBeDropped(in parley.Input) bool {
	if strings.HasPrefix(in.Decision, "withdrawn") {
		return slices.ContainsFunc(c.lines, func(l line) bool { return l.Kind == "withdraw" && l.Ref == in.Ref })
	}
	for i, b := range c.bodies[in.Session] {
		if _, ended := b.(*parley.Ended); ended && c.events[in.Session][i].Seq > in.Seq {
			return true
		}
	}
	return false
}

// once: an input is admitted once and shown once.
func (c *checker) once() {
	admitted, shown := map[parley.InputRef]int{}, map[parley.InputRef]int{}
	for id := range c.sessions {
		for _, b := range c.bodies[id] {
			switch b := b.(type) {
			case *parley.Admitted:
				admitted[parley.InputRef{Origin: b.Origin, ID: b.ID}]++
			case *parley.Message:
				for _, ref := range b.Inputs {
					shown[ref]++
				}
			}
		}
	}
	for ref, n := range admitted {
		if n > 1 || shown[ref] > 1 {
			c.bad("input %s was admitted %d times and shown %d times", ref.ID, n, shown[ref])
		}
	}
}

// inOrder: people are answered in the order they spoke.
func (c *checker) inOrder() {
	last := map[parley.SessionID]parley.Input{}
	for id := range c.sessions {
		for _, b := range c.bodies[id] {
			a, ok := b.(*parley.Admitted)
			if !ok || a.Kind == parley.InputAutomation {
				continue
			}
			in, err := c.store.Input(c.ctx, parley.SeeAll(), parley.InputRef{Origin: a.Origin, ID: a.ID})
			if err != nil {
				c.bad("input %s: %v", a.ID, err)
				continue
			}
			if in.State != parley.InputDone {
				continue
			}
			if before := last[id]; before.Shown > in.Shown {
				c.bad("%s: %s was shown at %d, after %s, which came later, at %d", id, before.Ref.ID, before.Shown, in.Ref.ID, in.Shown)
			}
			last[id] = in
		}
	}
}

// noGaps: seqs are whole, and who was there all the time saw everything once.
func (c *checker) noGaps() {
	for id, s := range c.sessions {
		var seq uint64
		for after := uint64(0); ; after = seq {
			page, err := c.store.Events(c.ctx, parley.SeeAll(), id, parley.EventQuery{After: after, Limit: parley.MaxPageSize})
			if err != nil {
				c.bad("%s: %v", id, err)
			}
			for _, e := range page {
				if seq++; e.Seq != seq {
					c.bad("%s: event %d has seq %d", id, seq, e.Seq)
				}
			}
			if len(page) == 0 || seq == after {
				break
			}
		}
		if seq != s.LastSeq {
			c.bad("%s has %d events, and says %d", id, seq, s.LastSeq)
		}
	}
	if c.h.killed {
		return // the subscribers were killed
	}
	seen := map[parley.SessionID][]place{}
	for _, p := range c.h.seen {
		// One that was deleted may have been made anew, under the same name.
		if events := c.events[p.session]; len(events) == 0 || p.pos >= events[0].Pos {
			seen[p.session] = append(seen[p.session], p)
		}
	}
	for id := range c.sessions {
		events := c.events[id]
		if len(seen[id]) != len(events) {
			c.bad("%s: a subscriber saw %d of %d events", id, len(seen[id]), len(events))
			continue
		}
		for i, p := range seen[id] {
			if p.seq != events[i].Seq || p.typ != events[i].Type {
				c.bad("%s: a subscriber saw %+v instead of %d %s", id, p, events[i].Seq, events[i].Type)
			}
		}
	}
}

// noBlindRepeat: a call ran once at most, never if it was not allowed, and what ran
// has an outcome, or its turn was stopped. What is finished ran, or says that it was
// stopped before.
func (c *checker) noBlindRepeat() {
	ran := map[parley.CallID]int{}
	for _, l := range c.lines {
		if l.Kind == "ran" {
			if ran[l.Call]++; ran[l.Call] == 2 {
				c.bad("call %s of %s ran twice", l.Call, l.Turn)
			}
		}
	}
	ended := map[parley.CallID]bool{}
	for id := range c.sessions {
		stopped := stoppedBefore(c.bodies[id])
		for _, b := range c.bodies[id] {
			switch b := b.(type) {
			case *parley.ToolCompleted:
				if ended[b.Call] {
					c.bad("call %s ended twice", b.Call)
				}
				ended[b.Call] = true
				if b.State == parley.CallFinished && ran[b.Call] == 0 && !stopped[b.Call] {
					c.bad("call %s is finished and did not run", b.Call)
				}
			case *parley.ApprovalResolved:
				if b.State != parley.ApprovalApproved && ran[b.Call] > 0 {
					c.bad("call %s is %s and ran", b.Call, b.State)
				}
			}
		}
	}
	for _, l := range c.lines {
		if _, live := c.sessions[l.Session]; l.Kind != "ran" || !live || ended[l.Call] {
			continue
		}
		// A runner that reads its plan from a message may have lost it.
		if end := c.ends[l.Turn]; end == nil || end.StopReason == parley.StopDone && !c.h.takes {
			c.bad("%s: call %s of %s ran, and the turn ended well without its outcome", l.Session, l.Call, l.Turn)
		}
	}
}

// stoppedBefore gives the calls whose results say that they did not run, or were
// redacted: a result stands behind the end of its call.
func stoppedBefore(bodies []parley.EventBody) map[parley.CallID]bool {
	stopped := map[parley.CallID]bool{}
	for i, b := range bodies {
		end, ok := b.(*parley.ToolCompleted)
		if !ok || i+1 == len(bodies) {
			continue
		}
		switch next := bodies[i+1].(type) {
		case *parley.Tombstone:
			stopped[end.Call] = true
		case *parley.Message:
			for _, p := range next.Parts {
				if p.Result != nil && p.Result.CallID == end.Call && p.Result.IsError && strings.Contains(p.Result.Text, "stopped before this ran") {
					stopped[end.Call] = true
				}
			}
		}
	}
	return stopped
}

// canceled: a turn whose cancellation was acknowledged did not end otherwise.
func (c *checker) canceled() {
	for _, l := range c.lines {
		if _, live := c.sessions[l.Session]; l.Kind != "cancel" || !live {
			continue
		}
		if end := c.ends[l.Turn]; end == nil || end.StopReason != parley.StopAborted {
			c.bad("%s: turn %s was canceled, and ended as %+v", l.Session, l.Turn, end)
		}
	}
}

// atRest: nothing is left under way, and nothing says so.
func (c *checker) atRest() {
	turns, err := c.store.OpenTurns(c.ctx, parley.SeeAll(), "")
	if err != nil || len(turns) > 0 {
		c.bad("open turns: %+v, %v", turns, err)
	}
	pending, err := c.store.Approvals(c.ctx, parley.SeeAll(), "")
	if err != nil || len(pending) > 0 {
		c.bad("open questions: %+v, %v", pending, err)
	}
	for id, s := range c.sessions {
		if s.Status != parley.StatusIdle && s.Status != parley.StatusInactive || s.Queued != 0 || s.Recovery.State == parley.RecoveryResumePending {
			c.bad("%s is %s, %d queued, %+v", id, s.Status, s.Queued, s.Recovery)
		}
		if (s.Ended != nil) != (s.Status == parley.StatusInactive) {
			c.bad("%s is %s and ended: %+v", id, s.Status, s.Ended)
		}
		if s.Key == "" {
			continue
		}
		entry, err := c.store.Lookup(c.ctx, parley.SeeAll(), string(s.Key))
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			c.bad("key %s: %v", s.Key, err)
		}
		if (entry.Current == id) == (s.Ended != nil) {
			c.bad("%s ended: %+v; its key leads to %q", id, s.Ended, entry.Current)
		}
	}
}

// kept: a session is there unless somebody wanted to delete it.
func (c *checker) kept() {
	wanted := map[parley.SessionID]bool{}
	for _, l := range c.lines {
		if l.Kind == "delete" {
			wanted[l.Session] = true
		}
	}
	for _, l := range c.lines {
		if _, live := c.sessions[l.Session]; l.Kind == "created" && !live && !wanted[l.Session] {
			c.bad("%s is gone", l.Session)
		}
	}
}

// windows: a request begins with the past of the one before, unless something was
// taken back since.
func (c *checker) windows() {
	if c.h.takes {
		return
	}
	last := map[parley.SessionID][]string{}
	for _, l := range c.lines {
		switch l.Kind {
		case "rewind":
			delete(last, l.Session)
		case "window":
			if before := last[l.Session]; len(before) > len(l.Past) || !slices.Equal(before, l.Past[:len(before)]) {
				c.bad("%s: turn %s is shown %v after %v", l.Session, l.Turn, l.Past, before)
			}
			last[l.Session] = l.Past
		}
	}
}

// coverage counts what happened in histories.
type coverage struct {
	mu sync.Mutex
	n  map[string]int
}

// wanted is what has to happen in a hundred histories.
var wanted = []string{
	"turn stop", "turn aborted", "turn error", "attempt 2", "attempt 3",
	"input done", "input logged", "input steered", "input dropped", "together", "automation",
	"approval approved", "approval denied", "approval expired", "approval canceled", "call finished", "call unknown",
	"session:reset", "session:resumed", "session:forked", "session:rewound", "session:redacted", "outage", "deleted", "encrypted", "foreign",
}

func (v *coverage) count(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.n == nil {
		v.n = map[string]int{}
	}
	v.n[what]++
}

// missing gives what should have happened and did not.
func (v *coverage) missing() []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(what string) bool { return v.n[what] > 0 })
}

func (v *coverage) table() string {
	out := ""
	for _, what := range slices.Sorted(maps.Keys(v.n)) {
		out += fmt.Sprintf("%7d %s\n", v.n[what], what)
	}
	return out
}

// cover counts what happened.
func (c *checker) cover(v *coverage) {
	for id := range c.sessions {
		for i, b := range c.bodies[id] {
			v.count(string(c.events[id][i].Type))
			switch b := b.(type) {
			case *parley.TurnStarted:
				v.count(fmt.Sprint("attempt ", b.Attempt))
			case *parley.TurnCompleted:
				v.count("turn " + string(b.StopReason))
			case *parley.ApprovalResolved:
				v.count("approval " + string(b.State))
			case *parley.ToolCompleted:
				v.count("call " + string(b.State))
			case *parley.Message:
				if strings.Contains(b.ID, ".outage.") {
					v.count("outage")
				}
				if strings.HasSuffix(b.ID, ".in.2") {
					v.count("together")
				}
			case *parley.Admitted:
				v.count(string(b.Kind))
				if in, err := c.store.Input(c.ctx, parley.SeeAll(), parley.InputRef{Origin: b.Origin, ID: b.ID}); err == nil {
					v.count("input " + string(in.State))
				}
			}
		}
	}
	for _, l := range c.lines {
		if _, live := c.sessions[l.Session]; l.Kind == "created" && !live {
			v.count("deleted")
		}
	}
	if c.h.key != nil {
		v.count("encrypted")
	}
	if c.h.foreign {
		v.count("foreign")
	}
}
