package telegramserver_test

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/internal/telegramserver"
)

// stage is a server without limits, a bot, and a person with a private chat.
type stage struct {
	*telegramserver.Server
	bot  *bot.Bot
	ada  telegramserver.User
	chat *telegramserver.Chat
}

func newStage(t *testing.T) stage {
	t.Helper()
	s := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada", Username: "ada_l"})
	return stage{Server: s, bot: newBot(t, s), ada: ada, chat: s.Private(ada)}
}

// send sends a text to the private chat.
func (st stage) send(t *testing.T, text string) *models.Message {
	t.Helper()
	m, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: st.chat.ID, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFirstTalk(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	updates := follow(t, st.Server)
	said := st.Say(st.chat, st.ada, "hello")
	got := next(t, updates)
	if got.Message == nil || got.Message.Text != "hello" || got.Message.ID != said.ID || got.Message.From.ID != st.ada.ID {
		t.Fatalf("the bot got %+v", got)
	}
	sent := st.send(t, "hi Ada")
	edit := &bot.EditMessageTextParams{ChatID: st.chat.ID, MessageID: sent.ID, Text: "hi <b>again</b>", ParseMode: html}
	if _, err := st.bot.EditMessageText(t.Context(), edit); err != nil {
		t.Fatal(err)
	}
	all, err := st.WaitSent(soon(t), st.chat, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Text != "hi again" || all[0].ID != sent.ID || all[0].EditDate == 0 {
		t.Fatalf("the chat has %+v", all)
	}
	if v := all[0].Versions; len(v) != 2 || v[0].Text != "hi Ada" || v[1].Text != "hi again" || len(v[1].Entities) != 1 {
		t.Errorf("its versions are %+v", v)
	}
}

func TestGetMe(t *testing.T) {
	t.Parallel()
	for _, privacy := range []bool{true, false} {
		s := telegramserver.Start(t, telegramserver.Config{Privacy: privacy, Token: "42:x", Username: "my_bot", Name: "Mine"})
		user, err := newBot(t, s).GetMe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if user.ID != 42 || !user.IsBot || user.Username != "my_bot" || user.FirstName != "Mine" || user.CanReadAllGroupMessages == privacy {
			t.Errorf("with privacy %v the bot is %+v", privacy, user)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	base := st.URL + "/bot" + st.Token()
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	for _, c := range []struct {
		target, kind, body string
		status             int
		want               string
	}{
		{st.URL + "/bot1:wrong/getMe", form, "", http.StatusUnauthorized, "Unauthorized"},
		{st.URL + "/bot", form, "", http.StatusNotFound, "Not Found"},
		{st.URL + "/", form, "", http.StatusNotFound, "Not Found"},
		{base + "/sendMessageDraft", form, "", http.StatusNotFound, "Not Found"},
		{base + "/sendMessage", asJSON, "{", http.StatusBadRequest, "Bad Request: can't parse JSON object"},
		{base + "/sendMessage", "text/plain", "x", http.StatusBadRequest, "Bad Request: unsupported content type"},
		{base + "/sendMessage", asJSON, "{}", http.StatusBadRequest, "Bad Request: chat_id is empty"},
		{base + "/sendMessage", form, "chat_id=" + strconv.FormatInt(st.chat.ID, 10) + "&text=%ff", http.StatusBadRequest, "Bad Request: strings must be encoded in UTF-8"},
		{base + "/getme", form, "", http.StatusOK, ""},
		{base + "/GETME", asJSON, "{}", http.StatusOK, ""},
	} {
		status, answer := post(t, c.target, c.kind, c.body)
		if status != c.status || answer.Description != c.want || answer.OK != (c.status == http.StatusOK) {
			t.Errorf("%s %q: %d %q, want %d %q", c.target, c.body, status, answer.Description, c.status, c.want)
		}
	}
	body := `{"chat_id":` + strconv.FormatInt(st.chat.ID, 10) + `,"text":"as JSON","reply_markup":{"inline_keyboard":[[{"text":"x","callback_data":"y"}]]}}`
	if status, answer := post(t, base+"/sendMessage", asJSON, body); status != http.StatusOK {
		t.Errorf("a body of JSON: %d %q", status, answer.Description)
	}
}

func TestTextIsRefused(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	stranger := st.AddUser(telegramserver.User{FirstName: "Never wrote"})
	blocker := st.AddUser(telegramserver.User{FirstName: "Bob"})
	group := st.Group("old", st.ada)
	st.Block(blocker)
	gone := st.Supergroup("gone", st.ada)
	st.Kick(gone, st.ada)
	grown := st.Upgrade(group, st.ada)
	forum := st.Forum("forum", st.ada)
	shut := st.Topic(forum, st.ada, "shut")
	st.CloseTopic(forum, shut)
	for _, c := range []struct {
		params bot.SendMessageParams
		want   string
	}{
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: " \n "}, "Bad Request: message text is empty"},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: strings.Repeat("x", 4097)}, "Bad Request: message is too long"},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: strings.Repeat("\U0001F600", 2049)}, "Bad Request: message is too long"},
		{bot.SendMessageParams{ChatID: 12345, Text: "x"}, "Bad Request: chat not found"},
		{bot.SendMessageParams{ChatID: "@nobody", Text: "x"}, "Bad Request: chat not found"},
		{bot.SendMessageParams{ChatID: stranger.ID, Text: "x"}, "Forbidden: bot can't initiate conversation with a user"},
		{bot.SendMessageParams{ChatID: blocker.ID, Text: "x"}, "Forbidden: bot was blocked by the user"},
		{bot.SendMessageParams{ChatID: gone.ID, Text: "x"}, "Forbidden: bot was kicked from the supergroup chat"},
		{bot.SendMessageParams{ChatID: forum.ID, Text: "x", MessageThreadID: 1000}, "Bad Request: message thread not found"},
		{bot.SendMessageParams{ChatID: forum.ID, Text: "x", MessageThreadID: shut}, "Bad Request: TOPIC_CLOSED"},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: "x", MessageThreadID: 5}, "Bad Request: message thread not found"},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: "x", ReplyParameters: &models.ReplyParameters{MessageID: 99}}, "Bad Request: message to be replied not found"},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: "x", ReplyMarkup: buttons("x", strings.Repeat("d", 65))}, "Bad Request: BUTTON_DATA_INVALID"},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: "x", ReplyMarkup: buttons("", "d")}, `can't parse inline keyboard button: Field "text"`},
		{bot.SendMessageParams{ChatID: st.chat.ID, Text: "x", ReplyMarkup: buttons("x", "")}, "Text buttons are unallowed in the inline keyboard"},
	} {
		_, err := st.bot.SendMessage(t.Context(), &c.params)
		refused(t, err, c.want)
	}
	_, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: group.ID, Text: "x"})
	var moved *bot.MigrateError
	if !errors.As(err, &moved) || int64(moved.MigrateToChatID) != grown.ID {
		t.Errorf("a group that moved: %v", err)
	}
	if sent := st.AllSent(); len(sent) != 0 {
		t.Errorf("messages were taken: %v", sent)
	}
	// At the very limit, and without what the reply was to.
	st.send(t, strings.Repeat("\U0001F600", 2048))
	if _, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{
		ChatID: st.chat.ID, Text: "x", ReplyMarkup: buttons("x", strings.Repeat("d", 64)),
		ReplyParameters: &models.ReplyParameters{MessageID: 99, AllowSendingWithoutReply: true},
	}); err != nil {
		t.Error(err)
	}
	st.Unblock(blocker)
	if _, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: blocker.ID, Text: "x"}); err != nil {
		t.Error(err)
	}
}

// buttons is a keyboard of one button.
func buttons(text, data string) models.InlineKeyboardMarkup {
	return models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: text, CallbackData: data}}}}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	said := st.Say(st.chat, st.ada, "mine")
	sent, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: st.chat.ID, Text: "one", ReplyMarkup: buttons("x", "y")})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(id int, text string, markup models.ReplyMarkup) error {
		_, err := st.bot.EditMessageText(t.Context(), &bot.EditMessageTextParams{ChatID: st.chat.ID, MessageID: id, Text: text, ReplyMarkup: markup})
		return err
	}
	refused(t, edit(sent.ID, " one\n", buttons("x", "y")), "Bad Request: message is not modified: specified new message content")
	refused(t, edit(999, "x", nil), "Bad Request: message to edit not found")
	refused(t, edit(said.ID, "x", nil), "Bad Request: message can't be edited")
	refused(t, edit(sent.ID, "", nil), "Bad Request: message text is empty")
	refused(t, edit(sent.ID, strings.Repeat("x", 4097), nil), "Bad Request: MESSAGE_TOO_LONG")
	refused(t, edit(0, "x", nil), "Bad Request: message identifier is not specified")
	_, err = st.bot.EditMessageCaption(t.Context(), &bot.EditMessageCaptionParams{ChatID: st.chat.ID, MessageID: sent.ID, Caption: "x"})
	refused(t, err, "Bad Request: there is no caption in the message to edit")
	// The keyboard goes with an edit that has none.
	if err := edit(sent.ID, "one", nil); err != nil {
		t.Fatal(err)
	}
	if got := st.Sent(st.chat)[0]; got.ReplyMarkup != nil || len(got.Versions) != 2 || got.Versions[0].Keyboard == nil {
		t.Errorf("after the edit: %+v", got)
	}
	markup := func(m models.ReplyMarkup) error {
		_, err := st.bot.EditMessageReplyMarkup(t.Context(), &bot.EditMessageReplyMarkupParams{ChatID: st.chat.ID, MessageID: sent.ID, ReplyMarkup: m})
		return err
	}
	if err := markup(buttons("a", "b")); err != nil {
		t.Fatal(err)
	}
	refused(t, markup(buttons("a", "b")), "Bad Request: message is not modified")
	if _, err := st.bot.DeleteMessage(t.Context(), &bot.DeleteMessageParams{ChatID: st.chat.ID, MessageID: sent.ID}); err != nil {
		t.Fatal(err)
	}
	refused(t, edit(sent.ID, "two", nil), "Bad Request: message to edit not found")
	_, err = st.bot.DeleteMessage(t.Context(), &bot.DeleteMessageParams{ChatID: st.chat.ID, MessageID: sent.ID})
	refused(t, err, "Bad Request: message to delete not found")
	group := st.Group("family", st.ada)
	theirs := st.Say(group, st.ada, "/x")
	_, err = st.bot.DeleteMessage(t.Context(), &bot.DeleteMessageParams{ChatID: group.ID, MessageID: theirs.ID})
	refused(t, err, "Bad Request: message can't be deleted for everyone")
	if got := st.Sent(st.chat)[0]; !got.Deleted || got.Text != "one" {
		t.Errorf("after it was deleted: %+v", got)
	}
}

func TestRepliesAndTopicsOfTheBot(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	forum := st.Forum("forum", st.ada)
	topic := st.Topic(forum, st.ada, "plans")
	in := st.Post(forum, st.ada, telegramserver.Post{Text: "hi", Topic: topic})[0]
	m, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: forum.ID, Text: "a", MessageThreadID: topic})
	if err != nil {
		t.Fatal(err)
	}
	if m.MessageThreadID != topic || !m.IsTopicMessage || !m.Chat.IsForum {
		t.Errorf("in the topic: %+v", m)
	}
	m, err = st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: forum.ID, Text: "b", ReplyParameters: &models.ReplyParameters{MessageID: in.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if m.MessageThreadID != topic || m.ReplyToMessage == nil || m.ReplyToMessage.ID != in.ID || m.ReplyToMessage.ReplyToMessage != nil {
		t.Errorf("in reply: %+v", m)
	}
	action := func(thread int, what models.ChatAction) error {
		_, err := st.bot.SendChatAction(t.Context(), &bot.SendChatActionParams{ChatID: forum.ID, MessageThreadID: thread, Action: what})
		return err
	}
	if err := action(topic, models.ChatActionTyping); err != nil {
		t.Fatal(err)
	}
	refused(t, action(777, models.ChatActionTyping), "Bad Request: message thread not found")
	refused(t, action(topic, "sleeping"), "Bad Request: wrong parameter action in request")
	if got := st.Actions(forum); len(got) != 1 || got[0].Thread != topic || got[0].Action != "typing" {
		t.Errorf("actions: %+v", got)
	}
}

func TestButtons(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	updates := follow(t, st.Server)
	sent, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: st.chat.ID, Text: "may I?", ReplyMarkup: buttons("Yes", "approve:1")})
	if err != nil {
		t.Fatal(err)
	}
	id, err := st.Press(st.chat, st.ada, sent.ID, "Yes")
	if err != nil {
		t.Fatal(err)
	}
	got := next(t, updates).CallbackQuery
	if got == nil || got.ID != id || got.Data != "approve:1" || got.From.ID != st.ada.ID || got.Message.Message == nil || got.Message.Message.ID != sent.ID {
		t.Fatalf("the bot got %+v", got)
	}
	answer := &bot.AnswerCallbackQueryParams{CallbackQueryID: id, Text: "done", ShowAlert: true}
	if _, err := st.bot.AnswerCallbackQuery(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	if a, err := st.WaitAnswer(soon(t), id); err != nil || a != (telegramserver.Answer{Text: "done", Alert: true}) {
		t.Errorf("the answer is %+v, %v", a, err)
	}
	_, err = st.bot.AnswerCallbackQuery(t.Context(), answer)
	refused(t, err, "Bad Request: query is too old and response timeout expired or query ID is invalid")
	for _, button := range []string{"No", "approve:2"} {
		if _, err := st.Press(st.chat, st.ada, sent.ID, button); err == nil {
			t.Errorf("the button %q was pressed", button)
		}
	}
	if _, err := st.Press(st.chat, st.ada, 999, "Yes"); err == nil {
		t.Error("a button of no message was pressed")
	}
}

func TestOldPressesCannotBeAnswered(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	chat := s.Private(ada)
	b := newBot(t, s)
	sent, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat.ID, Text: "x", ReplyMarkup: buttons("Yes", "y")})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Press(chat, ada, sent.ID, "y")
	if err != nil {
		t.Fatal(err)
	}
	now.advance(601e9)
	_, err = b.AnswerCallbackQuery(t.Context(), &bot.AnswerCallbackQueryParams{CallbackQueryID: id})
	refused(t, err, "query is too old")
}

func TestCommandsMenu(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	set := func(scope models.BotCommandScope, commands ...models.BotCommand) error {
		_, err := st.bot.SetMyCommands(t.Context(), &bot.SetMyCommandsParams{Commands: commands, Scope: scope})
		return err
	}
	get := func(scope models.BotCommandScope) []models.BotCommand {
		menu, err := st.bot.GetMyCommands(t.Context(), &bot.GetMyCommandsParams{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		return menu
	}
	help := models.BotCommand{Command: "help", Description: "what there is"}
	if err := set(nil, help); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]models.BotCommand{help}, get(nil)); diff != "" {
		t.Errorf("the menu (-want +got):\n%s", diff)
	}
	if menu := get(&models.BotCommandScopeAllPrivateChats{}); len(menu) != 0 {
		t.Errorf("another scope has %v", menu)
	}
	refused(t, set(nil, models.BotCommand{Command: "Help", Description: "x"}), "Bad Request: BOT_COMMAND_INVALID")
	refused(t, set(nil, models.BotCommand{Command: "new-one", Description: "x"}), "Bad Request: BOT_COMMAND_INVALID")
	refused(t, set(nil, models.BotCommand{Command: "help", Description: ""}), "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
	if _, err := st.bot.DeleteMyCommands(t.Context(), &bot.DeleteMyCommandsParams{}); err != nil {
		t.Fatal(err)
	}
	if menu := get(nil); len(menu) != 0 {
		t.Errorf("after it was deleted: %v", menu)
	}
}

func TestChatsAndMembers(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	bob := st.AddUser(telegramserver.User{FirstName: "Bob"})
	forum := st.Forum("plans", st.ada, bob)
	full, err := st.bot.GetChat(t.Context(), &bot.GetChatParams{ChatID: forum.ID})
	if err != nil {
		t.Fatal(err)
	}
	if full.ID != forum.ID || full.Title != "plans" || full.Type != "supergroup" || !full.IsForum {
		t.Errorf("the chat is %+v", full)
	}
	place := func(chat, user int64) models.ChatMemberType {
		m, err := st.bot.GetChatMember(t.Context(), &bot.GetChatMemberParams{ChatID: chat, UserID: user})
		if err != nil {
			t.Fatal(err)
		}
		return m.Type
	}
	stranger := st.AddUser(telegramserver.User{FirstName: "Eve"})
	got := []models.ChatMemberType{
		place(forum.ID, st.ada.ID), place(forum.ID, bob.ID), place(forum.ID, stranger.ID), place(forum.ID, st.Bot().ID),
	}
	st.Promote(forum)
	got = append(got, place(forum.ID, st.Bot().ID))
	want := []models.ChatMemberType{"creator", "member", "left", "member", "administrator"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	status, answer := postForm(t, st.Server, "getChatMember", url.Values{"chat_id": {strconv.FormatInt(forum.ID, 10)}, "user_id": {"1"}})
	if status != http.StatusBadRequest || answer.Description != "Bad Request: invalid user_id specified" {
		t.Errorf("an unknown user: %d %q", status, answer.Description)
	}
}
