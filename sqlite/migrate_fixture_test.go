package sqlite_test

import (
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// The sessions of [everyKindOfRow].
const (
	chatSession  parley.SessionID = "telegram:family" // has something of everything
	forkSession  parley.SessionID = "web:fork"        // shows a part of that
	lostSession  parley.SessionID = "cli:lost"        // is deleted
	heirSession  parley.SessionID = "cli:heir"        // shows a part of the deleted one, and goes on
	endedSession parley.SessionID = "cli:ended"
	lastSession  parley.SessionID = "cli:last" // deleted, with the highest number and position
)

// What they are about.
const (
	chatKey  parley.Key        = "sk_v1_family"
	emptyKey parley.Key        = "nowhere"
	anna     parley.IdentityID = "telegram:7"
	ben      parley.IdentityID = "discord:9"
	chatFrom                   = "telegram/main/-100 7"
	cliFrom                    = "cli:local"
)

// chatTarget has characters that JSON does not write as they are, because a migration takes the chat out of it.
var chatTarget = parley.Target{Channel: "telegram", Account: "ma\"in\\", Chat: "-100 <7> & ü\u2028日", Topic: "3", ReplyTo: "41"}

// fillEveryTable makes a store at path, and leaves it at rest.
func fillEveryTable(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range everyKindOfRow() {
		b.At = instant.Add(time.Duration(i) * (2*time.Hour + time.Microsecond)) // over two days
		if result := commit(t, s, b); result.Duplicate != nil || len(result.Clashes) > 0 {
			t.Fatalf("batch %d: %+v", i, result)
		}
	}
	if err := s.BeginEpoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// everyKindOfRow are batches after which every table has rows, with more than one value in each column.
func everyKindOfRow() []parley.Batch {
	return []parley.Batch{
		everyKindOfPerson(), credentials(), createChat(), admitToChat(),
		firstTurn(), firstTurnEnds(), secondTurn(), secondTurnWaits(), deliveriesGoOn(), chatAtRest(),
		{Sessions: []parley.SessionChange{create(forkSession, parley.NewSession{
			Fork: &parley.ForkPoint{Session: chatSession, Seq: 4}, Metadata: map[string]string{"team": "red"},
		}, message("f1", parley.MessageUser, "another way"))}},
		createLost(), createHeir(),
		{Sessions: []parley.SessionChange{{Session: lostSession, Redact: []uint64{2}}}},
		{Sessions: []parley.SessionChange{{Session: chatSession, Redact: []uint64{5}}, {Session: lostSession, Delete: true}}},
		{Sessions: []parley.SessionChange{
			create(endedSession, parley.NewSession{}, message("e1", parley.MessageUser, "hello")),
			create(lastSession, parley.NewSession{}, message("l1", parley.MessageUser, "soon gone")),
		}},
		{Sessions: []parley.SessionChange{
			{Session: lastSession, Delete: true},
			{Session: endedSession, Patch: parley.SessionPatch{
				Status: new(parley.StatusInactive), Ended: &parley.Ending{At: instant, Reason: "reset"},
				Recovery: &parley.Recovery{State: parley.RecoverySuspended, Reason: "three strikes", At: instant, Strikes: 3},
			}},
		}},
	}
}

func everyKindOfPerson() parley.Batch {
	return parley.Batch{
		Users: []parley.UserChange{
			{User: parley.User{ID: "anna", Name: "Anna Ü", Role: parley.RoleOwner, CreatedAt: instant}},
			{User: parley.User{ID: "ben", Role: parley.RoleGuest}},
		},
		Identities: []parley.IdentityChange{
			{Identity: parley.Identity{ID: anna, User: "anna", Name: "A", CreatedAt: instant}},
			{Identity: parley.Identity{ID: ben, User: "ben", Bot: true}},
			{Identity: parley.Identity{ID: "web:stray"}},
		},
		Blobs: []parley.BlobChange{
			{Handle: "blob_photo", Type: "image/png", Size: 70_000},
			{Handle: "blob_song", Type: "audio/ogg", Size: 5},
		},
	}
}

func credentials() parley.Batch {
	return parley.Batch{
		Tokens: []parley.TokenChange{
			{New: &parley.Token{
				ID: "tok_user", Kind: parley.TokenUser, Hash: [32]byte{0: 1, 31: 0xff}, Name: "laptop", Identity: anna,
				CreatedAt: instant, ExpiresAt: instant.AddDate(1, 0, 0),
			}},
			{New: &parley.Token{ID: "tok_join", Kind: parley.TokenJoin, Hash: [32]byte{2}, Agent: "helper"}},
			{New: &parley.Token{ID: "tok_chat", Kind: parley.TokenChannel, Hash: [32]byte{3}, Identity: ben, Namespace: "discord"}},
			{ID: "tok_user", Used: instant, Revoke: true},
		},
		Passcodes: []parley.PasscodeChange{
			{New: &parley.Passcode{Hash: [32]byte{4}, Kind: parley.PasscodeLink, Identity: anna, CreatedAt: instant, ExpiresAt: instant.AddDate(0, 0, 9)}},
			{New: &parley.Passcode{Hash: [32]byte{5}, Kind: parley.PasscodePair, Identity: ben, ExpiresAt: instant.AddDate(0, 0, 8)}},
		},
		Audit: []parley.AuditEntry{{Action: "sign_in", Actor: anna, Via: "token", Session: chatSession, Subject: "tok_user", Detail: "from\nafar"}},
	}
}

func createChat() parley.Batch {
	c := create(chatSession, parley.NewSession{
		Key: chatKey, Agent: parley.AgentSnapshot{Name: "helper", Config: []byte(`{"model":"m","temperature":0.10}`)},
		Source: parley.Source{Kind: "channel", Platform: "telegram", Trigger: "mention"}, Type: parley.SessionGroup,
		Metadata: map[string]string{"team": "blue", "note": "two\nlines"}, Chat: &chatTarget,
	}, parley.NewEvent{Body: &parley.ParticipantChanged{Identity: anna}}, parley.NewEvent{Body: &parley.ParticipantChanged{Identity: ben}})
	c.Claim = true
	return parley.Batch{
		Sessions: []parley.SessionChange{c},
		Keys: []parley.KeyChange{
			{Key: chatKey, Session: chatSession, Scope: &parley.Scope{
				Version: 1, Agent: "helper", Channel: "telegram", Account: "main", Values: map[parley.Dimension]string{parley.DimensionChat: "-100 7"},
			}},
			{Key: emptyKey},
		},
		Aliases: []parley.AliasChange{{Alias: "agent:helper:main", Key: chatKey}, {Alias: "telegram/1/-100 7", Key: chatKey}, {Alias: "日本", Key: emptyKey}},
	}
}

// admitToChat gives the events 3 to 6.
func admitToChat() parley.Batch {
	photo := input(chatFrom, "1", "look")
	photo.Parts = append(photo.Parts, parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: "blob_photo", Type: "image/png", Size: 70_000}})
	photo.Principal.User, photo.Principal.Via, photo.Target, photo.MessageID = "anna", "channel", &chatTarget, "40"
	later := input(chatFrom, "2", "later")
	later.Busy, later.NotBefore, later.Decision = parley.BusyCollect, instant, "it waits"
	redacted := input(chatFrom, "3", "a slip")
	command := input(cliFrom, "10", "/status")
	command.Kind, command.State = parley.InputCommand, parley.InputCarriedOut
	return parley.Batch{Sessions: []parley.SessionChange{{Session: chatSession, Admit: []parley.Input{photo, later, redacted, command}}}}
}

func firstTurn() parley.Batch {
	ref := parley.InputRef{Origin: chatFrom, ID: "1"}
	return parley.Batch{Sessions: []parley.SessionChange{{
		Session:   chatSession,
		Events:    []parley.NewEvent{message("m1", parley.MessageUser, "look", ref)},
		Inputs:    []parley.InputChange{{Ref: ref, State: parley.InputRunning, Turn: "t1"}},
		Turns:     []parley.TurnChange{{ID: "t1", Start: true, Prompt: &parley.PromptRef{ID: "default", Version: 3, SHA256: "ab"}}},
		Calls:     []parley.CallChange{{Turn: "t1", ID: "c1", Tool: "shell", State: parley.CallStarted}},
		Approvals: []parley.ApprovalChange{{Turn: "t1", Call: "c1", Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalDenied}},
		Notices: []parley.NoticeChange{
			{Add: &parley.Notice{ID: "n1", Kind: "restart", Text: "it was\nstarted again"}},
			{Add: &parley.Notice{ID: "n2", Kind: "reset", Text: "anew"}},
			{Add: &parley.Notice{ID: "n3", Kind: "reset"}},
		},
	}}}
}

func firstTurnEnds() parley.Batch {
	song := message("m2", parley.MessageAssistant, "nice")
	song.Turn, song.Identity = "t1", anna
	body := song.Body.(*parley.Message)
	body.Parts = append(body.Parts, parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: "blob_song", Type: "audio/ogg"}})
	usage := parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 1 << 40}
	return parley.Batch{Sessions: []parley.SessionChange{{
		Session:   chatSession,
		Events:    []parley.NewEvent{song, completed(anna, usage)},
		Inputs:    []parley.InputChange{{Ref: parley.InputRef{Origin: chatFrom, ID: "1"}, State: parley.InputDone}},
		Turns:     []parley.TurnChange{{ID: "t1", State: new(parley.TurnDone), StopReason: new(parley.StopDone), Usage: &usage}},
		Approvals: []parley.ApprovalChange{{Turn: "t1", Call: "c1", State: parley.ApprovalApproved, By: anna}},
		Deliveries: []parley.DeliveryChange{
			{New: delivery("d1", "nice", func(d *parley.Delivery) { d.Turn, d.Target = "t1", chatTarget }), Event: 1},
			{New: delivery("d2", "a notice", func(d *parley.Delivery) { d.Kind, d.State = parley.DeliveryNotice, parley.DeliveryHeld })},
			{New: delivery("d3", "", func(d *parley.Delivery) {
				d.Turn, d.Of, d.Part, d.Markup, d.Target = "t1", "d1", 1, "[1]", chatTarget
				d.Media = []parley.Media{{Handle: "blob_song", Type: "audio/ogg", Name: "a b.ogg"}}
			})},
		},
		Notices: []parley.NoticeChange{{Consume: "n2"}},
	}}}
}

func secondTurn() parley.Batch {
	return parley.Batch{Sessions: []parley.SessionChange{{
		Session: chatSession, Claim: true,
		Turns: []parley.TurnChange{{ID: "t2", Start: true}},
		Calls: []parley.CallChange{
			{Turn: "t2", ID: "c1", Tool: "shell", State: parley.CallStarted},
			{Turn: "t2", ID: "c2", Tool: "web", State: parley.CallStarted},
			{Turn: "t2", ID: "c1", Tool: "shell", State: parley.CallFinished, Result: []byte(`{"text":"done <ok>"}`)},
		},
		Approvals: []parley.ApprovalChange{{
			Turn: "t2", Call: "c2", Tool: "web", State: parley.ApprovalPending, Default: parley.ApprovalApproved, Deadline: instant,
		}},
		Deliveries: []parley.DeliveryChange{
			{New: delivery("d4", "may it?", func(d *parley.Delivery) {
				d.Turn, d.Kind, d.Call, d.Target = "t2", parley.DeliveryApproval, "c2", chatTarget
			})},
			{New: delivery("d5", "it beg", func(d *parley.Delivery) { d.Turn, d.Draft, d.Target = "t2", true, chatTarget })},
			{New: delivery("d6", "too late", func(d *parley.Delivery) { d.State = parley.DeliveryDead })},
			{New: delivery("d7", "more", func(d *parley.Delivery) { d.Of, d.Part, d.Target = "d1", 2, chatTarget })}, // behind others, ahead in order
			{New: delivery("d8", "some wait", func(d *parley.Delivery) { d.Kind, d.State = parley.DeliveryBacklog, parley.DeliveryDropped })},
		},
	}}}
}

func secondTurnWaits() parley.Batch {
	return parley.Batch{Sessions: []parley.SessionChange{{
		Session: chatSession,
		Turns: []parley.TurnChange{{
			ID: "t2", Cancel: true, State: new(parley.TurnParked), Attempt: new(2), Opaque: []byte{0, 1, 0xff}, ParkedUntil: &instant,
		}},
	}}}
}

func deliveriesGoOn() parley.Batch {
	return parley.Batch{Sessions: []parley.SessionChange{{Session: chatSession, Deliveries: []parley.DeliveryChange{
		{ID: "d1", State: new(parley.DeliverySent), Attempts: new(1), PlatformID: new("platform 1")},
		{
			ID: "d3", State: new(parley.DeliveryUnknown), Attempts: new(2), Again: new(true), LastError: new("429\nslow down"),
			NextAttempt: &instant, AttemptedAt: &instant,
		},
		{ID: "d5", State: new(parley.DeliverySending), AttemptedAt: new(instant.Add(time.Second))},
	}}}}
}

func chatAtRest() parley.Batch {
	return parley.Batch{
		Sessions: []parley.SessionChange{{Session: chatSession, Patch: parley.SessionPatch{
			Status: new(parley.StatusAwaitingApproval), Title: &parley.Title{Text: "Über \"alles\"", Seq: 7}, Description: new("what it is\nabout"),
			Busy: new(parley.BusySteer),
		}}},
		Blobs: []parley.BlobChange{{Handle: "blob_unused", Type: "image/png", Size: 7}},
		Audit: []parley.AuditEntry{{Action: "role_changed"}},
	}
}

// createLost makes a session of an agent that no other has, with a turn that cost something.
func createLost() parley.Batch {
	c := create(lostSession, parley.NewSession{Agent: parley.AgentSnapshot{Name: "fleeting"}},
		message("g1", parley.MessageUser, "shown by the fork"), completed("", parley.Usage{InputTokens: 50, CostMicroUSD: 7}))
	c.Admit = []parley.Input{input(cliFrom, "20", "never done"), input(cliFrom, "21", "a slip")}
	return parley.Batch{Sessions: []parley.SessionChange{c}}
}

func createHeir() parley.Batch {
	usage := parley.Usage{InputTokens: 9, OutputTokens: 8, CacheReadTokens: 7, CacheWriteTokens: 6, CostMicroUSD: 5}
	c := create(heirSession, parley.NewSession{Fork: &parley.ForkPoint{Session: lostSession, Seq: 3}, Key: emptyKey},
		parley.NewEvent{Body: &parley.ParticipantChanged{Identity: ben}}, completed(ben, usage))
	c.Turns = []parley.TurnChange{{ID: "t9", Start: true}}
	c.Calls = []parley.CallChange{{Turn: "t9", ID: "c9", Tool: "shell", State: parley.CallStarted}}
	c.Approvals = []parley.ApprovalChange{{Turn: "t9", Call: "c9", Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalDenied}}
	c.Deliveries = []parley.DeliveryChange{{New: delivery("d9", "hello", nil)}}
	c.Notices = []parley.NoticeChange{{Add: &parley.Notice{ID: "n1", Kind: "schedule", Text: "it was missed"}}}
	return parley.Batch{Sessions: []parley.SessionChange{c}}
}
