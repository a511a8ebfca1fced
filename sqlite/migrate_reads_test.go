package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// compareReads compares what two stores show, and lets each look at itself.
func compareReads(t *testing.T, when string, want, got *sqlite.Store) {
	t.Helper()
	if diff := cmp.Diff(readsOf(t, want), readsOf(t, got)); diff != "" {
		t.Errorf("%s the store shows something else (-want +got):\n%s", when, diff)
	}
	if err := got.Check(t.Context(), func(p parley.Problem) { t.Errorf("%s: %+v", when, p) }); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

// answers are what a store was asked, and what it said.
type answers map[string]any

// to notes the answer to a question.
func (a answers) to(question ...any) func(value any, err error) {
	return func(value any, err error) {
		if err != nil {
			value = parley.CodeOf(err)
		}
		a[fmt.Sprintln(question...)] = value
	}
}

// readsOf asks a store about everything in [everyKindOfRow] and [workAfterwards], as who sees all and as who takes part.
func readsOf(t *testing.T, s *sqlite.Store) answers {
	t.Helper()
	a := answers{}
	for _, v := range []parley.Visibility{parley.SeeAll(), parley.SeeAs(ben)} {
		a.readSessions(t, s, v)
		a.readWork(t, s, v)
	}
	a.readPeople(t, s)
	a.readCredentials(t, s)
	return a
}

func (a answers) readSessions(t *testing.T, s *sqlite.Store, v parley.Visibility) {
	t.Helper()
	ctx := t.Context()
	for _, q := range []parley.SessionQuery{{}, {IncludeInactive: true}, {Key: chatKey}, {Agent: "helper"}, {Metadata: map[string]string{"team": "red"}}} {
		a.to(v, "sessions", q)(s.Sessions(ctx, v, q))
	}
	for _, id := range []parley.SessionID{chatSession, forkSession, lostSession, heirSession, endedSession, lastSession, "cli:new", "cli:fork"} {
		a.to(v, "session", id)(s.Session(ctx, v, id))
		a.to(v, "participants", id)(s.Participants(ctx, v, id))
		a.to(v, "events", id)(s.Events(ctx, v, id, parley.EventQuery{}))
		a.to(v, "last messages", id)(s.Events(ctx, v, id, parley.EventQuery{Last: true, Types: []parley.EventType{parley.EventMessage}}))
	}
	for _, name := range []string{string(chatKey), string(emptyKey), "sk_v1_new", "agent:helper:main", "telegram/1/-100 7", "日本", "free"} {
		a.to(v, "name", name)(s.Lookup(ctx, v, name))
		a.to(v, "aliases", name)(s.Aliases(ctx, v, parley.Key(name)))
	}
	log, next, err := s.Log(ctx, v, 0, 1000)
	a.to(v, "log")(log, err)
	a.to(v, "end of the log")(next, err)
}

func (a answers) readWork(t *testing.T, s *sqlite.Store, v parley.Visibility) {
	t.Helper()
	ctx := t.Context()
	for _, ref := range []parley.InputRef{
		{Origin: chatFrom, ID: "1"},
		{Origin: chatFrom, ID: "2"},
		{Origin: chatFrom, ID: "3"},
		{Origin: chatFrom, ID: "4"},
		{Origin: cliFrom, ID: "10"},
		{Origin: cliFrom, ID: "20"},
		{Origin: cliFrom, ID: "21"},
	} {
		a.to(v, "input", ref)(s.Input(ctx, v, ref))
	}
	for _, id := range []parley.SessionID{"", chatSession, heirSession} {
		a.to(v, "open inputs", id)(s.OpenInputs(ctx, v, id, parley.InputRef{}, 0))
		a.to(v, "open turns", id)(s.OpenTurns(ctx, v, id))
		a.to(v, "approvals", id)(s.Approvals(ctx, v, id))
		a.to(v, "notices", id)(s.Notices(ctx, v, id))
		for _, turn := range []parley.TurnID{"t1", "t2", "t9"} {
			a.to(v, "turn", id, turn)(s.Turn(ctx, v, id, turn))
			a.to(v, "calls", id, turn)(s.Calls(ctx, v, id, turn))
		}
	}
	for what, q := range map[string]parley.DeliveryQuery{
		"open": {}, "of the chat": {Chat: chatTarget}, "of another chat": {Chat: parley.Target{Channel: "discord", Chat: "12"}},
		"drafts": {Draft: new(true)}, "no drafts": {Draft: new(false)}, "due": {Due: instant}, "after d1": {After: "d1"}, "sent": {State: parley.DeliverySent},
		"held": {State: parley.DeliveryHeld}, "dead": {State: parley.DeliveryDead}, "dropped": {State: parley.DeliveryDropped},
	} {
		a.to(v, "deliveries", what)(s.Deliveries(ctx, v, q))
	}
	for _, handle := range []parley.BlobHandle{"blob_photo", "blob_song", "blob_unused"} {
		a.to(v, "blob", handle)(s.Blob(ctx, v, handle))
	}
}

func (a answers) readPeople(t *testing.T, s *sqlite.Store) {
	t.Helper()
	ctx := t.Context()
	a.to("users")(s.Users(ctx, "", 0))
	a.to("identities")(s.AllIdentities(ctx, "", 0))
	a.to("identities of anna")(s.Identities(ctx, "anna"))
	a.to("blobs")(s.Blobs(ctx, "", 0))
	a.to("unused blobs")(s.UnusedBlobs(ctx, instant.AddDate(1, 0, 0), parley.Blob{}, 0))
	for _, q := range []parley.SpentQuery{{}, {User: "anna"}, {Identity: ben}, {Agent: "main"}, {Until: instant}, {From: instant}} {
		a.to("spent", q)(s.Spent(ctx, q))
	}
	head, err := s.Head(ctx)
	a.to("head")(head.Pos, err) // the epoch of a store that is made anew is another
}

func (a answers) readCredentials(t *testing.T, s *sqlite.Store) {
	t.Helper()
	ctx := t.Context()
	a.to("tokens")(s.Tokens(ctx, "", "", 0))
	a.to("tokens of anna")(s.Tokens(ctx, anna, "", 0))
	a.to("token")(s.TokenByHash(ctx, [32]byte{0: 1, 31: 0xff}))
	for _, hash := range [][32]byte{{4}, {5}} {
		a.to("passcode", hash)(s.Passcode(ctx, hash, instant))
	}
	for _, q := range []parley.AuditQuery{{}, {Action: "sign_in"}, {Actor: anna}, {Session: chatSession}} {
		a.to("audit", q)(s.Audit(ctx, q))
	}
}
