package storetest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-run/parley"
)

// idLimits are the places of names that lead to something.
var idLimits = []test{
	reaches(idBytes, "a session", idOf, func(s string) parley.Batch {
		return with(newSession(parley.SessionID(s)))
	}, func(f *fixture, s string) string { return string(f.session(parley.SessionID(s)).ID) }),
	reaches(idBytes, "a session in letters of two bytes", textOf, func(s string) parley.Batch {
		return with(newSession(parley.SessionID(s)))
	}, func(f *fixture, s string) string { return string(f.session(parley.SessionID(s)).ID) }),
	reaches(idBytes, "a turn", idOf, func(s string) parley.Batch {
		return with(startTurn(away, parley.TurnID(s)))
	}, func(f *fixture, _ string) string { return string(openTurnIDs(f, away)[0]) }),
	reaches(idBytes, "a call", idOf, func(s string) parley.Batch {
		return called(parley.CallID(s), "shell", nil)
	}, func(f *fixture, _ string) string { return string(f.calls("t1")[0].ID) }),
	reaches(idBytes, "an approval's call", idOf, func(s string) parley.Batch {
		return parley.Batch{Sessions: []parley.SessionChange{{
			Session: away, Turns: startTurn(away, "t1").Turns, Approvals: askFor(away, "t1", parley.CallID(s)).Approvals,
		}}}
	}, func(f *fixture, _ string) string { return string(approvalsOf(f, away)[0].Call) }),
	reaches(idBytes, "a user", idOf, func(s string) parley.Batch {
		return parley.Batch{Users: []parley.UserChange{{User: person(parley.UserID(s))}}}
	}, func(f *fixture, s string) string {
		return get(f, func(ctx context.Context, st parley.Store) (string, error) {
			u, err := st.User(ctx, parley.UserID(s))
			return string(u.ID), err
		})
	}),
	reaches(idBytes, "an identity", idOf, func(s string) parley.Batch {
		return parley.Batch{Identities: []parley.IdentityChange{linked(parley.IdentityID(s), "")}}
	}, func(f *fixture, s string) string {
		return get(f, func(ctx context.Context, st parley.Store) (string, error) {
			i, err := st.Identity(ctx, parley.IdentityID(s))
			return string(i.ID), err
		})
	}),
	reaches(idBytes, "an input", idOf, func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Ref.ID = s })
	}, func(f *fixture, s string) string { return f.input(post(s, "").Ref).Ref.ID }),
	reaches(idBytes, "a platform's message", idOf, func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.MessageID = s })
	}, func(f *fixture, _ string) string { return newInput(f).MessageID }),
	reaches(idBytes, "a message", idOf, func(s string) parley.Batch {
		return with(appendTo(home, say(s, "x")))
	}, func(f *fixture, _ string) string { return lastBody[*parley.Message](f).ID }),
	reaches(idBytes, "an event type", idOf, func(s string) parley.Batch {
		return wrote(&parley.Custom{Type: parley.EventType(s), Data: []byte(`{}`)})
	}, func(f *fixture, _ string) string { return string(lastBody[*parley.Custom](f).Type) }),
	reaches(idBytes, "a delivery", idOf, func(s string) parley.Batch {
		return delivered(func(d *parley.Delivery) { d.ID = parley.DeliveryID(s) })
	}, func(f *fixture, s string) string {
		return string(f.deliveries(parley.DeliveryQuery{ID: parley.DeliveryID(s)})[0].ID)
	}),
	reaches(idBytes, "a notice", idOf, func(s string) parley.Batch {
		return with(notice(home, parley.NoticeID(s)))
	}, func(f *fixture, _ string) string { return string(noticesOf(f, home)[0].ID) }),
	reaches(idBytes, "a blob", idOf, func(s string) parley.Batch {
		return parley.Batch{Blobs: register(parley.BlobHandle(s))}
	}, func(f *fixture, s string) string { return string(f.blob(parley.BlobHandle(s)).Handle) }),
	reaches(idBytes, "a token", idOf, func(s string) parley.Batch {
		return makesToken(func(t *parley.Token) { t.ID = parley.TokenID(s) })
	}, func(f *fixture, _ string) string { return string(f.tokenOf(7).ID) }),
	reaches(idBytes, "a name of metadata", idOf, func(s string) parley.Batch {
		return patched(parley.SessionPatch{Metadata: map[string]string{s: "v"}})
	}, func(f *fixture, _ string) string {
		for name := range f.session(home).Metadata {
			return name
		}
		return ""
	}),
	reaches(idBytes, "an audited action", idOf, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: s}}}
	}, func(f *fixture, _ string) string { return f.audit(parley.AuditQuery{Limit: 1})[0].Action }),

	reaches(keyBytes, "a key", idOf, func(s string) parley.Batch {
		return parley.Batch{Keys: []parley.KeyChange{{Key: parley.Key(s), Session: home}}}
	}, func(f *fixture, s string) string { return string(f.lookup(s).Key) }),
	reaches(keyBytes, "the key of a session", idOf, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Key = parley.Key(s) })
	}, func(f *fixture, _ string) string { return string(f.session("cli:new").Key) }),
	reaches(keyBytes, "the key of an alias", idOf, func(s string) parley.Batch {
		return parley.Batch{
			Keys:    []parley.KeyChange{{Key: parley.Key(s), Session: home}},
			Aliases: []parley.AliasChange{{Alias: "new", Key: parley.Key(s)}},
		}
	}, func(f *fixture, _ string) string { return string(f.lookup("new").Key) }),

	reaches(aliasBytes, "an alias", textOf, func(s string) parley.Batch {
		return parley.Batch{Aliases: []parley.AliasChange{{Alias: parley.Alias(s), Key: theme}}}
	}, func(f *fixture, s string) string {
		f.equal("key of the alias", theme, f.lookup(s).Key)
		aliases := f.aliases(theme)
		return string(aliases[slices.Index(aliases, parley.Alias(s))])
	}),
	reaches(aliasBytes, "an origin", textOf, func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Ref.Origin = s })
	}, func(f *fixture, s string) string {
		f.equal("origin in the event", s, newInput(f).Origin)
		return f.input(parley.InputRef{Origin: s, ID: "new"}).Ref.Origin
	}),
	reaches(aliasBytes, "a value of a scope", textOf, func(s string) parley.Batch {
		scope := &parley.Scope{Values: map[parley.Dimension]string{parley.DimensionChat: s}}
		return parley.Batch{Keys: []parley.KeyChange{{Key: "sk_v1_new", Session: home, Scope: scope}}}
	}, func(f *fixture, _ string) string { return f.lookup("sk_v1_new").Scope.Values[parley.DimensionChat] }),
}

// textLimits are the places of what is shown.
var textLimits = []test{
	reaches(nameBytes, "a title", textOf, func(s string) parley.Batch {
		return patched(parley.SessionPatch{Title: &parley.Title{Text: s}})
	}, func(f *fixture, _ string) string { return f.session(home).Title.Text }),
	reaches(nameBytes, "the title of a new session", textOf, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Title.Text = s })
	}, func(f *fixture, _ string) string { return f.session("cli:new").Title.Text }),
	reaches(nameBytes, "an agent", textOf, func(s string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Agent.Name = s })
	}, func(f *fixture, _ string) string { return f.session("cli:new").Agent.Name }),
	reaches(nameBytes, "a user", textOf, func(s string) parley.Batch {
		u := person("new")
		u.Name = s
		return parley.Batch{Users: []parley.UserChange{{User: u}}}
	}, func(f *fixture, _ string) string {
		return get(f, func(ctx context.Context, st parley.Store) (string, error) {
			u, err := st.User(ctx, "new")
			return u.Name, err
		})
	}),
	reaches(nameBytes, "a sender", textOf, func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Sender.Name = s })
	}, func(f *fixture, _ string) string { return newInput(f).Sender.Name }),
	reaches(nameBytes, "a tool", textOf, func(s string) parley.Batch {
		return called("new", s, nil)
	}, func(f *fixture, _ string) string { return f.calls("t1")[0].Tool }),
	reaches(nameBytes, "a model", textOf, func(s string) parley.Batch {
		return wrote(&parley.Message{ID: "m", Role: parley.MessageAssistant, Model: s})
	}, func(f *fixture, _ string) string { return lastBody[*parley.Message](f).Model }),
	reaches(nameBytes, "a chat", textOf, func(s string) parley.Batch {
		return delivered(func(d *parley.Delivery) { d.Target.Chat = s })
	}, func(f *fixture, _ string) string { return newDelivery(f).Target.Chat }),
	reaches(nameBytes, "a token", textOf, func(s string) parley.Batch {
		return makesToken(func(t *parley.Token) { t.Name = s })
	}, func(f *fixture, _ string) string { return f.tokenOf(7).Name }),

	reaches(textBytes, "a description", textOf, func(s string) parley.Batch {
		return patched(parley.SessionPatch{Description: &s})
	}, func(f *fixture, _ string) string { return f.session(home).Description }),
	reaches(textBytes, "a turn's error", textOf, func(s string) parley.Batch {
		return wrote(&parley.TurnCompleted{StopReason: parley.StopError, Error: &parley.TurnError{Code: "internal", Message: s}})
	}, func(f *fixture, _ string) string { return lastBody[*parley.TurnCompleted](f).Error.Message }),
	reaches(textBytes, "a delivery's error", textOf, func(s string) parley.Batch {
		return with(parley.SessionChange{Session: home, Deliveries: []parley.DeliveryChange{{ID: "d1", LastError: &s}}})
	}, func(f *fixture, _ string) string { return f.deliveries(parley.DeliveryQuery{ID: "d1"})[0].LastError }),
	reaches(textBytes, "a notice", textOf, func(s string) parley.Batch {
		c := notice(home, "new")
		c.Notices[0].Add.Text = s
		return with(c)
	}, func(f *fixture, _ string) string { return noticesOf(f, home)[0].Text }),
	reaches(textBytes, "an audit's detail", textOf, func(s string) parley.Batch {
		return parley.Batch{Audit: []parley.AuditEntry{{Action: "a", Detail: s}}}
	}, func(f *fixture, _ string) string { return f.audit(parley.AuditQuery{Limit: 1})[0].Detail }),
}

// sizeLimits are the places of content.
var sizeLimits = []test{
	reaches(bodyBytes, "an event", jsonOf, custom, customData),
	reaches(bodyBytes, "a message", textBeside(`{"id":"m","role":"user","parts":[{"type":"text","text":""}]}`), func(s string) parley.Batch {
		return parts(parley.TextPart(s))
	}, func(f *fixture, _ string) string { return lastBody[*parley.Message](f).Parts[0].Text }),
	reaches(bodyBytes, "an input", textBeside(
		`{"input_id":"new","origin":"telegram/main/7","kind":"message","parts":[{"type":"text","text":""}],"sender":{"id":"7","name":"Anna"}}`,
	), func(s string) parley.Batch {
		return admitted(func(in *parley.Input) { in.Parts = []parley.Part{parley.TextPart(s)} })
	}, func(f *fixture, _ string) string { return newInput(f).Parts[0].Text }),
	reaches(bodyBytes, "a delivery's text", textOf, func(s string) parley.Batch {
		return delivered(func(d *parley.Delivery) { d.Text = s })
	}, func(f *fixture, _ string) string { return newDelivery(f).Text }),
	reaches(bodyBytes, "a delivery's markup", textOf, func(s string) parley.Batch {
		return delivered(func(d *parley.Delivery) { d.Markup = s })
	}, func(f *fixture, _ string) string { return newDelivery(f).Markup }),
	reaches(bodyBytes, "a turn's opaque state", bytesOf, func(b []byte) parley.Batch {
		return turned(parley.TurnChange{Opaque: b})
	}, func(f *fixture, _ []byte) []byte { return f.turn().Opaque }),
	reaches(bodyBytes, "a call's result", jsonOf, func(j json.RawMessage) parley.Batch {
		return called("new", "shell", j)
	}, func(f *fixture, _ json.RawMessage) json.RawMessage { return f.calls("t1")[0].Result }),

	reaches(metadataBytes, "a patch", metadataOf, func(m map[string]string) parley.Batch {
		return patched(parley.SessionPatch{Metadata: m})
	}, func(f *fixture, _ map[string]string) map[string]string { return f.session(home).Metadata }),
	reaches(metadataBytes, "a new session", metadataOf, func(m map[string]string) parley.Batch {
		return create(func(n *parley.NewSession) { n.Metadata = m })
	}, func(f *fixture, _ map[string]string) map[string]string { return f.session("cli:new").Metadata }),

	reaches(snapshotBytes, "an agent", jsonOf, snapshot, snapshotRead),

	reaches(manyParts, "a message", partsOf, func(list []parley.Part) parley.Batch { return parts(list...) },
		func(f *fixture, _ []parley.Part) []parley.Part { return lastBody[*parley.Message](f).Parts }),
	reaches(manyParts, "an input", partsOf, func(list []parley.Part) parley.Batch {
		return admitted(func(in *parley.Input) { in.Parts = list })
	}, func(f *fixture, _ []parley.Part) []parley.Part { return newInput(f).Parts }),
	reaches(manyParts, "a delivery's media", photosOf, func(list []parley.Media) parley.Batch {
		return delivered(func(d *parley.Delivery) { d.Media = list })
	}, func(f *fixture, _ []parley.Media) []parley.Media { return newDelivery(f).Media }),

	reaches(depth, "an event", nestedJSON, custom, customData),
	reaches(depth, "tool arguments", nestedJSON, func(j json.RawMessage) parley.Batch {
		return parts(calling(j))
	}, func(f *fixture, _ json.RawMessage) json.RawMessage {
		return lastBody[*parley.Message](f).Parts[0].Call.Arguments
	}),
	reaches(depth, "tool arguments of an input", nestedJSON, func(j json.RawMessage) parley.Batch {
		return admitted(func(in *parley.Input) { in.Parts = []parley.Part{calling(j)} })
	}, func(f *fixture, _ json.RawMessage) json.RawMessage { return newInput(f).Parts[0].Call.Arguments }),
	reaches(depth, "a call's result", nestedJSON, func(j json.RawMessage) parley.Batch {
		return called("new", "shell", j)
	}, func(f *fixture, _ json.RawMessage) json.RawMessage { return f.calls("t1")[0].Result }),
	reaches(depth, "an agent", nestedJSON, snapshot, snapshotRead),
}
