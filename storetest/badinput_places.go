package storetest

import "github.com/parley-run/parley"

// namePlace is one place of a batch where a caller puts a name.
type namePlace struct {
	name     string
	isID     bool
	required bool
	batch    func(text string) parley.Batch
}

// with makes a batch of one session change.
func with(c parley.SessionChange) parley.Batch {
	return parley.Batch{Sessions: []parley.SessionChange{c}}
}

// create makes a batch of one new session, changed by edit.
func create(edit func(*parley.NewSession)) parley.Batch {
	c := newSession("cli:new")
	edit(c.Create)
	return with(c)
}

// patched makes a batch of one patch.
func patched(p parley.SessionPatch) parley.Batch {
	return with(parley.SessionChange{Session: home, Patch: p})
}

// admitted makes a batch of one input, changed by edit.
func admitted(edit func(*parley.Input)) parley.Batch {
	in := post("new", "new")
	edit(&in)
	return with(admit(home, in))
}

// wrote makes a batch of one event.
func wrote(body parley.EventBody) parley.Batch {
	return with(appendTo(home, parley.NewEvent{Body: body}))
}

// delivered makes a batch of one delivery, changed by edit.
func delivered(edit func(*parley.Delivery)) parley.Batch {
	d := delivery("new", 0, "new")
	edit(d.New)
	return with(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{d}})
}

// makesToken makes a batch of one token, changed by edit.
func makesToken(edit func(*parley.Token)) parley.Batch {
	c := tokenFor("new", 7, ben)
	edit(c.New)
	return parley.Batch{Tokens: []parley.TokenChange{c}}
}

// makesPasscode makes a batch of one passcode, changed by edit.
func makesPasscode(edit func(*parley.Passcode)) parley.Batch {
	c := passcodeFor(login, 7, ben)
	edit(c.New)
	return parley.Batch{Passcodes: []parley.PasscodeChange{c}}
}

// parts makes a batch of one message with these parts.
func parts(list ...parley.Part) parley.Batch {
	return wrote(&parley.Message{ID: "m", Role: parley.MessageUser, Parts: list})
}

var namePlaces = []namePlace{
	{"session id", true, true, func(s string) parley.Batch { return with(newSession(parley.SessionID("cli:" + s))) }},
	{"namespace", true, true, func(s string) parley.Batch { return with(newSession(parley.SessionID(s + ":new"))) }},
	{"key of a session", true, false, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Key = parley.Key(s) })
	}},
	{"parent", true, true, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Fork = &parley.ForkPoint{Session: parley.SessionID("cli:" + s)} })
	}},
	{"agent name", false, true, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Agent.Name = s })
	}},
	{"source kind", false, true, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Source.Kind = s })
	}},
	{"title", false, false, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Title.Text = s })
	}},
	{"patched title", false, false, func(s string) parley.Batch {
		return patched(parley.SessionPatch{Title: &parley.Title{Text: s}})
	}},
	{"metadata name", false, true, func(s string) parley.Batch {
		return patched(parley.SessionPatch{Metadata: map[string]string{s: "v"}})
	}},
	{"ending reason", false, false, func(s string) parley.Batch {
		return patched(parley.SessionPatch{Ended: &parley.Ending{At: startOfTime, Reason: s}})
	}},
	{"input origin", false, true, func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Ref.Origin = s })
	}},
	{"input id", false, true, func(s string) parley.Batch { return admitted(func(in *parley.Input) { in.Ref.ID = s }) }},
	{"principal", true, true, func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Principal.Identity = parley.IdentityID("telegram:" + s) })
	}},
	{"message id", true, true, func(s string) parley.Batch {
		return wrote(&parley.Message{ID: s, Role: parley.MessageUser})
	}},
	{"participant", true, true, func(s string) parley.Batch {
		return wrote(&parley.ParticipantChanged{Identity: parley.IdentityID("telegram:" + s)})
	}},
	{"event type", true, true, func(s string) parley.Batch {
		return wrote(&parley.Custom{Type: parley.EventType("app:" + s), Data: []byte(`{}`)})
	}},
	{"event's turn", true, false, func(s string) parley.Batch {
		return with(appendTo(home, parley.NewEvent{Turn: parley.TurnID(s), Body: say("m", "x").Body}))
	}},
	{"turn id", true, true, func(s string) parley.Batch { return with(startTurn(home, parley.TurnID(s))) }},
	{"call id", true, true, func(s string) parley.Batch {
		return with(journal(home, "t1", parley.CallID(s), parley.CallStarted, ""))
	}},
	{"tool name", false, true, func(s string) parley.Batch {
		c := journal(home, "t1", "new", parley.CallStarted, "")
		c.Calls[0].Tool = s
		return with(c)
	}},
	{"approval's call", true, true, func(s string) parley.Batch { return with(askFor(home, "t1", parley.CallID(s))) }},
	{"delivery id", true, true, func(s string) parley.Batch {
		return delivered(func(d *parley.Delivery) { d.ID = parley.DeliveryID(s) })
	}},
	{"chat", false, true, func(s string) parley.Batch { return delivered(func(d *parley.Delivery) { d.Target.Chat = s }) }},
	{"notice id", true, true, func(s string) parley.Batch { return with(notice(home, parley.NoticeID(s))) }},
	{"consumed notice", true, true, func(s string) parley.Batch { return with(consume(home, parley.NoticeID(s))) }},
	{"key", true, true, func(s string) parley.Batch {
		return parley.Batch{Keys: []parley.KeyChange{{Key: parley.Key(s), Session: home}}}
	}},
	{"scope value", false, false, func(s string) parley.Batch {
		return parley.Batch{Keys: []parley.KeyChange{{Key: theme, Scope: &parley.Scope{
			Values: map[parley.Dimension]string{parley.DimensionChat: s},
		}}}}
	}},
	{"alias", false, true, func(s string) parley.Batch {
		return parley.Batch{Aliases: []parley.AliasChange{{Alias: parley.Alias(s), Key: theme}}}
	}},
	{"blob", true, true, func(s string) parley.Batch { return parley.Batch{Blobs: register(parley.BlobHandle(s))} }},
	{"removed blob", true, true, func(s string) parley.Batch {
		return parley.Batch{Blobs: []parley.BlobChange{{Handle: parley.BlobHandle(s), Remove: true}}}
	}},
	{"blob type", false, true, func(s string) parley.Batch {
		return parley.Batch{Blobs: []parley.BlobChange{{Handle: voice, Type: s, Size: 1}}}
	}},
	{"media handle", true, true, func(s string) parley.Batch { return parts(mediaPart(parley.BlobHandle(s))) }},
	{"user id", true, true, func(s string) parley.Batch {
		return parley.Batch{Users: []parley.UserChange{{User: person(parley.UserID(s))}}}
	}},
	{"removed user", true, true, func(s string) parley.Batch {
		return parley.Batch{Users: []parley.UserChange{{User: parley.User{ID: parley.UserID(s)}, Remove: true}}}
	}},
	{"user name", false, false, func(s string) parley.Batch {
		return parley.Batch{Users: []parley.UserChange{{User: parley.User{ID: "new", Name: s, Role: parley.RoleUser}}}}
	}},
	{"identity", true, true, func(s string) parley.Batch {
		return parley.Batch{Identities: []parley.IdentityChange{
			{Identity: parley.Identity{ID: parley.IdentityID("telegram:" + s)}},
		}}
	}},
	{"token", true, true, func(s string) parley.Batch {
		return makesToken(func(t *parley.Token) { t.ID = parley.TokenID(s) })
	}},
	{"changed token", true, true, func(s string) parley.Batch {
		return parley.Batch{Tokens: []parley.TokenChange{{ID: parley.TokenID(s), Revoke: true}}}
	}},
	{"token name", false, false, func(s string) parley.Batch { return makesToken(func(t *parley.Token) { t.Name = s }) }},
	{"token's identity", true, true, func(s string) parley.Batch {
		return makesToken(func(t *parley.Token) { t.Identity = parley.IdentityID("telegram:" + s) })
	}},
	{"token's namespace", true, true, func(s string) parley.Batch {
		return makesToken(func(t *parley.Token) { t.Kind, t.Namespace = parley.TokenChannel, s })
	}},
	{"token's agent", false, true, func(s string) parley.Batch {
		return makesToken(func(t *parley.Token) { t.Kind, t.Identity, t.Agent = parley.TokenJoin, "", s })
	}},
	{"code's identity", true, true, func(s string) parley.Batch {
		return parley.Batch{Passcodes: []parley.PasscodeChange{passcodeFor(login, 7, parley.IdentityID("telegram:"+s))}}
	}},
	{"audit action", false, true, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: s}}}
	}},
	{"audit actor", true, true, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Actor: parley.IdentityID("telegram:" + s)}}}
	}},
	{"audit way", false, false, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Via: s}}}
	}},
	{"audit session", true, true, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Session: parley.SessionID("cli:" + s)}}}
	}},
	{"audit subject", false, false, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Subject: s}}}
	}},
	{"expected key", true, true, func(s string) parley.Batch {
		return parley.Batch{Expect: []parley.Expectation{parley.KeyIs{Key: parley.Key(s)}}}
	}},
	{"expected delivery", true, true, func(s string) parley.Batch {
		return parley.Batch{Expect: []parley.Expectation{parley.DeliveryIs{Delivery: parley.DeliveryID(s)}}}
	}},
}

// prosePlaces are those where a caller puts what somebody wrote.
var prosePlaces = []namePlace{
	{name: "description", batch: func(s string) parley.Batch { return patched(parley.SessionPatch{Description: &s}) }},
	{name: "metadata value", batch: func(s string) parley.Batch {
		return patched(parley.SessionPatch{Metadata: map[string]string{"k": s}})
	}},
	{name: "message text", batch: func(s string) parley.Batch { return parts(parley.TextPart(s)) }},
	{name: "reasoning", batch: func(s string) parley.Batch { return parts(parley.Part{Kind: parley.PartReasoning, Text: s}) }},
	{name: "tool result", batch: func(s string) parley.Batch {
		return parts(parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c1", Text: s}})
	}},
	{name: "input text", batch: func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Parts = []parley.Part{parley.TextPart(s)} })
	}},
	{name: "sender name", batch: func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Sender.Name = s })
	}},
	{name: "delivery text", batch: func(s string) parley.Batch { return delivered(func(d *parley.Delivery) { d.Text = s }) }},
	{name: "delivery error", batch: func(s string) parley.Batch {
		return with(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{{ID: "d1", LastError: &s}}})
	}},
	{name: "note", batch: func(s string) parley.Batch { return parts(parley.Part{Kind: parley.PartText, Note: true, Text: s}) }},
	{name: "audit detail", batch: func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Detail: s}}}
	}},
	{name: "notice", batch: func(s string) parley.Batch {
		return with(parley.SessionChange{Session: home, Notices: []parley.NoticeChange{
			{Add: &parley.Notice{ID: "new", Kind: "restart", Text: s}},
		}})
	}},
}
