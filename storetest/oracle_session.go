package storetest

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// changeSession applies the parts of a change in the order of its fields.
func (o *oracle) changeSession(at time.Time, c *parley.SessionChange) (parley.SessionResult, error) {
	var res parley.SessionResult
	if c.Create != nil {
		if err := o.create(at, c.Session, c.Create); err != nil {
			return res, err
		}
	}
	s, err := o.session(c.Session)
	if err != nil {
		return res, err
	}
	if c.Claim {
		s.row.Fence++
	}
	o.moveToKey(s, c.Patch.Key)
	s.patch(&c.Patch)
	if size := metadataSize(s.row.Metadata); size > parley.MaxMetadataBytes {
		return res, parley.Errorf(parley.CodeTooLarge, "metadata of %d bytes", size)
	}
	res.FirstSeq = uint64(len(s.shows)) + 1
	for i := range c.Admit {
		o.admit(at, s, c.Admit[i])
	}
	for _, d := range c.Events {
		if err := o.appendNew(at, s, d); err != nil {
			return res, err
		}
	}
	if err := o.changeWork(at, s, c); err != nil {
		return res, err
	}
	for _, seq := range c.Redact {
		if err := o.redact(s, seq); err != nil {
			return res, err
		}
	}
	res.LastSeq, res.Fence = uint64(len(s.shows)), s.row.Fence
	if c.Delete {
		o.remove(s)
	}
	return res, nil
}

func (o *oracle) create(at time.Time, id parley.SessionID, n *parley.NewSession) error {
	if _, taken := o.sessions[id]; taken {
		return conflict("session %s exists", id)
	}
	s := &oracleSession{turns: map[parley.TurnID]parley.Turn{}}
	if n.Fork != nil {
		parent, err := o.session(n.Fork.Session)
		if err != nil {
			return err
		}
		if n.Fork.Seq > uint64(len(parent.shows)) {
			return parley.Errorf(parley.CodeInvalid, "session %s has no event %d", n.Fork.Session, n.Fork.Seq)
		}
		s.shows = append(s.shows, parent.shows[:n.Fork.Seq]...)
		s.shared = len(s.shows)
	}
	o.created++
	s.order = o.created
	s.row = parley.Session{
		ID: id, Key: n.Key, Source: n.Source, Type: n.Type,
		Status: parley.StatusIdle, Recovery: parley.Recovery{State: parley.RecoveryNone},
		Title: n.Title, Metadata: maps.Clone(n.Metadata), Parent: n.Fork, Chat: n.Chat, CreatedAt: instant(at),
	}
	s.row.Agent = parley.AgentSnapshot{Name: n.Agent.Name, Config: slices.Clone(n.Agent.Config)}
	o.sessions[id] = s
	if _, known := o.keys[n.Key]; n.Key != "" && !known {
		o.keys[n.Key] = oracleKey{}
	}
	return nil
}

// moveToKey gives a session another key.
func (o *oracle) moveToKey(s *oracleSession, key *parley.Key) {
	if key == nil || *key == s.row.Key {
		return
	}
	if s.row.Key != "" {
		o.orphaned = append(o.orphaned, s.row.Key)
	}
	if _, known := o.keys[*key]; !known {
		o.keys[*key] = oracleKey{}
	}
	s.row.Key = *key
}

func (s *oracleSession) patch(p *parley.SessionPatch) {
	set(&s.row.Status, p.Status)
	set(&s.row.Recovery, p.Recovery)
	set(&s.row.Title, p.Title)
	set(&s.row.Description, p.Description)
	set(&s.row.Busy, p.Busy)
	if p.Chat != nil {
		s.row.Chat = p.Chat
	}
	if p.Ended != nil {
		s.row.Ended = p.Ended
		if p.Ended.At.IsZero() {
			s.row.Ended = nil
		}
	}
	if len(p.Metadata) > 0 {
		merged := map[string]string{}
		maps.Copy(merged, s.row.Metadata)
		maps.Copy(merged, p.Metadata)
		maps.DeleteFunc(merged, func(_, value string) bool { return value == "" })
		s.row.Metadata = merged
	}
}

// metadataSize counts names and values.
func metadataSize(m map[string]string) int {
	size := 0
	for name, value := range m {
		size += len(name) + len(value)
	}
	return size
}

// admit stores an input. Its content goes into its event and nowhere else; its
// kind is no content, since whoever works through the queue needs it.
func (o *oracle) admit(at time.Time, s *oracleSession, in parley.Input) {
	body, hash := in.Admitted(), in.ContentHash()
	in.Parts, in.Sender, in.Mentioned, in.ReplyTo, in.MessageID, in.Target = nil, parley.Sender{}, false, "", "", nil
	in.Session, in.Shown, in.At = s.row.ID, 0, instant(at)
	e := o.appendEvent(s, parley.Event{Turn: in.Turn, At: in.At, Identity: in.Principal.Identity}, body)
	in.Seq = e.Seq
	o.inputs[in.Ref] = oracleInput{row: in, owner: s.order, event: e.Pos, hash: hash}
}

// appendNew appends an event. A message shows inputs of its own session, each
// of which no other message shows.
func (o *oracle) appendNew(at time.Time, s *oracleSession, d parley.NewEvent) error {
	if m, ok := d.Body.(*parley.Message); ok {
		for _, ref := range m.Inputs {
			in, known := o.inputs[ref]
			if !known || in.owner != s.order {
				return missing("input %v in session %s", ref, s.row.ID)
			}
			if in.row.Shown != 0 {
				return conflict("input %v is shown by message %d", ref, in.row.Shown)
			}
			in.row.Shown = uint64(len(s.shows)) + 1
			o.inputs[ref] = in
		}
	}
	if d.At.IsZero() {
		d.At = at
	}
	o.appendEvent(s, parley.Event{Turn: d.Turn, At: instant(d.At), Identity: d.Identity}, d.Body)
	return nil
}

// appendEvent gives the event its place in the session and in the store. What
// is kept is made from the encoded body, since the caller's is the caller's.
func (o *oracle) appendEvent(s *oracleSession, e parley.Event, body parley.EventBody) parley.Event {
	data, err := parley.EncodeBody(body)
	if err != nil {
		panic(err) // validate has let it pass
	}
	if body, err = parley.DecodeBody(body.EventType(), data); err != nil {
		panic(err) // what was encoded can be decoded
	}
	e.Session, e.Seq, e.Pos = s.row.ID, uint64(len(s.shows))+1, uint64(len(o.events))+1
	e.Type, e.Data = body.EventType(), data
	o.events = append(o.events, oracleEvent{Event: e, writer: s.order, agent: s.row.Agent.Name, body: body})
	o.useBlobs(body)
	s.shows = append(s.shows, e.Pos)
	return e
}

// remove deletes a session. Its inputs stay as names, which say nothing about
// who sent them; what its forks share stays because they show it.
func (o *oracle) remove(s *oracleSession) {
	delete(o.sessions, s.row.ID)
	for ref, in := range o.inputs {
		if in.owner != s.order {
			continue
		}
		if in.row.State.Open() {
			in.row.State = parley.InputDropped
		}
		in.row.Principal, in.row.Decision = parley.Principal{}, ""
		o.inputs[ref] = in
	}
	o.approvals = without(o.approvals, func(a parley.Approval) bool { return a.Session == s.row.ID })
	o.deliveries = without(o.deliveries, func(d parley.Delivery) bool { return d.Session == s.row.ID })
	if s.row.Key != "" {
		o.orphaned = append(o.orphaned, s.row.Key)
	}
	for name, k := range o.keys {
		if k.current == s.row.ID {
			k.current = ""
			o.keys[name] = k
			o.orphaned = append(o.orphaned, name)
		}
	}
}

// dropOrphanedKeys takes away the keys that a deletion or a move left without any
// session. It runs when the whole batch is applied, so that a key whose session
// is replaced in the same batch keeps its scope and its aliases.
func (o *oracle) dropOrphanedKeys() {
	carried := map[parley.Key]bool{}
	for _, s := range o.sessions {
		carried[s.row.Key] = true
	}
	for _, name := range o.orphaned {
		if carried[name] || o.keys[name].current != "" {
			continue
		}
		delete(o.keys, name)
		maps.DeleteFunc(o.aliases, func(_ parley.Alias, owner parley.Key) bool { return owner == name })
	}
	o.orphaned = nil
}

func without[T any](list []T, gone func(T) bool) []T {
	var kept []T
	for _, item := range list {
		if !gone(item) {
			kept = append(kept, item)
		}
	}
	return kept
}
