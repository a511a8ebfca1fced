package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-run/parley"
)

func TestConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.must(201, "POST", "/api/sessions", w.owner, map[string]any{"source": map[string]any{"kind": "web"}, "metadata": map[string]string{"a": "1"}})
	id := a.get("session.id")
	if !strings.HasPrefix(id, "web:") || a.get("session.status") != "idle" || strings.Contains(string(a.body), "secret") {
		t.Errorf("opened %s", a)
	}
	a = w.must(200, "POST", "/api/sessions", w.owner, map[string]any{"session_id": id, "source": "cli", "metadata": map[string]string{"b": "2"}})
	if a.get("session.source.kind") != "web" || a.get("session.metadata") != `{"a":"1","b":"2"}` {
		t.Errorf("opened again: %s", a)
	}
	path := "/api/sessions/" + id
	a = w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "hello", "input_id": "i1"})
	if a.get("message.parts.0.text") != "you said: hello" || a.get("stop_reason") != "stop" || a.get("usage.cost_microusd") != "7" || a.get("state") != "done" {
		t.Errorf("answered %s", a)
	}
	again := w.must(202, "POST", path+"/messages", w.owner, map[string]any{"text": "hello", "input_id": "i1"})
	if again.get("duplicate") != "true" || again.get("state") != "done" || again.get("turn_id") != a.get("turn_id") {
		t.Errorf("repeated: %s", again)
	}
	if got := w.must(409, "POST", path+"/messages", w.owner, map[string]any{"text": "other", "input_id": "i1"}); got.code() != "conflict" {
		t.Errorf("other words: %s", got)
	}
	again = w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "hello", "input_id": "i1"})
	if again.get("message.parts.0.text") != "you said: hello" || again.get("duplicate") != "true" {
		t.Errorf("repeated and waited: %s", again)
	}
	a = w.must(200, "GET", path+"/messages", w.owner, nil)
	if a.get("messages.0.input_ids.0") != "i1" || a.get("messages.1.role") != "assistant" || a.get("cursor") != "" {
		t.Errorf("messages: %s", a)
	}
	a = w.must(200, "GET", path+"/events?after=0&limit=100", w.owner, nil)
	if a.get("events.0.type") != string(parley.EventStarted) || a.get("events.0.seq") != "1" {
		t.Errorf("events: %s", a)
	}
}

// hesitantWriter does something before the answer goes out.
type hesitantWriter struct {
	*httptest.ResponseRecorder
	before func()
}

func (w hesitantWriter) WriteHeader(status int) {
	w.before()
	w.ResponseRecorder.WriteHeader(status)
}

// TestAnswer_BeforeTurn: a turn does not begin before the message is acknowledged, though it would have
// had the time of some other messages to be over.
func TestAnswer_BeforeTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, aside := w.open("web:a", w.owner), w.open("web:b", w.owner)
	path := "/api/sessions/" + id + "/messages"
	answer := hesitantWriter{httptest.NewRecorder(), func() {
		for range 20 {
			w.must(202, "POST", "/api/sessions/"+aside+"/messages", w.owner, map[string]any{"text": "aside", "trigger": false})
		}
		if a := w.must(200, "GET", path, w.owner, nil); a.get("messages.0.role") != "user" || a.get("messages.1.role") != "" {
			t.Errorf("before the answer: %s", a)
		}
	}}
	w.server.ServeHTTP(answer, w.request("POST", path, w.owner, map[string]any{"text": "hello", "input_id": "i1"}))
	if answer.Code != 202 || !strings.Contains(answer.Body.String(), `"i1"`) {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	a := w.must(200, "POST", path+"?wait=20s", w.owner, map[string]any{"text": "hello", "input_id": "i1"})
	if a.get("message.parts.0.text") != "you said: hello" {
		t.Errorf("answered %s", a)
	}
}
