package chat

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat/markdown"
)

// transcript is a conversation as far as it is known: put together from stored
// messages, events, and the deltas of a reply that is being written.
type transcript struct {
	style markdown.Style
	mine  func(parley.IdentityID) bool

	seq      uint64 // of the last event that was applied
	items    []*item
	messages map[string]bool             // ids of the messages that are among the items
	inputs   map[string]*parley.Admitted // that no message shows yet
	seen     map[string]bool             // ids of the inputs that the session has
	calls    map[parley.CallID]*item
	asked    []question
	stream   *stream
	turn     *turn
	model    string           // that answered last
	next     parley.SessionID // the session that took the place of this one
	shared   bool             // several people speak, so names are shown
	agent    string

	away time.Time // events before it, and after the mark, happened while nobody looked
}

// turn is the agent at work.
type turn struct {
	id       parley.TurnID
	since    time.Time
	stopping bool
}

// question is an approval that is open.
type question struct {
	call     parley.CallID
	tool     string
	deadline time.Time
	fallback parley.ApprovalState
}

// stream is a reply that is being written.
type stream struct {
	id    string
	n     int
	parts []*item
}

func newTranscript(style markdown.Style, mine func(parley.IdentityID) bool) *transcript {
	return &transcript{
		style: style, mine: mine, messages: map[string]bool{}, inputs: map[string]*parley.Admitted{},
		seen: map[string]bool{}, calls: map[parley.CallID]*item{},
	}
}

// begin takes a session and the newest page of its messages, which was read after it.
// It gives the seq after which events are to be followed: from the first message on, so
// that what lies between them is known as well.
func (t *transcript) begin(s parley.Session, page Page) (after uint64) {
	t.agent, t.shared = s.Agent.Name, s.Type == parley.SessionGroup
	t.older(page)
	if page.Cursor != "" && len(page.Messages) > 0 {
		after = min(page.Messages[0].Seq-1, s.LastSeq)
	}
	t.seq = after
	if s.Status == parley.StatusRunning || s.Status == parley.StatusAwaitingApproval {
		t.turn = &turn{since: s.UpdatedAt}
	}
	return after
}

// older takes a page of stored messages.
func (t *transcript) older(page Page) {
	for i := range page.Messages {
		m := &page.Messages[i]
		if m.Redacted {
			t.put(&item{seq: m.Seq, kind: itemNote, at: m.At, text: removedText})
			continue
		}
		t.message(&m.Message, place{m.Seq, m.At, m.Identity})
	}
}

const removedText = "what stood here was removed"

// place is where in the log something stands.
type place struct {
	seq uint64
	at  time.Time
	by  parley.IdentityID
}

// put inserts an item where it belongs. Nearly always that is the end.
func (t *transcript) put(it *item) {
	i := len(t.items)
	if i > 0 && !t.items[i-1].before(it.seq, it.sub) {
		i = sort.Search(i, func(i int) bool { return !t.items[i].before(it.seq, it.sub) })
	}
	t.items = slices.Insert(t.items, i, it)
}

// note puts a line into the transcript that nobody said.
func (t *transcript) note(at place, text string, bad bool) {
	t.put(&item{seq: at.seq, sub: noteSub, kind: itemNote, at: at.at, text: text, bad: bad})
}

// Where items stand that are no part of their event.
const (
	markSub = -1
	noteSub = 1 << 20
	endSeq  = math.MaxUint64
)

// missed has a line drawn below which stands what happened up to back, while nobody looked.
func (t *transcript) missed(back time.Time) { t.away = back }

// markAfter puts the mark above the first thing after a seq, if that happened up to back;
// zero: whenever it did.
func (t *transcript) markAfter(seq uint64, back time.Time) {
	for _, it := range t.items {
		if it.seq > seq {
			if !back.IsZero() && !it.at.Before(back) {
				return
			}
			t.put(&item{seq: it.seq, sub: markSub, kind: itemMark, at: it.at, text: missedText})
			return
		}
	}
}

const missedText = "missed while away"

// marking puts the mark above the first thing that was missed.
func (t *transcript) marking(e *parley.Event) {
	if t.away.IsZero() {
		return
	}
	if !e.At.Before(t.away) {
		t.away = time.Time{} // what comes from here on is live
		return
	}
	switch e.Type {
	case parley.EventTurnStarted:
		if t.stream == nil {
			return // there is nothing to see of it
		}
		fallthrough
	case parley.EventMessage, parley.EventTurnCompleted, parley.EventEnded, parley.EventInput:
		t.put(&item{seq: e.Seq, sub: markSub, kind: itemMark, at: e.At, text: missedText})
		t.away = time.Time{}
	}
}

// message puts the parts of a stored message where they belong.
func (t *transcript) message(m *parley.Message, at place) {
	if t.messages[m.ID] {
		return
	}
	t.messages[m.ID] = true
	drafted := t.settle(m.ID)
	switch m.Role {
	case parley.MessageUser:
		t.said(m, at)
	case parley.MessageTool:
		for _, p := range m.Parts {
			if p.Result != nil {
				t.result(p.Result)
			}
		}
	case parley.MessageSystem:
		if m.Hidden {
			t.put(&item{seq: at.seq, kind: itemTold, at: at.at, text: parley.PlainText(m.Parts)})
		}
	case parley.MessageAssistant:
		if m.Model != "" {
			t.model = m.Model
		}
		for i, p := range m.Parts {
			t.part(&p, at, i, drafted)
		}
	}
}

// part puts one part of what the agent said. What was drawn while it was written is
// used again.
func (t *transcript) part(p *parley.Part, at place, sub int, drafted []*item) {
	switch {
	case p.Call != nil:
		it := t.callItem(p.Call.ID, p.Call.Name, at, sub)
		it.call.tool, it.call.arguments = p.Call.Name, p.Call.Arguments
		it.changed()
	case p.Media != nil:
		t.put(&item{seq: at.seq, sub: sub, kind: itemNote, at: at.at, text: mediaText(p.Media)})
	case p.Text != "":
		it := &item{kind: kindOf(p.Kind)}
		text := clean(p.Text)
		if i := slices.IndexFunc(drafted, func(d *item) bool { return d.kind == it.kind && d.doc.Text() == text }); i >= 0 {
			it = drafted[i]
		} else {
			it.doc = markdown.New(t.style)
			it.doc.Append(text)
		}
		it.doc.Finish()
		it.seq, it.sub, it.at = at.seq, sub, at.at
		it.changed()
		t.put(it)
	}
}

func kindOf(k parley.PartKind) kind {
	if k == parley.PartReasoning {
		return itemThought
	}
	return itemAnswer
}

// said puts what people said. One message can show several inputs.
func (t *transcript) said(m *parley.Message, at place) {
	it := &item{seq: at.seq, kind: itemSaid, at: at.at, own: t.mine(at.by), text: saidText(m.Parts)}
	it.said, it.files = spoken(m.Parts)
	var in *parley.Admitted
	if len(m.Inputs) > 0 {
		in = t.inputs[m.Inputs[0].ID]
		it.via = surface(m.Inputs[0].ID, in, at.by)
	}
	if t.shared || !it.own {
		it.by = speaker(m.Sender, in, at.by)
	}
	for _, ref := range m.Inputs {
		t.seen[ref.ID] = true
		delete(t.inputs, ref.ID)
	}
	if it.text != "" {
		t.put(it)
	}
}

// callItem gives the item of a call, and makes it if there is none yet.
func (t *transcript) callItem(id parley.CallID, tool string, at place, sub int) *item {
	it := t.calls[id]
	if it == nil {
		it = &item{seq: at.seq, sub: sub, kind: itemCall, at: at.at, call: &call{id: id, tool: tool}}
		t.calls[id] = it
		t.put(it)
	}
	return it
}

func (t *transcript) result(r *parley.ToolResult) {
	it := t.calls[r.CallID]
	if it == nil {
		return // it stands on a page that was not read
	}
	it.call.result, it.call.state = r, callDone
	if r.Unknown {
		it.call.state = callUnknown
	}
	t.answered(r.CallID)
	it.changed()
}

// answered takes a question away.
func (t *transcript) answered(id parley.CallID) {
	t.asked = slices.DeleteFunc(t.asked, func(q question) bool { return q.call == id })
}

// ask takes an approval that is open.
func (t *transcript) ask(q question) {
	if it := t.calls[q.call]; it != nil && (it.call.result != nil || it.call.decision != "") {
		return
	}
	if slices.ContainsFunc(t.asked, func(have question) bool { return have.call == q.call }) {
		return
	}
	t.asked = append(t.asked, q)
}

// restyle has everything drawn in another style.
func (t *transcript) restyle(style markdown.Style) {
	t.style = style
	items := t.items
	if t.stream != nil {
		items = append(slices.Clone(items), t.stream.parts...)
	}
	for _, it := range items {
		if it.doc != nil {
			text := it.doc.Text()
			it.doc = markdown.New(style)
			it.doc.Append(text)
			if it.seq != endSeq {
				it.doc.Finish()
			}
		}
		it.changed()
	}
}

// all gives the items with those of the reply that is being written at the end.
func (t *transcript) all() []*item {
	if t.stream == nil {
		return t.items
	}
	return append(slices.Clip(t.items), t.stream.parts...)
}

func mediaText(m *parley.Media) string {
	name := m.Name
	if name == "" {
		name = "a file"
	}
	return fmt.Sprintf("[%s, %s, %s]", name, m.Type, size(m.Size))
}

// history gives what the person at the terminal has said, oldest first.
func (t *transcript) history() []string {
	var texts []string
	for _, it := range t.items {
		if it.kind == itemSaid && it.own && it.said != "" {
			texts = append(texts, it.said)
		}
	}
	return texts
}

// keepOpen opens the folds that were open before.
func (t *transcript) keepOpen(before *transcript) {
	for id, it := range before.calls {
		if now := t.calls[id]; now != nil {
			now.open = it.open
		}
	}
}
