package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// filledStore gives the files of a closed store that has something of everything, as commits alone leave
// it behind. These are the numbers of its sessions:
//
//	1  cli:work    with a turn that is over, one that is open, and what belongs to turns
//	2  cli:gone    deleted; two forks show its events up to the fourth
//	3  cli:plain   without events, key or people
//	4  cli:fork    of cli:work
//	5  cli:heir    of cli:gone
//	6  cli:branch  of cli:heir
func filledStore(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range []parley.Batch{
		filledPeople(),
		newSessions(),
		{Sessions: []parley.SessionChange{admissions(), lastWords()}},
		{Sessions: []parley.SessionChange{turnUnderWay("t1", "1", "blob_redacted")}},
		{Sessions: []parley.SessionChange{turnOver()}},
		{Sessions: []parley.SessionChange{turnUnderWay("t2", "2", "blob_shown"), fork("cli:fork", "cli:work", 9), fork("cli:heir", "cli:gone", 4)}},
		{Sessions: []parley.SessionChange{
			fork("cli:branch", "cli:heir", 4),
			{Session: "cli:gone", Admit: []parley.Input{asked("cli/gone", "4", parley.InputQueued)}},
		}},
		{Sessions: []parley.SessionChange{{Session: "cli:work", Redact: []uint64{9}}, {Session: "cli:gone", Redact: []uint64{5, 6}}}},
		{Sessions: []parley.SessionChange{{Session: "cli:gone", Delete: true}}},
		{Sessions: []parley.SessionChange{{Session: "cli:heir", Redact: []uint64{2}}}}, // in the log of the one that is gone
	} {
		b.At = instant.Add(time.Duration(i) * time.Minute)
		commit(t, s, b)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f := readFiles(t, dir)
	delete(f, "store.db.lock")
	return f
}

func filledPeople() parley.Batch {
	return parley.Batch{
		Users: []parley.UserChange{{User: parley.User{ID: "ada", Name: "Ada", Role: parley.RoleOwner}}},
		Identities: []parley.IdentityChange{
			{Identity: parley.Identity{ID: "cli:ada", User: "ada"}},
			{Identity: parley.Identity{ID: "cli:guest"}}, // of no user
		},
		Tokens: []parley.TokenChange{
			{New: &parley.Token{ID: "one", Kind: parley.TokenUser, Hash: [32]byte{1}, Identity: "cli:ada"}},
			{New: &parley.Token{ID: "two", Kind: parley.TokenUser, Hash: [32]byte{2}, Identity: "cli:removed"}},
		},
		Passcodes: []parley.PasscodeChange{{New: &parley.Passcode{
			Hash: [32]byte{1}, Kind: parley.PasscodeLink, Identity: "cli:removed", ExpiresAt: instant.Add(time.Hour),
		}}},
		Audit: []parley.AuditEntry{{Action: "sign_in", Actor: "cli:removed", Session: "cli:removed"}},
		Blobs: []parley.BlobChange{
			{Handle: "blob_shown", Type: "image/png", Size: 1},
			{Handle: "blob_redacted", Type: "image/png", Size: 1},
			{Handle: "blob_unused", Type: "image/png", Size: 1},
		},
	}
}

func newSessions() parley.Batch {
	source := parley.Source{Kind: "cli"}
	made := func(id parley.SessionID, key parley.Key) parley.SessionChange {
		return parley.SessionChange{Session: id, Create: &parley.NewSession{
			Key: key, Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: parley.SessionDirect,
		}}
	}
	work := made("cli:work", "sk_v1_work")
	work.Events = []parley.NewEvent{
		{Body: &parley.Started{Agent: "main", Source: source}},
		{Body: &parley.ParticipantChanged{Identity: "cli:ada"}},
		{Body: &parley.ParticipantChanged{Identity: "cli:removed"}},
	}
	return parley.Batch{
		Sessions: []parley.SessionChange{work, made("cli:gone", "sk_v1_gone"), made("cli:plain", "")},
		Keys: []parley.KeyChange{
			{Key: "sk_v1_work", Session: "cli:work"},
			{Key: "sk_v1_gone", Session: "cli:gone"},
			{Key: "sk_v1_idle"}, // leads nowhere
		},
		Aliases: []parley.AliasChange{{Alias: "work", Key: "sk_v1_work"}, {Alias: "gone", Key: "sk_v1_gone"}},
	}
}

func fork(id, of parley.SessionID, seq uint64) parley.SessionChange {
	return parley.SessionChange{
		Session: id,
		Create: &parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect,
			Fork: &parley.ForkPoint{Session: of, Seq: seq},
		},
		Events: []parley.NewEvent{{Body: &parley.Forked{From: of, AtSeq: seq}}},
	}
}

func asked(origin, id string, state parley.InputState) parley.Input {
	return parley.Input{
		Ref: parley.InputRef{Origin: origin, ID: id}, Kind: parley.InputMessage, State: state,
		Parts:     []parley.Part{parley.TextPart("input " + id)},
		Principal: parley.Principal{Identity: "cli:ada", Role: parley.RoleOwner},
	}
}

// shows is a message, with the inputs it shows.
func shows(turn parley.TurnID, id string, refs ...parley.InputRef) parley.NewEvent {
	return parley.NewEvent{Turn: turn, Body: &parley.Message{
		ID: id, Role: parley.MessageUser, Inputs: refs, Parts: []parley.Part{parley.TextPart("message " + id)},
	}}
}

// admissions are the events 4 to 8 of cli:work.
func admissions() parley.SessionChange {
	return parley.SessionChange{Session: "cli:work", Admit: []parley.Input{
		asked("cli/work", "1", parley.InputQueued), asked("cli/work", "2", parley.InputQueued), asked("cli/work", "3", parley.InputQueued),
		asked("cli/work", "4", parley.InputLogged), asked("cli/work", "5", parley.InputDropped),
	}}
}

// lastWords are the events of cli:gone, up to the fifth. Its forks have input 1, which no message shows,
// input 2 with its message, and input 3 without.
func lastWords() parley.SessionChange {
	return parley.SessionChange{
		Session: "cli:gone",
		Admit:   []parley.Input{asked("cli/gone", "1", parley.InputQueued), asked("cli/gone", "2", parley.InputDone), asked("cli/gone", "3", parley.InputDone)},
		Events: []parley.NewEvent{
			shows("", "m4", parley.InputRef{Origin: "cli/gone", ID: "2"}),
			shows("", "m5", parley.InputRef{Origin: "cli/gone", ID: "3"}),
		},
	}
}

// turnUnderWay is a turn of cli:work that has begun, with a message, which shows an input and a picture.
func turnUnderWay(turn parley.TurnID, input string, picture parley.BlobHandle) parley.SessionChange {
	ref := parley.InputRef{Origin: "cli/work", ID: input}
	message := shows(turn, string(turn)+".in", ref)
	body := message.Body.(*parley.Message)
	body.Parts = append(body.Parts, parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(picture), Type: "image/png"}})
	status := parley.StatusAwaitingApproval
	first := parley.DeliveryID(turn + ".1")
	target := parley.Target{Channel: "telegram", Chat: "7"}
	return parley.SessionChange{
		Session: "cli:work", Claim: true, Patch: parley.SessionPatch{Status: &status},
		Events: []parley.NewEvent{message},
		Inputs: []parley.InputChange{{Ref: ref, State: parley.InputRunning, Turn: turn}},
		Turns:  []parley.TurnChange{{ID: turn, Start: true}},
		Calls: []parley.CallChange{
			{Turn: turn, ID: "c1", Tool: "shell", State: parley.CallStarted},
			{Turn: turn, ID: "c2", Tool: "shell", State: parley.CallStarted},
			{Turn: turn, ID: "c2", Tool: "shell", State: parley.CallFinished, Result: []byte(`"done"`)},
		},
		Approvals: []parley.ApprovalChange{
			{Turn: turn, Call: "c1", Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalDenied},
		},
		Deliveries: []parley.DeliveryChange{
			{Event: 1, New: &parley.Delivery{ID: first, Turn: turn, Kind: parley.DeliveryMessage, Target: target, Text: "one", State: parley.DeliverySent}},
			{Event: 1, New: &parley.Delivery{
				ID: parley.DeliveryID(turn + ".2"), Of: first, Part: 1, Turn: turn, Kind: parley.DeliveryMessage, Target: target, Text: "two", State: parley.DeliveryPending,
			}},
		},
		Notices: []parley.NoticeChange{{Add: &parley.Notice{ID: parley.NoticeID(turn), Kind: "restart", Text: "it was restarted"}}},
	}
}

// turnOver ends t1: its journal goes, its approval stays.
func turnOver() parley.SessionChange {
	done, reason, status := parley.TurnDone, parley.StopDone, parley.StatusIdle
	usage := parley.Usage{InputTokens: 3}
	return parley.SessionChange{
		Session: "cli:work", Patch: parley.SessionPatch{Status: &status},
		Events:    []parley.NewEvent{{Turn: "t1", Body: &parley.TurnCompleted{StopReason: parley.StopDone, Usage: usage}}},
		Inputs:    []parley.InputChange{{Ref: parley.InputRef{Origin: "cli/work", ID: "1"}, State: parley.InputDone}},
		Turns:     []parley.TurnChange{{ID: "t1", State: &done, StopReason: &reason, Usage: &usage}},
		Approvals: []parley.ApprovalChange{{Turn: "t1", Call: "c1", Tool: "shell", State: parley.ApprovalApproved, By: "cli:ada"}},
	}
}
