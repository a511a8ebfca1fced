package chat_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

// TestTalk: what is sent is shown as it is on its way, as a message, and the answer as
// it is written; the status line says what goes on and what it cost.
func TestTalk(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.shows("A conversation with main")
	p.say("hello there")
	p.shows("↑ sending: hello there")
	p.asks("post hello there")
	in := p.posted()[0].input
	if in.Ref.ID != "chat-1" || !in.Mentioned {
		t.Errorf("posted %+v", in)
	}
	p.says("cli:a", "t1", "chat-1", "hello there")
	p.shows("▌ hello there", "working 0s, Esc stops")
	p.gone("sending")
	p.delta("cli:a", "t1", "r1", 1, parley.PartReasoning, "hm, a greeting")
	p.delta("cli:a", "t1", "r1", 2, parley.PartText, "Good ")
	p.shows("▸ thinking: hm, a greeting", "Good")
	p.delta("cli:a", "t1", "r1", 3, parley.PartText, "**morning**!")
	p.shows("Good morning")
	p.event("cli:a", "t1", "", &parley.Message{ID: "r1", Role: parley.MessageAssistant, Model: "test/model", Parts: []parley.Part{
		{Kind: parley.PartReasoning, Text: "hm, a greeting"}, parley.TextPart("Good **morning**!"),
	}})
	p.event("cli:a", "t1", "", &parley.TurnCompleted{StopReason: parley.StopDone, Usage: parley.Usage{InputTokens: 1200, OutputTokens: 34, CostMicroUSD: 5600}})
	p.shows("main · test/model · $0.0056 · 1.2k tokens · hello there")
	p.gone("working")
	if n := strings.Count(p.Screen(), "Good morning!"); n != 1 {
		t.Errorf("the answer is there %d times\n%s", n, p.Screen())
	}
}

// TestTalk_Early: what is sent before the conversation was read is sent then.
func TestTalk_Early(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.fails(parley.Errorf(parley.CodeUnavailable, "not yet"))
	p := begin(t, f)
	p.say("hello")
	p.shows("reading…", "waits for the connection: hello")
	f.fails(nil)
	p.until("the message", func() bool {
		p.clock.move(time.Second)
		return len(p.posted()) == 1
	})
}

// TestTalk_Endings: how a turn ended is said, if it did not just end.
func TestTalk_Endings(t *testing.T) {
	t.Parallel()
	for reason, want := range map[parley.StopReason]string{
		parley.StopAborted: "· stopped", parley.StopLength: "as it got too long", parley.StopContentFilter: "by the provider's filter",
		parley.StopError: "the model is down (model_unavailable)",
	} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			p := start(t, newFake())
			p.says("cli:a", "t1", "chat-1", "hello")
			p.event("cli:a", "t1", "", &parley.TurnCompleted{StopReason: reason, Error: &parley.TurnError{Code: "model_unavailable", Message: "the model is down"}})
			p.shows(want)
		})
	}
}

// TestCancel: Esc stops the turn, once; without a turn it does nothing.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.press("esc")
	p.says("cli:a", "t1", "chat-1", "hello")
	p.shows("working")
	p.press("esc", "esc")
	p.shows("stopping")
	p.asks("cancel cli:a t1")
	if n := len(slices.DeleteFunc(p.requests(), func(r string) bool { return !strings.HasPrefix(r, "cancel") })); n != 1 {
		t.Errorf("it was stopped %d times", n)
	}
}

// TestLeave: Ctrl-C leaves when it is pressed twice in a row; Ctrl-D if nothing is
// written.
func TestLeave(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.press("ctrl+c")
	p.shows("press Ctrl-C again to leave")
	p.types("x")
	p.gone("press Ctrl-C again")
	p.press("ctrl+d", "ctrl+c")
	p.settle()
	if p.Quit {
		t.Fatal("it has ended")
	}
	p.press("ctrl+c")
	p.until("the end", func() bool { return p.Quit })

	p = start(t, newFake())
	p.press("ctrl+d")
	p.until("the end", func() bool { return p.Quit })
}

// TestQueue: what waits is shown, can be chosen, taken back, and changed.
func TestQueue(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f)
	p.press("ctrl+q")
	p.shows("no message waits")
	p.says("cli:a", "t1", "chat-x", "first")
	for _, text := range []string{"second", "third"} {
		f.with("cli:a", func(s *fakeSession) {
			s.waiting = append(s.waiting, parley.Input{Ref: parley.InputRef{ID: text}, Parts: []parley.Part{parley.TextPart(text + " thing")}})
		})
		p.event("cli:a", "", me, &parley.Admitted{ID: text, Origin: "x", Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart(text + " thing")}})
	}
	p.shows("2 messages waiting · Ctrl-Q", "◦ second thing", "◦ third thing")
	p.press("ctrl+q", "up", "d")
	p.asks("withdraw second")
	p.gone("◦ second thing")
	p.press("enter")
	p.asks("withdraw third")
	p.shows("> third thing")
	p.gone("waiting")
}

// TestOutbox: a message that could not be sent is sent again with its id when the
// connection is back; one that is refused comes back to the input.
func TestOutbox(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.fails(parley.Errorf(parley.CodeUnavailable, "the server is not there"))
	p.say("hello")
	p.shows("waits for the connection: hello")
	p.fails(nil)
	p.until("the message", func() bool {
		p.clock.move(time.Second)
		return len(p.posted()) == 1
	})
	if id := p.posted()[0].input.Ref.ID; id != "chat-1" {
		t.Errorf("it was sent as %s", id)
	}
	p.says("cli:a", "t1", "chat-1", "hello")
	p.answers("cli:a", "t1", "r1", "hi")
	p.shows("▌ hello", "hi")
	p.fails(parley.Errorf(parley.CodeForbidden, "not you"))
	p.say("and now?")
	p.shows("not you (forbidden)", "> and now?")
	p.gone("sending")
}

// TestMoved: a session that another takes the place of is left for that one; a message
// to one that has ended goes where the conversation goes on.
func TestMoved(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f)
	p.says("cli:a", "t1", "chat-1", "before")
	p.answers("cli:a", "t1", "r1", "yes")
	p.shows("yes")
	f.add("cli:b")
	p.event("cli:a", "", me, &parley.Ended{Reason: "reset", Next: "cli:b"})
	p.event("cli:b", "", me, &parley.Reset{From: "cli:a", Reason: "command"})
	p.shows("a fresh start; what was said before is in cli:a")
	p.gone("before ·")
	f.with("cli:b", func(s *fakeSession) { s.Ended = &parley.Ending{Reason: "idle"} })
	f.add("cli:c")
	p.say("still there?")
	p.asks("enter main false")
	p.until("the message", func() bool { return len(p.posted()) == 1 && p.posted()[0].session == "cli:c" })
	p.says("cli:c", "t2", p.posted()[0].input.Ref.ID, "still there?")
	p.shows("▌ still there?")
	p.gone("sending")
}

// TestMoved_Sent: a command that ends its session has been sent, although the session that
// took the place of that one does not have it.
func TestMoved_Sent(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f)
	f.add("cli:b")
	p.say("/new")
	p.asks("post /new")
	p.settle() // the answer to that is here before the session ends
	p.event("cli:a", "", me, &parley.Ended{Reason: "reset", Next: "cli:b"})
	p.event("cli:b", "", me, &parley.Reset{From: "cli:a", Reason: "command"})
	p.shows("a fresh start; what was said before is in cli:a")
	p.gone("sending")
}

// TestCommands: commands go to the engine as they are; their answers are shown. Those
// of the program itself do not.
func TestCommands(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.types("/status")
	p.press("esc") // puts away what is offered
	p.press("enter")
	p.asks("post /status")
	p.event("cli:a", "", me, &parley.Admitted{ID: "chat-1", Origin: "x", Kind: parley.InputCommand, Parts: []parley.Part{parley.TextPart("/status")}})
	p.event("cli:a", "", "", &parley.Message{
		ID: "c1", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart("All is well.")}, Inputs: []parley.InputRef{{Origin: "x", ID: "chat-1"}},
	})
	p.shows("▌ /status", "│ All is well.")
	p.gone("sending")
	for text, want := range map[string]string{"/attach nothing.txt": "cannot attach nothing.txt", "/sessions": "Conversations"} {
		p := start(t, newFake())
		p.Send(tea.PasteMsg{Content: text})
		p.press("esc", "enter")
		p.shows(want)
		if len(p.posted()) > 0 {
			t.Errorf("%s was sent", text)
		}
	}
}

// TestOthers: what others say has their names, and what comes from elsewhere says from
// where; who takes no part is told before they speak.
func TestOthers(t *testing.T) {
	t.Parallel()
	f := newFake()
	s := f.add("cli:a")
	s.people = []parley.Identity{{ID: "telegram:7", Name: "Ann"}}
	p := start(t, f)
	p.shows("you only look on")
	for _, in := range []struct {
		id, name string
		by       parley.IdentityID
	}{{"1", "Ann", "telegram:7"}, {"web-1", "", me}} {
		p.event("cli:a", "", in.by, &parley.Message{
			ID: "m" + in.id, Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("from " + in.id)},
			Inputs: []parley.InputRef{{Origin: "x", ID: in.id}}, Sender: &parley.Sender{Name: in.name},
		})
	}
	p.shows("▌ Ann · telegram\n▌ from 1", "▌ web\n▌ from web-1")
	p.say("may I?")
	p.shows("you take no part in this conversation")
	if len(p.posted()) > 0 {
		t.Error("it was said at once")
	}
	p.press("enter")
	p.until("the message", func() bool { return len(p.posted()) == 1 })
}

// TestPrivate: without a daemon the program says what does not work.
func TestPrivate(t *testing.T) {
	t.Parallel()
	p := start(t, newFake(), func(c *chat.Config) { c.Private, c.Notice = true, "Nobody else can be reached." })
	p.shows("Nobody else can be reached.", "no daemon")
	p.types("x")
	p.gone("Nobody else can be reached.")
	p.press("ctrl+c")
	p.shows("press Ctrl-C again to leave")
	if strings.Contains(p.Screen(), "the agent stops") {
		t.Error("it does not work")
	}
	p.says("cli:a", "t1", "chat-1", "hello")
	p.shows("working")
	p.press("esc", "ctrl+c")
	p.shows("leave; the agent stops then")
}

// TestOutbox_Order: what is said first arrives first, also if it takes longer, and also
// after the connection was lost.
func TestOutbox_Order(t *testing.T) {
	t.Parallel()
	f := newFake()
	held := make(chan struct{})
	f.holds = map[string]chan struct{}{"one": held}
	p := start(t, f)
	for _, text := range []string{"one", "two", "three"} {
		p.say(text)
	}
	p.asks("begin one")
	p.settle()
	if got := p.posted(); len(got) > 0 {
		t.Errorf("%v overtook the first", got)
	}
	close(held)
	p.until("the messages", func() bool { return len(p.posted()) == 3 })
	p.fails(parley.Errorf(parley.CodeUnavailable, "the server is not there"))
	for _, text := range []string{"four", "five", "six"} {
		p.say(text)
	}
	p.shows("waits for the connection: four", "waits for the connection: six")
	p.fails(nil)
	p.until("the other messages", func() bool {
		p.clock.move(time.Second)
		return len(p.posted()) == 6
	})
	var texts []string
	for _, said := range p.posted() {
		texts = append(texts, parley.PlainText(said.input.Parts))
	}
	if got := strings.Join(texts, " "); got != "one two three four five six" {
		t.Errorf("they arrived as %s", got)
	}
}

// TestOutbox_Left: a message that has arrived in a session which is left then is not
// shown as on its way for ever.
func TestOutbox_Left(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f)
	p.types("/new")
	p.press("enter")
	p.asks("post /new")
	p.settle()
	p.shows("sending: /new")
	f.add("cli:b")
	p.event("cli:a", "", me, &parley.Ended{Reason: "reset", Next: "cli:b"})
	p.event("cli:b", "", me, &parley.Reset{From: "cli:a", Reason: "command"})
	p.shows("a fresh start")
	p.gone("sending")
	p.press("ctrl+c")
	p.shows("press Ctrl-C again to leave")
	if strings.Contains(p.Screen(), "not sent yet") {
		t.Errorf("the screen is\n%s", p.Screen())
	}
}

// TestOutbox_Others: a message to a conversation of others that has ended is not said
// somewhere else.
func TestOutbox_Others(t *testing.T) {
	t.Parallel()
	f := newFake()
	s := f.add("cli:a")
	s.people, s.Ended = []parley.Identity{{ID: "telegram:7", Name: "Ann"}}, &parley.Ending{Reason: "reset"}
	f.add("cli:mine")
	p := start(t, f)
	p.say("for Ann alone")
	p.press("enter")
	p.shows("the session has ended (conflict)", "> for Ann alone")
	if got := p.posted(); len(got) > 0 {
		t.Errorf("it was said in %s", got[0].session)
	}
}

// TestQueue_Draft: a message that is taken back to be changed does not cost what is
// being written, and comes without the files that went with it.
func TestQueue_Draft(t *testing.T) {
	t.Parallel()
	f := newFake()
	p := start(t, f)
	parts := []parley.Part{parley.TextPart("look at @a.txt"), parley.TextPart("Attached file a.txt:\n\nsecret content")}
	f.with("cli:a", func(s *fakeSession) {
		s.waiting = append(s.waiting, parley.Input{Ref: parley.InputRef{ID: "w"}, Parts: parts})
	})
	p.event("cli:a", "", me, &parley.Admitted{ID: "w", Origin: "x", Kind: parley.InputMessage, Parts: parts})
	p.shows("◦ look at @a.txt")
	p.types("half a thought")
	p.press("ctrl+q", "enter")
	p.asks("withdraw w")
	p.shows("> look at @a.txt", "attach its files again")
	p.gone("secret content")
	p.press("up")
	p.shows("> half a thought")
}

// TestSend_TooLong: who wrote more than a message may have is told what to do, wherever
// it is found out; the text stays.
func TestSend_TooLong(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.Send(tea.PasteMsg{Content: strings.Repeat("x", parley.MaxBodyBytes+1)})
	p.press("enter")
	p.shows("the message has 1.0 MB", "file, and /attach that", "> [pasted")
	p.press("ctrl+u")
	p.fails(parley.Errorf(parley.CodeTooLarge, "the body is too large"))
	p.say("short, but not as JSON")
	p.shows("the body is too large (too_large); put long text into a", "file, and /attach that", "> short")
}
