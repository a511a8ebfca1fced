package telegram

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// form is as what Telegram shows a file.
type form int

const (
	asDocument form = iota
	asPhoto
	asVoice
)

// formOf decides as what a file is shown. A photo is one that Telegram takes as such; a
// voice message is Opus in Ogg, whatever it is called.
func formOf(mediaType string, data []byte) form {
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return asDocument
	}
	switch kind {
	case "image/jpeg", "image/png", "image/webp":
		if len(data) <= maxPhoto {
			return asPhoto
		}
	case "audio/ogg", "audio/opus", "application/ogg":
		if bytes.HasPrefix(data, []byte("OggS")) && bytes.Contains(data[:min(len(data), 128)], []byte("OpusHead")) {
			return asVoice
		}
	}
	return asDocument
}

// fileName is what a file is called in the chat.
func fileName(m *channel.Medium) string {
	if name := strings.TrimSpace(strings.ReplaceAll(m.Name, "/", "_")); name != "" {
		return name
	}
	suffix := ""
	if known, err := mime.ExtensionsByType(m.Type); err == nil && len(known) > 0 {
		suffix = known[0]
	}
	return "file" + suffix
}

// notAsSuch is what Telegram says, in small letters, of a file that it does not show as a
// photo or a voice message: of a picture that is too long or cannot be read, or to somebody who wants no voice
// messages. As a document it takes it.
var notAsSuch = []string{"photo_invalid_dimensions", "image_process_failed", "photo_save_file_invalid", "voice_messages_forbidden"}

// postMedium prepares a file with its caption.
func (b *Bot) postMedium(m channel.Outgoing) (poster, error) {
	data, err := io.ReadAll(io.LimitReader(m.Media.Body, maxUpload+1))
	switch {
	case err != nil:
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "the file could not be read", Err: err}
	case len(data) > maxUpload:
		return nil, parley.Errorf(parley.CodeTooLarge, "Telegram takes files of %d MB at most from bots", maxUpload>>20)
	case len(data) == 0:
		return nil, parley.Errorf(parley.CodeInvalid, "the file is empty")
	}
	u := &upload{bot: b, name: fileName(m.Media), data: data}
	var marks []models.MessageEntity
	u.caption, marks = entities(m.Text)
	u.marks = fewEntities(marks)
	as := formOf(m.Media.Type, data)
	return func(ctx context.Context, e envelope) (*models.Message, error) {
		sent, err := u.send(ctx, as, e)
		if as == asDocument || !errors.Is(err, bot.ErrorBadRequest) && !errors.Is(err, bot.ErrorForbidden) {
			return sent, err
		}
		for _, says := range notAsSuch {
			if strings.Contains(strings.ToLower(err.Error()), says) {
				// Nothing was taken, so this is no repetition.
				return u.send(ctx, asDocument, e)
			}
		}
		return sent, err
	}, nil
}

// upload is a file on its way to Telegram.
type upload struct {
	bot     *Bot
	name    string
	data    []byte
	caption string
	marks   []models.MessageEntity
}

func (u *upload) send(ctx context.Context, as form, e envelope) (*models.Message, error) {
	file := &models.InputFileUpload{Filename: u.name, Data: bytes.NewReader(u.data)}
	switch as {
	case asPhoto:
		return u.bot.api.SendPhoto(ctx, &bot.SendPhotoParams{
			ChatID: e.chat, MessageThreadID: e.topic, Photo: file, Caption: u.caption, CaptionEntities: u.marks,
			ReplyParameters: e.reply, ReplyMarkup: e.markup(),
		})
	case asVoice:
		return u.bot.api.SendVoice(ctx, &bot.SendVoiceParams{
			ChatID: e.chat, MessageThreadID: e.topic, Voice: file, Caption: u.caption, CaptionEntities: u.marks,
			ReplyParameters: e.reply, ReplyMarkup: e.markup(),
		})
	}
	return u.bot.api.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID: e.chat, MessageThreadID: e.topic, Document: file, Caption: u.caption, CaptionEntities: u.marks,
		ReplyParameters: e.reply, ReplyMarkup: e.markup(),
	})
}
