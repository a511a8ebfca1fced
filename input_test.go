package parley_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
)

func message() parley.Input {
	return parley.Input{
		Ref:  parley.InputRef{Origin: "telegram/default/-1001", ID: "m1"},
		Kind: parley.InputMessage,
		Parts: []parley.Part{
			parley.TextPart("hello\nworld"),
			{Kind: parley.PartMedia, Media: &parley.Media{Handle: "h1", Type: "image/png", Name: "a.png", Size: 3}},
			{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "run", Arguments: []byte(`{"a":1}`)}},
			{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c1", Text: "ok"}},
		},
		Sender:    parley.Sender{ID: "7", AltID: "u7", Name: "Alice"},
		Principal: parley.Principal{Identity: "telegram:7", Role: parley.RoleUser, Via: "channel"},
		State:     parley.InputQueued,
	}
}

func TestContentHash(t *testing.T) {
	t.Parallel()
	base := message()
	for _, test := range []struct {
		name string
		same bool
		edit func(*parley.Input)
	}{
		{"nothing", true, func(*parley.Input) {}},
		{"line endings", true, func(in *parley.Input) { in.Parts[0].Text = "hello\r\nworld" }},
		{"white space outside", true, func(in *parley.Input) { in.Parts[0].Text = "  hello\nworld\n\n" }},
		{"sender's name", true, func(in *parley.Input) { in.Sender.Name = "Alice B." }},
		{"media name", true, func(in *parley.Input) { in.Parts[1].Media.Name = "b.png" }},
		{"ref", true, func(in *parley.Input) { in.Ref.ID = "m2" }},
		{"state", true, func(in *parley.Input) { in.State = parley.InputDone }},
		{"decision", true, func(in *parley.Input) { in.Decision = "waits" }},
		{"principal", true, func(in *parley.Input) { in.Principal.Via = "token" }},
		{"what the store fills in", true, func(in *parley.Input) { in.Session, in.Seq, in.At = "cli:work", 3, at }},

		{"kind", false, func(in *parley.Input) { in.Kind = parley.InputCommand }},
		{"text", false, func(in *parley.Input) { in.Parts[0].Text = "hello, world" }},
		{"case", false, func(in *parley.Input) { in.Parts[0].Text = "Hello\nworld" }},
		{"white space inside", false, func(in *parley.Input) { in.Parts[0].Text = "hello\n\nworld" }},
		{"text as reasoning", false, func(in *parley.Input) { in.Parts[0].Kind = parley.PartReasoning }},
		{"media", false, func(in *parley.Input) { in.Parts[1].Media.Handle = "h2" }},
		{"call id", false, func(in *parley.Input) { in.Parts[2].Call.ID = "c2" }},
		{"call name", false, func(in *parley.Input) { in.Parts[2].Call.Name = "rm" }},
		{"call arguments", false, func(in *parley.Input) { in.Parts[2].Call.Arguments = []byte(`{"a":2}`) }},
		{"result's call", false, func(in *parley.Input) { in.Parts[3].Result.CallID = "c2" }},
		{"result", false, func(in *parley.Input) { in.Parts[3].Result.Text = "no" }},
		{"result is an error", false, func(in *parley.Input) { in.Parts[3].Result.IsError = true }},
		{"result is unknown", false, func(in *parley.Input) { in.Parts[3].Result.Unknown = true }},
		{"result's media", false, func(in *parley.Input) { in.Parts[3].Result.Media = &parley.Media{Handle: "h", Type: "t"} }},
		{"sender", false, func(in *parley.Input) { in.Sender.ID = "8" }},
		{"sender's alternative id", false, func(in *parley.Input) { in.Sender.AltID = "" }},
		{"one part less", false, func(in *parley.Input) { in.Parts = in.Parts[:3] }},
		{"one part more", false, func(in *parley.Input) { in.Parts = append(in.Parts, parley.TextPart("")) }},
		{"parts in another order", false, func(in *parley.Input) { in.Parts[0], in.Parts[1] = in.Parts[1], in.Parts[0] }},
		{"parts split elsewhere", false, func(in *parley.Input) {
			in.Parts = append([]parley.Part{parley.TextPart("hello"), parley.TextPart("world")}, in.Parts[1:]...)
		}},
		{"sender's ids run together", false, func(in *parley.Input) { in.Sender.ID, in.Sender.AltID = "7u", "7" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := message()
			test.edit(&in)
			if same := in.ContentHash() == base.ContentHash(); same != test.same {
				t.Errorf("the same content: %v, want %v", same, test.same)
			}
		})
	}
}

func TestAdmitted(t *testing.T) {
	t.Parallel()
	in := message()
	in.Mentioned, in.ReplyTo, in.MessageID = true, "m0", "m1"
	want := &parley.Admitted{
		ID: "m1", Origin: "telegram/default/-1001", Kind: parley.InputMessage, Parts: in.Parts, Sender: in.Sender,
		Mentioned: true, ReplyTo: "m0", MessageID: "m1",
	}
	if diff := cmp.Diff(want, in.Admitted()); diff != "" {
		t.Error(diff)
	}
}

func TestOpenStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[parley.InputState]bool{
		parley.InputQueued: true, parley.InputRunning: true, parley.InputDone: false, parley.InputLogged: false,
		parley.InputSteered: false, parley.InputCarriedOut: false, parley.InputDropped: false, "": false,
	} {
		if state.Open() != want {
			t.Errorf("input %q: open is %v", state, !want)
		}
	}
	for state, want := range map[parley.DeliveryState]bool{
		parley.DeliveryPending: true, parley.DeliverySending: true, parley.DeliveryUnknown: true, parley.DeliverySent: false,
		parley.DeliveryHeld: false, parley.DeliveryDead: false, parley.DeliveryDropped: false, "": false,
	} {
		if state.Open() != want {
			t.Errorf("delivery %q: open is %v", state, !want)
		}
	}
}
