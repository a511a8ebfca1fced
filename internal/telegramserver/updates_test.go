package telegramserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/internal/telegramserver"
)

// poll asks for updates once and gives their texts, by id.
func poll(t *testing.T, s *telegramserver.Server, form url.Values) (ids []int64, texts []string) {
	t.Helper()
	status, answer := postForm(t, s, "getUpdates", form)
	if status != http.StatusOK {
		t.Fatalf("getUpdates: %d %q", status, answer.Description)
	}
	var updates []models.Update
	if err := json.Unmarshal(answer.Result, &updates); err != nil {
		t.Fatal(err)
	}
	for _, u := range updates {
		ids = append(ids, u.ID)
		if u.Message != nil {
			texts = append(texts, u.Message.Text)
		}
	}
	return ids, texts
}

func offset(id int64) url.Values { return url.Values{"offset": {strconv.FormatInt(id, 10)}} }

func TestOffsets(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	for _, text := range []string{"a", "b", "c", "d"} {
		st.Say(st.chat, st.ada, text)
	}
	check := func(form url.Values, want ...string) []int64 {
		t.Helper()
		ids, texts := poll(t, st.Server, form)
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", form, diff)
		}
		return ids
	}
	ids := check(nil, "a", "b", "c", "d")
	check(nil, "a", "b", "c", "d") // what is not confirmed comes again
	check(url.Values{"limit": {"2"}}, "a", "b")
	check(offset(ids[1]), "b", "c", "d")
	check(offset(-2), "c", "d")
	check(offset(ids[3]+1), []string(nil)...)
	if n := st.Pending(); n != 0 {
		t.Errorf("%d updates are pending", n)
	}
	st.Rewind(ids[2])
	check(offset(ids[3]+1), "c", "d")
	check(offset(ids[3]+1), []string(nil)...)
	st.Repeat(ids[0])
	check(offset(ids[3]+1), "a")
	st.Hold()
	for _, text := range []string{"e", "f", "g"} {
		st.Say(st.chat, st.ada, text)
	}
	check(offset(ids[3]+1), []string(nil)...)
	st.Release(2, 0, 1)
	later := check(offset(ids[3]+1), "g", "e", "f")
	if later[0] <= later[1] || later[1] >= later[2] {
		t.Errorf("the ids are %v, want them out of order", later)
	}
	if all := st.Updates(); len(all) != 7 {
		t.Errorf("there were %d updates, want 7", len(all))
	}
}

func TestAllowedUpdates(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	poll(t, st.Server, url.Values{"allowed_updates": {`["message"]`}})
	said := st.Say(st.chat, st.ada, "a")
	st.Edit(st.chat, said.ID, "b")
	if ids, texts := poll(t, st.Server, nil); len(ids) != 1 || texts[0] != "a" {
		t.Errorf("got %v %v", ids, texts)
	}
	poll(t, st.Server, url.Values{"allowed_updates": {`[]`}})
	st.Edit(st.chat, said.ID, "c")
	if ids, _ := poll(t, st.Server, nil); len(ids) != 2 {
		t.Errorf("got %v, want the edit as well", ids)
	}
}

func TestLongPollEndsByTheClock(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now})
	done := make(chan int, 1)
	go func() {
		ids, _ := poll(t, s, url.Values{"timeout": {"30"}})
		done <- len(ids)
	}()
	if err := s.Wait(soon(t), func() bool { return now.timersSet() == 1 }); err != nil {
		t.Fatal(err)
	}
	now.advance(29e9)
	select {
	case <-done:
		t.Fatal("the poll ended too early")
	default:
	}
	now.advance(1e9)
	select {
	case n := <-done:
		if n != 0 {
			t.Errorf("%d updates came", n)
		}
	case <-soon(t).Done():
		t.Fatal("the poll did not end")
	}
}

func TestTwoPollers(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now})
	type outcome struct {
		status int
		words  string
	}
	first := make(chan outcome, 1)
	go func() {
		status, answer := postForm(t, s, "getUpdates", url.Values{"timeout": {"30"}})
		first <- outcome{status, answer.Description}
	}()
	if err := s.Wait(soon(t), func() bool { return now.timersSet() == 1 }); err != nil {
		t.Fatal(err)
	}
	poll(t, s, nil)
	want := outcome{http.StatusConflict, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
	select {
	case got := <-first:
		if got != want {
			t.Errorf("the first one got %+v", got)
		}
	case <-soon(t).Done():
		t.Fatal("the first one was not ended")
	}
}

func TestUpdatesOfPeople(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	bob := st.AddUser(telegramserver.User{FirstName: "Bob"})
	group := st.Supergroup("family", st.ada, bob)
	forum := st.Forum("plans", st.ada)
	updates := follow(t, st.Server)
	message := func() *models.Message {
		t.Helper()
		u := next(t, updates)
		if u.Message == nil {
			t.Fatalf("the bot got %+v", u)
		}
		return u.Message
	}

	st.Say(group, st.ada, "\U0001F600 @"+st.Bot().Username+" see https://parley.run/x, /new@other_bot #tag a@b.org")
	var kinds []string
	for _, e := range message().Entities {
		kinds = append(kinds, string(e.Type)+" "+strconv.Itoa(e.Offset)+" "+strconv.Itoa(e.Length))
	}
	want := []string{"mention 3 16", "url 24 20", "bot_command 46 14", "hashtag 61 4", "email 66 7"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}

	first := st.Say(group, st.ada, "one")
	message()
	second := st.Post(group, bob, telegramserver.Post{Text: "two", ReplyTo: first.ID, Forward: &st.ada})[0]
	got := message()
	if got.ReplyToMessage.ID != first.ID || got.MessageThreadID != first.ID || got.IsTopicMessage || got.ForwardOrigin.MessageOriginUser.SenderUser.ID != st.ada.ID {
		t.Errorf("a reply in a supergroup: %+v", got)
	}
	if first.ID != 2 || second.ID != 3 {
		t.Errorf("the ids are %d and %d; supergroups count by themselves", first.ID, second.ID)
	}

	topic := st.Topic(forum, st.ada, "garden")
	if created := message(); created.ForumTopicCreated == nil || created.ForumTopicCreated.Name != "garden" {
		t.Errorf("a topic: %+v", created)
	}
	st.Post(forum, st.ada, telegramserver.Post{Text: "in topic", Topic: topic})
	if got := message(); got.MessageThreadID != topic || !got.IsTopicMessage || got.ReplyToMessage.ForumTopicCreated == nil {
		t.Errorf("in a topic: %+v", got)
	}

	st.Edit(group, first.ID, "one, edited /now")
	if u := next(t, updates); u.EditedMessage == nil || u.EditedMessage.EditDate == 0 || len(u.EditedMessage.Entities) != 1 {
		t.Errorf("an edit: %+v", u)
	}
	st.Post(group, bob, telegramserver.Post{Text: "@" + st.Bot().Username, Entities: []telegramserver.Entity{}})
	if got := message(); len(got.Entities) != 0 {
		t.Errorf("without entities: %+v", got)
	}
	st.Join(group, bob)
	if u := next(t, updates); u.MyChatMember == nil || u.MyChatMember.NewChatMember.Type != models.ChatMemberTypeMember {
		t.Errorf("joined: %+v", u)
	}
	if got := message(); len(got.NewChatMembers) != 1 || got.NewChatMembers[0].ID != st.Bot().ID {
		t.Errorf("joined: %+v", got)
	}
	st.Kick(group, bob)
	if u := next(t, updates); u.MyChatMember == nil || u.MyChatMember.NewChatMember.Type != models.ChatMemberTypeBanned {
		t.Errorf("kicked: %+v", u)
	}
}

func TestPrivacy(t *testing.T) {
	t.Parallel()
	s := telegramserver.Start(t, telegramserver.Config{Privacy: true, Username: "my_bot", Limits: telegramserver.NoLimits})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	group := s.Group("family", ada)
	me := s.Bot()
	sent, err := newBot(t, s).SendMessage(t.Context(), &bot.SendMessageParams{ChatID: group.ID, Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	hidden := s.Say(group, ada, "nothing for the bot")
	for _, post := range []telegramserver.Post{
		{Text: "1 /help"},
		{Text: "/help@other_bot"},
		{Text: "@my_bot2 hi"},
		{Text: "@my_bot", Entities: []telegramserver.Entity{}},
		{Text: "reply", ReplyTo: hidden.ID},
		{Text: "@my_bot"},
		{Text: "hey @My_Bot you"},
		{Text: "/help"},
		{Text: "well /help@my_bot"},
		{Text: "a reply", ReplyTo: sent.ID},
		{Text: "you there", Entities: []telegramserver.Entity{{Type: "text_mention", Offset: 0, Length: 3, User: &me}}},
		{Text: "@my_bot", Photos: []telegramserver.File{{Name: "x.jpg", Data: []byte("x")}}},
	} {
		s.Post(group, ada, post)
	}
	s.Edit(group, hidden.ID, "now for @my_bot")
	var got []string
	for _, u := range s.Updates() {
		if u.Message != nil {
			got = append(got, u.Message.Text+u.Message.Caption)
		} else {
			got = append(got, u.EditedMessage.Text)
		}
	}
	want := []string{"@my_bot", "hey @My_Bot you", "/help", "well /help@my_bot", "a reply", "you there", "@my_bot", "now for @my_bot"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the bot sees (-want +got):\n%s", diff)
	}
	seen := len(s.Updates())
	s.Promote(group)
	s.Say(group, ada, "all of it")
	s.Say(s.Private(ada), ada, "in private")
	if n := len(s.Updates()); n != seen+2 {
		t.Errorf("an administrator, and a private chat, see %d more updates, want 2", n-seen)
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	type delivery struct {
		secret string
		update models.Update
	}
	taken := make(chan delivery, 10)
	refusals := make(chan struct{}, 2)
	refusals <- struct{}{}
	refusals <- struct{}{}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var d delivery
		body, _ := io.ReadAll(r.Body)
		select {
		case <-refusals:
			w.WriteHeader(http.StatusBadGateway)
			return
		default:
		}
		d.secret = r.Header.Get("X-Telegram-Bot-Api-Secret-Token")
		if err := json.Unmarshal(body, &d.update); err != nil {
			t.Error(err)
		}
		taken <- d
	}))
	t.Cleanup(hook.Close)
	for _, bad := range []bot.SetWebhookParams{{URL: "nowhere"}, {URL: hook.URL, SecretToken: "no spaces"}} {
		if _, err := st.bot.SetWebhook(t.Context(), &bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	st.Say(st.chat, st.ada, "a")
	if _, err := st.bot.SetWebhook(t.Context(), &bot.SetWebhookParams{URL: hook.URL, SecretToken: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	st.Say(st.chat, st.ada, "b")
	for _, want := range []string{"a", "b"} {
		select {
		case d := <-taken:
			if d.secret != "s3cret" || d.update.Message.Text != want {
				t.Errorf("posted: %+v, want %q", d, want)
			}
		case <-soon(t).Done():
			t.Fatal("nothing was posted")
		}
	}
	if err := st.Wait(soon(t), func() bool { return st.Pending() == 0 }); err != nil {
		t.Fatal(err)
	}
	info, err := st.bot.GetWebhookInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.URL != hook.URL || info.PendingUpdateCount != 0 || info.LastErrorMessage == "" || info.MaxConnections != 40 {
		t.Errorf("the webhook is %+v", info)
	}
	status, answer := postForm(t, st.Server, "getUpdates", nil)
	if status != http.StatusConflict || answer.Description != "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first" {
		t.Errorf("polling beside it: %d %q", status, answer.Description)
	}
	if _, err := st.bot.DeleteWebhook(t.Context(), &bot.DeleteWebhookParams{}); err != nil {
		t.Fatal(err)
	}
	st.Say(st.chat, st.ada, "c")
	if _, texts := poll(t, st.Server, nil); !slices.Equal(texts, []string{"c"}) {
		t.Errorf("after the webhook: %v", texts)
	}
	if _, err := st.bot.DeleteWebhook(t.Context(), &bot.DeleteWebhookParams{DropPendingUpdates: true}); err != nil {
		t.Fatal(err)
	}
	if n := st.Pending(); n != 0 {
		t.Errorf("%d updates are pending, though they were dropped", n)
	}
}

func TestPollerThatVanishes(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	chat := s.Private(ada)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/bot"+s.Token()+"/getUpdates?timeout=30", http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := client(t).Do(req); err == nil {
			resp.Body.Close()
			t.Error("an answer came")
		}
	}()
	if err := s.Wait(soon(t), func() bool { return now.timersSet() == 1 }); err != nil {
		t.Fatal(err)
	}
	leave()
	<-gone
	if err := s.Wait(soon(t), func() bool { return len(s.Calls("getUpdates")) == 1 }); err != nil {
		t.Fatal(err)
	}
	s.Say(chat, ada, "still there")
	if _, texts := poll(t, s, nil); !slices.Equal(texts, []string{"still there"}) {
		t.Errorf("the next one got %v", texts)
	}
}
