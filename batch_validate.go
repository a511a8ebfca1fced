package parley

import "time"

// Validate reports whether the batch can be stored at all, whatever the store
// holds: [CodeInvalid] or [CodeTooLarge], with a message that names what is
// wrong. Stores call it first. The bodies of events are checked by [EncodeBody].
func (b *Batch) Validate() error {
	if b.At.IsZero() {
		return invalidf("the batch has no time")
	}
	if err := checkTime("the batch's time", b.At); err != nil {
		return err
	}
	for _, e := range b.Expect {
		switch e.(type) {
		case KeyIs, AliasIs, FenceIs, StatusIn, RecoveryIs, EndedIs, QueuedAtMost, InputIs, TurnIs, ApprovalIs, DeliveryIs, EventIntact, IdentityIs:
		case nil:
			return invalidf("the batch has an empty expectation")
		default:
			return invalidf("an expectation of type %T is not known; expectations are values, not pointers", e)
		}
		if err := e.validate(); err != nil {
			return err
		}
	}
	events := 0
	sessions := make(map[SessionID]bool, len(b.Sessions))
	refs := map[InputRef]bool{}
	for i := range b.Sessions {
		c := &b.Sessions[i]
		if err := c.validate(); err != nil {
			return err
		}
		if sessions[c.Session] {
			return invalidf("session %s stands in the batch twice", quote(string(c.Session)))
		}
		sessions[c.Session] = true
		events += len(c.Events) + len(c.Admit)
		for j := range c.Admit {
			if refs[c.Admit[j].Ref] {
				return invalidf("input %s is admitted twice", quote(c.Admit[j].Ref.ID))
			}
			refs[c.Admit[j].Ref] = true
		}
	}
	if events > MaxBatchEvents {
		return tooLargef("the batch has %d events; at most %d are allowed", events, MaxBatchEvents)
	}
	if n := b.Size(); n > MaxBatchBytes {
		return tooLargef("the batch has %d bytes without its events; at most %d are allowed with them", n, MaxBatchBytes)
	}
	return b.validateRows()
}

func (b *Batch) validateRows() error {
	for i := range b.Blobs {
		if err := b.Blobs[i].validate(); err != nil {
			return err
		}
	}
	for _, k := range b.Keys {
		if err := k.Key.Validate(); err != nil {
			return err
		}
		if k.Session != "" {
			if err := k.Session.Validate(); err != nil {
				return err
			}
		}
		if err := k.Scope.validate(); err != nil {
			return err
		}
	}
	for _, a := range b.Aliases {
		if err := a.Alias.Validate(); err != nil {
			return err
		}
		if a.Key != "" {
			if err := a.Key.Validate(); err != nil {
				return err
			}
		}
	}
	for _, u := range b.Users {
		if err := u.User.validate(); err != nil && !u.Remove {
			return err
		}
		if err := checkID("user id", string(u.User.ID)); err != nil {
			return err
		}
	}
	for _, i := range b.Identities {
		if err := i.Identity.validate(); err != nil {
			return err
		}
	}
	for i := range b.Tokens {
		if err := b.Tokens[i].validate(); err != nil {
			return err
		}
	}
	for i := range b.Passcodes {
		if err := b.Passcodes[i].validate(); err != nil {
			return err
		}
	}
	for i := range b.Audit {
		if err := b.Audit[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

func (c *SessionChange) validate() error {
	if err := c.Session.Validate(); err != nil {
		return err
	}
	if c.Create != nil {
		if err := c.Create.validate(); err != nil {
			return err
		}
	}
	if err := c.Patch.validate(); err != nil {
		return err
	}
	for i := range c.Admit {
		if err := c.Admit[i].validate(); err != nil {
			return err
		}
	}
	for _, d := range c.Events {
		if err := d.validate(); err != nil {
			return err
		}
	}
	for _, in := range c.Inputs {
		if err := in.validate(); err != nil {
			return err
		}
	}
	for _, t := range c.Turns {
		if err := t.validate(); err != nil {
			return err
		}
	}
	for _, call := range c.Calls {
		if err := call.validate(); err != nil {
			return err
		}
	}
	for _, a := range c.Approvals {
		if err := a.validate(); err != nil {
			return err
		}
	}
	for _, d := range c.Deliveries {
		if err := d.validate(); err != nil {
			return err
		}
		if d.Event < 0 || d.Event > len(c.Events) {
			return invalidf("a delivery carries event %d of %d", d.Event, len(c.Events))
		}
	}
	for _, n := range c.Notices {
		if err := n.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (n *NewSession) validate() error {
	if n.Key != "" {
		if err := n.Key.Validate(); err != nil {
			return err
		}
	}
	if err := n.Agent.validate(); err != nil {
		return err
	}
	if err := n.Source.validate(); err != nil {
		return err
	}
	if n.Type != SessionDirect && n.Type != SessionGroup {
		return invalidf("session type %s is not known; it must be direct or group", quote(string(n.Type)))
	}
	if err := checkText("title", n.Title.Text, 0, MaxNameBytes); err != nil {
		return err
	}
	if err := checkMetadata(n.Metadata); err != nil {
		return err
	}
	if n.Chat != nil {
		if err := n.Chat.validate(); err != nil {
			return err
		}
	}
	if n.Fork != nil {
		return n.Fork.Session.Validate()
	}
	return nil
}

func (p *SessionPatch) validate() error {
	if p.Key != nil {
		if err := p.Key.Validate(); err != nil {
			return err
		}
	}
	if p.Status != nil {
		if err := p.Status.validate(); err != nil {
			return err
		}
	}
	if p.Ended != nil {
		if err := checkText("reason", p.Ended.Reason, 0, MaxNameBytes); err != nil {
			return err
		}
		if err := checkTime("the time of the end", p.Ended.At); err != nil {
			return err
		}
	}
	if p.Recovery != nil {
		if err := p.Recovery.validate(); err != nil {
			return err
		}
	}
	if p.Title != nil {
		if err := checkText("title", p.Title.Text, 0, MaxNameBytes); err != nil {
			return err
		}
	}
	if p.Description != nil {
		if err := checkProse("description", *p.Description, MaxTextBytes); err != nil {
			return err
		}
	}
	if p.Busy != nil {
		if err := p.Busy.validate(); err != nil {
			return err
		}
	}
	if p.Chat != nil {
		if err := p.Chat.validate(); err != nil {
			return err
		}
	}
	return checkMetadata(p.Metadata)
}

func (d *NewEvent) validate() error {
	if err := checkHasBody(d.Body); err != nil {
		return err
	}
	if d.Body.EventType() == EventInput {
		return invalidf("a %s event is written by admitting its input", EventInput)
	}
	if d.Turn != "" {
		if err := checkID("turn id", string(d.Turn)); err != nil {
			return err
		}
	}
	if d.Identity != "" {
		if err := d.Identity.Validate(); err != nil {
			return err
		}
	}
	return checkTime("the event's time", d.At)
}

func (c *InputChange) validate() error {
	if err := c.Ref.Validate(); err != nil {
		return err
	}
	if c.Turn != "" {
		if err := checkID("turn id", string(c.Turn)); err != nil {
			return err
		}
	}
	if err := checkText("decision", c.Decision, 0, MaxNameBytes); err != nil {
		return err
	}
	if err := checkOptionalTime("the input's earliest time", c.NotBefore); err != nil {
		return err
	}
	return c.State.validate()
}

func (t *TurnChange) validate() error {
	if err := checkID("turn id", string(t.ID)); err != nil {
		return err
	}
	if t.State != nil {
		if err := t.State.validate(); err != nil {
			return err
		}
	}
	if t.Attempt != nil && *t.Attempt < 1 {
		return invalidf("a turn's attempts count from 1")
	}
	if t.StopReason != nil {
		if err := t.StopReason.validate(); err != nil {
			return err
		}
	}
	if t.Prompt != nil {
		if err := t.Prompt.validate(); err != nil {
			return err
		}
	}
	if t.Usage != nil {
		if err := t.Usage.validate(); err != nil {
			return err
		}
	}
	if err := checkOptionalTime("the time a turn is parked until", t.ParkedUntil); err != nil {
		return err
	}
	if len(t.Opaque) > MaxBodyBytes {
		return tooLargef("a turn's opaque state is %d bytes long; at most %d are allowed", len(t.Opaque), MaxBodyBytes)
	}
	return nil
}

func (c *CallChange) validate() error {
	if err := checkID("turn id", string(c.Turn)); err != nil {
		return err
	}
	if err := checkID("call id", string(c.ID)); err != nil {
		return err
	}
	if err := checkText("tool name", c.Tool, 1, MaxNameBytes); err != nil {
		return err
	}
	if err := c.State.validate(); err != nil {
		return err
	}
	return checkJSON("call results", c.Result)
}

func (a *ApprovalChange) validate() error {
	if err := checkID("turn id", string(a.Turn)); err != nil {
		return err
	}
	if err := checkID("call id", string(a.Call)); err != nil {
		return err
	}
	if a.By != "" {
		if err := a.By.Validate(); err != nil {
			return err
		}
	}
	if err := checkTime("the approval's deadline", a.Deadline); err != nil {
		return err
	}
	if a.State == ApprovalPending {
		if err := checkText("tool name", a.Tool, 1, MaxNameBytes); err != nil {
			return err
		}
		if a.Default != ApprovalApproved && a.Default != ApprovalDenied {
			return invalidf("an approval's default must be approved or denied, not %s", quote(string(a.Default)))
		}
	}
	return a.State.validate()
}

func (d *DeliveryChange) validate() error {
	if d.New != nil {
		return d.New.validate()
	}
	if err := checkID("delivery id", string(d.ID)); err != nil {
		return err
	}
	if d.State != nil {
		if err := d.State.validate(); err != nil {
			return err
		}
	}
	for _, at := range []*time.Time{d.NextAttempt, d.AttemptedAt} {
		if err := checkOptionalTime("delivery times", at); err != nil {
			return err
		}
	}
	for _, text := range []*string{d.Text, d.Markup} {
		if text == nil {
			continue
		}
		if err := checkProse("delivery text", *text, MaxBodyBytes); err != nil {
			return err
		}
	}
	if d.Media != nil {
		if err := checkDeliveryMedia(*d.Media); err != nil {
			return err
		}
	}
	if d.Attempts != nil && *d.Attempts < 0 {
		return invalidf("delivery attempts must not be negative")
	}
	if d.PlatformID != nil {
		if err := checkText("platform message id", *d.PlatformID, 0, MaxNameBytes); err != nil {
			return err
		}
	}
	if d.LastError != nil {
		return checkProse("delivery error", *d.LastError, MaxTextBytes)
	}
	return nil
}

func (n *NoticeChange) validate() error {
	if n.Add != nil {
		return n.Add.validate()
	}
	return checkID("notice id", string(n.Consume))
}
