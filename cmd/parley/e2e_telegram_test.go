package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/telegramserver"
)

// telegramBed is a data folder whose bot is on a Telegram server of the test.
type telegramBed struct {
	*telegramserver.Server
	t   *testing.T
	dir string
}

// telegramEnv is where the configuration of the bot has its token from.
const telegramEnv = "TELEGRAM_TOKEN=" + telegramserver.DefaultToken

func newTelegramBed(t *testing.T, cfg telegramserver.Config) *telegramBed {
	t.Helper()
	return &telegramBed{Server: telegramserver.Start(t, cfg), t: t, dir: t.TempDir()}
}

// configure writes the configuration: a script for the agent, what else there is to say
// about the channel, and more.
func (b *telegramBed) configure(script, channel, more string) {
	b.t.Helper()
	scripted(b.t, b.dir, script, fmt.Sprintf("channels:\n  telegram: {token: env:TELEGRAM_TOKEN, base_url: %q%s}\n", b.URL, channel)+more)
}

func (b *telegramBed) daemon() *process {
	b.t.Helper()
	d := startDaemon(b.t, b.dir, []string{telegramEnv})
	d.ready()
	return d
}

func (b *telegramBed) person(name string) telegramserver.User {
	return b.AddUser(telegramserver.User{FirstName: name})
}

func (b *telegramBed) within() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*patience)
	b.t.Cleanup(cancel)
	return ctx
}

// answers waits until the bot has sent so many messages to a chat, and the last one has
// a text.
func (b *telegramBed) answers(c *telegramserver.Chat, n int, text string) telegramserver.Sent {
	b.t.Helper()
	var sent []telegramserver.Sent
	err := b.Wait(b.within(), func() bool {
		sent = b.Sent(c)
		return len(sent) >= n && strings.Contains(sent[len(sent)-1].Text, text)
	})
	if err != nil || len(sent) != n {
		b.t.Fatalf("want %d messages in the chat, the last with %q; there are %q (%v)", n, text, textsOf(sent), err)
	}
	return sent[n-1]
}

func textsOf(sent []telegramserver.Sent) []string {
	var texts []string
	for i := range sent {
		texts = append(texts, sent[i].Text)
	}
	return texts
}

// lawful checks that the bot did nothing that bots must not do.
func (b *telegramBed) lawful() {
	b.t.Helper()
	if v := b.Violations(); len(v) > 0 {
		b.t.Errorf("the server counted %+v", v)
	}
}

// TestTelegram_NewUser sets up a bot as somebody does who has just got its token: the
// first message links them, and an answer is seen while it is written.
func TestTelegram_NewUser(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{Privacy: true})
	const story = "Once upon a time there was **a fox** who lived in the woods. " +
		"It had `a house`, a garden, and a [pond](https://example.org/pond). Every day it went out to look for berries, and found some. The end."
	b.configure(fmt.Sprintf("rules:\n- when: {contains: story}\n  say: [{text: %q, pace: 120ms}]\n- say: 'You said: ${user}'\n", story), "", "")
	ann := b.person("Ann")
	chat := b.Private(ann)

	cmd := exec.CommandContext(t.Context(), os.Getenv("PARLEY_TEST_PROGRAM"), "channels", "add", "telegram", "--data", b.dir)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), telegramEnv}
	said := newWatched()
	var out bytes.Buffer
	cmd.Stderr, cmd.Stdout = said, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	code := ""
	eventually(t, "the command asks for a first message", func() bool {
		found := regexp.MustCompile(`/link (\S+)`).FindStringSubmatch(said.String())
		if found != nil {
			code = found[1]
		}
		return code != ""
	})
	if !strings.Contains(said.String(), "/setprivacy") {
		t.Errorf("it says nothing about what the bot does not see:\n%s", said)
	}
	b.Say(chat, ann, "/start "+code)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, said)
	}
	if !strings.Contains(out.String(), fmt.Sprintf("telegram:%d is you", ann.ID)) {
		t.Errorf("it said\n%s", &out)
	}
	b.answers(chat, 1, "This account is linked")

	d := b.daemon()
	eventually(t, "the channel is well", func() bool {
		return into[struct{ Channels map[string]string }](t, d.get("/readyz")).Channels["telegram"] == "ok"
	})
	b.Say(chat, ann, "tell me a story")
	told := b.answers(chat, 2, "The end.")
	if want := strings.NewReplacer("**", "", "`", "", "[pond](https://example.org/pond)", "pond").Replace(story); told.Text != want {
		t.Errorf("the answer is %q", told.Text)
	}
	if len(told.Versions) < 3 {
		t.Errorf("it was seen in %d versions", len(told.Versions))
	}
	if len(told.Entities) != 3 {
		t.Errorf("it has the entities %+v", told.Entities)
	}
	if actions := b.Actions(chat); len(actions) == 0 || actions[len(actions)-1].At.After(told.Versions[len(told.Versions)-1].At) {
		t.Errorf("the bot was seen typing %+v", actions)
	}
	var menu []telegramserver.BotCommand
	if calls := b.Calls("setMyCommands"); len(calls) == 0 || json.Unmarshal([]byte(calls[0].Params["commands"]), &menu) != nil || len(menu) < 5 {
		t.Errorf("the menu has %+v", menu)
	}
	d.stop()
	b.lawful()
}

// TestTelegram_Family has four people in a group and three topics in a forum. They are
// kept apart, and the program says why.
func TestTelegram_Family(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{Limits: telegramserver.Limits{Group: telegramserver.Limit{Count: -1}}})
	people := []telegramserver.User{b.person("Ann"), b.person("Bob"), b.person("Cem"), b.person("Dora")}
	group := b.Group("Family", people...)
	forum := b.Forum("Club", people...)
	topics := map[string]int{}
	for _, name := range []string{"Chess", "Music", "Books"} {
		topics[name] = b.Topic(forum, people[0], name)
	}
	b.configure("rules:\n- when: {matches: 'what did we say'}\n  say: 'Before: ${said}'\n- say: 'Noted: ${user}'\n",
		fmt.Sprintf(", burst: 0s, allow: ['group:%d', 'group:%d']", group.ID, forum.ID), "")
	d := b.daemon()
	mention := "@" + b.Bot().Username + " "

	// What is not for the bot is heard, and not answered.
	for _, p := range people {
		b.Say(group, p, "apples for "+p.FirstName)
	}
	b.Say(group, people[3], mention+"what did we say?")
	answer := b.answers(group, 1, "Before:")
	for _, p := range people {
		if !strings.Contains(answer.Text, "apples for "+p.FirstName) {
			t.Errorf("what %s said is not in %q", p.FirstName, answer.Text)
		}
	}
	if answer.ReplyTo == nil || !strings.Contains(answer.ReplyTo.Text, "what did we say") {
		t.Errorf("it answers %+v", answer.ReplyTo)
	}
	n := 0
	for name, topic := range topics {
		b.Post(forum, people[1], telegramserver.Post{Text: mention + "pears for " + name, Topic: topic})
		n++
		b.answers(forum, n, "pears for "+name)
	}
	b.Say(forum, people[2], mention+"plums for all")
	n++
	b.answers(forum, n, "plums for all")
	for name, topic := range topics {
		b.Post(forum, people[2], telegramserver.Post{Text: mention + "what did we say?", Topic: topic})
		n++
		answer := b.answers(forum, n, "Before:")
		if answer.ThreadID != topic || !strings.Contains(answer.Text, "pears for "+name) || strings.Count(answer.Text, "pears") != 1 || strings.Contains(answer.Text, "plums") || strings.Contains(answer.Text, "apples") {
			t.Errorf("in %s, topic %d, it says in %d: %q", name, topic, answer.ThreadID, answer.Text)
		}
	}
	d.stop()

	// The group, three topics, and what is said in the forum's general topic.
	var listed struct {
		Sessions []struct {
			ID string `json:"id"`
		} `json:"sessions"`
	}
	got := parleyRun(t, t.TempDir(), "sessions", "ls", "--all", "--json", "--data", b.dir)
	if err := json.Unmarshal([]byte(got.out), &listed); err != nil || len(listed.Sessions) != 5 {
		t.Fatalf("there are %d sessions: %s%s (%v)", len(listed.Sessions), got.out, got.err, err)
	}
	var why []string
	for _, s := range listed.Sessions {
		got := parleyRun(t, t.TempDir(), "sessions", "why", s.ID, "--data", b.dir)
		got.says(t, 0, "come from telegram")
		why = append(why, got.out)
	}
	wants := []string{fmt.Sprintf(`chat "group:%d"`, group.ID), fmt.Sprintf(`chat "group:%d"`, forum.ID)}
	for _, topic := range topics {
		wants = append(wants, fmt.Sprintf(`chat "group:%d/%d"`, forum.ID, topic))
	}
	for _, want := range wants {
		if n := len(slices.DeleteFunc(slices.Clone(why), func(text string) bool { return !strings.Contains(text, want) })); n != 1 {
			t.Errorf("%d sessions are there for %s:\n%s", n, want, strings.Join(why, "\n"))
		}
	}
	if text := strings.Join(why, "\n"); strings.Count(text, fmt.Sprintf("telegram:%d takes part", people[0].ID)) != 1 {
		t.Errorf("Ann, who spoke in the group alone, takes part in\n%s", text)
	}
	b.lawful()
}

// TestTelegram_Approval asks whether a tool may run, is killed, and hears the answer by
// a button after the next start.
func TestTelegram_Approval(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{})
	ann, eve := b.person("Ann"), b.person("Eve")
	group := b.Group("Family", ann, eve)
	b.configure("rules:\n- when: {after_tool: write_file, failed: true}\n  say: 'It was not written: ${result}'\n- when: {after_tool: write_file}\n  say: It is written.\n"+
		"- say: [{call: {tool: write_file, arguments: {path: plan.txt, content: a plan}}}]\n", ", burst: 0s",
		fmt.Sprintf("owner: {identities: ['telegram:%d']}\n", ann.ID))
	config := string(readFile(t, b.dir, "parley.yaml"))
	put(t, b.dir, "parley.yaml", strings.Replace(config, "model: scripted/test", "model: scripted/test, tools: [files], policy: [{tool: write_file, effect: approve}]", 1))
	d := b.daemon()
	b.Say(group, ann, "write it down")
	question := b.answers(group, 1, "write_file")
	if question.ReplyMarkup == nil {
		t.Fatalf("there are no buttons below %q", question.Text)
	}
	d.delivered()
	d.kill()
	pressed, err := b.Press(group, eve, question.ID, "Approve")
	if err != nil {
		t.Fatal(err)
	}
	b.daemon()
	answer, err := b.WaitAnswer(b.within(), pressed)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(answer.Text, "Approved") || len(b.Sent(group)) != 1 {
		t.Fatalf("a stranger's press was answered by %q", answer.Text)
	}
	if pressed, err = b.Press(group, ann, question.ID, "Approve"); err != nil {
		t.Fatal(err)
	}
	if answer, err = b.WaitAnswer(b.within(), pressed); err != nil || answer.Text != "Approved." {
		t.Errorf("the press was answered by %q, %v", answer.Text, err)
	}
	b.answers(group, 2, "It is written.")
	err = b.Wait(b.within(), func() bool {
		now := b.Sent(group)[0]
		return strings.HasPrefix(now.Text, "✅ Approved") && now.ReplyMarkup == nil
	})
	if err != nil {
		t.Errorf("the question is %q in the end", b.Sent(group)[0].Text)
	}
	b.lawful()
}

// TestTelegram_Again has Telegram give updates twice, out of order, and after an offset
// reset: nothing is answered twice.
func TestTelegram_Again(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	ann := b.person("Ann")
	chat := b.Private(ann)
	b.configure("rules: [{say: 'You said: ${user}'}]\n", ", burst: 0s", fmt.Sprintf("owner: {identities: ['telegram:%d']}\n", ann.ID))
	d := b.daemon()
	b.Say(chat, ann, "one")
	b.answers(chat, 1, "one")
	first := b.Updates()[0].ID
	b.Repeat(first)
	b.Hold()
	b.Say(chat, ann, "two")
	b.Say(chat, ann, "three")
	b.Release(1, 0)
	b.answers(chat, 3, "You said: ")
	b.Rewind(first)
	if err := b.Wait(b.within(), func() bool { return b.Pending() == 0 }); err != nil {
		t.Fatal(err)
	}
	d.delivered()
	d.kill()
	b.Rewind(first)
	d = b.daemon()
	if err := b.Wait(b.within(), func() bool { return b.Pending() == 0 }); err != nil {
		t.Fatal(err)
	}
	b.Say(chat, ann, "four")
	b.answers(chat, 4, "four")
	d.stop()
	b.lawful()
}

// TestTelegram_Webhook has Telegram bring messages to the daemon.
func TestTelegram_Webhook(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{WebhookRetry: 100 * time.Millisecond})
	ann := b.person("Ann")
	chat := b.Private(ann)
	b.configure("rules: [{say: 'You said: ${user}'}]\n", ", burst: 0s, webhook: true",
		fmt.Sprintf("owner: {identities: ['telegram:%d']}\nserve: {public_url: 'https://parley.example'}\n", ann.ID))
	d := b.daemon()
	if err := b.Wait(b.within(), func() bool { return len(b.Calls("setWebhook")) > 0 }); err != nil {
		t.Fatal(err)
	}
	call := b.Calls("setWebhook")[0]
	if call.Params["url"] != "https://parley.example/hooks/telegram/default" || len(call.Params["secret_token"]) < 32 {
		t.Fatalf("the webhook is %v", call.Params)
	}
	update := fmt.Sprintf(`{"update_id":1,"message":{"message_id":900,"date":1,"chat":{"id":%d,"type":"private"},"from":{"id":%d,"first_name":"Ann"},"text":"hello"}}`, chat.ID, ann.ID)
	if got := d.do(http.MethodPost, "/hooks/telegram/default", update); got.status != http.StatusUnauthorized {
		t.Errorf("without the secret: %d %s", got.status, got.body)
	}
	for range 2 { // the same twice
		if got := d.do(http.MethodPost, "/hooks/telegram/default", update, "X-Telegram-Bot-Api-Secret-Token: "+call.Params["secret_token"]); got.status != http.StatusOK {
			t.Errorf("with the secret: %d %s", got.status, got.body)
		}
	}
	b.answers(chat, 1, "You said: hello")
	d.stop()
	if sent := b.Sent(chat); len(sent) != 1 {
		t.Errorf("there are %q", textsOf(sent))
	}
	b.lawful()
}

// TestTelegram_Media has somebody send pictures, a file and a recording. What belongs
// together is one turn; what is too large is told.
func TestTelegram_Media(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{})
	ann := b.person("Ann")
	chat := b.Private(ann)
	b.configure("rules:\n- when: {media: true}\n  say: 'I see ${said} ${user} with ${media}'\n- say: 'You said: ${said} ${user}'\n", "", fmt.Sprintf("owner: {identities: ['telegram:%d']}\n", ann.ID))
	d := b.daemon()
	png := []byte("\x89PNG\r\n\x1a\n0000")
	b.Post(chat, ann, telegramserver.Post{Text: "our garden", Photos: []telegramserver.File{{Data: png}, {Data: append(png, '1')}}})
	answer := b.answers(chat, 1, "image/png")
	if n := strings.Count(answer.Text, "image/png"); n != 2 {
		t.Errorf("of two pictures it sees %d: %q", n, answer.Text)
	}
	b.Post(chat, ann, telegramserver.Post{Voice: &telegramserver.File{MIME: "audio/ogg", Data: []byte("OggS\x00\x02aaaaaaaaaaaaaaaa")}})
	b.answers(chat, 2, "I see")
	b.Post(chat, ann, telegramserver.Post{Text: "and this?", Document: &telegramserver.File{Name: "film.mp4", MIME: "video/mp4", Size: 21 << 20}})
	if err := b.Wait(b.within(), func() bool { return len(b.Sent(chat)) == 4 }); err != nil {
		t.Fatalf("there is %q", textsOf(b.Sent(chat)))
	}
	if got := strings.Join(textsOf(b.Sent(chat)[2:]), "\n"); !strings.Contains(got, "The file film.mp4 is too large: it can have 20 MiB at most.") || !strings.Contains(got, "and this?") {
		t.Errorf("to a file that is too large it says %q", got)
	}
	// What one writes in several messages is one turn, with what was forwarded.
	bob := b.person("Bob")
	b.Say(chat, ann, "what does he mean?")
	b.Post(chat, ann, telegramserver.Post{Text: "see you at nine", Forward: &bob})
	got := b.answers(chat, 5, "see you at nine").Text
	if !strings.Contains(got, "what does he mean?") || !strings.Contains(got, "(forwarded from Bob)") {
		t.Errorf("it says %q", got)
	}
	d.stop()
	b.lawful()
}

// TestTelegram_TokenRefused has a bot whose token is not good any more: the rest of the
// daemon works, and says so.
func TestTelegram_TokenRefused(t *testing.T) {
	t.Parallel()
	b := newTelegramBed(t, telegramserver.Config{Token: "1:other"})
	b.configure("rules: [{say: hello}]\n", "", "")
	d := b.daemon()
	eventually(t, "that is known", func() bool {
		return strings.HasPrefix(into[struct{ Channels map[string]string }](t, d.get("/readyz")).Channels["telegram"], "token refused")
	})
	if strings.Contains(d.err.String(), telegramserver.DefaultToken) {
		t.Error("the token is in the log")
	}
	d.stop()
}

// delivered waits until nothing is on its way to chats, and that is durable.
func (d *process) delivered() {
	d.t.Helper()
	eventually(d.t, "all is delivered", func() bool {
		return len(into[struct{ Deliveries []any }](d.t, d.get("/api/outbox")).Deliveries) == 0
	})
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(dir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
