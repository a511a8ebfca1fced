package telegram

import (
	"strings"

	"github.com/go-telegram/bot/models"
)

// mentioned reports whether a message speaks to the bot: in a private chat always; else
// if it names the bot, is a command addressed to it by name, or answers one of its
// messages. A command addressed to another bot does not, even as such an answer.
func mentioned(m *models.Message, me models.User) bool {
	if m.Chat.Type == models.ChatTypePrivate {
		return true
	}
	text, marks := wording(m)
	for _, e := range marks {
		part, ok := covered(text, e)
		if !ok {
			continue
		}
		switch e.Type { //nolint:exhaustive // the others name nobody
		case models.MessageEntityTypeMention:
			if isName(part, me) {
				return true
			}
		case models.MessageEntityTypeTextMention:
			if e.User != nil && e.User.ID == me.ID {
				return true
			}
		case models.MessageEntityTypeBotCommand:
			if _, to := commandName(part); isName(to, me) {
				return true
			}
		}
	}
	if _, to, ok := leading(m); ok && to != "" {
		return false
	}
	return answers(m, me)
}

// answers reports whether a message answers one of the bot's. In a topic every message
// comes as an answer to the one that opened it, which says nothing.
func answers(m *models.Message, me models.User) bool {
	to := m.ReplyToMessage
	return to != nil && to.ForumTopicCreated == nil && to.From != nil && to.From.ID == me.ID
}

// command gives a message that is a command for the bot, without the bot's name: what
// begins with one, unless it is addressed to another bot.
func command(m *models.Message, me models.User) (text string, ok bool) {
	name, to, ok := leading(m)
	if !ok || to != "" && !isName(to, me) {
		return "", false
	}
	text, _ = wording(m)
	return name + text[len(name)+len(to):], true
}

// leading gives the command that a message begins with: its name with the slash, and
// whom it is addressed to, with the at sign.
func leading(m *models.Message) (name, to string, ok bool) {
	text, marks := wording(m)
	for _, e := range marks {
		if e.Type != models.MessageEntityTypeBotCommand || e.Offset != 0 {
			continue
		}
		if part, ok := covered(text, e); ok {
			name, to = commandName(part)
			return name, to, true
		}
	}
	return "", "", false
}

// commandName cuts a command into its name and whom it is addressed to.
func commandName(part string) (name, to string) {
	if at := strings.IndexByte(part, '@'); at >= 0 {
		return part[:at], part[at:]
	}
	return part, ""
}

// isName reports whether an at sign and a name are the bot's. Case does not matter.
func isName(name string, me models.User) bool {
	return me.Username != "" && strings.EqualFold(name, "@"+me.Username)
}

// wording gives what was written, as a text or beside a medium, and what Telegram marked
// in it.
func wording(m *models.Message) (string, []models.MessageEntity) {
	if m.Text != "" {
		return m.Text, m.Entities
	}
	return m.Caption, m.CaptionEntities
}
