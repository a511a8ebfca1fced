package parley_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// full is a batch that uses every field.
func full() parley.Batch {
	in := message()
	in.Busy, in.Decision, in.Turn = parley.BusySteer, "waits for the turn", "t1"
	return parley.Batch{
		At: at,
		Expect: []parley.Expectation{
			parley.KeyIs{Key: "k"},
			parley.AliasIs{Alias: "a"},
			parley.FenceIs{Session: "cli:work"},
			parley.StatusIn{Session: "cli:work", Any: []parley.Status{parley.StatusIdle}},
			parley.RecoveryIs{Session: "cli:work", State: parley.RecoveryNone},
			parley.EndedIs{Session: "cli:work"},
			parley.QueuedAtMost{Session: "cli:work", Max: 1},
			parley.InputIs{Ref: in.Ref},
			parley.TurnIs{Session: "cli:work", Turn: "t1"},
			parley.ApprovalIs{Session: "cli:work", Turn: "t1", Call: "c1"},
			parley.DeliveryIs{Delivery: "d1"},
			parley.IdentityIs{Identity: "telegram:7"},
		},
		Blobs: []parley.BlobChange{
			{Handle: "blob_a", Type: "image/png", Size: 1},
			{Handle: "blob_b", Remove: true, UnusedBefore: at},
		},
		Sessions: []parley.SessionChange{{
			Session: "cli:work",
			Create: &parley.NewSession{
				Key:      "k",
				Agent:    parley.AgentSnapshot{Name: "main", Config: []byte(`{"model":"x"}`)},
				Source:   parley.Source{Kind: "cli", Platform: "linux", Trigger: "user"},
				Type:     parley.SessionGroup,
				Title:    parley.Title{Text: "Work"},
				Metadata: map[string]string{"project": "a\nb"},
				Fork:     &parley.ForkPoint{Session: "cli:parent", Seq: 3},
			},
			Claim: true,
			Patch: parley.SessionPatch{
				Status:      new(parley.StatusRunning),
				Ended:       &parley.Ending{At: at, Reason: "reset"},
				Recovery:    &parley.Recovery{State: parley.RecoveryResumePending, Reason: "restart_interrupted", At: at, Strikes: 1},
				Title:       &parley.Title{Text: "More work", Seq: 3},
				Description: new("two\nlines"),
				Busy:        new(parley.BusyCollect),
				Metadata:    map[string]string{"gone": ""},
			},
			Admit: []parley.Input{in},
			Events: []parley.NewEvent{{
				Turn: "t1", Identity: "telegram:7", At: at, Body: &parley.Suspended{Reason: "x"},
			}},
			Inputs: []parley.InputChange{{Ref: in.Ref, State: parley.InputRunning, Decision: "taken", Turn: "t1", NotBefore: new(at)}},
			Turns: []parley.TurnChange{{
				ID: "t1", Start: true, State: new(parley.TurnParked), Attempt: new(2), Cancel: true, StopReason: new(parley.StopAborted),
				Prompt: &parley.PromptRef{ID: "default", Version: 1, SHA256: "ab"}, Usage: &parley.Usage{InputTokens: 1},
				Opaque: []byte{0xff}, ParkedUntil: new(at),
			}},
			Calls: []parley.CallChange{{Turn: "t1", ID: "c1", Tool: "run", State: parley.CallFinished, Result: []byte(`{}`)}},
			Approvals: []parley.ApprovalChange{{
				Turn: "t1", Call: "c1", Tool: "run", State: parley.ApprovalPending, Default: parley.ApprovalDenied, Deadline: at, By: "telegram:7",
			}},
			Deliveries: []parley.DeliveryChange{
				{New: &parley.Delivery{
					Kind: parley.DeliveryMessage,
					ID:   "d1", Turn: "t1", Seq: 4, Text: "a\nb", State: parley.DeliveryPending, NextAttempt: at, PlatformID: "9", LastError: "x\ny",
					Target: parley.Target{Channel: "telegram", Account: "default", Chat: "-1001", Topic: "4 2", ReplyTo: "m/1"},
				}},
				{
					ID: "d2", State: new(parley.DeliverySent), Attempts: new(1), NextAttempt: new(at),
					PlatformID: new("10"), LastError: new("x\ny"),
				},
			},
			Notices: []parley.NoticeChange{{Add: &parley.Notice{ID: "n1", Kind: "reset", Text: "a\nb", CreatedAt: at}}, {Consume: "n2"}},
			Redact:  []uint64{1},
			Delete:  true,
		}},
		Keys: []parley.KeyChange{{Key: "k", Session: "cli:work", Scope: &parley.Scope{
			Version: 1, Agent: "main", Channel: "telegram", Account: "default", Dimensions: []parley.Dimension{parley.DimensionChat},
			Values: map[parley.Dimension]string{parley.DimensionChat: "group:-1001/42"},
		}}},
		Aliases: []parley.AliasChange{{Alias: "agent:main:main", Key: "k"}},
		Users:   []parley.UserChange{{User: parley.User{ID: "alice", Name: "Alice", Role: parley.RoleOwner, CreatedAt: at}}},
		Identities: []parley.IdentityChange{{Identity: parley.Identity{
			ID: "telegram:7", User: "alice", Name: "Alice", CreatedAt: at,
		}}},
		Tokens: []parley.TokenChange{
			{New: &parley.Token{
				ID: "tok1", Kind: parley.TokenChannel, Hash: [32]byte{1}, Name: "the \"bot\"", Identity: "local:bot", Namespace: "telegram",
				CreatedAt: at, ExpiresAt: at, LastUsedAt: at, RevokedAt: at,
			}},
			{New: &parley.Token{ID: "tok2", Kind: parley.TokenJoin, Hash: [32]byte{2}, Agent: "main"}},
			{ID: "tok3", Revoke: true, Used: at, Remove: true},
		},
		Passcodes: []parley.PasscodeChange{
			{New: &parley.Passcode{
				Hash: [32]byte{1}, Kind: parley.PasscodeLink, Identity: "telegram:7", CreatedAt: at, ExpiresAt: at.Add(time.Minute),
			}},
			{Use: [32]byte{2}},
		},
		Audit: []parley.AuditEntry{{
			Nr: 1, At: at, Action: "role_changed", Actor: "telegram:7", Via: "token", Session: "cli:work", Subject: "alice", Detail: "a\nb",
		}},
	}
}

func TestValidateAcceptsEveryField(t *testing.T) {
	t.Parallel()
	b := full()
	if err := b.Validate(); err != nil {
		t.Fatal(err)
	}
	for i := range b.Sessions[0].Admit {
		if _, err := parley.EncodeBody(b.Sessions[0].Admit[i].Admitted()); err != nil {
			t.Error(err)
		}
	}
}

func TestValidateAcceptsWhatIsOptional(t *testing.T) {
	t.Parallel()
	in := message()
	for name, b := range map[string]parley.Batch{
		"nothing to do": {At: at},
		"empty change":  {At: at, Sessions: []parley.SessionChange{{Session: "cli:work"}}},
		"small session": {At: at, Sessions: []parley.SessionChange{{Session: "cli:work", Create: &parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "api"}, Type: parley.SessionDirect,
		}}}},
		"a session that goes on":     {At: at, Sessions: []parley.SessionChange{{Session: "cli:work", Patch: parley.SessionPatch{Ended: &parley.Ending{}}}}},
		"busy as the session says":   {At: at, Sessions: []parley.SessionChange{{Session: "cli:work", Patch: parley.SessionPatch{Busy: new(parley.BusyMode(""))}}}},
		"a key without a session":    {At: at, Keys: []parley.KeyChange{{Key: "k"}}},
		"an alias let go":            {At: at, Aliases: []parley.AliasChange{{Alias: "a"}}},
		"a user removed":             {At: at, Users: []parley.UserChange{{User: parley.User{ID: "alice"}, Remove: true}}},
		"an identity removed":        {At: at, Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: "a:1"}, Remove: true}}},
		"a token changed in nothing": {At: at, Tokens: []parley.TokenChange{{ID: "tok"}}},
		"a small token": {At: at, Tokens: []parley.TokenChange{
			{New: &parley.Token{ID: "tok", Kind: parley.TokenUser, Hash: [32]byte{31: 1}, Identity: "a:1"}},
		}},
		"a code made at the first instant": {At: at, Passcodes: []parley.PasscodeChange{
			{New: &parley.Passcode{Kind: parley.PasscodePair, Hash: [32]byte{31: 1}, Identity: "a:1", ExpiresAt: at}},
		}},
		"an audit of nobody": {At: at, Audit: []parley.AuditEntry{{Action: "sign_in"}}},
		"an approval settled": {At: at, Sessions: []parley.SessionChange{{Session: "cli:work", Approvals: []parley.ApprovalChange{
			{Turn: "t", Call: "c", State: parley.ApprovalExpired},
		}}}},
		"a delivery that only changes its state": {At: at, Sessions: []parley.SessionChange{{Session: "cli:work", Deliveries: []parley.DeliveryChange{
			{ID: "d", State: new(parley.DeliveryDropped)},
		}}}},
		"opaque state cleared": {At: at, Sessions: []parley.SessionChange{{Session: "cli:work", Turns: []parley.TurnChange{{ID: "t", Opaque: []byte{}}}}}},
		"the same input id from two origins": {At: at, Sessions: []parley.SessionChange{
			{Session: "cli:a", Admit: []parley.Input{in}},
			{Session: "cli:b", Admit: []parley.Input{func() parley.Input { in := in; in.Ref.Origin = "other"; return in }()}},
		}},
	} {
		if err := b.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// idFields are all places of a batch for an id.
var idFields = map[string]func(*parley.Batch, string){
	"blob":                 func(b *parley.Batch, s string) { b.Blobs[0].Handle = parley.BlobHandle(s) },
	"blob to be removed":   func(b *parley.Batch, s string) { b.Blobs[1].Handle = parley.BlobHandle(s) },
	"session":              func(b *parley.Batch, s string) { b.Sessions[0].Session = parley.SessionID(s) },
	"key of a new session": func(b *parley.Batch, s string) { b.Sessions[0].Create.Key = parley.Key(s) },
	"parent of a fork":     func(b *parley.Batch, s string) { b.Sessions[0].Create.Fork.Session = parley.SessionID(s) },
	"input's principal":    func(b *parley.Batch, s string) { b.Sessions[0].Admit[0].Principal.Identity = parley.IdentityID(s) },
	"input's user":         func(b *parley.Batch, s string) { b.Sessions[0].Admit[0].Principal.User = parley.UserID(s) },
	"input's turn":         func(b *parley.Batch, s string) { b.Sessions[0].Admit[0].Turn = parley.TurnID(s) },
	"event's turn":         func(b *parley.Batch, s string) { b.Sessions[0].Events[0].Turn = parley.TurnID(s) },
	"event's identity":     func(b *parley.Batch, s string) { b.Sessions[0].Events[0].Identity = parley.IdentityID(s) },
	"changed input's turn": func(b *parley.Batch, s string) { b.Sessions[0].Inputs[0].Turn = parley.TurnID(s) },
	"turn":                 func(b *parley.Batch, s string) { b.Sessions[0].Turns[0].ID = parley.TurnID(s) },
	"call's turn":          func(b *parley.Batch, s string) { b.Sessions[0].Calls[0].Turn = parley.TurnID(s) },
	"call":                 func(b *parley.Batch, s string) { b.Sessions[0].Calls[0].ID = parley.CallID(s) },
	"approval's turn":      func(b *parley.Batch, s string) { b.Sessions[0].Approvals[0].Turn = parley.TurnID(s) },
	"approval's call":      func(b *parley.Batch, s string) { b.Sessions[0].Approvals[0].Call = parley.CallID(s) },
	"who approved":         func(b *parley.Batch, s string) { b.Sessions[0].Approvals[0].By = parley.IdentityID(s) },
	"new delivery":         func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.ID = parley.DeliveryID(s) },
	"new delivery's turn":  func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.Turn = parley.TurnID(s) },
	"delivery":             func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[1].ID = parley.DeliveryID(s) },
	"new notice":           func(b *parley.Batch, s string) { b.Sessions[0].Notices[0].Add.ID = parley.NoticeID(s) },
	"notice":               func(b *parley.Batch, s string) { b.Sessions[0].Notices[1].Consume = parley.NoticeID(s) },
	"key":                  func(b *parley.Batch, s string) { b.Keys[0].Key = parley.Key(s) },
	"key's session":        func(b *parley.Batch, s string) { b.Keys[0].Session = parley.SessionID(s) },
	"alias' key":           func(b *parley.Batch, s string) { b.Aliases[0].Key = parley.Key(s) },
	"user":                 func(b *parley.Batch, s string) { b.Users[0].User.ID = parley.UserID(s) },
	"user to be removed": func(b *parley.Batch, s string) {
		b.Users[0] = parley.UserChange{User: parley.User{ID: parley.UserID(s)}, Remove: true}
	},
	"identity":                 func(b *parley.Batch, s string) { b.Identities[0].Identity.ID = parley.IdentityID(s) },
	"identity's user":          func(b *parley.Batch, s string) { b.Identities[0].Identity.User = parley.UserID(s) },
	"new token":                func(b *parley.Batch, s string) { b.Tokens[0].New.ID = parley.TokenID(s) },
	"new token's identity":     func(b *parley.Batch, s string) { b.Tokens[0].New.Identity = parley.IdentityID(s) },
	"new token's namespace":    func(b *parley.Batch, s string) { b.Tokens[0].New.Namespace = s },
	"token":                    func(b *parley.Batch, s string) { b.Tokens[2].ID = parley.TokenID(s) },
	"code's identity":          func(b *parley.Batch, s string) { b.Passcodes[0].New.Identity = parley.IdentityID(s) },
	"audit actor":              func(b *parley.Batch, s string) { b.Audit[0].Actor = parley.IdentityID(s) },
	"audit session":            func(b *parley.Batch, s string) { b.Audit[0].Session = parley.SessionID(s) },
	"expected key":             func(b *parley.Batch, s string) { b.Expect[0] = parley.KeyIs{Key: parley.Key(s)} },
	"expected fence's session": func(b *parley.Batch, s string) { b.Expect[0] = parley.FenceIs{Session: parley.SessionID(s)} },
	"expected status' session": func(b *parley.Batch, s string) { b.Expect[0] = parley.StatusIn{Session: parley.SessionID(s)} },
	"expected recovery's":      func(b *parley.Batch, s string) { b.Expect[0] = parley.RecoveryIs{Session: parley.SessionID(s)} },
	"expected end's session":   func(b *parley.Batch, s string) { b.Expect[0] = parley.EndedIs{Session: parley.SessionID(s)} },
	"expected queue's session": func(b *parley.Batch, s string) { b.Expect[0] = parley.QueuedAtMost{Session: parley.SessionID(s)} },
	"expected turn's session":  func(b *parley.Batch, s string) { b.Expect[0] = parley.TurnIs{Session: parley.SessionID(s), Turn: "t"} },
	"expected turn":            func(b *parley.Batch, s string) { b.Expect[0] = parley.TurnIs{Session: "a:b", Turn: parley.TurnID(s)} },
	"expected approval's call": func(b *parley.Batch, s string) {
		b.Expect[0] = parley.ApprovalIs{Session: "a:b", Turn: "t", Call: parley.CallID(s)}
	},
	"expected approval's turn": func(b *parley.Batch, s string) {
		b.Expect[0] = parley.ApprovalIs{Session: "a:b", Turn: parley.TurnID(s), Call: "c"}
	},
	"expected delivery": func(b *parley.Batch, s string) { b.Expect[0] = parley.DeliveryIs{Delivery: parley.DeliveryID(s)} },
	"expected identity": func(b *parley.Batch, s string) { b.Expect[0] = parley.IdentityIs{Identity: parley.IdentityID(s)} },
}

// optionalIDs may be empty.
var optionalIDs = map[string]bool{
	"key of a new session": true, "input's user": true, "input's turn": true, "event's turn": true, "event's identity": true,
	"changed input's turn": true, "who approved": true, "new delivery's turn": true, "key's session": true, "alias' key": true,
	"identity's user": true, "audit actor": true, "audit session": true,
}

// nameFields are all places of a batch for text on one line.
var nameFields = map[string]func(*parley.Batch, string){
	"agent":            func(b *parley.Batch, s string) { b.Sessions[0].Create.Agent.Name = s },
	"source kind":      func(b *parley.Batch, s string) { b.Sessions[0].Create.Source.Kind = s },
	"source platform":  func(b *parley.Batch, s string) { b.Sessions[0].Create.Source.Platform = s },
	"source trigger":   func(b *parley.Batch, s string) { b.Sessions[0].Create.Source.Trigger = s },
	"title":            func(b *parley.Batch, s string) { b.Sessions[0].Create.Title.Text = s },
	"metadata name":    func(b *parley.Batch, s string) { b.Sessions[0].Create.Metadata = map[string]string{s: "x"} },
	"patched reason":   func(b *parley.Batch, s string) { b.Sessions[0].Patch.Ended.Reason = s },
	"patched recovery": func(b *parley.Batch, s string) { b.Sessions[0].Patch.Recovery.Reason = s },
	"patched title":    func(b *parley.Batch, s string) { b.Sessions[0].Patch.Title.Text = s },
	"patched metadata": func(b *parley.Batch, s string) { b.Sessions[0].Patch.Metadata = map[string]string{s: "x"} },
	"principal's way":  func(b *parley.Batch, s string) { b.Sessions[0].Admit[0].Principal.Via = s },
	"input's decision": func(b *parley.Batch, s string) { b.Sessions[0].Admit[0].Decision = s },
	"changed origin":   func(b *parley.Batch, s string) { b.Sessions[0].Inputs[0].Ref.Origin = s },
	"changed input":    func(b *parley.Batch, s string) { b.Sessions[0].Inputs[0].Ref.ID = s },
	"changed decision": func(b *parley.Batch, s string) { b.Sessions[0].Inputs[0].Decision = s },
	"prompt":           func(b *parley.Batch, s string) { b.Sessions[0].Turns[0].Prompt.ID = s },
	"prompt hash":      func(b *parley.Batch, s string) { b.Sessions[0].Turns[0].Prompt.SHA256 = s },
	"call's tool":      func(b *parley.Batch, s string) { b.Sessions[0].Calls[0].Tool = s },
	"approval's tool":  func(b *parley.Batch, s string) { b.Sessions[0].Approvals[0].Tool = s },
	"target channel":   func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.Target.Channel = s },
	"target account":   func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.Target.Account = s },
	"target chat":      func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.Target.Chat = s },
	"target topic":     func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.Target.Topic = s },
	"target reply-to":  func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.Target.ReplyTo = s },
	"new platform id":  func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[0].New.PlatformID = s },
	"platform id":      func(b *parley.Batch, s string) { b.Sessions[0].Deliveries[1].PlatformID = &s },
	"notice kind":      func(b *parley.Batch, s string) { b.Sessions[0].Notices[0].Add.Kind = s },
	"scope agent":      func(b *parley.Batch, s string) { b.Keys[0].Scope.Agent = s },
	"scope channel":    func(b *parley.Batch, s string) { b.Keys[0].Scope.Channel = s },
	"scope account":    func(b *parley.Batch, s string) { b.Keys[0].Scope.Account = s },
	"scope dimension":  func(b *parley.Batch, s string) { b.Keys[0].Scope.Dimensions = []parley.Dimension{parley.Dimension(s)} },
	"scope value's name": func(b *parley.Batch, s string) {
		b.Keys[0].Scope.Values = map[parley.Dimension]string{parley.Dimension(s): "x"}
	},
	"scope value": func(b *parley.Batch, s string) {
		b.Keys[0].Scope.Values = map[parley.Dimension]string{parley.DimensionChat: s}
	},
	"alias":          func(b *parley.Batch, s string) { b.Aliases[0].Alias = parley.Alias(s) },
	"blob type":      func(b *parley.Batch, s string) { b.Blobs[0].Type = s },
	"user name":      func(b *parley.Batch, s string) { b.Users[0].User.Name = s },
	"identity name":  func(b *parley.Batch, s string) { b.Identities[0].Identity.Name = s },
	"token name":     func(b *parley.Batch, s string) { b.Tokens[0].New.Name = s },
	"token's agent":  func(b *parley.Batch, s string) { b.Tokens[1].New.Agent = s },
	"audit action":   func(b *parley.Batch, s string) { b.Audit[0].Action = s },
	"audit way":      func(b *parley.Batch, s string) { b.Audit[0].Via = s },
	"audit subject":  func(b *parley.Batch, s string) { b.Audit[0].Subject = s },
	"expected alias": func(b *parley.Batch, s string) { b.Expect[0] = parley.AliasIs{Alias: parley.Alias(s)} },
	"expected input": func(b *parley.Batch, s string) {
		b.Expect[0] = parley.InputIs{Ref: parley.InputRef{Origin: "x", ID: s}}
	},
	"expected origin": func(b *parley.Batch, s string) {
		b.Expect[0] = parley.InputIs{Ref: parley.InputRef{Origin: s, ID: "x"}}
	},
}

// requiredNames may not be empty.
var requiredNames = map[string]bool{
	"agent": true, "source kind": true, "metadata name": true, "patched metadata": true, "changed origin": true, "changed input": true,
	"call's tool": true, "approval's tool": true, "target channel": true, "target chat": true, "notice kind": true,
	"token's agent": true, "audit action": true,
	"scope dimension": true, "scope value's name": true, "alias": true, "blob type": true, "expected alias": true, "expected input": true, "expected origin": true,
}

func TestValidateRefusesBadNames(t *testing.T) {
	t.Parallel()
	for field, set := range idFields {
		for _, bad := range badIDs() {
			t.Run(field+"/"+bad.name, func(t *testing.T) {
				t.Parallel()
				b := full()
				set(&b, bad.id)
				code := bad.code
				if bad.id == "" && optionalIDs[field] {
					code = ""
				}
				wantCode(t, b.Validate(), code)
			})
		}
	}
	for field, set := range nameFields {
		names := append(badNames(), badID{"nothing", "", ""})
		for _, bad := range names {
			t.Run(field+"/"+bad.name, func(t *testing.T) {
				t.Parallel()
				b := full()
				set(&b, bad.id)
				code := bad.code
				if bad.id == "" && requiredNames[field] {
					code = invalid
				}
				wantCode(t, b.Validate(), code)
			})
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	s := func(edit func(*parley.SessionChange)) func(*parley.Batch) {
		return func(b *parley.Batch) { edit(&b.Sessions[0]) }
	}
	nul := "a\x00"
	for _, test := range []struct {
		name string
		code parley.Code
		edit func(*parley.Batch)
	}{
		{"blob without bytes", invalid, func(b *parley.Batch) { b.Blobs[0].Size = 0 }},
		{"blob of negative size", invalid, func(b *parley.Batch) { b.Blobs[0].Size = -1 }},
		{"no time", invalid, func(b *parley.Batch) { b.At = time.Time{} }},
		{"an empty expectation", invalid, func(b *parley.Batch) { b.Expect[3] = nil }},
		{"an unknown expected status", invalid, func(b *parley.Batch) { b.Expect[0] = parley.StatusIn{Session: "a:b", Any: []parley.Status{"asleep"}} }},
		{"a session twice", invalid, func(b *parley.Batch) { b.Sessions = append(b.Sessions, parley.SessionChange{Session: "cli:work"}) }},
		{"an input twice", invalid, s(func(c *parley.SessionChange) { c.Admit = append(c.Admit, c.Admit[0]) })},
		{"an input in two sessions", invalid, func(b *parley.Batch) {
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: "cli:other", Admit: b.Sessions[0].Admit})
		}},
		{"too many events", tooLarge, s(func(c *parley.SessionChange) {
			for len(c.Events) <= parley.MaxBatchEvents {
				c.Events = append(c.Events, c.Events[0])
			}
		})},
		{"too many events over two sessions", tooLarge, func(b *parley.Batch) {
			other := parley.SessionChange{Session: "cli:other"}
			for len(other.Events) < parley.MaxBatchEvents-1 {
				other.Events = append(other.Events, b.Sessions[0].Events[0])
			}
			b.Sessions = append(b.Sessions, other) // with one event and one input before
		}},

		{"agent's configuration is no JSON", invalid, s(func(c *parley.SessionChange) { c.Create.Agent.Config = []byte("{") })},
		{"agent's configuration is deep", invalid, s(func(c *parley.SessionChange) { c.Create.Agent.Config = nested(10_000) })},
		{"agent's configuration is large", tooLarge, s(func(c *parley.SessionChange) {
			c.Create.Agent.Config = []byte(`"` + strings.Repeat("x", parley.MaxSnapshotBytes) + `"`)
		})},
		{"no session type", invalid, s(func(c *parley.SessionChange) { c.Create.Type = "" })},
		{"an unknown session type", invalid, s(func(c *parley.SessionChange) { c.Create.Type = "crowd" })},
		{"metadata with NUL", invalid, s(func(c *parley.SessionChange) { c.Create.Metadata["x"] = nul })},
		{"a large metadata value", tooLarge, s(func(c *parley.SessionChange) { c.Create.Metadata["x"] = strings.Repeat("x", parley.MaxMetadataBytes+1) })},
		{"much metadata", tooLarge, s(func(c *parley.SessionChange) {
			for i := range 1000 {
				c.Create.Metadata[fmt.Sprint(i)] = "0123456789abcdef"
			}
		})},

		{"an unknown status", invalid, s(func(c *parley.SessionChange) { c.Patch.Status = new(parley.Status("asleep")) })},
		{"an empty status", invalid, s(func(c *parley.SessionChange) { c.Patch.Status = new(parley.Status("")) })},
		{"an unknown recovery", invalid, s(func(c *parley.SessionChange) { c.Patch.Recovery.State = "" })},
		{"negative strikes", invalid, s(func(c *parley.SessionChange) { c.Patch.Recovery.Strikes = -1 })},
		{"a description with NUL", invalid, s(func(c *parley.SessionChange) { c.Patch.Description = &nul })},
		{"a long description", tooLarge, s(func(c *parley.SessionChange) { c.Patch.Description = &prose })},
		{"an unknown busy mode", invalid, s(func(c *parley.SessionChange) { c.Patch.Busy = new(parley.BusyMode("panic")) })},
		{"patched metadata with NUL", invalid, s(func(c *parley.SessionChange) { c.Patch.Metadata = map[string]string{"x": nul} })},

		{"an unknown role", invalid, s(func(c *parley.SessionChange) { c.Admit[0].Principal.Role = "king" })},
		{"no role", invalid, s(func(c *parley.SessionChange) { c.Admit[0].Principal.Role = "" })},
		{"nobody", invalid, s(func(c *parley.SessionChange) { c.Admit[0].Principal = parley.Principal{} })},
		{"an input with an unknown busy mode", invalid, s(func(c *parley.SessionChange) { c.Admit[0].Busy = "panic" })},
		{"an input without state", invalid, s(func(c *parley.SessionChange) { c.Admit[0].State = "" })},

		{"an event without body", invalid, s(func(c *parley.SessionChange) { c.Events[0].Body = nil })},
		{"an input's event by hand", invalid, s(func(c *parley.SessionChange) { c.Events[0].Body = c.Admit[0].Admitted() })},

		{"an input to an unknown state", invalid, s(func(c *parley.SessionChange) { c.Inputs[0].State = "lost" })},
		{"a turn to an unknown state", invalid, s(func(c *parley.SessionChange) { c.Turns[0].State = new(parley.TurnState("lost")) })},
		{"a turn's attempt 0", invalid, s(func(c *parley.SessionChange) { c.Turns[0].Attempt = new(0) })},
		{"a turn's unknown stop reason", invalid, s(func(c *parley.SessionChange) { c.Turns[0].StopReason = new(parley.StopReason("tired")) })},
		{"a turn's negative usage", invalid, s(func(c *parley.SessionChange) { c.Turns[0].Usage.OutputTokens = -1 })},
		{"a turn's large opaque state", tooLarge, s(func(c *parley.SessionChange) { c.Turns[0].Opaque = make([]byte, parley.MaxBodyBytes+1) })},
		{"a call to an unknown state", invalid, s(func(c *parley.SessionChange) { c.Calls[0].State = "" })},
		{"a call's result is no JSON", invalid, s(func(c *parley.SessionChange) { c.Calls[0].Result = []byte("ok") })},
		{"a call's result is deep", invalid, s(func(c *parley.SessionChange) { c.Calls[0].Result = nested(10_000) })},
		{"a call's result is large", tooLarge, s(func(c *parley.SessionChange) {
			c.Calls[0].Result = []byte(`"` + strings.Repeat("x", parley.MaxBodyBytes) + `"`)
		})},
		{"an approval to an unknown state", invalid, s(func(c *parley.SessionChange) { c.Approvals[0].State = "perhaps" })},
		{"an approval without default", invalid, s(func(c *parley.SessionChange) { c.Approvals[0].Default = "" })},

		{"a new delivery of an unknown state", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.State = "" })},
		{"a new delivery of an unknown kind", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.Kind = "" })},
		{"a delivery of a draft that is not there", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].Event = len(c.Events) + 1 })},
		{"a delivery's text", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].Text = &nul })},
		{"a delivery's markup", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].Markup = &nul })},
		{"a delivery's media", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].Media = &[]parley.Media{{Handle: "blob_01"}} })},
		{"a new delivery's media", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.Media = []parley.Media{{Type: "image/png"}} })},
		{"more media than a message has", parley.CodeTooLarge, s(func(c *parley.SessionChange) {
			c.Deliveries[1].Media = new(make([]parley.Media, parley.MaxParts+1))
		})},
		{"a session's chat", invalid, s(func(c *parley.SessionChange) { c.Patch.Chat = &parley.Target{Channel: "telegram"} })},
		{"a new delivery's part", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.Part = -1 })},
		{"a new delivery's attempts", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.Attempts = -1 })},
		{"a new delivery's text", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.Text = nul })},
		{"a new delivery's long text", tooLarge, s(func(c *parley.SessionChange) { c.Deliveries[0].New.Text = strings.Repeat("x", parley.MaxBodyBytes+1) })},
		{"a new delivery's error", invalid, s(func(c *parley.SessionChange) { c.Deliveries[0].New.LastError = nul })},
		{"a delivery to an unknown state", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].State = new(parley.DeliveryState("lost")) })},
		{"a delivery's attempts", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].Attempts = new(-1) })},
		{"a delivery's error", invalid, s(func(c *parley.SessionChange) { c.Deliveries[1].LastError = &nul })},
		{"a delivery's long error", tooLarge, s(func(c *parley.SessionChange) { c.Deliveries[1].LastError = &prose })},
		{"a notice with NUL", invalid, s(func(c *parley.SessionChange) { c.Notices[0].Add.Text = nul })},
		{"a long notice", tooLarge, s(func(c *parley.SessionChange) { c.Notices[0].Add.Text = prose })},
		{"a notice change without anything", invalid, s(func(c *parley.SessionChange) { c.Notices[1] = parley.NoticeChange{} })},

		{"too many dimensions", invalid, func(b *parley.Batch) { b.Keys[0].Scope.Dimensions = make([]parley.Dimension, 9) }},
		{"an unknown user role", invalid, func(b *parley.Batch) { b.Users[0].User.Role = "king" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := full()
			test.edit(&b)
			wantCode(t, b.Validate(), test.code)
		})
	}
}

// TestValidateRefusesFarTimes holds that every instant of a batch can be written
// as text and counted in microseconds.
func TestValidateRefusesFarTimes(t *testing.T) {
	t.Parallel()
	times := map[string]func(*parley.Batch, time.Time){
		"batch":            func(b *parley.Batch, at time.Time) { b.At = at },
		"end":              func(b *parley.Batch, at time.Time) { b.Sessions[0].Patch.Ended.At = at },
		"recovery":         func(b *parley.Batch, at time.Time) { b.Sessions[0].Patch.Recovery.At = at },
		"input":            func(b *parley.Batch, at time.Time) { b.Sessions[0].Admit[0].NotBefore = at },
		"event":            func(b *parley.Batch, at time.Time) { b.Sessions[0].Events[0].At = at },
		"changed input":    func(b *parley.Batch, at time.Time) { b.Sessions[0].Inputs[0].NotBefore = &at },
		"parked turn":      func(b *parley.Batch, at time.Time) { b.Sessions[0].Turns[0].ParkedUntil = &at },
		"deadline":         func(b *parley.Batch, at time.Time) { b.Sessions[0].Approvals[0].Deadline = at },
		"new delivery":     func(b *parley.Batch, at time.Time) { b.Sessions[0].Deliveries[0].New.NextAttempt = at },
		"changed delivery": func(b *parley.Batch, at time.Time) { b.Sessions[0].Deliveries[1].NextAttempt = &at },
		"notice":           func(b *parley.Batch, at time.Time) { b.Sessions[0].Notices[0].Add.CreatedAt = at },
		"user":             func(b *parley.Batch, at time.Time) { b.Users[0].User.CreatedAt = at },
		"identity":         func(b *parley.Batch, at time.Time) { b.Identities[0].Identity.CreatedAt = at },
		"blob":             func(b *parley.Batch, at time.Time) { b.Blobs[1].UnusedBefore = at },
		"token":            func(b *parley.Batch, at time.Time) { b.Tokens[0].New.CreatedAt = at },
		"token's end":      func(b *parley.Batch, at time.Time) { b.Tokens[0].New.ExpiresAt = at },
		"token's last use": func(b *parley.Batch, at time.Time) { b.Tokens[0].New.LastUsedAt = at },
		"revocation":       func(b *parley.Batch, at time.Time) { b.Tokens[0].New.RevokedAt = at },
		"use of a token":   func(b *parley.Batch, at time.Time) { b.Tokens[2].Used = at },
		"code": func(b *parley.Batch, at time.Time) {
			b.Passcodes[0].New.CreatedAt, b.Passcodes[0].New.ExpiresAt = at, at.Add(time.Nanosecond)
		},
		"code's end": func(b *parley.Batch, at time.Time) {
			b.Passcodes[0].New.CreatedAt, b.Passcodes[0].New.ExpiresAt = at.Add(-24*time.Hour), at
		},
	}
	for name, set := range times {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, far := range []time.Time{
				time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
				time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC),
				time.Unix(1<<60, 0),
				time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("west", -2*3600)),
			} {
				b := full()
				set(&b, far)
				wantCode(t, b.Validate(), invalid)
			}
			for _, near := range []time.Time{
				time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
				time.Date(1969, 7, 20, 20, 17, 40, 0, time.UTC),
			} {
				b := full()
				set(&b, near)
				wantCode(t, b.Validate(), "")
			}
		})
	}
}
