package parley

// rowBytes is what each change counts for besides its text, so that very many small ones are bounded, too.
const rowBytes = 64

// Size gives how many bytes a batch has to store, besides the bodies of its events and the content of its inputs: the text and
// data of all its changes, and a little for each. Expectations count as well, because a store may write
// them down. What a store makes of the rest it adds, and holds the sum to [MaxBatchBytes]; [Batch.Validate] does so with this alone.
func (b *Batch) Size() int {
	n := 0
	for _, e := range b.Expect {
		n += rowBytes + e.size()
	}
	for i := range b.Blobs {
		n += rowBytes + len(b.Blobs[i].Handle) + len(b.Blobs[i].Type)
	}
	for i := range b.Sessions {
		n += b.Sessions[i].size()
	}
	for i := range b.Keys {
		n += rowBytes + len(b.Keys[i].Key) + len(b.Keys[i].Session) + b.Keys[i].Scope.size()
	}
	for i := range b.Aliases {
		n += rowBytes + len(b.Aliases[i].Alias) + len(b.Aliases[i].Key)
	}
	for i := range b.Users {
		u := &b.Users[i].User
		n += rowBytes + len(u.ID) + len(u.Name) + len(u.Role)
	}
	for i := range b.Identities {
		id := &b.Identities[i].Identity
		n += rowBytes + len(id.ID) + len(id.User) + len(id.Name)
	}
	for i := range b.Tokens {
		n += rowBytes + len(b.Tokens[i].ID)
		if t := b.Tokens[i].New; t != nil {
			n += len(t.ID) + len(t.Kind) + len(t.Name) + len(t.Identity) + len(t.Namespace) + len(t.Agent)
		}
	}
	for i := range b.Passcodes {
		n += rowBytes
		if p := b.Passcodes[i].New; p != nil {
			n += len(p.Kind) + len(p.Identity)
		}
	}
	for i := range b.Audit {
		e := &b.Audit[i]
		n += rowBytes + len(e.Action) + len(e.Actor) + len(e.Via) + len(e.Session) + len(e.Subject) + len(e.Detail)
	}
	return n
}

func (c *SessionChange) size() int {
	n := rowBytes + len(c.Session) + c.Create.size() + c.Patch.size()
	for i := range c.Admit {
		n += c.Admit[i].size()
	}
	for i := range c.Events {
		n += rowBytes + len(c.Events[i].Turn) + len(c.Events[i].Identity)
	}
	for i := range c.Inputs {
		in := &c.Inputs[i]
		n += rowBytes + in.Ref.size() + len(in.State) + len(in.Decision) + len(in.Turn)
	}
	for i := range c.Turns {
		n += c.Turns[i].size()
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		n += rowBytes + len(call.Turn) + len(call.ID) + len(call.Tool) + len(call.State) + len(call.Result)
	}
	for i := range c.Approvals {
		a := &c.Approvals[i]
		n += rowBytes + len(a.Turn) + len(a.Call) + len(a.Tool) + len(a.State) + len(a.Default) + len(a.By)
	}
	for i := range c.Deliveries {
		n += c.Deliveries[i].size()
	}
	for i := range c.Notices {
		n += rowBytes + len(c.Notices[i].Consume)
		if a := c.Notices[i].Add; a != nil {
			n += len(a.ID) + len(a.Session) + len(a.Kind) + len(a.Text)
		}
	}
	return n + rowBytes*len(c.Redact)
}

func (n *NewSession) size() int {
	if n == nil {
		return 0
	}
	sum := len(n.Key) + len(n.Agent.Name) + len(n.Agent.Config) + len(n.Source.Kind) + len(n.Source.Platform) + len(n.Source.Trigger) +
		len(n.Type) + len(n.Title.Text) + sizeOfMap(n.Metadata) + n.Chat.size()
	if n.Fork != nil {
		sum += len(n.Fork.Session)
	}
	return sum
}

func (p *SessionPatch) size() int {
	n := sizeOf(p.Key) + sizeOf(p.Status) + sizeOf(p.Description) + sizeOf(p.Busy) + sizeOfMap(p.Metadata) + p.Chat.size()
	if p.Ended != nil {
		n += len(p.Ended.Reason)
	}
	if p.Recovery != nil {
		n += len(p.Recovery.State) + len(p.Recovery.Reason)
	}
	if p.Title != nil {
		n += len(p.Title.Text)
	}
	return n
}

// size leaves out what is stored in the body of the input's event.
func (in *Input) size() int {
	return rowBytes + in.Ref.size() + len(in.Principal.Identity) + len(in.Principal.User) + len(in.Principal.Role) + len(in.Principal.Via) +
		len(in.Busy) + len(in.State) + len(in.Decision) + len(in.Turn)
}

func (t *TurnChange) size() int {
	n := rowBytes + len(t.ID) + sizeOf(t.State) + sizeOf(t.StopReason) + len(t.Opaque)
	if t.Prompt != nil {
		n += len(t.Prompt.ID) + len(t.Prompt.SHA256)
	}
	return n
}

func (d *DeliveryChange) size() int {
	n := rowBytes + len(d.ID) + sizeOf(d.Text) + sizeOf(d.Markup) + sizeOf(d.State) + sizeOf(d.PlatformID) + sizeOf(d.LastError)
	if d.Media != nil {
		n += sizeOfMedia(*d.Media)
	}
	if made := d.New; made != nil {
		n += len(made.ID) + len(made.Session) + len(made.Turn) + len(made.Kind) + len(made.Call) + made.Target.size() + len(made.Of) + len(made.Text) + len(made.Markup) +
			sizeOfMedia(made.Media) + len(made.State) + len(made.PlatformID) + len(made.LastError)
	}
	return n
}

func (s *Scope) size() int {
	if s == nil {
		return 0
	}
	n := len(s.Agent) + len(s.Channel) + len(s.Account)
	for _, d := range s.Dimensions {
		n += len(d)
	}
	for d, v := range s.Values {
		n += len(d) + len(v)
	}
	return n
}

func (t *Target) size() int {
	if t == nil {
		return 0
	}
	return len(t.Channel) + len(t.Account) + len(t.Chat) + len(t.Topic) + len(t.ReplyTo)
}

func (ref InputRef) size() int { return len(ref.Origin) + len(ref.ID) }

func sizeOf[T ~string](text *T) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

func sizeOfMap(m map[string]string) (n int) {
	for name, value := range m {
		n += len(name) + len(value)
	}
	return n
}

func sizeOfMedia(list []Media) (n int) {
	for i := range list {
		n += rowBytes + len(list[i].Handle) + len(list[i].Type) + len(list[i].Name)
	}
	return n
}

func (e KeyIs) size() int   { return len(e.Key) + len(e.Session) }
func (e AliasIs) size() int { return len(e.Alias) + len(e.Key) }
func (e FenceIs) size() int { return len(e.Session) }

func (e StatusIn) size() int {
	n := len(e.Session)
	for _, s := range e.Any {
		n += len(s)
	}
	return n
}

func (e RecoveryIs) size() int   { return len(e.Session) + len(e.State) }
func (e EndedIs) size() int      { return len(e.Session) }
func (e QueuedAtMost) size() int { return len(e.Session) }
func (e InputIs) size() int      { return e.Ref.size() + len(e.State) }
func (e TurnIs) size() int       { return len(e.Session) + len(e.Turn) + len(e.State) }
func (e ApprovalIs) size() int   { return len(e.Session) + len(e.Turn) + len(e.Call) + len(e.State) }
func (e DeliveryIs) size() int   { return len(e.Delivery) + len(e.State) }
func (e EventIntact) size() int  { return len(e.Session) }
func (e IdentityIs) size() int   { return len(e.Identity) + len(e.User) }
