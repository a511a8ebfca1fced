package telegram_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
)

// opus begins as voice messages do.
const opus = "OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x13OpusHead\x01"

func medium(mediaType, name, data string) *channel.Medium {
	return &channel.Medium{Type: mediaType, Name: name, Size: int64(len(data)), Body: strings.NewReader(data)}
}

func TestSend_Media(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 10<<20+1)
	for what, c := range map[string]struct {
		media  *channel.Medium
		method string
		name   string // as the chat shows it; photos and voice messages have none
	}{
		"a photo":              {medium("image/png", "cat.png", "PNG"), "sendPhoto", ""},
		"a photo with options": {medium("image/jpeg; q=1", "", "JPEG"), "sendPhoto", ""},
		"a large photo":        {medium("image/jpeg", "cat.jpg", large), "sendDocument", "cat.jpg"},
		"an animation":         {medium("image/gif", "", "GIF"), "sendDocument", "file.gif"},
		"a voice message":      {medium("audio/ogg; codecs=opus", "", opus), "sendVoice", ""},
		"as it was found":      {medium("application/ogg", "", opus), "sendVoice", ""},
		"other sound":          {medium("audio/ogg", "a.ogg", "OggS\x00vorbis"), "sendDocument", "a.ogg"},
		"a document":           {medium("application/pdf", "a/b \"c\".pdf", "PDF"), "sendDocument", "a_b \"c\".pdf"},
		"who knows what":       {medium("no type", "", "?"), "sendDocument", "file"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, telegramserver.Config{}, telegram.Config{})
			group := w.Group("Family", w.ann)
			asked := w.Say(group, w.ann, "well?")
			target := to(group)
			target.ReplyTo = strconv.Itoa(asked.ID)
			want := make([]byte, c.media.Size)
			if _, err := io.ReadFull(c.media.Body, want); err != nil {
				t.Fatal(err)
			}
			c.media.Body = bytes.NewReader(want)
			message, err := w.bot.Send(t.Context(), channel.Outgoing{Target: target, Text: channel.Markdown("😀 **so**"), Media: c.media})
			if err != nil {
				t.Fatal(err)
			}
			sent := w.Sent(group)[0]
			if strconv.Itoa(sent.ID) != message || sent.Caption != "😀 so" || len(sent.CaptionEntities) != 1 || sent.CaptionEntities[0].Offset != 3 ||
				sent.ReplyTo == nil || sent.ReplyTo.ID != asked.ID {
				t.Errorf("message %s arrived as %+v", message, sent.Message)
			}
			if n := len(w.Calls(c.method)); n != 1 {
				t.Errorf("%s was called %d times", c.method, n)
			}
			var file telegramserver.FileRef
			switch {
			case sent.Document != nil:
				file = *sent.Document
			case sent.Voice != nil:
				file = *sent.Voice
			case len(sent.Photo) > 0:
				file = sent.Photo[len(sent.Photo)-1]
			}
			if got := w.FileData(file.FileID); !bytes.Equal(got, want) {
				t.Errorf("%d bytes arrived of %d", len(got), len(want))
			}
			if file.FileName != c.name {
				t.Errorf("it is called %q", file.FileName)
			}
		})
	}
}

// TestSend_MediaInAnotherForm has Telegram refuse a photo as such.
func TestSend_MediaInAnotherForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	w.Inject(telegramserver.Fault{
		Kind: telegramserver.FaultStatus, Method: "sendPhoto", Status: 400,
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: PHOTO_INVALID_DIMENSIONS"}`,
	})
	if _, err := w.bot.Send(t.Context(), channel.Outgoing{Target: to(chat), Media: medium("image/png", "long.png", "PNG")}); err != nil {
		t.Fatal(err)
	}
	if sent := w.Sent(chat); len(sent) != 1 || sent[0].Document == nil || string(w.FileData(sent[0].Document.FileID)) != "PNG" {
		t.Errorf("arrived: %+v", sent)
	}
}

// TestSend_MediaAfterAMove has a group become another while a file is sent.
func TestSend_MediaAfterAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	group := w.Group("Family", w.ann)
	bigger := w.Upgrade(group, w.ann)
	if _, err := w.bot.Send(t.Context(), channel.Outgoing{Target: to(group), Media: medium("application/pdf", "a.pdf", "PDF")}); err != nil {
		t.Fatal(err)
	}
	if sent := w.Sent(bigger); len(sent) != 1 || sent[0].Document == nil || string(w.FileData(sent[0].Document.FileID)) != "PDF" {
		t.Errorf("arrived: %+v", sent)
	}
}

func TestSend_MediaProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	send := func(m *channel.Medium) error {
		_, err := w.bot.Send(t.Context(), channel.Outgoing{Target: to(chat), Media: m})
		return err
	}
	broken := medium("image/png", "", "PNG")
	broken.Body = io.MultiReader(broken.Body, &failing{})
	for what, c := range map[string]struct {
		media *channel.Medium
		code  parley.Code
	}{
		"empty":     {medium("image/png", "", ""), parley.CodeInvalid},
		"too large": {medium("video/mp4", "", strings.Repeat("x", 50<<20+1)), parley.CodeTooLarge},
		"broken":    {broken, parley.CodeUnavailable},
	} {
		if err := send(c.media); parley.CodeOf(err) != c.code || errors.Is(err, parley.ErrOutcomeUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if sent := w.Sent(chat); len(sent) > 0 {
		t.Errorf("arrived: %+v", sent)
	}
	w.Inject(telegramserver.Fault{Kind: telegramserver.FaultClose, Method: "sendPhoto", Taken: true})
	if err := send(medium("image/png", "", "PNG")); !errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Errorf("closed: %v", err)
	}
	w.Inject(telegramserver.Fault{Kind: telegramserver.FaultLimit, Method: "sendPhoto", RetryAfter: 3})
	if err := send(medium("image/png", "", "PNG")); !errors.Is(err, parley.ErrRateLimited) {
		t.Errorf("limited: %v", err)
	}
}

// failing is a file that cannot be read.
type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("the disk failed") }
