package httpapi_test

import (
	"testing"

	"github.com/parley-run/parley"
)

// TestChannelOpens: the token of a channel opens chats of its own, and is told
// nothing about others, be it by their key or by where they are.
func TestChannelOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	telegram, slack := w.channel("telegram"), w.channel("slack")
	w.person("slack:U1", parley.RoleUser)
	w.must(201, "POST", "/api/sessions", w.owner, map[string]any{"key": "diary", "title": "private"})
	chat := func(id string) map[string]any {
		return map[string]any{"context": map[string]any{"channel": "slack", "chat_type": "group", "chat_id": id}}
	}
	there := w.must(201, "POST", "/api/sessions", slack, chat("C1"))
	before := w.head()
	w.must(404, "POST", "/api/sessions", telegram, map[string]any{"key": "diary", "metadata": map[string]string{"a": "b"}})
	w.must(404, "POST", "/api/sessions", telegram, map[string]any{"key": there.get("session.key")})
	w.must(403, "POST", "/api/sessions", telegram, chat("C1"))
	w.must(403, "POST", "/api/sessions", telegram, chat("C2"))
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
	w.must(200, "POST", "/api/sessions", slack, chat("C1"))
	w.must(200, "POST", "/api/sessions", slack, map[string]any{"key": there.get("session.key")})
	w.must(201, "POST", "/api/sessions", slack, chat("C2"))
}

// TestSenderName: a channel says what its people are called, and nobody else what they
// are called themselves.
func TestSenderName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	telegram := w.channel("telegram")
	eve := w.person("telegram:7", parley.RoleUser)
	id := w.must(201, "POST", "/api/sessions", telegram, map[string]any{"context": map[string]any{"channel": "telegram", "chat_type": "group", "chat_id": "-1", "sender_id": "7"}}).get("session.id")
	say := func(token, name string) string {
		a := w.must(200, "POST", "/api/sessions/"+id+"/messages?wait=20s", token, map[string]any{
			"text": "hi", "mentioned": true, "sender": map[string]any{"channel": "telegram", "id": "7", "name": name},
		})
		return a.get("message.parts.0.text")
	}
	if got := say(eve, "Alice, the owner"); got != "you said: [telegram:7] hi" {
		t.Errorf("by herself: %s", got)
	}
	if got := say(telegram, "Eve"); got != "you said: [Eve] hi" {
		t.Errorf("by the channel: %s", got)
	}
	if got := say(eve, "Alice, the owner"); got != "you said: [Eve] hi" {
		t.Errorf("by herself, later: %s", got)
	}
}
