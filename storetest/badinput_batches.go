package storetest

import (
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// deep is JSON that is nested ten thousand levels deep.
var deep = []byte(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))

// Instants that cannot be written down.
var (
	farFuture = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	farPast   = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)
)

// badBatch is a batch that cannot be stored.
type badBatch struct {
	name  string
	code  parley.Code
	batch func() parley.Batch
}

// simple makes a bad batch that is invalid.
func simple(name string, b parley.Batch) badBatch {
	return badBatch{name, parley.CodeInvalid, func() parley.Batch { return b }}
}

// large makes a bad batch that is too large; it is made when it is needed.
func large(name string, batch func() parley.Batch) badBatch {
	return badBatch{name, parley.CodeTooLarge, batch}
}

// turned makes a batch that changes the turn t1.
func turned(c parley.TurnChange) parley.Batch {
	c.ID = "t1"
	return with(parley.SessionChange{Session: home, Turns: []parley.TurnChange{c}})
}

var badBatches = []badBatch{
	simple("tool arguments nested too deeply", parts(parley.Part{
		Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "shell", Arguments: deep},
	})),
	simple("tool arguments of an input nested too deeply", admitted(func(in *parley.Input) {
		in.Parts = []parley.Part{{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "shell", Arguments: deep}}}
	})),
	simple("custom data nested too deeply", wrote(&parley.Custom{Type: customType, Data: deep})),
	simple("call result nested too deeply", with(journal(home, "t1", "c1", parley.CallStarted, string(deep)))),
	simple("agent snapshot nested too deeply", create(func(n *parley.NewSession) { n.Agent.Config = deep })),
	simple("custom data that is no JSON", wrote(&parley.Custom{Type: customType, Data: []byte(`{"a":`)})),
	simple("custom data that is missing", wrote(&parley.Custom{Type: customType})),
	simple("custom data that looks redacted", wrote(&parley.Custom{Type: customType, Data: []byte(`{ "redacted": true }`)})),
	simple("custom type of the runtime", wrote(&parley.Custom{Type: "session:mine", Data: []byte(`{}`)})),
	simple("custom type without a namespace", wrote(&parley.Custom{Type: "mine", Data: []byte(`{}`)})),

	simple("unknown part kind", parts(parley.Part{Kind: "smell"})),
	simple("unknown part kind of an input", admitted(func(in *parley.Input) { in.Parts = []parley.Part{{Kind: ""}} })),
	simple("part with the content of another", parts(parley.Part{
		Kind: parley.PartText, Media: &parley.Media{Handle: "h", Type: "t"},
	})),
	simple("part without its content", parts(parley.Part{Kind: parley.PartMedia})),
	simple("note that is no text", parts(parley.Part{Kind: parley.PartReasoning, Note: true, Text: "x"})),
	simple("note of an input that is no text", admitted(func(in *parley.Input) {
		in.Parts = []parley.Part{{Kind: parley.PartToolCall, Note: true, Call: &parley.ToolCall{ID: "c1", Name: "shell"}}}
	})),
	simple("unknown role of a message", wrote(&parley.Message{ID: "m", Role: "king"})),

	large("body larger than the limit", func() parley.Batch {
		half := parley.TextPart(strings.Repeat("x", parley.MaxBodyBytes/2))
		return parts(half, half, half)
	}),
	large("input larger than the limit", func() parley.Batch {
		half := parley.TextPart(strings.Repeat("x", parley.MaxBodyBytes/2))
		return admitted(func(in *parley.Input) { in.Parts = []parley.Part{half, half, half} })
	}),
	large("too many parts", func() parley.Batch { return parts(make([]parley.Part, parley.MaxParts+1)...) }),
	large("too many events", func() parley.Batch { return with(appendTo(home, says(parley.MaxBatchEvents+1)...)) }),
	large("too many events over several sessions", func() parley.Batch {
		half := says(parley.MaxBatchEvents/2 + 1)
		return parley.Batch{Sessions: []parley.SessionChange{appendTo(home, half...), appendTo(away, half...)}}
	}),
	large("metadata beyond the limit", func() parley.Batch {
		return patched(parley.SessionPatch{Metadata: map[string]string{
			"a": strings.Repeat("x", parley.MaxMetadataBytes/2), "b": strings.Repeat("x", parley.MaxMetadataBytes/2),
		}})
	}),
	large("agent snapshot beyond the limit", func() parley.Batch {
		return create(func(n *parley.NewSession) {
			n.Agent.Config = []byte(`"` + strings.Repeat("x", parley.MaxSnapshotBytes) + `"`)
		})
	}),
	large("opaque state beyond the limit", func() parley.Batch {
		return turned(parley.TurnChange{Opaque: make([]byte, parley.MaxBodyBytes+1)})
	}),

	simple("expectation that is nil", parley.Batch{Expect: []parley.Expectation{nil}}),
	simple("event without a body", with(appendTo(home, parley.NewEvent{}))),
	simple("event whose message is nil", wrote((*parley.Message)(nil))),
	simple("event whose custom body is nil", wrote((*parley.Custom)(nil))),
	simple("event whose tombstone is nil", wrote((*parley.Tombstone)(nil))),
	simple("input event that is not an input", wrote(&parley.Admitted{ID: "1", Origin: "o", Kind: parley.InputMessage})),
	simple("tombstone", wrote(&parley.Tombstone{Of: parley.EventMessage})),
	simple("session twice", parley.Batch{
		Sessions: []parley.SessionChange{appendTo(home, says(1)...), appendTo(home, says(1)...)},
	}),
	simple("input twice", with(admit(home, post("new", "x"), post("new", "x")))),
	simple("input twice, in two sessions", parley.Batch{
		Sessions: []parley.SessionChange{admit(home, post("new", "x")), admit(away, post("new", "x"))},
	}),

	simple("unknown session type", create(func(n *parley.NewSession) { n.Type = "crowd" })),
	simple("unknown status", patched(parley.SessionPatch{Status: new(parley.Status("tired"))})),
	simple("unknown recovery state", patched(parley.SessionPatch{Recovery: &parley.Recovery{State: "lost"}})),
	simple("negative strikes", patched(parley.SessionPatch{
		Recovery: &parley.Recovery{State: parley.RecoveryNone, Strikes: -1},
	})),
	simple("unknown busy mode", patched(parley.SessionPatch{Busy: new(parley.BusyMode("shout"))})),
	simple("unknown input kind", admitted(func(in *parley.Input) { in.Kind = "smell" })),
	simple("unknown input state", admitted(func(in *parley.Input) { in.State = "lost" })),
	simple("unknown role", admitted(func(in *parley.Input) { in.Principal.Role = "king" })),
	simple("unknown state of a changed input", with(parley.SessionChange{
		Session: home, Inputs: []parley.InputChange{{Ref: post("1", "").Ref, State: "lost"}},
	})),
	simple("unknown turn state", turned(parley.TurnChange{State: new(parley.TurnState("lost"))})),
	simple("unknown stop reason", turned(parley.TurnChange{StopReason: new(parley.StopReason("bored"))})),
	simple("attempt 0", turned(parley.TurnChange{Attempt: new(0)})),
	simple("negative usage", turned(parley.TurnChange{Usage: &parley.Usage{InputTokens: -1}})),
	simple("unknown call state", with(journal(home, "t1", "c1", "lost", ""))),
	simple("unknown approval state", with(settle(home, "t1", "c1", "lost"))),
	simple("approval that is pending at its deadline", with(parley.SessionChange{
		Session: home, Approvals: []parley.ApprovalChange{{
			Turn: "t1", Call: "c2", Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalPending,
		}},
	})),
	simple("unknown delivery state", delivered(func(d *parley.Delivery) { d.State = "lost" })),
	simple("unknown delivery kind", delivered(func(d *parley.Delivery) { d.Kind = "parcel" })),
	simple("negative part", delivered(func(d *parley.Delivery) { d.Part = -1 })),
	simple("batch after the last year", parley.Batch{At: farFuture}),
	simple("event before the first year", with(appendTo(home, parley.NewEvent{At: farPast, Body: say("m", "x").Body}))),
	simple("ending after the last year", patched(parley.SessionPatch{Ended: &parley.Ending{At: farFuture}})),
	simple("input that waits for ever", admitted(func(in *parley.Input) { in.NotBefore = farFuture })),
	simple("turn that is parked for ever", turned(parley.TurnChange{ParkedUntil: &farFuture})),
	simple("delivery that waits for ever", delivered(func(d *parley.Delivery) { d.NextAttempt = farFuture })),
	simple("blob without a byte", parley.Batch{Blobs: []parley.BlobChange{{Handle: voice, Type: "image/png"}}}),
	simple("blob that is removed at the end of time", parley.Batch{
		Blobs: []parley.BlobChange{{Handle: photo, Remove: true, UnusedBefore: farFuture}},
	}),
	simple("token of an unknown kind", makesToken(func(t *parley.Token) { t.Kind = "king" })),
	simple("token without a hash", makesToken(func(t *parley.Token) { t.Hash = [32]byte{} })),
	simple("token of nobody", makesToken(func(t *parley.Token) { t.Identity = "" })),
	simple("token with an agent", makesToken(func(t *parley.Token) { t.Agent = "helper" })),
	simple("token with a namespace", makesToken(func(t *parley.Token) { t.Namespace = "telegram" })),
	simple("join token of somebody", makesToken(func(t *parley.Token) { t.Kind, t.Agent = parley.TokenJoin, "helper" })),
	simple("token after the last year", makesToken(func(t *parley.Token) { t.CreatedAt = farFuture })),
	simple("token that ends after the last year", makesToken(func(t *parley.Token) { t.ExpiresAt = farFuture })),
	simple("token that was used before the first year", makesToken(func(t *parley.Token) { t.LastUsedAt = farPast })),
	simple("token that was revoked before the first year", makesToken(func(t *parley.Token) { t.RevokedAt = farPast })),
	simple("token that is used after the last year", parley.Batch{Tokens: []parley.TokenChange{{ID: "one", Used: farFuture}}}),
	simple("token that is made and changed", parley.Batch{
		Tokens: []parley.TokenChange{{New: tokenFor("new", 7, ben).New, ID: "one", Revoke: true}},
	}),
	simple("token that is made and removed", parley.Batch{Tokens: []parley.TokenChange{{New: tokenFor("new", 7, ben).New, Remove: true}}}),
	simple("change of no token", parley.Batch{Tokens: []parley.TokenChange{{Revoke: true}}}),
	simple("code of an unknown kind", makesPasscode(func(c *parley.Passcode) { c.Kind = "open sesame" })),
	simple("code without a hash", makesPasscode(func(c *parley.Passcode) { c.Hash = [32]byte{} })),
	simple("code of nobody", makesPasscode(func(c *parley.Passcode) { c.Identity = "" })),
	simple("code that ends when it is made", makesPasscode(func(c *parley.Passcode) { c.ExpiresAt = c.CreatedAt })),
	simple("code that never ends", makesPasscode(func(c *parley.Passcode) { c.ExpiresAt = time.Time{} })),
	simple("code after the last year", makesPasscode(func(c *parley.Passcode) { c.ExpiresAt = farFuture })),
	simple("code that is stored and used", parley.Batch{
		Passcodes: []parley.PasscodeChange{{New: passcodeFor(login, 7, ben).New, Use: hashes[0]}},
	}),
	simple("use of no code", parley.Batch{Passcodes: []parley.PasscodeChange{{}}}),
	simple("user without a role", parley.Batch{Users: []parley.UserChange{{User: parley.User{ID: "new"}}}}),
}
