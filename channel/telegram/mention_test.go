package telegram

import (
	"encoding/json"
	"testing"

	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley/internal/vectors"
)

var me = models.User{ID: 42, IsBot: true, FirstName: "My", Username: "mybot"}

func TestMentioned(t *testing.T) {
	t.Parallel()
	type vector struct {
		ID        string         `json:"id"`
		Case      string         `json:"case"`
		Message   models.Message `json:"message"`
		Mentioned bool           `json:"mentioned"`
		Command   string         `json:"command"`
	}
	for _, v := range vectors.Load[vector](t, "mentions.json") {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			if got := mentioned(&v.Message, me); got != v.Mentioned {
				t.Errorf("%s: mentioned is %t", v.Case, got)
			}
			text, ok := command(&v.Message, me)
			if ok != (v.Command != "") || text != v.Command {
				t.Errorf("%s: got the command %q, %t, want %q", v.Case, text, ok, v.Command)
			}
		})
	}
}

// TestMentioned_Nameless has a bot that does not know its name yet: nothing names it.
func TestMentioned_Nameless(t *testing.T) {
	t.Parallel()
	m := &models.Message{
		Chat: models.Chat{Type: models.ChatTypeSupergroup}, Text: "@ hi",
		Entities: []models.MessageEntity{{Type: models.MessageEntityTypeMention, Length: 1}},
	}
	if mentioned(m, models.User{ID: 42}) {
		t.Error("a bot without a name was mentioned by name")
	}
}

func FuzzMentioned(f *testing.F) {
	f.Add("👨‍👩‍👧 @mybot and /ask@mybot2", `[{"type":"mention","offset":9,"length":6},{"type":"bot_command","offset":0,"length":99}]`)
	f.Add("/ask@mybot x", `[{"type":"bot_command","offset":0,"length":10}]`)
	f.Add("\xff😀", `[{"type":"mention","offset":1,"length":1},{"type":"text_mention","offset":0,"length":1}]`)
	f.Fuzz(func(t *testing.T, text, marks string) {
		m := &models.Message{Chat: models.Chat{Type: models.ChatTypeGroup}, Text: text}
		if json.Unmarshal([]byte(marks), &m.Entities) != nil {
			return
		}
		said := mentioned(m, me)
		if said && len(m.Entities) == 0 {
			t.Fatal("mentioned without a mark")
		}
		if command, ok := command(m, me); ok && len(command) > len(text) {
			t.Fatalf("the command %q is longer than %q", command, text)
		}
		for _, e := range m.Entities {
			if part, ok := covered(text, e); ok && units(part) != e.Length {
				t.Fatalf("%q has %d units, the mark says %d", part, units(part), e.Length)
			}
		}
	})
}
