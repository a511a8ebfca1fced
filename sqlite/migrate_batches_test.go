package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
)

// workAfterwards are batches that go on where [everyKindOfRow] ends. Where something was lost, those that need it are refused.
func workAfterwards() []parley.Batch {
	change := func(c parley.SessionChange) parley.Batch { return parley.Batch{Sessions: []parley.SessionChange{c}} }
	return []parley.Batch{
		change(create("cli:new", parley.NewSession{Key: "sk_v1_new"}, message("n1", parley.MessageUser, "hello"))),
		change(parley.SessionChange{Session: chatSession, Admit: []parley.Input{input(chatFrom, "2", "later")}}), // there already
		change(parley.SessionChange{Session: chatSession, Admit: []parley.Input{input(chatFrom, "3", "whatever, it was redacted")}}),
		change(parley.SessionChange{Session: heirSession, Admit: []parley.Input{input(chatFrom, "4", "one more")}}),
		change(parley.SessionChange{Session: chatSession, Turns: []parley.TurnChange{{ID: "t1", Start: true}}}), // taken
		change(parley.SessionChange{
			Session: chatSession, Events: []parley.NewEvent{completed(anna, parley.Usage{InputTokens: 1, CostMicroUSD: 2})},
			Turns: []parley.TurnChange{{ID: "t2", State: new(parley.TurnDone)}},
		}),
		change(parley.SessionChange{Session: heirSession, Approvals: []parley.ApprovalChange{{Turn: "t9", Call: "c9", State: parley.ApprovalDenied, By: ben}}}),
		change(parley.SessionChange{Session: heirSession, Notices: []parley.NoticeChange{{Consume: "n1"}}}),
		change(parley.SessionChange{Session: chatSession, Deliveries: []parley.DeliveryChange{
			{ID: "d3", State: new(parley.DeliverySent)}, {New: delivery("d10", "the last part", func(d *parley.Delivery) { d.Of, d.Part = "d3", 3 })},
		}}),
		change(parley.SessionChange{Session: heirSession, Deliveries: []parley.DeliveryChange{{New: delivery("d11", "new", nil)}}}),
		change(parley.SessionChange{Session: forkSession, Redact: []uint64{3}}), // which the fork shows, and another log has
		change(parley.SessionChange{Session: chatSession, Redact: []uint64{8}}), // which a delivery carries, and has media
		change(create("cli:fork", parley.NewSession{Fork: &parley.ForkPoint{Session: heirSession, Seq: 5}})),
		{Aliases: []parley.AliasChange{{Alias: "日本", Key: chatKey}, {Alias: "free", Key: chatKey}}},
		{Keys: []parley.KeyChange{{Key: emptyKey, Session: heirSession}}},
		{Users: []parley.UserChange{{User: parley.User{ID: "ben"}, Remove: true}}},
		{Blobs: []parley.BlobChange{{Handle: "blob_photo", Type: "image/png", Size: 70_000}}},
		{Tokens: []parley.TokenChange{{ID: "tok_chat", Revoke: true}}},
		{Passcodes: []parley.PasscodeChange{{Use: [32]byte{4}}}},
		{Audit: []parley.AuditEntry{{Action: "sign_in"}}},
		change(parley.SessionChange{Session: chatSession, Delete: true}),
		change(parley.SessionChange{Session: forkSession, Delete: true}),
	}
}

// compareCommits applies a batch to two stores, and compares what they say.
func compareCommits(t *testing.T, what string, want, got parley.Store, b parley.Batch) {
	t.Helper()
	b.At = instant.AddDate(0, 0, 7)
	wantResult, wantErr := want.Commit(t.Context(), b)
	gotResult, gotErr := got.Commit(t.Context(), b)
	if parley.CodeOf(wantErr) != parley.CodeOf(gotErr) {
		t.Errorf("%s: got %v; want %v", what, gotErr, wantErr)
	}
	if diff := cmp.Diff(wantResult, gotResult); diff != "" {
		t.Errorf("%s has another result (-want +got):\n%s", what, diff)
	}
}

// create makes a session, with what its log starts with.
func create(id parley.SessionID, n parley.NewSession, events ...parley.NewEvent) parley.SessionChange {
	if n.Agent.Name == "" {
		n.Agent.Name = "main"
	}
	if n.Source.Kind == "" {
		n.Source.Kind = "cli"
	}
	if n.Type == "" {
		n.Type = parley.SessionDirect
	}
	return parley.SessionChange{Session: id, Create: &n, Events: events}
}

func message(id string, role parley.MessageRole, text string, shows ...parley.InputRef) parley.NewEvent {
	return parley.NewEvent{Body: &parley.Message{ID: id, Role: role, Parts: []parley.Part{parley.TextPart(text)}, Inputs: shows}}
}

func completed(by parley.IdentityID, u parley.Usage) parley.NewEvent {
	return parley.NewEvent{Identity: by, Body: &parley.TurnCompleted{StopReason: parley.StopDone, Usage: u, PromptTokens: u.InputTokens}}
}

func input(origin, id, text string) parley.Input {
	return parley.Input{
		Ref: parley.InputRef{Origin: origin, ID: id}, Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart(text)},
		Sender: parley.Sender{ID: "7", Name: "Anna"}, Principal: parley.Principal{Identity: anna, Role: parley.RoleUser}, State: parley.InputQueued,
	}
}

func delivery(id parley.DeliveryID, text string, change func(*parley.Delivery)) *parley.Delivery {
	d := &parley.Delivery{
		ID: id, Kind: parley.DeliveryMessage, Target: parley.Target{Channel: "discord", Chat: "12"}, Text: text, State: parley.DeliveryPending,
	}
	if change != nil {
		change(d)
	}
	return d
}
