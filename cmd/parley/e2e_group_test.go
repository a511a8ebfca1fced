package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
)

// toldModel answers what the test put down for it, one after the other, and keeps what
// it was asked.
type toldModel struct {
	*modelserver.Server

	mu      sync.Mutex
	answers [][]string // each in pieces
}

func newToldModel(t *testing.T, dir, agent, more string) *toldModel {
	t.Helper()
	m := &toldModel{}
	m.Server = modelserver.OpenAILike(t, modelserver.OpenAIStyle{NoKey: true}, func(modelserver.Request) modelserver.Reply {
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.answers) == 0 {
			return modelserver.Reply{Text: []string{"nothing was put down for this"}}
		}
		next := m.answers[0]
		m.answers = m.answers[1:]
		return modelserver.Reply{Text: next}
	})
	put(t, dir, "parley.yaml", fmt.Sprintf(`
agents: {main: {model: test/told, %s}}
providers: {test: {kind: openai, base_url: "%s/v1"}}
models: {test/told: {context: 100000}}
`, agent, m.URL)+more)
	return m
}

func (m *toldModel) will(answers ...[]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = append(m.answers, answers...)
}

// asked gives the messages of the last request, each as role and text.
func (m *toldModel) asked(t *testing.T) []string {
	t.Helper()
	all := m.Requests()
	if len(all) == 0 {
		t.Fatal("the model was not asked")
	}
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, one := range body.Messages {
		text, parts := "", []part(nil)
		if json.Unmarshal(one.Content, &text) != nil && json.Unmarshal(one.Content, &parts) == nil {
			for _, p := range parts {
				text += p.Text
			}
		}
		out = append(out, one.Role+": "+text)
	}
	return out
}

// chat is a group in a chat app, whose messages a channel brings.
type chat struct {
	d       *process
	header  string // of the channel's token
	session string
}

// say posts as somebody, and gives the answer.
func (c *chat) say(id, name, text, more string) reply {
	c.d.t.Helper()
	body := fmt.Sprintf(`{"text":%q,"sender":{"channel":"telegram","id":%q,"name":%q}%s}`, text, id, name, more)
	return c.d.post("/api/sessions/"+c.session+"/messages?wait=60s", body, c.header)
}

// channelToken makes a token of a channel.
func (d *process) channelToken(namespace string) (header string) {
	d.t.Helper()
	made := into[struct{ Secret string }](d.t, d.post("/api/tokens", `{"kind":"channel","name":"bridge","namespace":"`+namespace+`"}`))
	return "Authorization: Bearer " + made.Secret
}

func TestGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := newToldModel(t, dir, "access: public", "owner: {identities: [\"telegram:1\"]}\n")
	d := daemonOn(t, dir)
	header := d.channelToken("telegram")
	context := func(chat, sender, name string) string {
		return fmt.Sprintf(`{"context":{"channel":"telegram","chat_type":"group","chat_id":%q,"chat_name":"Lunch","sender_id":%q,"sender_name":%q}}`, chat, sender, name)
	}
	opened := d.post("/api/sessions", context("-1001", "2", "Bob"), header)
	first := into[sessionBody](t, opened).Session
	again := d.post("/api/sessions", context("-1001", "3", "Carol"), header)
	if opened.status != http.StatusCreated || again.status != http.StatusOK || into[sessionBody](t, again).Session.ID != first.ID || first.Type != "group" {
		t.Errorf("the group is %s, then %s", opened.body, again.body)
	}
	if other := d.open(context("-1002", "2", "Bob"), header); other == first.ID {
		t.Error("another chat leads to the same session")
	}
	c := &chat{d: d, header: header, session: first.ID}

	// What is not for the agent is only logged; no model is asked.
	for _, who := range [][2]string{{"2", "Bob"}, {"3", "Carol"}} {
		if got := into[answered](t, c.say(who[0], who[1], "lunch at 12, says "+who[1], "")); got.State != "logged" {
			t.Errorf("%s's message is %s", who[1], got.State)
		}
	}
	if n := len(model.Requests()); n != 0 {
		t.Fatalf("the model was asked %d times", n)
	}
	// The next turn sees it, and who said it.
	model.will([]string{"12 is ", "fine."})
	got := into[answered](t, c.say("3", "Carol", "what do you think?", `,"mentioned":true`))
	if got.State != "done" || got.Message.text() != "12 is fine." {
		t.Errorf("the answer is %+v", got)
	}
	asked := strings.Join(model.asked(t), "\n")
	at := -1
	for _, line := range []string{
		"[Bob] [not directed at you] lunch at 12, says Bob", "[Carol] [not directed at you] lunch at 12, says Carol", "[Carol] what do you think?",
	} {
		i := strings.Index(asked, line)
		if i <= at {
			t.Errorf("the model does not see %q in its place; it sees\n%s", line, asked)
		}
		at = i
	}
	// An owner need not mention the agent.
	model.will([]string{"Yes, Alice."})
	if got := into[answered](t, c.say("1", "Alice", "is that so?", "")); got.State != "done" || got.Message.text() != "Yes, Alice." {
		t.Errorf("the owner's message gave %+v", got)
	}
	if asked := strings.Join(model.asked(t), "\n"); !strings.Contains(asked, "[Alice] [not directed at you] is that so?") || !strings.Contains(asked, "assistant: 12 is fine.") {
		t.Errorf("the model sees\n%s", asked)
	}
	var names []string
	for _, m := range d.messages(c.session) {
		if m.Sender != nil {
			names = append(names, m.Sender.Name)
		}
	}
	if want := []string{"Bob", "Carol", "Carol", "Alice"}; !slices.Equal(names, want) {
		t.Errorf("the senders are %v, want %v", names, want)
	}
}

// TestGroup_Forged lets a channel claim what it is not.
func TestGroup_Forged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newToldModel(t, dir, "access: public", "")
	d := daemonOn(t, dir)
	header := d.channelToken("telegram")
	session := d.open(`{"context":{"channel":"telegram","chat_type":"group","chat_id":"-1","sender_id":"2"}}`, header)
	own := d.open(`{}`)
	head := len(d.events(session))
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"another channel's sender":  {"/api/sessions/" + session + "/messages", `{"text":"x","sender":{"channel":"slack","id":"U1"}}`, 403},
		"the owner":                 {"/api/sessions/" + session + "/messages", `{"text":"x","sender":{"channel":"local","id":"owner"}}`, 403},
		"another channel's context": {"/api/sessions", `{"context":{"channel":"slack","chat_type":"group","chat_id":"C1","sender_id":"U1"}}`, 403},
		"the owner's session":       {"/api/sessions/" + own + "/messages", `{"text":"x","sender":{"channel":"telegram","id":"2"}}`, 403},
		"a session elsewhere":       {"/api/sessions", `{"session_id":"slack:general","sender":{"channel":"telegram","id":"2"}}`, 403},
		"a token":                   {"/api/tokens", `{"kind":"user","for":"local:owner"}`, 403},
		"a user":                    {"/api/users", `{"name":"me","role":"owner"}`, 403},
	} {
		if got := d.do(http.MethodPost, c.path, c.body, header); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
	if n := len(d.events(session)); n != head {
		t.Errorf("there are %d events, and were %d", n, head)
	}
}

// TestGroup_Silence has a model that says nothing, in all the ways it can be written.
// Nobody sees the marker, on any surface.
func TestGroup_Silence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := newToldModel(t, dir, "access: public", "")
	d := daemonOn(t, dir)
	c := &chat{d: d, header: d.channelToken("telegram")}
	c.session = d.open(`{"context":{"channel":"telegram","chat_type":"group","chat_id":"-1","sender_id":"2","sender_name":"Bob"}}`, c.header)
	one, all := d.follow("/api/sessions/"+c.session+"/events?after=0", ""), d.follow("/api/events", "")
	var surfaces []string
	for i, told := range []struct {
		pieces []string
		shown  string
	}{
		{[]string{"<NO_REPLY>"}, ""},
		{[]string{"<", "NO", "_REP", "LY", ">"}, ""},
		{[]string{"ok, sounds good.\n<NO_", "REPLY>"}, "ok, sounds good."},
		{[]string{"`<EMPTY_", "RESPONSE>`"}, ""},
		{[]string{"a <NO_REPLY> b"}, "a  b"},
		{[]string{"<NO_<NO_REPLY>REPLY>"}, ""},
	} {
		model.will(told.pieces)
		got := c.say("2", "Bob", fmt.Sprint("message ", i), `,"mentioned":true`)
		surfaces = append(surfaces, got.body)
		shown := ""
		if m := into[answered](t, got).Message; m != nil {
			shown = m.text()
		}
		if shown != told.shown {
			t.Errorf("who waits for %q is shown %q, want %q", told.pieces, shown, told.shown)
		}
		for _, path := range []string{"", "/messages", "/events"} {
			surfaces = append(surfaces, d.get("/api/sessions/"+c.session+path).body)
		}
		surfaces = append(surfaces, d.get("/api/sessions").body)
		model.will(told.pieces)
		streamed := d.post("/api/sessions/"+c.session+"/messages", fmt.Sprintf(`{"text":"streamed %d","mentioned":true,"sender":{"channel":"telegram","id":"2","name":"Bob"}}`, i), c.header, "Accept: text/event-stream")
		surfaces = append(surfaces, streamed.body, deltasIn(framesOf(streamed.body)))
	}
	turns := 0
	ended := func(e frame) bool {
		if e.Type == "session:turn_completed" {
			turns++
		}
		return turns == 12
	}
	for _, live := range []*following{one, all} {
		turns = 0
		seen := live.until(t, ended)
		surfaces = append(surfaces, deltasIn(seen))
		for _, e := range seen {
			surfaces = append(surfaces, string(e.Data))
		}
	}
	for _, args := range [][]string{{"sessions", "show", c.session}, {"sessions", "ls"}, {"chat", "--session", c.session, "/title"}} {
		got := parleyRun(t, t.TempDir(), append(args, "--data", dir)...)
		if got.status != 0 {
			t.Errorf("%v: %v", args, got)
		}
		surfaces = append(surfaces, got.out, got.err)
	}
	for _, text := range surfaces {
		if strings.Contains(text, "NO_") || strings.Contains(text, "REPLY") || strings.Contains(text, "EMPTY_") || strings.Contains(text, "RESPONSE") {
			t.Errorf("the marker is seen in %s", text)
		}
	}
	// The log keeps it: the model sees what it wrote.
	if asked := strings.Join(model.asked(t), "\n"); !strings.Contains(asked, "<NO_REPLY>") {
		t.Errorf("the model does not see that it was silent:\n%s", asked)
	}
}

// framesOf reads a stream that has ended.
func framesOf(body string) []frame {
	var all []frame
	for block := range strings.SplitSeq(body, "\n\n") {
		for line := range strings.SplitSeq(block, "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				var e frame
				if json.Unmarshal([]byte(data), &e.event) == nil {
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// deltasIn puts the texts of replies together, as they were written.
func deltasIn(seen []frame) string {
	var b strings.Builder
	for _, e := range seen {
		var d struct {
			Text  string        // of a delta
			Parts []parley.Part // of a snapshot: what was written before somebody came
		}
		if ofReply(e) && json.Unmarshal(e.Data, &d) == nil {
			b.WriteString(d.Text + parley.PlainText(d.Parts))
		}
	}
	return b.String()
}
