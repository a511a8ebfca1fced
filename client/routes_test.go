package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// must fails the test if something that should work did not.
func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	session, open := must[parley.Session](t), must[client.Opened](t)
	o := open(w.Open(ctx, client.Opening{Key: "work", Title: "Work", Source: &parley.Source{Kind: "cli", Interactive: true}, Metadata: map[string]string{"a": "1"}}))
	if !o.Created || o.Session.Title.Text != "Work" || o.Session.Agent.Name != "main" || o.Session.Key == "" || o.Session.Source.Kind != "cli" {
		t.Errorf("opened %+v", o)
	}
	if again := open(w.Open(ctx, client.Opening{Key: "work", Metadata: map[string]string{"b": "2"}})); again.Created || again.Session.ID != o.Session.ID || len(again.Session.Metadata) != 2 {
		t.Errorf("opened again %+v", again)
	}
	id := o.Session.ID
	title, busy := "Play", parley.BusySteer
	s := session(w.Patch(ctx, id, client.Changes{Title: &title, Busy: &busy, Metadata: map[string]string{"a": ""}}))
	if s.Title.Text != title || s.Busy != busy || s.Metadata["b"] != "2" || len(s.Metadata) != 1 {
		t.Errorf("patched %+v", s)
	}
	for _, said := range []string{"one", "two", "three"} {
		must[client.Answer](t)(w.Ask(ctx, id, text(said)))
	}
	if done := must[client.Rewound](t)(w.Rewind(ctx, id, 1)); done.Turns != 1 || done.Text != "three" {
		t.Errorf("rewound %+v", done)
	}
	events := must[[]parley.Event](t)(w.Log(ctx, id, 2, 4))
	if len(events) != 4 || events[0].Seq != 3 || events[0].Session != id {
		t.Errorf("log %+v", events)
	}
	if done := must[client.Rewound](t)(w.RewindTo(ctx, id, events[0].Seq)); done.Turns == 0 {
		t.Errorf("rewound %+v", done)
	}
	fork := session(w.Fork(ctx, id, 0))
	if fork.Parent == nil || fork.Parent.Session != id {
		t.Errorf("forked %+v", fork)
	}
	next := session(w.Reset(ctx, id, client.Anew{Title: "Next"}))
	if next.ID == id || next.Title.Text != "Next" || next.Key != s.Key {
		t.Errorf("reset %+v", next)
	}
	_, err := w.Post(ctx, id, text("late"))
	if current, ok := client.Current(err); !errors.Is(err, parley.ErrConflict) || current != next.ID || !ok {
		t.Errorf("to the old one: %v, %s", err, current)
	}
	if s = session(w.Resume(ctx, id)); s.Ended != nil || s.ID != id {
		t.Errorf("resumed %+v", s)
	}
	page := must[parley.SessionPage](t)(w.Sessions(ctx, parley.SessionQuery{
		Source: "cli", Metadata: map[string]string{"b": "2"}, IncludeInactive: true, Limit: 1, ActiveSince: time.Unix(0, 0), Agent: "main",
	}))
	if len(page.Sessions) != 1 || page.Cursor == "" {
		t.Errorf("page %+v", page)
	}
	seen := map[parley.SessionID]bool{}
	for s, err := range w.AllSessions(ctx, parley.SessionQuery{IncludeInactive: true, Limit: 1}) {
		if err != nil || seen[s.ID] {
			t.Fatalf("all sessions: %s twice, or %v", s.ID, err)
		}
		seen[s.ID] = true
	}
	if len(seen) != 3 || !seen[next.ID] || !seen[fork.ID] {
		t.Errorf("sessions %v", seen)
	}
	if err := w.Delete(ctx, fork.ID, false); err != nil {
		t.Error(err)
	}
	_, err = w.Session(ctx, fork.ID)
	wantCode(t, err, parley.CodeNotFound)
}

func TestTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.session("turns")
	receipt := must[parley.Receipt](t)(w.Post(ctx, id, text("hold")))
	waiting := must[parley.Receipt](t)(w.Post(ctx, id, text("me too")))
	turns := must[[]client.OpenTurn](t)(w.Turns(ctx))
	if len(turns) != 1 || turns[0].Session != id || turns[0].Turn != receipt.Turn || turns[0].Queued != 1 || turns[0].State != parley.TurnRunning {
		t.Errorf("turns %+v", turns)
	}
	wantCode(t, w.Delete(ctx, id, false), parley.CodeConflict)
	queued := must[[]parley.Input](t)(w.Waiting(ctx, id))
	if len(queued) != 1 || queued[0].Ref.ID != waiting.ID || parley.PlainText(queued[0].Parts) != "me too" || queued[0].Seq == 0 || queued[0].At.IsZero() {
		t.Errorf("waiting %+v", queued)
	}
	if ok := must[bool](t)(w.Withdraw(ctx, id, parley.InputRef{Origin: client.Origin, ID: waiting.ID})); !ok {
		t.Error("not withdrawn")
	}
	if queued := must[[]parley.Input](t)(w.Waiting(ctx, id)); len(queued) != 0 {
		t.Errorf("still waiting %+v", queued)
	}
	if ok := must[bool](t)(w.Cancel(ctx, id, receipt.Turn)); !ok {
		t.Error("not canceled")
	}
	if logged := must[parley.Receipt](t)(w.Append(ctx, id, text("by the way"))); logged.State != parley.InputLogged {
		t.Errorf("appended %+v", logged)
	}
	must[client.Answer](t)(w.Ask(ctx, id, text("last")))
	if ok := must[bool](t)(w.Cancel(ctx, id, "")); ok {
		t.Error("nothing runs")
	}
	page := must[client.MessagePage](t)(w.Messages(ctx, id, "", 50))
	i := slices.IndexFunc(page.Messages, func(m client.LoggedMessage) bool { return m.Message.Role == parley.MessageUser })
	if i < 0 || page.Messages[i].Message.Inputs[0] != (parley.InputRef{Origin: client.Origin, ID: receipt.ID}) {
		t.Fatalf("messages %+v", page)
	}
	if err := w.Redact(ctx, id, []uint64{page.Messages[i].Seq}, "private"); err != nil {
		t.Fatal(err)
	}
	events := must[[]parley.Event](t)(w.Log(ctx, id, page.Messages[i].Seq-1, 1))
	if len(events) != 1 || !events[0].Redacted() {
		t.Errorf("redacted %+v", events)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.session("people")
	bob, bobID := w.person("bob")
	me := must[client.Me](t)(bob.Me(ctx))
	if me.Identity != bobID || me.User == nil || me.User.ID != "bob" || me.Role != parley.RoleUser || me.Kind != parley.TokenUser {
		t.Errorf("bob is %+v", me)
	}
	_, err := bob.Session(ctx, id)
	wantCode(t, err, parley.CodeNotFound)
	_, err = bob.Users(ctx, "", 0)
	wantCode(t, err, parley.CodeForbidden)
	if err := w.SetParticipant(ctx, id, bobID, true); err != nil {
		t.Fatal(err)
	}
	if list := must[[]parley.Identity](t)(bob.Participants(ctx, id)); len(list) != 2 {
		t.Errorf("participants %+v", list)
	}
	// Who takes part no more is not shown more.
	var ended error
	for _, err := range bob.Events(ctx, id, parley.Position{}) {
		if ended = err; err == nil {
			if err := w.SetParticipant(ctx, id, bobID, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantCode(t, ended, parley.CodeNotFound)

	user := must[parley.User](t)
	if u := user(w.RenameUser(ctx, "bob", "Robert")); u.Name != "Robert" {
		t.Errorf("renamed %+v", u)
	}
	if u := user(w.SetRole(ctx, "bob", parley.RoleGuest)); u.Role != parley.RoleGuest {
		t.Errorf("role %+v", u)
	}
	users := must[client.UserPage](t)(w.Users(ctx, "", 1))
	more := must[client.UserPage](t)(w.Users(ctx, users.Cursor, 1))
	if len(users.Users) != 1 || len(more.Users) != 1 || users.Users[0].ID == more.Users[0].ID {
		t.Errorf("users %+v %+v", users, more)
	}
	if ids := must[client.IdentityPage](t)(w.Identities(ctx, "", 0)); len(ids.Identities) != 2 {
		t.Errorf("identities %+v", ids)
	}
	if u, ids, err := w.User(ctx, "bob"); err != nil || u.ID != "bob" || len(ids) != 1 {
		t.Errorf("user %+v %+v %v", u, ids, err)
	}
	entries := must[client.AuditPage](t)(w.Audit(ctx, parley.AuditQuery{Limit: 2}, ""))
	if len(entries.Entries) != 2 || entries.Cursor == "" {
		t.Errorf("audit %+v", entries)
	}
	if older := must[client.AuditPage](t)(w.Audit(ctx, parley.AuditQuery{Limit: 2}, entries.Cursor)); len(older.Entries) == 0 || older.Entries[0].Nr >= entries.Entries[1].Nr {
		t.Errorf("audit %+v", older)
	}
	_, err = w.Audit(ctx, parley.AuditQuery{Before: 5}, "")
	wantCode(t, err, parley.CodeInvalid)
	if err := w.RemoveUser(ctx, "bob"); err != nil {
		t.Fatal(err)
	}
	_, err = bob.Me(ctx)
	wantCode(t, err, parley.CodeUnauthorized)
}

func TestTokensAndLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	carol, carolID := w.person("carol")
	secret, token, err := carol.CreateToken(ctx, client.NewToken{Name: "laptop", TTL: time.Hour})
	if err != nil || secret == "" || token.Identity != carolID || token.ExpiresAt.IsZero() {
		t.Fatalf("token %+v, %v", token, err)
	}
	laptop := w.client(client.Config{Token: secret})
	id := must[client.Opened](t)(laptop.Open(ctx, client.Opening{})).Session.ID
	// A token that is over ends the streams under it.
	var ended error
	for _, err := range laptop.Events(ctx, id, parley.Position{}) {
		if ended = err; err == nil {
			if err := carol.RevokeToken(ctx, token.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantCode(t, ended, parley.CodeUnauthorized)
	if list := must[client.TokenPage](t)(carol.Tokens(ctx, "", 0)); len(list.Tokens) != 2 {
		t.Errorf("tokens %+v", list)
	}

	secret, _, err = w.CreateToken(ctx, client.NewToken{Kind: parley.TokenChannel, Namespace: "telegram"})
	if err != nil {
		t.Fatal(err)
	}
	channel := w.client(client.Config{Token: secret, Channel: "telegram"})
	alice := client.Sender{Channel: "telegram", ID: "7", Name: "Alice"}
	code := must[string](t)(channel.PairCode(ctx, alice))
	u := must[parley.User](t)(w.Pair(ctx, code, parley.RoleUser, "Alice"))
	if u.Name != "Alice" || u.Role != parley.RoleUser {
		t.Errorf("paired %+v", u)
	}
	// She is Carol, which she proves; and then not any more.
	code = must[string](t)(carol.LinkCode(ctx, nil))
	if u = must[parley.User](t)(channel.Link(ctx, code, &alice)); u.ID != "carol" {
		t.Errorf("linked %+v", u)
	}
	if err := carol.Unlink(ctx, "telegram:7"); err != nil {
		t.Error(err)
	}
	_, err = carol.Link(ctx, "", nil)
	wantCode(t, err, parley.CodeInvalid)
	o := must[client.Opened](t)(channel.Open(ctx, client.Opening{
		Context: &parley.Inbound{Channel: "telegram", ChatType: "direct", ChatID: "7", Sender: parley.Sender{ID: "7", Name: "Alice"}},
	}))
	in := text("hello")
	in.Sender, in.MessageID = parley.Sender{ID: "7", Name: "Alice"}, "m1"
	if _, err := channel.Post(ctx, o.Session.ID, in); err != nil {
		t.Error(err)
	}
	_, err = channel.Join(ctx, "main", "wrong", &alice)
	if err == nil {
		t.Error("joined a private agent")
	}
	link := must[client.LoginLink](t)(w.LoginCode(ctx))
	if !strings.Contains(link.URL, "/login?code=") || link.Code == "" {
		t.Errorf("link %+v", link)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.session("blobs")
	content := bytes.Repeat([]byte("0123456789abcdef"), 100_000)
	media := must[parley.Media](t)(w.PutBlob(ctx, bytes.NewReader(content)))
	if media.Size != int64(len(content)) || media.Handle == "" {
		t.Fatalf("stored %+v", media)
	}
	must[client.Answer](t)(w.Ask(ctx, id, parley.Input{Parts: []parley.Part{parley.TextPart("look"), {Kind: parley.PartMedia, Media: &media}}}))
	body, got, err := w.Blob(ctx, parley.BlobHandle(media.Handle))
	if err != nil {
		t.Fatal(err)
	}
	read := must[[]byte](t)(io.ReadAll(body))
	if err := body.Close(); err != nil || !bytes.Equal(read, content) || got.Size != media.Size {
		t.Errorf("read %d bytes of %+v, %v", len(read), got, err)
	}
	_, err = w.PutBlob(ctx, io.LimitReader(endless("x"), 5<<20))
	wantCode(t, err, parley.CodeTooLarge)
	_, _, err = w.Blob(ctx, "none")
	wantCode(t, err, parley.CodeNotFound)
	w.proxy.fateFunc = func(*http.Request) fate { return halve }
	body, _, err = w.Blob(ctx, parley.BlobHandle(media.Handle))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(body)
	wantCode(t, err, parley.CodeUnavailable)
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	_, err = w.PutBlob(ctx, strings.NewReader("x"))
	if !errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Errorf("half an answer: %v", err)
	}
}

func TestReadyAndResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready := must[client.Readiness](t)(w.Ready(t.Context()))
	if !ready.Ready || ready.Store != "ok" {
		t.Errorf("ready %+v", ready)
	}
	line := must[json.RawMessage](t)(w.Resolve(t.Context(), json.RawMessage(`{"context":{"channel":"telegram","chat_type":"group","chat_id":"-1"}}`)))
	var got struct {
		Key parley.Key `json:"session_key"`
	}
	if err := json.Unmarshal(line, &got); err != nil || !got.Key.OfScope() {
		t.Errorf("resolved %s, %v", line, err)
	}
	_, err := w.Resolve(t.Context(), json.RawMessage(`{"context":`))
	wantCode(t, err, parley.CodeInvalid)
	_, err = w.Resolve(t.Context(), json.RawMessage(`{"what":1}`))
	wantCode(t, err, parley.CodeInvalid)
	off := answer(t, 503, "application/json", `{"ready":false,"store":"full"}`)
	if ready = must[client.Readiness](t)(off.Ready(t.Context())); ready.Ready || ready.Store != "full" {
		t.Errorf("not ready %+v", ready)
	}
}

// TestNearAndFar follows a session near and far: what a surface sees is the same.
func TestNearAndFar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := w.session("same")
	for _, said := range []string{"one", "/title x", "two"} {
		must[client.Answer](t)(w.Ask(ctx, id, text(said)))
	}
	read := func(c parley.Client) (list []string) {
		s := must[parley.Session](t)(c.Session(ctx, id))
		for u, err := range c.Events(ctx, id, parley.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			body := must[parley.EventBody](t)(u.Event.Decode())
			if m, ok := body.(*parley.Message); ok {
				for i := range m.Inputs {
					m.Inputs[i].Origin = client.Origin // which is not told
				}
			}
			data := must[json.RawMessage](t)(parley.EncodeBody(body))
			list = append(list, string(u.Event.Type)+" "+string(u.Event.Turn)+" "+string(u.Event.Identity)+" "+u.Event.At.UTC().String()+" "+string(data))
			if u.Position.Seq != u.Event.Seq {
				t.Errorf("event %d is at %d", u.Event.Seq, u.Position.Seq)
			}
			if u.Event.Seq == s.LastSeq {
				break
			}
		}
		return list
	}
	near, far := read(w.near.Engine.As(w.near.Owner)), read(w.Client)
	if len(near) < 8 || !slices.Equal(near, far) {
		t.Errorf("near\n%s\nfar\n%s", strings.Join(near, "\n"), strings.Join(far, "\n"))
	}
}
