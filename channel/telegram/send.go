package telegram

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// Send implements [channel.Platform]. A message to a group that has become a supergroup
// goes there.
func (b *Bot) Send(ctx context.Context, m channel.Outgoing) (platformID string, err error) {
	to, err := b.destination(m.Target)
	if err != nil {
		return "", err
	}
	keys, err := keyboard(m.Buttons)
	if err != nil {
		return "", err
	}
	e := envelope{chat: to.chat, topic: to.topic, keys: keys}
	if to.replyTo != 0 {
		e.reply = &models.ReplyParameters{MessageID: to.replyTo, AllowSendingWithoutReply: true}
	}
	post := b.postText(m.Text)
	if m.Media != nil {
		if post, err = b.postMedium(m); err != nil {
			return "", err
		}
	}
	sent, err := post(ctx, e)
	if moved, ok := errors.AsType[*bot.MigrateError](err); ok {
		// Nothing was taken, so this is no repetition.
		b.follow(m.Target.Chat, int64(moved.MigrateToChatID))
		sent, err = post(ctx, envelope{chat: int64(moved.MigrateToChatID), keys: keys})
	}
	if err := b.crowd.judge(m.Target.Chat, b.problem(err)); err != nil {
		return "", err
	}
	return strconv.Itoa(sent.ID), nil
}

// envelope is where a message goes, and what hangs on it.
type envelope struct {
	chat  any
	topic int
	reply *models.ReplyParameters
	keys  *models.InlineKeyboardMarkup
}

// markup is the envelope's buttons as the library wants them: none is no value at all.
func (e envelope) markup() models.ReplyMarkup {
	if e.keys == nil {
		return nil
	}
	return e.keys
}

// poster sends a message. It may be called again.
type poster func(ctx context.Context, e envelope) (*models.Message, error)

func (b *Bot) postText(rich channel.Rich) poster {
	text, marks := entities(rich)
	return func(ctx context.Context, e envelope) (*models.Message, error) {
		return b.api.SendMessage(ctx, &bot.SendMessageParams{
			ChatID: e.chat, MessageThreadID: e.topic, Text: text, Entities: fewEntities(marks), LinkPreviewOptions: noPreview(),
			ReplyParameters: e.reply, ReplyMarkup: e.markup(),
		})
	}
}

// Edit implements [channel.Platform].
func (b *Bot) Edit(ctx context.Context, platformID string, m channel.Outgoing) error {
	to, err := b.destination(m.Target)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(platformID)
	if err != nil || id <= 0 || to.moved {
		// The messages of a group stay behind when it becomes a supergroup.
		return parley.Errorf(parley.CodeNotFound, "there is no message %q", platformID)
	}
	keys, err := keyboard(m.Buttons)
	if err != nil {
		return err
	}
	text, marks := entities(m.Text)
	params := &bot.EditMessageTextParams{
		ChatID: to.chat, MessageID: id, Text: text, Entities: fewEntities(marks), LinkPreviewOptions: noPreview(),
	}
	if keys != nil {
		params.ReplyMarkup = keys
	}
	_, err = b.api.EditMessageText(ctx, params)
	if errors.Is(err, bot.ErrorBadRequest) && strings.Contains(err.Error(), notModified) {
		err = nil
	}
	if moved, ok := errors.AsType[*bot.MigrateError](err); ok {
		b.follow(m.Target.Chat, int64(moved.MigrateToChatID))
		return parley.Errorf(parley.CodeNotFound, "the message stayed behind when the group became a supergroup")
	}
	return b.crowd.judge(m.Target.Chat, b.problem(err))
}

// Typing implements [channel.Platform].
func (b *Bot) Typing(ctx context.Context, target parley.Target) error {
	to, err := b.destination(target)
	if err != nil {
		return err
	}
	_, err = b.api.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: to.chat, MessageThreadID: to.topic, Action: models.ChatActionTyping})
	return b.problem(err)
}

// destination is a target as Telegram has it.
type destination struct {
	chat    any // its id, or its name with an at sign
	topic   int
	replyTo int
	moved   bool // the group has become a supergroup
}

func (b *Bot) destination(t parley.Target) (to destination, err error) {
	b.mu.Lock()
	moved, ok := b.moved[t.Chat]
	b.mu.Unlock()
	if ok {
		return destination{chat: moved, moved: true}, nil
	}
	id, err := strconv.ParseInt(t.Chat, 10, 64)
	switch {
	case err == nil && id != 0:
		to.chat = id
	case strings.HasPrefix(t.Chat, "@") && len(t.Chat) > 1:
		to.chat = t.Chat
	default:
		return to, parley.Errorf(parley.CodeInvalid, "%q is no chat of Telegram; it must be a number", t.Chat)
	}
	if t.Topic != "" {
		if to.topic, err = strconv.Atoi(t.Topic); err != nil || to.topic <= 0 {
			return to, parley.Errorf(parley.CodeInvalid, "%q is no topic of Telegram; it must be a number", t.Topic)
		}
	}
	if t.ReplyTo != "" {
		// What it answers may be of another kind; then it answers nothing.
		to.replyTo, _ = strconv.Atoi(t.ReplyTo)
		to.replyTo = max(to.replyTo, 0)
	}
	return to, nil
}

// follow notes that a group has become a supergroup.
func (b *Bot) follow(chat string, to int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved[chat] = to
	b.cfg.Log.Info("a group has become a supergroup", "chat", chat, "now", to)
}

// noPreview keeps pages that a message links to from being shown below it.
func noPreview() *models.LinkPreviewOptions {
	return &models.LinkPreviewOptions{IsDisabled: bot.True()}
}

// keyboard makes the buttons below a message; nil: there are none.
func keyboard(rows [][]channel.Button) (*models.InlineKeyboardMarkup, error) {
	var keys [][]models.InlineKeyboardButton
	for _, row := range rows {
		var line []models.InlineKeyboardButton
		for _, k := range row {
			if strings.TrimSpace(k.Text) == "" || k.Data == "" || len(k.Data) > maxData {
				return nil, parley.Errorf(parley.CodeInvalid, "the button %q carries %d bytes; it must have a text, and carry 1 to %d bytes", k.Text, len(k.Data), maxData)
			}
			line = append(line, models.InlineKeyboardButton{Text: k.Text, CallbackData: k.Data})
		}
		if len(line) > 0 {
			keys = append(keys, line)
		}
	}
	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // a message without buttons
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: keys}, nil
}

// dispensable are the kinds of entities in the order in which they are left out if a
// message has more than Telegram takes; it would leave out those at the end, links too.
var dispensable = []models.MessageEntityType{
	models.MessageEntityTypeUnderline, models.MessageEntityTypeItalic, models.MessageEntityTypeStrikethrough,
	models.MessageEntityTypeBold, models.MessageEntityTypeCode, models.MessageEntityTypeBlockquote,
}

// fewEntities leaves out what is too much.
func fewEntities(list []models.MessageEntity) []models.MessageEntity {
	for _, kind := range dispensable {
		for i := len(list) - 1; i >= 0 && len(list) > maxEntities; i-- {
			if list[i].Type == kind {
				list = slices.Delete(list, i, i+1)
			}
		}
	}
	return list[:min(len(list), maxEntities)]
}
