package parley_test

import (
	"strings"

	"github.com/parley-run/parley"
)

// bodyCase is a body of each type with every field set, and what must not be
// accepted in its place.
type bodyCase struct {
	valid  parley.EventBody
	broken []brokenBody
}

type brokenBody struct {
	name string
	code parley.Code
	body parley.EventBody
}

// breaking is a change that makes a body of type T unfit.
type breaking[T any] struct {
	name string
	code parley.Code
	edit func(*T)
}

// bodyOf applies each change to a copy of the valid body.
func bodyOf[T any, P interface {
	*T
	parley.EventBody
}](valid T, changes ...breaking[T],
) bodyCase {
	c := bodyCase{valid: P(&valid)}
	for _, change := range changes {
		broken := valid
		change.edit(&broken)
		c.broken = append(c.broken, brokenBody{change.name, change.code, P(&broken)})
	}
	return c
}

const (
	invalid  = parley.CodeInvalid
	tooLarge = parley.CodeTooLarge
)

var (
	long  = strings.Repeat("x", parley.MaxNameBytes+1)
	prose = strings.Repeat("x", parley.MaxTextBytes+1)
)

// parts is one part of each kind.
func parts() []parley.Part {
	return []parley.Part{
		parley.TextPart("hello\nworld"),
		{Kind: parley.PartText, Note: true, Text: "it is Monday"},
		{Kind: parley.PartReasoning, Text: "hm"},
		{Kind: parley.PartMedia, Media: &parley.Media{Handle: "sha256:ab", Type: "image/png", Name: "a b.png", Size: 7}},
		{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "run", Arguments: []byte(`{"a":[1,2,{"b":null}]}`)}},
		{Kind: parley.PartToolResult, Result: &parley.ToolResult{
			CallID: "c1", Text: "ok", Media: &parley.Media{Handle: "h", Type: "text/plain"}, IsError: true, Unknown: true,
		}},
	}
}

func bodyCases() []bodyCase {
	sender := parley.Sender{ID: "7", AltID: "u-7", Name: "Åsa", Bot: true}
	return []bodyCase{
		bodyOf(parley.Started{Agent: "main", Source: parley.Source{Kind: "cli", Platform: "linux", Interactive: true, Trigger: "user"}},
			breaking[parley.Started]{"no agent", invalid, func(b *parley.Started) { b.Agent = "" }},
			breaking[parley.Started]{"long agent", tooLarge, func(b *parley.Started) { b.Agent = long }},
			breaking[parley.Started]{"no source", invalid, func(b *parley.Started) { b.Source.Kind = "" }},
			breaking[parley.Started]{"bad platform", invalid, func(b *parley.Started) { b.Source.Platform = "a\nb" }},
			breaking[parley.Started]{"bad trigger", invalid, func(b *parley.Started) { b.Source.Trigger = "a\x00" }},
		),
		bodyOf(parley.Updated{Fields: []string{"title", "metadata"}},
			breaking[parley.Updated]{"empty field", invalid, func(b *parley.Updated) { b.Fields = []string{""} }},
			breaking[parley.Updated]{"bad field", invalid, func(b *parley.Updated) { b.Fields = []string{"a\tb"} }},
			breaking[parley.Updated]{"many fields", invalid, func(b *parley.Updated) { b.Fields = make([]string, 65) }},
		),
		bodyOf(parley.Admitted{
			ID: "m1", Origin: "telegram/default/-1001", Kind: parley.InputMessage, Parts: parts(), Sender: sender,
			Mentioned: true, ReplyTo: "m0", MessageID: "m1",
			Target: &parley.Target{Channel: "telegram", Account: "main", Chat: "-1001", Topic: "3", ReplyTo: "m1"},
		},
			breaking[parley.Admitted]{"no id", invalid, func(b *parley.Admitted) { b.ID = "" }},
			breaking[parley.Admitted]{"no origin", invalid, func(b *parley.Admitted) { b.Origin = "" }},
			breaking[parley.Admitted]{"no kind", invalid, func(b *parley.Admitted) { b.Kind = "" }},
			breaking[parley.Admitted]{"unknown kind", invalid, func(b *parley.Admitted) { b.Kind = "wish" }},
			breaking[parley.Admitted]{"unknown part", invalid, func(b *parley.Admitted) { b.Parts = []parley.Part{{Kind: "hologram"}} }},
			breaking[parley.Admitted]{"a note that is no text", invalid, func(b *parley.Admitted) { b.Parts = []parley.Part{{Kind: parley.PartReasoning, Note: true}} }},
			breaking[parley.Admitted]{"bad sender id", invalid, func(b *parley.Admitted) { b.Sender.ID = "a\n" }},
			breaking[parley.Admitted]{"bad sender alternative id", invalid, func(b *parley.Admitted) { b.Sender.AltID = "a\n" }},
			breaking[parley.Admitted]{"bad sender name", invalid, func(b *parley.Admitted) { b.Sender.Name = "a\x00" }},
			breaking[parley.Admitted]{"bad reply-to", invalid, func(b *parley.Admitted) { b.ReplyTo = "a\n" }},
			breaking[parley.Admitted]{"bad message id", invalid, func(b *parley.Admitted) { b.MessageID = "a\n" }},
			breaking[parley.Admitted]{"no channel to answer on", invalid, func(b *parley.Admitted) { b.Target = &parley.Target{Chat: "1"} }},
			breaking[parley.Admitted]{"no chat to answer in", invalid, func(b *parley.Admitted) { b.Target = &parley.Target{Channel: "telegram"} }},
			breaking[parley.Admitted]{"bad topic to answer in", invalid, func(b *parley.Admitted) { b.Target = &parley.Target{Channel: "telegram", Chat: "1", Topic: "a\n"} }},
		),
		bodyOf(parley.Message{
			ID: "msg1", Role: parley.MessageAssistant, Parts: parts(), Sender: &sender, Model: "scripted/echo",
			Inputs: []parley.InputRef{{Origin: "telegram/default/-1001", ID: "m1"}},
		},
			breaking[parley.Message]{"no id", invalid, func(b *parley.Message) { b.ID = "" }},
			breaking[parley.Message]{"no role", invalid, func(b *parley.Message) { b.Role = "" }},
			breaking[parley.Message]{"unknown role", invalid, func(b *parley.Message) { b.Role = "oracle" }},
			breaking[parley.Message]{"bad model", invalid, func(b *parley.Message) { b.Model = "a\n" }},
			breaking[parley.Message]{"bad sender", invalid, func(b *parley.Message) { b.Sender = &parley.Sender{ID: "a\n"} }},
			breaking[parley.Message]{"bad input", invalid, func(b *parley.Message) { b.Inputs = []parley.InputRef{{Origin: "x"}} }},
			breaking[parley.Message]{"a note that is no text", invalid, func(b *parley.Message) { b.Parts = []parley.Part{{Kind: parley.PartReasoning, Note: true}} }},
			breaking[parley.Message]{"many parts", tooLarge, func(b *parley.Message) { b.Parts = make([]parley.Part, parley.MaxParts+1) }},
		),
		bodyOf(parley.TurnStarted{Attempt: 2, Prompt: parley.PromptRef{ID: "default", Version: 3, SHA256: "ab"}},
			breaking[parley.TurnStarted]{"no attempt", invalid, func(b *parley.TurnStarted) { b.Attempt = 0 }},
			breaking[parley.TurnStarted]{"bad prompt", invalid, func(b *parley.TurnStarted) { b.Prompt.ID = "a\n" }},
			breaking[parley.TurnStarted]{"bad prompt hash", invalid, func(b *parley.TurnStarted) { b.Prompt.SHA256 = "a\n" }},
		),
		bodyOf(parley.ToolStarted{Call: "c1", Tool: "run"},
			breaking[parley.ToolStarted]{"no call", invalid, func(b *parley.ToolStarted) { b.Call = "" }},
			breaking[parley.ToolStarted]{"no tool", invalid, func(b *parley.ToolStarted) { b.Tool = "" }},
		),
		bodyOf(parley.ToolCompleted{Call: "c1", Tool: "run", State: parley.CallFinished},
			breaking[parley.ToolCompleted]{"no call", invalid, func(b *parley.ToolCompleted) { b.Call = "" }},
			breaking[parley.ToolCompleted]{"no tool", invalid, func(b *parley.ToolCompleted) { b.Tool = "" }},
			breaking[parley.ToolCompleted]{"no state", invalid, func(b *parley.ToolCompleted) { b.State = "" }},
		),
		bodyOf(parley.ApprovalRequested{Call: "c1", Tool: "run", Deadline: at, Default: parley.ApprovalDenied},
			breaking[parley.ApprovalRequested]{"no call", invalid, func(b *parley.ApprovalRequested) { b.Call = "" }},
			breaking[parley.ApprovalRequested]{"no tool", invalid, func(b *parley.ApprovalRequested) { b.Tool = "" }},
			breaking[parley.ApprovalRequested]{"no default", invalid, func(b *parley.ApprovalRequested) { b.Default = "" }},
		),
		bodyOf(parley.ApprovalResolved{Call: "c1", State: parley.ApprovalApproved, By: "telegram:7"},
			breaking[parley.ApprovalResolved]{"no call", invalid, func(b *parley.ApprovalResolved) { b.Call = "" }},
			breaking[parley.ApprovalResolved]{"no state", invalid, func(b *parley.ApprovalResolved) { b.State = "" }},
			breaking[parley.ApprovalResolved]{"bad person", invalid, func(b *parley.ApprovalResolved) { b.By = "alice" }},
		),
		bodyOf(parley.TurnCompleted{
			StopReason: parley.StopError, PromptTokens: 9, Error: &parley.TurnError{Code: "turn_limit", Message: "a\nb"},
			Usage: parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 5},
		},
			breaking[parley.TurnCompleted]{"no stop reason", invalid, func(b *parley.TurnCompleted) { b.StopReason = "" }},
			breaking[parley.TurnCompleted]{"negative prompt", invalid, func(b *parley.TurnCompleted) { b.PromptTokens = -1 }},
			breaking[parley.TurnCompleted]{"huge prompt", invalid, func(b *parley.TurnCompleted) { b.PromptTokens = 1<<53 + 1 }},
			breaking[parley.TurnCompleted]{"negative input", invalid, func(b *parley.TurnCompleted) { b.Usage.InputTokens = -1 }},
			breaking[parley.TurnCompleted]{"negative output", invalid, func(b *parley.TurnCompleted) { b.Usage.OutputTokens = -1 }},
			breaking[parley.TurnCompleted]{"negative cache read", invalid, func(b *parley.TurnCompleted) { b.Usage.CacheReadTokens = -1 }},
			breaking[parley.TurnCompleted]{"negative cache write", invalid, func(b *parley.TurnCompleted) { b.Usage.CacheWriteTokens = -1 }},
			breaking[parley.TurnCompleted]{"huge cost", invalid, func(b *parley.TurnCompleted) { b.Usage.CostMicroUSD = 1<<53 + 1 }},
			breaking[parley.TurnCompleted]{"error without code", invalid, func(b *parley.TurnCompleted) { b.Error = &parley.TurnError{Message: "x"} }},
			breaking[parley.TurnCompleted]{"long error", tooLarge, func(b *parley.TurnCompleted) { b.Error = &parley.TurnError{Code: "x", Message: prose} }},
		),
		bodyOf(parley.Reset{From: "cli:old", Reason: "daily", TailFrom: 3, TailUpto: 9},
			breaking[parley.Reset]{"backward", invalid, func(b *parley.Reset) { b.TailFrom = 10 }},
			breaking[parley.Reset]{"no session", invalid, func(b *parley.Reset) { b.From = "" }},
			breaking[parley.Reset]{"bad session", invalid, func(b *parley.Reset) { b.From = "old" }},
			breaking[parley.Reset]{"no reason", invalid, func(b *parley.Reset) { b.Reason = "" }},
		),
		bodyOf(parley.DirectiveInjected{Inputs: []parley.InputRef{{Origin: "cli/x", ID: "1"}}},
			breaking[parley.DirectiveInjected]{"no inputs", invalid, func(b *parley.DirectiveInjected) { b.Inputs = nil }},
			breaking[parley.DirectiveInjected]{"bad input", invalid, func(b *parley.DirectiveInjected) { b.Inputs = []parley.InputRef{{}} }},
		),
		bodyOf(parley.Resumed{Instead: "cli:other"},
			breaking[parley.Resumed]{"bad session", invalid, func(b *parley.Resumed) { b.Instead = "other" }},
		),
		bodyOf(parley.Suspended{Reason: "three strikes"},
			breaking[parley.Suspended]{"no reason", invalid, func(b *parley.Suspended) { b.Reason = "" }},
		),
		bodyOf(parley.Rewound{ToSeq: 4, Turns: 2},
			breaking[parley.Rewound]{"negative turns", invalid, func(b *parley.Rewound) { b.Turns = -1 }},
		),
		bodyOf(parley.Forked{From: "cli:parent", AtSeq: 12},
			breaking[parley.Forked]{"no session", invalid, func(b *parley.Forked) { b.From = "" }},
		),
		bodyOf(parley.Promoted{Key: "sk_v1_ab", Alias: "agent:main:telegram:group:-1001/42"},
			breaking[parley.Promoted]{"no key", invalid, func(b *parley.Promoted) { b.Key = "" }},
			breaking[parley.Promoted]{"no alias", invalid, func(b *parley.Promoted) { b.Alias = "" }},
		),
		bodyOf(parley.Redacted{Seqs: []uint64{3, 4}, Reason: "asked\nfor"},
			breaking[parley.Redacted]{"nothing", invalid, func(b *parley.Redacted) { b.Seqs = nil }},
			breaking[parley.Redacted]{"long reason", tooLarge, func(b *parley.Redacted) { b.Reason = prose }},
		),
		bodyOf(parley.DeliveryFailed{Delivery: "d1", Channel: "telegram", Reason: "blocked"},
			breaking[parley.DeliveryFailed]{"no delivery", invalid, func(b *parley.DeliveryFailed) { b.Delivery = "" }},
			breaking[parley.DeliveryFailed]{"no channel", invalid, func(b *parley.DeliveryFailed) { b.Channel = "" }},
			breaking[parley.DeliveryFailed]{"long reason", tooLarge, func(b *parley.DeliveryFailed) { b.Reason = prose }},
		),
		bodyOf(parley.ParticipantChanged{Identity: "telegram:7", Left: true},
			breaking[parley.ParticipantChanged]{"nobody", invalid, func(b *parley.ParticipantChanged) { b.Identity = "" }},
		),
		bodyOf(parley.Ended{Reason: "reset", Next: "cli:new"},
			breaking[parley.Ended]{"no reason", invalid, func(b *parley.Ended) { b.Reason = "" }},
			breaking[parley.Ended]{"bad session", invalid, func(b *parley.Ended) { b.Next = "new" }},
		),
		bodyOf(parley.Custom{Type: "shop:ordered", Data: []byte(`{"sku":"<1>"}`)},
			breaking[parley.Custom]{"no type", invalid, func(b *parley.Custom) { b.Type = "" }},
			breaking[parley.Custom]{"no namespace", invalid, func(b *parley.Custom) { b.Type = ":ordered" }},
			breaking[parley.Custom]{"no name", invalid, func(b *parley.Custom) { b.Type = "shop:" }},
			breaking[parley.Custom]{"no data", invalid, func(b *parley.Custom) { b.Data = nil }},
			breaking[parley.Custom]{"deep data", invalid, func(b *parley.Custom) { b.Data = nested(parley.MaxDepth + 1) }},
		),
	}
}
