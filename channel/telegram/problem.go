package telegram

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// refusals are what Telegram says in descriptions, in small letters, and what that
// means for a message. The first that fits counts.
var refusals = []struct {
	says string
	code parley.Code
	text string
}{
	{"message to edit not found", parley.CodeNotFound, "the message is not there any more"},
	{"message can't be edited", parley.CodeNotFound, "the message cannot be edited any more"},
	{"message_id_invalid", parley.CodeNotFound, "the message is not there any more"},
	{"message is too long", parley.CodeTooLarge, "the message is too long for Telegram"},
	{"chat not found", parley.CodeForbidden, "Telegram knows no such chat, or the bot was never in it"},
	{"message thread not found", parley.CodeForbidden, "the topic is not there any more"},
	{"topic_closed", parley.CodeForbidden, "the topic is closed"},
	{"topic_deleted", parley.CodeForbidden, "the topic is not there any more"},
	{"not enough rights", parley.CodeForbidden, "the bot may not write there"},
	{"have no rights to send", parley.CodeForbidden, "the bot may not write there"},
	{"chat_write_forbidden", parley.CodeForbidden, "the bot may not write there"},
	{"bot was blocked", parley.CodeForbidden, "the person has blocked the bot"},
	{"user is deactivated", parley.CodeForbidden, "the person's account is gone"},
	{"bot was kicked", parley.CodeForbidden, "the bot was taken out of the group"},
	{"bot is not a member", parley.CodeForbidden, "the bot is not in the group"},
	{"can't initiate conversation", parley.CodeForbidden, "a bot cannot write to somebody first; they have to write to it"},
	{"file is too big", parley.CodeTooLarge, "Telegram lets bots fetch files of 20 MB at most"},
}

// notModified is what Telegram says if an edit changes nothing.
const notModified = "message is not modified"

// problem says what an error of Telegram means: what is known of a message that was to
// be sent.
func (b *Bot) problem(err error) error {
	if err == nil {
		return nil
	}
	description := strings.ToLower(err.Error())
	for _, r := range refusals {
		if (errors.Is(err, bot.ErrorBadRequest) || errors.Is(err, bot.ErrorForbidden)) && strings.Contains(description, r.says) {
			return &parley.Error{Code: r.code, Message: r.text, Err: err}
		}
	}
	limited, isLimited := errors.AsType[*bot.TooManyRequestsError](err)
	switch {
	case isLimited:
		return &channel.RetryError{
			After: time.Duration(max(1, limited.RetryAfter)) * time.Second,
			Err:   &parley.Error{Code: parley.CodeRateLimited, Message: "Telegram has had too much of this bot", Err: err},
		}
	case errors.Is(err, bot.ErrorForbidden):
		return &parley.Error{Code: parley.CodeForbidden, Message: "Telegram does not let the bot do this", Err: err}
	case errors.Is(err, bot.ErrorBadRequest):
		return &parley.Error{Code: parley.CodeInvalid, Message: "Telegram does not take this", Err: err}
	case errors.Is(err, bot.ErrorUnauthorized), errors.Is(err, bot.ErrorNotFound):
		return &parley.Error{Code: parley.CodeUnauthorized, Message: stateRefused, Err: err}
	case errors.Is(err, bot.ErrorConflict):
		return &parley.Error{Code: parley.CodeConflict, Message: "another program receives the messages of this bot", Err: err}
	case errors.Is(err, errNotSent):
		return &parley.Error{Code: parley.CodeUnavailable, Message: "Telegram cannot be reached", Err: err}
	}
	return &parley.Error{Code: parley.CodeUnavailable, Message: "Telegram did not answer as it should", Err: errors.Join(parley.ErrOutcomeUnknown, err)}
}

// crowd finds out whether Telegram has had too much of one chat or of the whole bot,
// which it does not say. Who is limited for a chat is still heard in others; if several
// chats are refused one after the other, with nothing taken in between, it is the bot.
type crowd struct {
	mu      sync.Mutex
	refused map[string]bool
}

// manyChats is how many chats have to be refused in a row.
const manyChats = 4

// judge notes what became of a message to a chat, and completes its error.
func (c *crowd) judge(chat string, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	retry, limited := errors.AsType[*channel.RetryError](err)
	switch {
	case err == nil:
		c.refused = nil
	case limited:
		if c.refused == nil {
			c.refused = map[string]bool{}
		}
		c.refused[chat] = true
		retry.Everything = len(c.refused) >= manyChats
	}
	return err
}
