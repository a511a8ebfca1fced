package telegramserver_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley/internal/telegramserver"
)

// upload is a file in a request of the library.
func upload(name, data string) *models.InputFileUpload {
	return &models.InputFileUpload{Filename: name, Data: strings.NewReader(data)}
}

// fetch gives a file as the bot gets it.
func fetch(t *testing.T, b *bot.Bot, id string) string {
	t.Helper()
	file, err := b.GetFile(t.Context(), &bot.GetFileParams{FileID: id})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.FileDownloadLink(file), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	return string(data)
}

func TestFilesOfPeople(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	updates := follow(t, st.Server)
	st.Post(st.chat, st.ada, telegramserver.Post{
		Text: "look @ada_l", Photos: []telegramserver.File{{Name: "a.jpg", Data: []byte("the first picture, large")}, {Name: "b.jpg", Data: []byte("second")}},
	})
	first, second := next(t, updates).Message, next(t, updates).Message
	if first.Caption != "look @ada_l" || len(first.CaptionEntities) != 1 || first.Text != "" || second.Caption != "" {
		t.Errorf("the album's captions: %q and %q", first.Caption, second.Caption)
	}
	if first.MediaGroupID == "" || first.MediaGroupID != second.MediaGroupID || first.ID == second.ID {
		t.Errorf("the album: %+v and %+v", first, second)
	}
	if sizes := first.Photo; len(sizes) != 2 || fetch(t, st.bot, sizes[1].FileID) != "the first picture, large" || sizes[0].Width >= sizes[1].Width {
		t.Errorf("the picture: %+v", sizes)
	}
	st.Post(st.chat, st.ada, telegramserver.Post{Document: &telegramserver.File{Name: "a.pdf", MIME: "application/pdf", Data: []byte("%PDF")}})
	if got := next(t, updates).Message.Document; got == nil || got.FileName != "a.pdf" || got.MimeType != "application/pdf" || got.FileSize != 4 || fetch(t, st.bot, got.FileID) != "%PDF" {
		t.Errorf("the document: %+v", got)
	}
	st.Post(st.chat, st.ada, telegramserver.Post{Voice: &telegramserver.File{MIME: "audio/ogg", Data: []byte("OggS")}})
	if got := next(t, updates).Message.Voice; got == nil || got.Duration == 0 || fetch(t, st.bot, got.FileID) != "OggS" {
		t.Errorf("the voice: %+v", got)
	}
	st.Post(st.chat, st.ada, telegramserver.Post{Document: &telegramserver.File{Name: "big", Size: 20<<20 + 1}})
	big := next(t, updates).Message.Document
	_, err := st.bot.GetFile(t.Context(), &bot.GetFileParams{FileID: big.FileID})
	refused(t, err, "Bad Request: file is too big")
	_, err = st.bot.GetFile(t.Context(), &bot.GetFileParams{FileID: "none"})
	refused(t, err, "Bad Request: invalid file_id")
	for target, want := range map[string]int{
		"/file/bot" + st.Token() + "/documents/none": http.StatusNotFound,
		"/file/bot1:wrong/documents/file_1":          http.StatusUnauthorized,
	} {
		if status, _ := post(t, st.URL+target, "", ""); status != want {
			t.Errorf("%s: %d, want %d", target, status, want)
		}
	}
}

func TestFilesOfTheBot(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	document, err := st.bot.SendDocument(t.Context(), &bot.SendDocumentParams{
		ChatID: st.chat.ID, Document: upload("notes.txt", "some notes"), Caption: "*mine*", ParseMode: markdown, ReplyMarkup: buttons("x", "y"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if document.Document.FileName != "notes.txt" || document.Caption != "mine" || len(document.CaptionEntities) != 1 || document.ReplyMarkup == nil {
		t.Errorf("the document: %+v", document)
	}
	if got := st.FileData(document.Document.FileID); string(got) != "some notes" {
		t.Errorf("its bytes: %q", got)
	}
	again, err := st.bot.SendDocument(t.Context(), &bot.SendDocumentParams{ChatID: st.chat.ID, Document: &models.InputFileString{Data: document.Document.FileID}})
	if err != nil || string(st.FileData(again.Document.FileID)) != "some notes" {
		t.Errorf("by its id: %v", err)
	}
	photo, err := st.bot.SendPhoto(t.Context(), &bot.SendPhotoParams{ChatID: st.chat.ID, Photo: upload("a.jpg", "JPEG"), Caption: "one"})
	if err != nil || len(photo.Photo) != 2 {
		t.Fatalf("a photo: %+v, %v", photo, err)
	}
	if voice, err := st.bot.SendVoice(t.Context(), &bot.SendVoiceParams{ChatID: st.chat.ID, Voice: upload("a.ogg", "OggS")}); err != nil || voice.Voice == nil {
		t.Errorf("a voice: %+v, %v", voice, err)
	}
	edit := &bot.EditMessageCaptionParams{ChatID: st.chat.ID, MessageID: photo.ID, Caption: "two"}
	if _, err := st.bot.EditMessageCaption(t.Context(), edit); err != nil {
		t.Error(err)
	}
	_, err = st.bot.EditMessageCaption(t.Context(), edit)
	refused(t, err, "Bad Request: message is not modified")
	_, err = st.bot.EditMessageText(t.Context(), &bot.EditMessageTextParams{ChatID: st.chat.ID, MessageID: photo.ID, Text: "x"})
	refused(t, err, "Bad Request: there is no text in the message to edit")
	if got := st.Sent(st.chat)[2]; got.Caption != "two" || len(got.Versions) != 2 || got.Versions[0].Text != "one" || got.Raw != "two" {
		t.Errorf("the photo's past: %+v", got)
	}

	album, err := st.bot.SendMediaGroup(t.Context(), &bot.SendMediaGroupParams{ChatID: st.chat.ID, Media: []models.InputMedia{
		&models.InputMediaPhoto{Media: "attach://one.jpg", MediaAttachment: strings.NewReader("1"), Caption: "<b>both</b>", ParseMode: html},
		&models.InputMediaPhoto{Media: "attach://two.jpg", MediaAttachment: strings.NewReader("2"), CaptionEntities: []models.MessageEntity{{Type: "bold", Length: 1}}, Caption: "c"},
	}})
	if err != nil || len(album) != 2 {
		t.Fatalf("an album: %+v, %v", album, err)
	}
	if album[0].MediaGroupID == "" || album[0].MediaGroupID != album[1].MediaGroupID || album[0].Caption != "both" || len(album[1].CaptionEntities) != 1 {
		t.Errorf("the album: %+v and %+v", album[0], album[1])
	}
	if got := st.FileData(album[1].Photo[1].FileID); !bytes.Equal(got, []byte("2")) {
		t.Errorf("the second picture: %q", got)
	}
}

func TestFilesAreRefused(t *testing.T) {
	t.Parallel()
	s := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits, MaxUpload: 1 << 20})
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	b := newBot(t, s)
	_, err := b.SendDocument(t.Context(), &bot.SendDocumentParams{ChatID: chat.ID, Document: upload("big", strings.Repeat("x", 2<<20))})
	refused(t, err, "413 Request Entity Too Large")
	_, err = b.SendDocument(t.Context(), &bot.SendDocumentParams{ChatID: chat.ID, Document: upload("empty", "")})
	refused(t, err, "Bad Request: file must be non-empty")
	_, err = b.SendDocument(t.Context(), &bot.SendDocumentParams{ChatID: chat.ID, Document: &models.InputFileString{Data: "no such file"}})
	refused(t, err, "Bad Request: wrong file identifier/HTTP URL specified")
	_, answer := postForm(t, s, "sendDocument", url.Values{"chat_id": {strconv.FormatInt(chat.ID, 10)}})
	if want := "Bad Request: there is no document in the request"; answer.Description != want {
		t.Errorf("without a file: %q, want %q", answer.Description, want)
	}
	_, err = b.SendPhoto(t.Context(), &bot.SendPhotoParams{ChatID: chat.ID, Photo: upload("a.jpg", "x"), Caption: strings.Repeat("x", 1025)})
	refused(t, err, "Bad Request: message caption is too long")
	_, err = b.SendMediaGroup(t.Context(), &bot.SendMediaGroupParams{ChatID: chat.ID, Media: []models.InputMedia{
		&models.InputMediaPhoto{Media: "attach://one.jpg", MediaAttachment: strings.NewReader("1")},
	}})
	refused(t, err, "Bad Request: group of media must include 2-10 items")
	if sent := s.Sent(chat); len(sent) != 0 {
		t.Errorf("files were taken: %+v", sent)
	}
	large := telegramserver.Start(t, telegramserver.Config{})
	chat = large.Private(large.AddUser(telegramserver.User{FirstName: "Ada"}))
	_, err = newBot(t, large).SendPhoto(t.Context(), &bot.SendPhotoParams{ChatID: chat.ID, Photo: upload("a.jpg", strings.Repeat("x", 10<<20+1))})
	refused(t, err, "is too big for a photo")
}
