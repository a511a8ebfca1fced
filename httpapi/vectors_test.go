package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/internal/vectors"
)

// vector is a case of who may do what. What is not given does not matter to it, or
// is the plainest: the session is there, idle and direct, and the caller takes
// part.
type vector struct {
	ID    string `json:"id"`
	Level string `json:"level"`
	Given struct {
		Auth         json.RawMessage `json:"auth"`
		Namespace    string          `json:"namespace"`
		Identity     *account        `json:"identity"`
		Role         *parley.Role    `json:"role"`
		Participant  *bool           `json:"participant"`
		Op           string          `json:"op"`
		Session      string          `json:"session"`
		Sender       *account        `json:"sender"`
		Persisted    string          `json:"persisted_source"`
		Requested    string          `json:"requested_source"`
		UserKnown    *bool           `json:"user_known"`
		Access       access.Door     `json:"access"`
		TokenOK      *bool           `json:"token_ok"`
		Type         string          `json:"type"`
		Status       string          `json:"status"`
		Exists       *bool           `json:"exists"`
		QueryChannel string          `json:"query_channel"`
		Pending      *bool           `json:"pending"`
		Requester    string          `json:"requester"`
	} `json:"given"`
	Expect struct {
		Allow       bool        `json:"allow"`
		Status      int         `json:"status"`
		Role        parley.Role `json:"role"`
		Sender      string      `json:"sender"`
		Visible     string      `json:"visible"`
		Source      string      `json:"source"`
		UserCreated bool        `json:"user_created"`
	} `json:"expect"`
}

type account struct {
	Channel string `json:"channel"`
	ID      string `json:"id"`
}

// TestVectors runs every case of level http over real HTTP.
func TestVectors(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, v := range vectors.Load[vector](t, "cases.json") {
		if v.Level != "http" {
			continue
		}
		ran++
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			c := &vectorCase{vector: v, w: newWorld(t), t: t}
			c.run()
		})
	}
	if ran != 32 {
		t.Errorf("%d cases ran, want 32", ran)
	}
}

type vectorCase struct {
	vector
	w     *world
	t     *testing.T
	token string
	who   parley.IdentityID
	id    string
}

func (c *vectorCase) run() {
	c.caller()
	var a answer
	before := uint64(0)
	switch c.Given.Op {
	case "history", "events", "post", "delete", "approve", "add_member":
		c.session()
		before = c.w.head()
		a = c.onSession()
	case "list":
		c.w.open("web:away", c.w.owner)
		c.w.open("telegram:here", c.w.owner)
		c.w.open("telegrams:1", c.w.owner)
		before = c.w.head()
		a = c.list()
	case "open":
		a, before = c.open()
	case "join":
		before = c.w.head()
		a = c.join()
	default:
		c.t.Fatalf("what is %q?", c.Given.Op)
	}
	if allowed := a.status < 300; allowed != c.Expect.Allow {
		c.t.Fatalf("got %s, want it allowed: %t", a, c.Expect.Allow)
	}
	if c.Expect.Status != 0 && a.status != c.Expect.Status && (a.status != 201 || c.Expect.Status != 200) {
		c.t.Errorf("got %s, want %d", a, c.Expect.Status)
	}
	if c.Given.Status == "approved" && a.get("error.details.outcome") != "approved" {
		c.t.Errorf("got %s, want the outcome", a)
	}
	if !c.Expect.Allow && c.w.head() != before {
		c.t.Error("it was refused, and something was written")
	}
}

// caller makes the credential of the case.
func (c *vectorCase) caller() {
	c.who = "web:anna"
	if i := c.Given.Identity; i != nil {
		c.who = parley.IdentityID(i.Channel + ":" + i.ID)
	}
	role := parley.RoleUser
	if c.Given.Role != nil && *c.Given.Role != "" {
		role = *c.Given.Role
	}
	switch string(c.Given.Auth) {
	case "null":
	case `"owner"`:
		c.token = c.w.owner
	case `"channel"`:
		c.token = c.w.channel(c.Given.Namespace)
	default:
		c.token = c.w.person(c.who, role)
	}
}

// session makes the session of the case, as the owner.
func (c *vectorCase) session() {
	w := c.w
	c.id = "web:s"
	if c.Given.Namespace != "" {
		c.id = c.Given.Namespace + ":s"
	}
	if c.Given.Session != "" {
		c.id = c.Given.Session
	}
	if c.Given.Exists != nil && !*c.Given.Exists {
		return
	}
	if c.Given.Type == "group" {
		a := w.must(201, "POST", "/api/sessions", w.owner, map[string]any{"context": map[string]any{
			"channel": "telegram", "chat_type": "group", "chat_id": "-1001", "sender_id": "7",
		}})
		c.id = a.get("session.id")
	} else {
		w.open(c.id, w.owner)
	}
	path := "/api/sessions/" + c.id
	if (c.Given.Participant == nil || *c.Given.Participant) && c.token != "" && c.token != w.owner && c.Given.Namespace == "" {
		w.must(200, "POST", path+"/participants", w.owner, map[string]any{"identity": c.who})
	}
	switch {
	case c.Given.Op == "approve":
		c.question()
	case c.Given.Status == "running":
		w.must(202, "POST", path+"/messages", w.owner, map[string]any{"text": "hold", "mentioned": true})
	case c.Given.Status == "inactive":
		w.must(200, "POST", path+"/reset", w.owner, nil)
	}
}

// question has the agent ask for approval, unless the case has none.
func (c *vectorCase) question() {
	if c.Given.Pending != nil && !*c.Given.Pending {
		return
	}
	w := c.w
	w.must(202, "POST", "/api/sessions/"+c.id+"/messages?wait=20s", w.owner, map[string]any{"text": "ask", "input_id": "q"})
	if c.Given.Status == "approved" {
		w.must(200, "POST", c.approval(), w.owner, map[string]any{"decision": "approve"})
		w.must(200, "POST", "/api/sessions/"+c.id+"/messages?wait=20s", w.owner, map[string]any{"text": "ask", "input_id": "q"})
	}
}

func (c *vectorCase) approval() string {
	for _, e := range c.events() {
		if e.Type == string(parley.EventApprovalRequested) {
			return "/api/sessions/" + c.id + "/approvals/" + e.Data.Call
		}
	}
	return "/api/sessions/" + c.id + "/approvals/none"
}

type wireEvent struct {
	Type     string `json:"type"`
	Seq      uint64 `json:"seq"`
	Identity string `json:"identity"`
	Data     struct {
		Role  string        `json:"role"`
		Call  string        `json:"call_id"`
		Parts []parley.Part `json:"parts"`
		Text  string        `json:"text"`
		N     int           `json:"n"`
	} `json:"data"`
}

func (c *vectorCase) events() []wireEvent {
	var out struct {
		Events []wireEvent `json:"events"`
	}
	a := c.w.must(200, "GET", "/api/sessions/"+c.id+"/events?limit=1000", c.w.owner, nil)
	if err := json.Unmarshal(a.body, &out); err != nil {
		c.t.Fatal(err)
	}
	return out.Events
}

func (c *vectorCase) onSession() answer {
	w, path := c.w, "/api/sessions/"+c.id
	switch c.Given.Op {
	case "history":
		return w.do("GET", path+"/messages", c.token, nil)
	case "events":
		if a := w.do("GET", path+"/events", c.token, nil, "Accept", "text/event-stream"); a.status != c.Expect.Status {
			c.t.Errorf("as a stream: %s", a)
		}
		return w.do("GET", path+"/events", c.token, nil)
	case "delete":
		return w.do("DELETE", path, c.token, nil)
	case "approve":
		return w.do("POST", c.approval(), c.token, map[string]any{"decision": "approve"})
	case "add_member":
		return w.do("POST", path+"/participants", c.token, map[string]any{"identity": "web:other"})
	}
	body := map[string]any{"text": "hello", "sender": nil}
	if c.Given.Sender != nil {
		body["sender"] = c.Given.Sender
	}
	a := w.do("POST", path+"/messages", c.token, body)
	if c.Expect.Sender == "caller" {
		events := c.events()
		if i := indexOf(events, parley.EventInput); i < 0 || events[i].Identity != string(c.who) {
			c.t.Errorf("%+v does not speak for %s", events, c.who)
		}
	}
	return a
}

func indexOf(events []wireEvent, t parley.EventType) int {
	for i := range events {
		if events[i].Type == string(t) {
			return i
		}
	}
	return -1
}

func (c *vectorCase) list() answer {
	path := "/api/sessions"
	if c.Given.QueryChannel != "" {
		path += "?channel=" + c.Given.QueryChannel
	}
	a := c.w.do("GET", path, c.token, nil)
	if c.Expect.Visible != "" {
		all := strings.HasPrefix(c.Expect.Visible, "all")
		for id, want := range map[string]bool{"telegram:here": true, "web:away": all, "telegrams:1": all} {
			if got := strings.Contains(string(a.body), `"`+id+`"`); got != want {
				c.t.Errorf("sees %s: %t, want %t", id, got, want)
			}
		}
	}
	return a
}

func (c *vectorCase) open() (answer, uint64) {
	w := c.w
	switch {
	case c.Given.Persisted != "":
		w.must(201, "POST", "/api/sessions", c.token, map[string]any{
			"session_id": "web:s", "source": c.Given.Persisted, "metadata": map[string]string{"old": "1", "both": "1"},
		})
		before := w.head()
		a := w.do("POST", "/api/sessions", c.token, map[string]any{
			"session_id": "web:s", "source": c.Given.Requested, "metadata": map[string]string{"new": "2", "both": "2"},
		})
		if a.get("session.source.kind") != c.Expect.Source || a.get("session.metadata") != `{"both":"2","new":"2","old":"1"}` {
			c.t.Errorf("opened %s", a)
		}
		return a, before
	case c.Given.Access != "":
		return c.stranger()
	}
	w.open("web:s", w.owner)
	before := w.head()
	return w.do("POST", "/api/sessions", c.token, map[string]any{"session_id": "web:s"}), before
}

// stranger opens a session for an account without a role, brought by its channel.
func (c *vectorCase) stranger() (answer, uint64) {
	w := c.w
	w.doors["main"] = c.Given.Access
	channel := w.channel("telegram")
	if *c.Given.UserKnown {
		// An account that is stored, and that nobody has let in.
		_, err := w.Store.Commit(c.t.Context(), parley.Batch{At: w.Clock.Now(), Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: "telegram:99", CreatedAt: w.Clock.Now()}}}})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	before := w.head()
	a := w.do("POST", "/api/sessions", channel, map[string]any{"context": map[string]any{
		"channel": "telegram", "chat_type": "direct", "chat_id": "99", "sender_id": "99", "sender_name": "Neo",
	}})
	if c.Expect.Role != "" {
		identities := w.must(200, "GET", "/api/identities?limit=1000", w.owner, nil)
		user := ""
		for i := range 20 {
			at := "identities." + string(rune('0'+i%10)) + "."
			if identities.get(at+"id") == "telegram:99" {
				user = identities.get(at + "user")
			}
		}
		if got := w.do("GET", "/api/users/"+user, w.owner, nil).get("user.role"); got != string(c.Expect.Role) {
			c.t.Errorf("it is a %q, want %q; %s", got, c.Expect.Role, identities)
		}
	}
	return a, before
}

func (c *vectorCase) join() answer {
	c.w.doors["main"] = c.Given.Access
	token := ""
	if c.Given.TokenOK != nil && !*c.Given.TokenOK {
		token = "ply_j_wrong"
	}
	for _, secret := range []string{token, ""} {
		if a := c.w.do("POST", "/api/links/join", c.token, map[string]any{"agent": "main", "token": secret}); a.status != http.StatusForbidden {
			return a
		}
	}
	return c.w.do("POST", "/api/links/join", c.token, map[string]any{"agent": "main"})
}
