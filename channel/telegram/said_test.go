package telegram

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/vectors"
)

// TestSaid has messages of kinds that the server of the other tests does not have.
func TestSaid(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]string{
		"(a sticker: 😀)": `{"sticker":{"file_id":"x","emoji":"😀"}}`,
		"(a sticker:)":   `{"sticker":{"file_id":"x"}}`,
		"(a place: Café, Main Street 1; 48.5, 9.25)":  `{"location":{"latitude":48.5,"longitude":9.25},"venue":{"location":{"latitude":48.5,"longitude":9.25},"title":"Café","address":"Main Street 1"}}`,
		"(a place: 48.5, 9.25)":                       `{"location":{"latitude":48.5,"longitude":9.25}}`,
		"(a contact: Ann Lee, +49 1)":                 `{"contact":{"phone_number":"+49 1","first_name":"Ann","last_name":"Lee"}}`,
		"(a poll: When?; today, never)":               `{"poll":{"question":"When?","options":[{"text":"today"},{"text":"never"}]}}`,
		"(🎲 shows 4)":                                 `{"dice":{"emoji":"🎲","value":4}}`,
		"😀 see here (https://example.org) now":        `{"text":"😀 see here now","entities":[{"type":"text_link","offset":7,"length":4,"url":"https://example.org"}]}`,
		"(forwarded from News)\nhi":                   `{"text":"hi","forward_origin":{"type":"channel","date":1,"chat":{"id":-1,"type":"channel","title":"News"},"message_id":1}}`,
		"(forwarded from Somebody Hidden)\nhi":        `{"text":"hi","forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"Somebody Hidden"}}`,
		"(forwarded from The Group)\nhi":              `{"text":"hi","forward_origin":{"type":"chat","date":1,"sender_chat":{"id":-1,"type":"group","title":"The Group"}}}`,
		"(forwarded from Ann)":                        `{"voice":{"file_id":"x"},"forward_origin":{"type":"user","date":1,"sender_user":{"id":1,"first_name":"Ann"}}}`,
		"(about this: \"the second\")\nwhy?":          `{"text":"why?","reply_to_message":{"message_id":1,"from":{"id":42},"text":"the first, the second"},"quote":{"text":"the second","position":1,"is_manual":true}}`,
		"why?":                                        `{"text":"why?","reply_to_message":{"message_id":1,"from":{"id":42},"text":"because"}}`,
		"well?":                                       `{"text":"well?","reply_to_message":{"message_id":1,"from":{"id":7},"forum_topic_created":{"name":"Chess"}}}`,
		"(in reply to Ann: \"(a sticker: 😀)\")\nnice": `{"text":"nice","reply_to_message":{"message_id":1,"from":{"id":7,"first_name":"Ann"},"sticker":{"file_id":"x","emoji":"😀"}}}`,
		"(in reply to Ann: \"" + strings.Repeat("x", 499) + "…\")\nx": `{"text":"x","reply_to_message":{"message_id":1,"from":{"id":7,"first_name":"Ann"},"text":"` + strings.Repeat("x", 900) + `"}}`,
		"": `{"pinned_message":{"message_id":1,"date":1,"chat":{"id":1}}}`,
	} {
		var m models.Message
		if err := json.Unmarshal([]byte(message), &m); err != nil {
			t.Fatal(err)
		}
		if got := said(&m, &me); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestSenderOf has somebody write as their group, or as a channel.
func TestSenderOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		want    parley.Sender
		ok      bool
	}{
		"anonymous": {
			`{"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-100,"type":"supergroup","title":"Family"},"author_signature":"boss"}`,
			parley.Sender{ID: "-100", Name: "Family (boss)"},
			true,
		},
		"a bot":      {`{"from":{"id":9,"is_bot":true,"username":"other_bot"}}`, parley.Sender{ID: "9", Name: "other_bot", Bot: true}, true},
		"nobody":     {`{}`, parley.Sender{}, false},
		"long names": {`{"from":{"id":9,"first_name":"` + strings.Repeat("😀", 64) + `"}}`, parley.Sender{ID: "9", Name: strings.Repeat("😀", 39) + "…"}, true},
	} {
		var m models.Message
		if err := json.Unmarshal([]byte(c.message), &m); err != nil {
			t.Fatal(err)
		}
		if got, ok := senderOf(&m); got != c.want || ok != c.ok {
			t.Errorf("%s: got %+v, %t", name, got, ok)
		}
	}
}

// TestReceived_Mentions has the cases of mentions go the whole way.
func TestReceived_Mentions(t *testing.T) {
	t.Parallel()
	b, err := New(Config{Token: "42:x"})
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		ID        string         `json:"id"`
		Message   models.Message `json:"message"`
		Mentioned bool           `json:"mentioned"`
		Command   string         `json:"command"`
	}
	for _, v := range vectors.Load[vector](t, "mentions.json") {
		v.Message.From = &models.User{ID: 7, FirstName: "Ann"}
		got, ok := b.received(&v.Message, &me)
		if !ok || got.Mentioned != v.Mentioned {
			t.Errorf("%s: received %t, mentioned %t", v.ID, ok, got.Mentioned)
		}
		if text := parley.PlainText(got.Parts); v.Command != "" && text != v.Command {
			t.Errorf("%s: got %q, want %q", v.ID, text, v.Command)
		}
	}
}

func FuzzReceived(f *testing.F) {
	f.Add(`{"message_id":1,"chat":{"id":5,"type":"private"},"from":{"id":5},"text":"/new@mybot 😀","entities":[{"type":"bot_command","offset":0,"length":10},{"type":"text_link","offset":11,"length":2,"url":"https://example.org"}]}`)
	f.Add(`{"message_id":1,"chat":{"id":-5,"type":"supergroup"},"sender_chat":{"id":-5},"caption":"x","photo":[{"file_id":"a"}],"is_topic_message":true,"message_thread_id":4,"reply_to_message":{"message_id":2}}`)
	f.Add(`{"message_id":1,"chat":{"id":5},"from":{"id":5},"forward_origin":{"type":"user"},"video_note":{"file_id":"x"},"quote":{"text":"y","is_manual":true}}`)
	b, err := New(Config{Token: "1:x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, message string) {
		var m models.Message
		if json.Unmarshal([]byte(message), &m) != nil {
			return
		}
		got, ok := b.received(&m, &me)
		if !ok {
			return
		}
		if len(got.Parts) == 0 && len(got.Media) == 0 || got.ChatID == "" || got.Sender.ID == "" || got.MessageID == "" {
			t.Fatalf("received %+v", got)
		}
		if !utf8.ValidString(got.Sender.Name) || len(got.Sender.Name) > parley.MaxNameBytes || !utf8.ValidString(parley.PlainText(got.Parts)) {
			t.Fatalf("received %+v", got)
		}
	})
}
