package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/httpapi"
)

var errNobody = parley.Errorf(parley.CodeUnauthorized, "who are you?")

func TestETag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/sessions/" + w.open("web:s", w.owner)
	tag := w.must(200, "GET", path, w.owner, nil).header.Get("ETag")
	if a := w.must(304, "GET", path, w.owner, nil, "If-None-Match", `"x", `+tag); len(a.body) != 0 || a.header.Get("ETag") != tag {
		t.Errorf("got %s", a)
	}
	w.must(200, "PATCH", path, w.owner, map[string]any{"title": "Other", "description": "d", "busy": "collect", "metadata": map[string]string{"k": "v"}})
	a := w.must(200, "GET", path, w.owner, nil, "If-None-Match", tag)
	if a.header.Get("ETag") == tag || a.get("session.title") != "Other" || a.get("session.busy") != "collect" || a.get("session.metadata.k") != "v" {
		t.Errorf("got %s", a)
	}
	if a := w.must(404, "GET", "/api/sessions/web:none", w.owner, nil, "If-None-Match", tag); a.header.Get("ETag") != "" {
		t.Error("what is not there has a tag")
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		kind := []string{"web", "cli"}[i%2]
		w.must(201, "POST", "/api/sessions", w.owner, map[string]any{
			"session_id": fmt.Sprintf("%s:%d", kind, i), "source": kind, "metadata": map[string]string{"n": fmt.Sprint(i), "odd name=&": "x"},
		})
	}
	count := func(query string) int {
		t.Helper()
		var out struct{ Sessions []json.RawMessage }
		if err := json.Unmarshal(w.must(200, "GET", "/api/sessions"+query, w.owner, nil).body, &out); err != nil {
			t.Fatal(err)
		}
		return len(out.Sessions)
	}
	for query, want := range map[string]int{
		"": 5, "?source=web": 3, "?channel=cli": 2, "?metadata.n=3": 1, "?metadata.n=3&source=web": 0, "?agent=main": 5, "?agent=other": 0,
		"?metadata.odd+name%3D%26=x": 5, "?status=running": 0, "?include_inactive=true": 5, "?active_since=2030-01-01T00:00:00Z": 0,
	} {
		if got := count(query); got != want {
			t.Errorf("%s gives %d, want %d", query, got, want)
		}
	}
	seen, cursor := map[string]bool{}, ""
	for range 10 {
		a := w.must(200, "GET", "/api/sessions?limit=2&cursor="+cursor, w.owner, nil)
		for i := range 2 {
			if id := a.get(fmt.Sprintf("sessions.%d.id", i)); id != "" {
				seen[id] = true
			}
		}
		if cursor = a.get("cursor"); cursor == "" {
			break
		}
	}
	if len(seen) != 5 || cursor != "" {
		t.Errorf("pages give %v", seen)
	}
}

func TestPagesOfMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/sessions/" + w.open("web:s", w.owner) + "/messages"
	for i := range 4 {
		w.must(200, "POST", path+"?wait=20s", w.owner, map[string]any{"text": fmt.Sprint(i)})
	}
	var got []string
	for cursor := ""; ; {
		a := w.must(200, "GET", path+"?limit=3&cursor="+cursor, w.owner, nil)
		var page []string
		for i := range 3 {
			if text := a.get(fmt.Sprintf("messages.%d.parts.0.text", i)); text != "" {
				page = append(page, strings.TrimPrefix(text, "you said: "))
			}
		}
		got = append([]string{strings.Join(page, "")}, got...)
		if cursor = a.get("cursor"); cursor == "" {
			break
		}
	}
	if all := strings.Join(got, "|"); all != "00|112|233" {
		t.Errorf("pages are %s", all)
	}
}

// TestActs does everything to a session that can be done to it.
func TestActs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.must(201, "POST", "/api/sessions", w.owner, map[string]any{"key": "work", "source": "web"})
	id := a.get("session.id")
	path := "/api/sessions/" + id
	if again := w.must(200, "POST", "/api/sessions", w.owner, map[string]any{"key": "work"}); again.get("session.id") != id {
		t.Errorf("the key leads to %s", again)
	}
	w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "one"})
	w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "two"})
	if a := w.must(200, "POST", path+"/rewind", w.owner, map[string]any{"turns": 1}); a.get("turns_undone") != "1" || a.get("target_text") != "two" {
		t.Errorf("rewound: %s", a)
	}
	if a := w.must(201, "POST", path+"/fork", w.owner, map[string]any{"at_seq": 3}); a.get("session.parent.seq") != "3" {
		t.Errorf("forked: %s", a)
	}
	// A turn that runs, one that waits, and who takes it back.
	running := w.must(202, "POST", path+"/messages", w.owner, map[string]any{"text": "hold"})
	if running.get("state") != "running" || running.get("turn_id") == "" {
		t.Errorf("running: %s", running)
	}
	if a := w.must(202, "POST", path+"/messages?wait=1ms", w.owner, map[string]any{"text": "behind", "input_id": "i9"}); a.get("state") != "queued" {
		t.Errorf("queued: %s", a)
	}
	if a := w.must(409, "POST", path+"/messages", w.owner, map[string]any{"text": "x", "busy": "reject"}); a.code() != "busy" {
		t.Errorf("busy: %s", a)
	}
	if a := w.must(200, "GET", "/api/turns", w.owner, nil); a.get("turns.0.session_id") != id || a.get("turns.0.queued") != "1" {
		t.Errorf("turns: %s", a)
	}
	if a := w.must(200, "DELETE", path+"/inputs/i9", w.owner, nil); a.get("withdrawn") != "true" {
		t.Errorf("withdrawn: %s", a)
	}
	w.must(404, "DELETE", path+"/inputs/none", w.owner, nil)
	if a := w.must(200, "POST", path+"/cancel", w.owner, map[string]any{"turn_id": running.get("turn_id")}); a.get("canceled") != "true" {
		t.Errorf("canceled: %s", a)
	}
	if a := w.must(200, "POST", path+"/cancel", w.owner, map[string]any{"turn_id": "t_other"}); a.get("canceled") != "false" {
		t.Errorf("canceled: %s", a)
	}
	next := w.must(200, "POST", path+"/reset", w.owner, map[string]any{}).get("session.id")
	stale := w.must(409, "POST", path+"/messages", w.owner, map[string]any{"text": "too late"})
	if stale.get("error.details.current") != next || next == id {
		t.Errorf("stale: %s, want %s", stale, next)
	}
	if a := w.must(200, "POST", path+"/resume", w.owner, nil); a.get("session.id") != id {
		t.Errorf("resumed: %s", a)
	}
	w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "secret plan"})
	w.must(200, "POST", path+"/redact", w.owner, map[string]any{"seqs": []uint64{3}, "reason": "asked"})
	w.must(200, "DELETE", path, w.owner, nil)
	w.must(404, "GET", path, w.owner, nil)
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/sessions/" + w.open("web:s", w.owner)
	if a := w.must(202, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "ask", "input_id": "q"}); a.get("turn_id") == "" {
		t.Errorf("waits: %s", a)
	}
	a := w.must(200, "GET", "/api/approvals", w.owner, nil)
	answer := path + "/approvals/" + a.get("approvals.0.call_id")
	if a.get("approvals.0.tool") != "danger" || a.get("approvals.0.state") != "pending" {
		t.Errorf("asked: %s", a)
	}
	w.must(409, "DELETE", path, w.owner, nil)
	if a := w.must(200, "POST", answer, w.owner, map[string]any{"decision": "deny", "remember": "once"}); a.get("resolved") != "true" {
		t.Errorf("answered: %s", a)
	}
	if a := w.must(409, "POST", answer, w.owner, map[string]any{"decision": "approve"}); a.get("error.details.outcome") != "denied" {
		t.Errorf("answered again: %s", a)
	}
	if a := w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "ask", "input_id": "q"}); !strings.Contains(a.get("message.parts.0.text"), "the tool said") {
		t.Errorf("finished: %s", a)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/sessions/" + w.open("web:s", w.owner)
	a := w.do("POST", path+"/messages?wait=20s", w.owner, map[string]any{"text": "/title Plans"})
	if a.get("state") != "command" {
		t.Fatalf("it is not carried out: %s", a)
	}
	if a.status != 200 || a.get("message.role") != "system" {
		t.Errorf("carried out: %s", a)
	}
	if got := w.must(200, "GET", path, w.owner, nil).get("session.title"); got != "Plans" {
		t.Errorf("the title is %q", got)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/sessions/" + w.open("web:s", w.owner)
	eve := w.person("web:eve", parley.RoleUser)
	for name, test := range map[string]struct{ content, shown string }{
		"a picture": {"\x89PNG\r\n\x1a\n" + strings.Repeat("x", 100), "inline"},
		"a page":    {"<html><script>alert(1)</script></html>", "attachment"},
	} {
		a := w.must(201, "POST", "/api/blobs", w.owner, test.content)
		// What the client says of it counts for nothing.
		media := map[string]any{"handle": a.get("blob.handle"), "media_type": "text/x-lie", "size": 5}
		at := "/api/blobs/" + a.get("blob.handle")
		w.must(404, "GET", at, eve, nil)
		w.must(200, "POST", path+"/messages?wait=20s", w.owner, map[string]any{"content": []any{map[string]any{"type": "media", "media": media}}})
		last := w.must(200, "GET", path+"/messages?limit=2", w.owner, nil)
		if last.get("messages.0.parts.0.media.size") != fmt.Sprint(len(test.content)) || last.get("messages.0.parts.0.media.media_type") != a.get("blob.media_type") {
			t.Errorf("%s was said as %s, and is %s", name, last, a)
		}
		w.must(202, "POST", path+"/messages", w.owner, map[string]any{"content": []any{map[string]any{"type": "media", "media": map[string]any{"handle": a.get("blob.handle")}}}, "trigger": false})
		got := w.must(200, "GET", at, w.owner, nil)
		if string(got.body) != test.content || got.header.Get("Content-Disposition") != test.shown || got.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", name, got.header)
		}
		if got := w.must(200, "HEAD", at, w.owner, nil); len(got.body) != 0 || got.header.Get("Content-Length") != fmt.Sprint(len(test.content)) {
			t.Errorf("%s, head: %v", name, got.header)
		}
		w.must(404, "GET", at, eve, nil)
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.person("web:eve", parley.RoleUser)
	telegram := w.channel("telegram")
	// One shows a code, the other enters it.
	code := w.must(200, "POST", "/api/links", eve, map[string]any{}).get("code")
	linked := w.must(200, "POST", "/api/links", telegram, map[string]any{"code": strings.ToLower(code), "sender": map[string]any{"channel": "telegram", "id": "7"}})
	me := w.must(200, "GET", "/api/me", eve, nil)
	if linked.get("user.id") != me.get("user.id") || me.get("identities.0.id") != "telegram:7" {
		t.Errorf("linked %s, and is %s", linked, me)
	}
	w.must(200, "DELETE", "/api/links/telegram:7", eve, nil)
	// A stranger is let in.
	stranger := map[string]any{"channel": "telegram", "id": "8", "name": "Neo"}
	pair := w.must(201, "POST", "/api/links/pair-code", telegram, map[string]any{"sender": stranger}).get("code")
	w.must(403, "POST", "/api/links/pair-code", eve, map[string]any{"sender": stranger})
	if a := w.must(200, "POST", "/api/links/pair", w.owner, map[string]any{"code": pair, "role": "guest"}); a.get("user.role") != "guest" {
		t.Errorf("paired: %s", a)
	}
	// A protected agent, with its token.
	join := w.must(201, "POST", "/api/tokens", w.owner, map[string]any{"kind": "join", "agent": "protected", "expires_in": "1h"}).get("secret")
	a := w.must(200, "POST", "/api/links/join", telegram, map[string]any{
		"agent": "protected", "token": join, "sender": map[string]any{"channel": "telegram", "id": "9"},
	})
	if a.get("role") != "user" || a.get("identity") != "telegram:9" {
		t.Errorf("joined: %s", a)
	}
	id := me.get("user.id")
	if a := w.must(200, "PATCH", "/api/users/"+id, w.owner, map[string]any{"name": "Eve", "role": "guest"}); a.get("user.name") != "Eve" || a.get("user.role") != "guest" {
		t.Errorf("patched: %s", a)
	}
	if a := w.must(200, "GET", "/api/users?limit=1", w.owner, nil); a.get("cursor") == "" {
		t.Errorf("users: %s", a)
	}
	w.must(200, "GET", "/api/tokens", eve, nil)
	if a := w.must(200, "GET", "/api/audit?action=token_created", w.owner, nil); a.get("entries.0.nr") == "" {
		t.Errorf("audit: %s", a)
	}
	w.must(200, "DELETE", "/api/users/"+id, w.owner, nil)
	w.must(401, "GET", "/api/me", eve, nil)
	w.must(409, "DELETE", "/api/users/owner", w.owner, nil)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	telegram := w.channel("telegram")
	line := map[string]any{"context": map[string]any{"channel": "telegram", "chat_type": "group", "chat_id": "-1001"}}
	a := w.must(200, "POST", "/api/resolve", w.owner, line)
	if !strings.HasPrefix(a.get("session_key"), "sk_v1_") || a.get("shared") != "true" {
		t.Errorf("resolved %s", a)
	}
	w.must(200, "POST", "/api/resolve", telegram, line)
	w.must(403, "POST", "/api/resolve", telegram, map[string]any{"context": map[string]any{"channel": "slack", "chat_id": "1"}})
	w.must(400, "POST", "/api/resolve", w.owner, map[string]any{"context": map[string]any{"channel": "telegram", "colour": 1}})
	w.must(400, "POST", "/api/resolve", w.owner, nil)
}

func TestSystem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) {
		c.Web = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(errors.New("at the wrong moment")) })
	})
	if a := w.must(200, "GET", "/healthz", "", nil); a.get("status") != "ok" {
		t.Errorf("health: %s", a)
	}
	if a := w.must(200, "GET", "/readyz", "", nil); a.get("ready") != "true" || a.get("store") != "ok" || a.get("backlog.queued") != "0" || a.get("channels") != "{}" {
		t.Errorf("ready: %s", a)
	}
	w.must(401, "GET", "/metrics", "", nil)
	if a := w.must(200, "GET", "/metrics", w.owner, nil); string(a.body) != "parley_up 1\n" {
		t.Errorf("metrics: %s", a)
	}
	// What goes wrong inside is logged once, and not shown.
	a := w.must(500, "GET", "/page", "", nil, "X-Request-Id", "r-1")
	if a.code() != "internal" || strings.Contains(string(a.body), "moment") || strings.Count(w.log.String(), "at the wrong moment") != 1 || !strings.Contains(w.log.String(), `"request":"r-1"`) {
		t.Errorf("panicked: %s\n%s", a, w.log)
	}
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if a := w.must(503, "GET", "/readyz", "", nil); a.get("ready") != "false" {
		t.Errorf("without a store: %s", a)
	}
	w.must(503, "GET", "/api/sessions", w.owner, nil)
}
