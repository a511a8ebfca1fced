package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// attachments gives the media of a message: of a photo the largest size.
func (b *Bot) attachments(m *models.Message) []channel.Attachment {
	switch {
	case len(m.Photo) > 0:
		best := m.Photo[0]
		for _, p := range m.Photo[1:] {
			if p.Width*p.Height > best.Width*best.Height {
				best = p
			}
		}
		return b.attachment("image/jpeg", "", best.FileID, int64(best.FileSize))
	case m.Animation != nil: // it comes as a document too
		return b.attachment(m.Animation.MimeType, m.Animation.FileName, m.Animation.FileID, m.Animation.FileSize)
	case m.Document != nil:
		return b.attachment(m.Document.MimeType, m.Document.FileName, m.Document.FileID, m.Document.FileSize)
	case m.Voice != nil:
		return b.attachment(m.Voice.MimeType, "", m.Voice.FileID, m.Voice.FileSize)
	case m.Audio != nil:
		return b.attachment(m.Audio.MimeType, m.Audio.FileName, m.Audio.FileID, m.Audio.FileSize)
	case m.Video != nil:
		return b.attachment(m.Video.MimeType, m.Video.FileName, m.Video.FileID, m.Video.FileSize)
	case m.VideoNote != nil:
		return b.attachment("video/mp4", "", m.VideoNote.FileID, int64(m.VideoNote.FileSize))
	}
	return nil
}

// hasMedia reports whether a message has media.
func hasMedia(m *models.Message) bool {
	return len(m.Photo) > 0 || m.Animation != nil || m.Document != nil || m.Voice != nil || m.Audio != nil || m.Video != nil || m.VideoNote != nil
}

func (b *Bot) attachment(mime, name, file string, size int64) []channel.Attachment {
	return []channel.Attachment{{
		Type: mime, Name: name, Size: size, Most: maxDownload,
		FetchFunc: func(ctx context.Context) (io.ReadCloser, error) { return b.fetch(ctx, file, size) },
	}}
}

// fetch gets a file. Too large a one is [parley.CodeTooLarge].
func (b *Bot) fetch(ctx context.Context, id string, size int64) (io.ReadCloser, error) {
	if size > maxDownload {
		return nil, parley.Errorf(parley.CodeTooLarge, "Telegram lets bots fetch files of 20 MB at most")
	}
	file, err := b.api.GetFile(ctx, &bot.GetFileParams{FileID: id})
	if err != nil {
		return nil, b.problem(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.api.FileDownloadLink(file), http.NoBody)
	if err != nil {
		return nil, withoutURL(err)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "the file could not be fetched", Err: withoutURL(err)}
	}
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "the file could not be fetched", Err: errors.Join(err, resp.Body.Close())}
	}
	return resp.Body, nil
}
