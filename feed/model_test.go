package feed_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/internal/soak"
)

// fixedSeed makes half of the histories the same in every run, so that a change
// which breaks one of them is seen at once and by everybody.
const fixedSeed = 20_260_301

// TestModel runs random histories over a store and a feed, with readers that
// come and go, and compares what each reader gets with a model that knows
// nothing of how a feed works.
//
// With PARLEY_SEED set to the seed of a failure it runs that history alone.
func TestModel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	covered := map[string]int{}
	run := func(t *testing.T, seed uint64) {
		t.Helper()
		defer func() {
			if t.Failed() {
				t.Logf("this was PARLEY_SEED=%d", seed)
			}
		}()
		rnd := rand.New(rand.NewPCG(seed, 0))
		cfg := feed.Config{Events: 3 + rnd.IntN(12), Deltas: 2 + rnd.IntN(5)}
		inBubble(t, cfg, func(w *world) {
			m := newModel(w, rnd)
			m.history(60)
			mu.Lock()
			defer mu.Unlock()
			for what, n := range m.covered {
				covered[what] += n
			}
		})
	}
	if seed, ok := soak.Repeat(t); ok {
		run(t, seed)
		return
	}
	// It runs when all the parallel parts have ended.
	t.Cleanup(func() {
		t.Logf("what the histories covered: %v", covered)
		for _, what := range []string{
			"event", "delta", "snapshot", "slow", "not_found", "unavailable", "reply continued", "reply whole",
			"restart", "reopen", "leave", "join", "delete", "zombie", "gap", "repeat", "abandoned", "burst", "mid-reply leave",
		} {
			if covered[what] == 0 && !t.Failed() {
				t.Errorf("no history had: %s", what)
			}
		}
	})
	count := soak.Count(200, 2_000)
	random := rand.Uint64N(1 << 53)
	t.Logf("fixed seed: %d, random seed: %d", fixedSeed, random)
	const part = 20
	for from := 0; from < count/2; from += part {
		for name, seed := range map[string]uint64{"fixed": fixedSeed, "random": random} {
			t.Run(fmt.Sprintf("%s_%d", name, from), func(t *testing.T) {
				t.Parallel()
				for i := from; i < min(from+part, count/2) && !t.Failed(); i++ {
					run(t, seed+uint64(i))
				}
			})
		}
	}
}

// logged is a stored event as the model knows it.
type logged struct {
	session *chat
	seq     uint64
	pos     uint64
	kind    parley.EventType
	message string // a message's id
	text    string // and its text
}

// chat is a session as the model knows it.
type chat struct {
	id     parley.SessionID
	gone   bool
	log    []logged
	people map[parley.IdentityID]bool
	fence  parley.Fence
	turn   int
	reply  *reply // the one that is being written
}

func (c *chat) last() uint64 { return uint64(len(c.log)) }

// reply is a stream as the model knows it.
type reply struct {
	name   string
	after  uint64
	fence  parley.Fence
	turn   parley.TurnID
	deltas []parley.Delta
	lost   bool // it cannot be shown any more
}

// model drives a history and knows what readers must get.
type model struct {
	*world
	rnd *rand.Rand

	mu      sync.Mutex // guards what follows against readers, which look at it when they get something
	chats   []*chat
	log     []logged // of all sessions, by pos
	pos     uint64
	replies map[string]*reply
	readers []*follower
	names   int
	epoch   string
	covered map[string]int
}

var crowd = []parley.IdentityID{"web:p0", "web:p1", "web:p2", "web:p3"}

func newModel(w *world, rnd *rand.Rand) *model {
	m := &model{world: w, rnd: rnd, replies: map[string]*reply{}, covered: map[string]int{}}
	head, err := w.raw.Head(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	m.epoch = head.Epoch
	for range 3 {
		m.makeChat()
	}
	for range 6 {
		m.makeReader()
	}
	return m
}

func (m *model) name(prefix string) string {
	m.names++
	return fmt.Sprintf("%s%d", prefix, m.names)
}

func (m *model) chance(percent int) bool { return m.rnd.IntN(100) < percent }

func pick[T any](m *model, list []T) T { return list[m.rnd.IntN(len(list))] }

// alive gives a session that is there, or nil.
func (m *model) alive() *chat {
	for range 20 {
		if c := pick(m, m.chats); !c.gone {
			return c
		}
	}
	return nil
}

func (m *model) makeChat() {
	namespace := pick(m, []string{"a:", "b:"})
	c := &chat{id: parley.SessionID(namespace + m.name("s")), people: map[parley.IdentityID]bool{}}
	var people []parley.IdentityID
	for _, p := range crowd {
		if m.chance(50) {
			people = append(people, p)
			c.people[p] = true
		}
	}
	m.mu.Lock()
	m.chats = append(m.chats, c)
	m.mu.Unlock()
	m.apply(creation(c.id, people...), c)
}

// sees is who may see what, in the words of the model.
func (m *model) sees(v parley.Visibility, c *chat) bool {
	if c.gone || v.Namespace != "" && c.id.Namespace() != v.Namespace {
		return false
	}
	if v.All {
		return true
	}
	for _, id := range v.Identities {
		if c.people[id] {
			return true
		}
	}
	return false
}

// apply commits a change and notes what it appended.
func (m *model) apply(change parley.SessionChange, c *chat) {
	m.Helper()
	m.note(change, c)
	res := m.commit(change)
	if len(change.Events) > 0 && (res.Pos != m.pos || res.Sessions[0].LastSeq != c.last()) {
		m.Fatalf("the model is wrong: pos %d and seq %d are %+v", m.pos, c.last(), res)
	}
}

func (m *model) note(change parley.SessionChange, c *chat) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range change.Events {
		m.pos++
		e := logged{session: c, seq: c.last() + 1, pos: m.pos, kind: d.Body.EventType()}
		if b, ok := d.Body.(*parley.Message); ok {
			e.message, e.text = b.ID, parley.PlainText(b.Parts)
		}
		c.log = append(c.log, e)
		m.log = append(m.log, e)
		for _, r := range m.readers {
			r.expect(e, m.sees(r.v, c))
		}
	}
}

// cover counts something that the history does.
func (m *model) cover(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(what)
}

func (m *model) history(steps int) {
	for i := 0; i < steps && !m.Failed(); i++ {
		m.step()
		if m.chance(30) {
			m.compare()
		}
	}
	m.settle()
	for _, r := range m.readers {
		m.wakeUp(r)
		m.settle()
		m.connect(r)
		m.wakeUp(r)
	}
	m.compare()
}

// step does one thing.
func (m *model) step() {
	c := m.alive()
	if c == nil {
		m.makeChat()
		return
	}
	switch n := m.rnd.IntN(100); {
	case n < 20:
		m.chatter(c)
	case n < 50:
		m.write(c)
	case n < 56:
		m.disturb(c)
	case n < 64:
		m.people(c)
	case n < 66:
		m.remove(c)
	case n < 69:
		m.makeChat()
	case n < 71:
		m.restart()
	case n < 73:
		m.makeReader()
	case n < 85:
		r := pick(m, m.readers)
		if !r.connected() {
			m.connect(r)
		} else {
			m.disconnect(r)
		}
	case n < 93:
		m.connect(pick(m, m.readers))
	case n < 97:
		m.settle()
		pick(m, m.readers).pause()
	default:
		m.wakeUp(pick(m, m.readers))
	}
}

// chatter appends events that have nothing to do with a reply.
func (m *model) chatter(c *chat) {
	count := 1 + m.rnd.IntN(3)
	if m.chance(5) {
		count = m.cfg.Events + 1 + m.rnd.IntN(5)
		m.cover("burst")
	}
	change := parley.SessionChange{Session: c.id}
	for range count {
		var body parley.EventBody = &parley.Updated{Fields: []string{"title"}}
		if m.chance(60) {
			name := m.name("m")
			body = &parley.Message{ID: name, Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("text of " + name)}}
		}
		change.Events = append(change.Events, parley.NewEvent{Body: body})
	}
	m.apply(change, c)
}

// write goes on with a reply, or ends it, or begins one.
func (m *model) write(c *chat) {
	switch {
	case c.reply == nil || c.turn == 0:
		m.startTurn(c)
		m.startReply(c)
	case m.chance(70):
		for range 1 + m.rnd.IntN(4) {
			m.publish(c)
		}
	case m.chance(60):
		m.finish(c)
	case m.chance(50):
		m.cover("abandoned")
		m.startReply(c)
	default:
		m.cover("abandoned")
		m.apply(parley.SessionChange{Session: c.id, Events: []parley.NewEvent{
			{Turn: turnOf(c), Body: &parley.TurnCompleted{StopReason: parley.StopAborted}},
		}}, c)
		c.reply = nil
	}
}

func turnOf(c *chat) parley.TurnID { return parley.TurnID(fmt.Sprintf("t%d", c.turn)) }

func (m *model) startTurn(c *chat) {
	c.turn++
	c.fence++
	m.apply(parley.SessionChange{Session: c.id, Claim: true, Events: []parley.NewEvent{
		{Turn: turnOf(c), Body: &parley.TurnStarted{Attempt: 1}},
	}}, c)
	c.reply = nil
}

func (m *model) startReply(c *chat) {
	c.reply = &reply{name: m.name("r"), after: c.last(), fence: c.fence, turn: turnOf(c)}
	m.mu.Lock()
	m.replies[c.reply.name] = c.reply
	m.mu.Unlock()
	m.publish(c)
}

func (m *model) publish(c *chat) {
	r := c.reply
	d := parley.Delta{
		Session: c.id, Turn: r.turn, Fence: r.fence, After: r.after, Stream: r.name, N: len(r.deltas) + 1,
		Kind: pick(m, []parley.PartKind{parley.PartText, parley.PartText, parley.PartReasoning}),
		Text: m.name("·"),
	}
	m.mu.Lock()
	r.deltas = append(r.deltas, d)
	m.mu.Unlock()
	m.feed.Publish(d)
}

// finish stores the message that the reply becomes, and more often than not
// ends the turn with it.
func (m *model) finish(c *chat) {
	msg := &parley.Message{ID: c.reply.name, Role: parley.MessageAssistant}
	for _, d := range c.reply.deltas {
		if last := len(msg.Parts) - 1; last >= 0 && msg.Parts[last].Kind == d.Kind {
			msg.Parts[last].Text += d.Text
		} else {
			msg.Parts = append(msg.Parts, parley.Part{Kind: d.Kind, Text: d.Text})
		}
	}
	change := parley.SessionChange{Session: c.id, Events: []parley.NewEvent{{Turn: turnOf(c), Body: msg}}}
	if m.chance(50) {
		change.Events = append(change.Events, parley.NewEvent{Turn: turnOf(c), Body: &parley.TurnCompleted{StopReason: parley.StopDone}})
	}
	m.apply(change, c)
	c.reply = nil
}

// disturb publishes what must never be shown.
func (m *model) disturb(c *chat) {
	r := c.reply
	switch n := m.rnd.IntN(3); {
	case n == 0 && r != nil: // again
		m.cover("repeat")
		m.feed.Publish(pick(m, r.deltas))
	case n == 1 && r != nil: // one is missing
		m.cover("gap")
		r.lost = true
		m.feed.Publish(parley.Delta{
			Session: c.id, Turn: r.turn, Fence: r.fence, After: r.after, Stream: r.name, N: len(r.deltas) + 2, Text: "lost",
		})
	case c.turn > 1: // a former owner that does not know
		m.cover("zombie")
		started := uint64(0)
		for _, e := range c.log {
			if e.kind == parley.EventTurnStarted {
				started = e.seq
			}
		}
		after := m.rnd.Uint64N(started)
		m.feed.Publish(parley.Delta{Session: c.id, Turn: "t1", Fence: c.fence - 1, After: after, Stream: m.name("z"), N: 1, Text: "stale"})
	}
}

// people lets somebody join or leave, when all is quiet.
func (m *model) people(c *chat) {
	m.compare()
	who := pick(m, crowd)
	left := c.people[who]
	for _, r := range m.readers {
		if left && r.connected() && r.id == c.id && r.stream != "" {
			m.cover("mid-reply leave")
		}
	}
	m.mu.Lock()
	c.people[who] = !left
	m.mu.Unlock()
	m.cover(map[bool]string{true: "leave", false: "join"}[left])
	m.apply(parley.SessionChange{Session: c.id, Events: []parley.NewEvent{
		{Body: &parley.ParticipantChanged{Identity: who, Left: left}},
		{Body: &parley.Message{ID: m.name("m"), Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("after that")}}},
	}}, c)
	if c.reply != nil {
		m.publish(c)
	}
	m.compare()
}

func (m *model) remove(c *chat) {
	m.compare()
	m.cover("delete")
	m.mu.Lock()
	c.gone = true
	for _, r := range m.readers {
		r.forget(c)
	}
	m.mu.Unlock()
	m.apply(parley.SessionChange{Session: c.id, Delete: true}, c)
	m.compare()
}

// restart makes another feed, over the same store or over the store opened
// again. What was being written is not shown any more.
func (m *model) restart() {
	m.compare()
	m.cover("restart")
	m.feed.Close()
	for _, r := range m.readers {
		m.wakeUp(r)
	}
	m.settle()
	for _, c := range m.chats {
		if c.reply != nil {
			c.reply.lost = true
		}
	}
	if m.chance(30) {
		m.cover("reopen")
		if err := m.raw.Close(); err != nil {
			m.Fatal(err)
		}
		m.open()
	} else {
		m.use(m.raw)
	}
	m.compare()
}
