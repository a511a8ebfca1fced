package telegram

import (
	"testing"

	"github.com/go-telegram/bot/models"
)

// TestEditName has wordings of one second apart, and one that comes again not.
func TestEditName(t *testing.T) {
	t.Parallel()
	name := func(change func(*models.Message)) string {
		m := &models.Message{ID: 7, EditDate: 1777777777, Text: "hello"}
		change(m)
		return editName(m)
	}
	seen := map[string]string{}
	for what, change := range map[string]func(*models.Message){
		"the first":      func(*models.Message) {},
		"another text":   func(m *models.Message) { m.Text = "hello there" },
		"another second": func(m *models.Message) { m.EditDate++ },
		"another link": func(m *models.Message) {
			m.Entities = []models.MessageEntity{{Type: models.MessageEntityTypeTextLink, Length: 5, URL: "https://example.com/"}}
		},
		"a caption": func(m *models.Message) {
			m.Text, m.Caption, m.Document = "", "hello", &models.Document{FileUniqueID: "d1"}
		},
		"another file": func(m *models.Message) {
			m.Text, m.Caption, m.Document = "", "hello", &models.Document{FileUniqueID: "d2"}
		},
		"a photo": func(m *models.Message) {
			m.Text, m.Caption, m.Photo = "", "hello", []models.PhotoSize{{FileUniqueID: "p1"}}
		},
	} {
		got := name(change)
		if got != name(change) {
			t.Errorf("%s: the same update has two names", what)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s are both %q", what, other, got)
		}
		seen[got] = what
	}
}
