package telegram

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// wanted are the kinds of updates that Telegram is asked for.
var wanted = []string{models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateCallbackQuery}

// nearlyFull is from which length on, in UTF-16 units, more of a text may follow: apps
// cut long ones there, some between words.
const nearlyFull = maxText - 96

// taker is who takes updates, and for which bot.
type taker struct {
	to channel.Receiver
	me models.User
}

// handle takes in one update. An error is one that can pass; what is not for us needs
// nothing.
func (b *Bot) handle(ctx context.Context, in *taker, u *models.Update) error {
	var m *models.Message
	switch {
	case u.CallbackQuery != nil:
		return b.press(ctx, in, u.CallbackQuery)
	case u.Message != nil:
		m = u.Message
	case u.EditedMessage != nil:
		if m = u.EditedMessage; m.Location != nil {
			return nil // somebody moves on while they share where they are
		}
	default:
		return nil
	}
	if m.MigrateToChatID != 0 {
		b.follow(chatID(m.Chat.ID), m.MigrateToChatID)
	}
	got, ok := b.received(m, &in.me)
	if !ok {
		return nil
	}
	if u.EditedMessage != nil {
		got.Edit = editName(m)
	}
	return in.to.Receive(ctx, got)
}

// chatOf names the chat that an update is about; empty: none.
func chatOf(u *models.Update) string {
	switch {
	case u.CallbackQuery != nil:
		at, _ := pressedAt(u.CallbackQuery)
		return at.Chat
	case u.Message != nil:
		return chatID(u.Message.Chat.ID)
	case u.EditedMessage != nil:
		return chatID(u.EditedMessage.Chat.ID)
	}
	return ""
}

func chatID(id int64) string { return strconv.FormatInt(id, 10) }

// received is a message, normalised. What nobody said is not ok: that somebody joined, a
// message was pinned, and the like.
func (b *Bot) received(m *models.Message, me *models.User) (channel.Received, bool) {
	sender, ok := senderOf(m)
	if !ok || sender.ID == chatID(me.ID) {
		return channel.Received{}, false
	}
	text, media := said(m, me), b.attachments(m)
	if text == "" && len(media) == 0 {
		return channel.Received{}, false
	}
	got := channel.Received{
		Inbound: parley.Inbound{
			Channel: Name, Account: b.cfg.Account, ChatType: "group", ChatID: chatID(m.Chat.ID), ChatName: m.Chat.Title,
			Sender: sender, MessageID: strconv.Itoa(m.ID),
		},
		At:        time.Unix(int64(m.Date), 0).UTC(),
		Target:    parley.Target{Channel: Name, Account: b.cfg.Account, Chat: chatID(m.Chat.ID)},
		Album:     m.MediaGroupID,
		Forwarded: m.ForwardOrigin != nil,
		Mentioned: mentioned(m, *me),
		Full:      channel.UTF16.Count(m.Text) >= nearlyFull,
		Media:     media,
	}
	if text != "" {
		got.Parts = []parley.Part{parley.TextPart(text)}
	}
	switch m.Chat.Type { //nolint:exhaustive // the others are groups
	case models.ChatTypePrivate:
		got.ChatType, got.ChatName = "direct", sender.Name
	case models.ChatTypeChannel:
		got.ChatType = "channel"
	}
	// Replies in groups without topics have a thread too; that is no topic. What is
	// written in the general topic of a forum has none.
	if m.IsTopicMessage {
		got.TopicID = strconv.Itoa(m.MessageThreadID)
		got.Target.Topic = got.TopicID
	}
	if to := m.ReplyToMessage; to != nil && to.ForumTopicCreated == nil {
		got.ReplyTo = strconv.Itoa(to.ID)
	}
	if got.ChatType != "direct" {
		got.Target.ReplyTo = got.MessageID // so that everybody sees whom it answers
	}
	return got, true
}

// senderOf gives who wrote a message. Who writes as a group or a channel is that.
func senderOf(m *models.Message) (parley.Sender, bool) {
	switch {
	case m.SenderChat != nil:
		name := m.SenderChat.Title
		if m.AuthorSignature != "" {
			name += " (" + m.AuthorSignature + ")"
		}
		return parley.Sender{ID: chatID(m.SenderChat.ID), Name: shorten(name, maxName)}, true
	case m.From != nil:
		return userSender(m.From), true
	}
	return parley.Sender{}, false
}

func userSender(u *models.User) parley.Sender {
	return parley.Sender{ID: chatID(u.ID), Name: shorten(fullName(u), maxName), Bot: u.IsBot}
}

// maxName is how long names of people are kept, in UTF-16 units; in bytes that is less
// than [parley.MaxNameBytes].
const maxName = 80

// shorten cuts a text to so many UTF-16 units.
func shorten(text string, most int) string {
	if channel.UTF16.Count(text) <= most {
		return text
	}
	units := 1 // for the mark
	for i, c := range text {
		if units += utf16.RuneLen(c); units > most {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}

// press takes in the press of a button, and tells the person what it did.
func (b *Bot) press(ctx context.Context, in *taker, q *models.CallbackQuery) error {
	at, message := pressedAt(q)
	text := ""
	if at.Chat != "" {
		at.Channel, at.Account = Name, b.cfg.Account
		var err error
		text, err = in.to.Press(ctx, channel.Press{
			Target: at, Sender: userSender(&q.From), MessageID: message, Data: q.Data, At: b.cfg.Clock.Now(),
		})
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	// An answer ends the sign on the button that it is under way. Telegram takes none
	// for one that was pressed long ago, which is no reason to take it in again.
	if _, err := b.api.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{CallbackQueryID: q.ID, Text: shorten(text, maxAnswer)}); err != nil {
		b.cfg.Log.Debug("answer the press of a button", "error", err)
	}
	return nil
}

// pressedAt gives the chat of a button, and the message it stands below.
func pressedAt(q *models.CallbackQuery) (at parley.Target, message string) {
	switch {
	case q.Message.Message != nil:
		m := q.Message.Message
		at.Chat, message = chatID(m.Chat.ID), strconv.Itoa(m.ID)
		if m.IsTopicMessage {
			at.Topic = strconv.Itoa(m.MessageThreadID)
		}
	case q.Message.InaccessibleMessage != nil && q.Message.InaccessibleMessage.Chat.ID != 0:
		m := q.Message.InaccessibleMessage
		at.Chat, message = chatID(m.Chat.ID), strconv.Itoa(m.MessageID)
	}
	return at, message
}
