package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func at(id string) string { return "/#/s/" + strings.ReplaceAll(id, ":", "%3A") }

func TestConversation(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.session("Groceries", "bread and cheese")
	p := open(t, a.url+"/")
	p.shows("#sessions", "Groceries")
	p.click("#new")
	p.shows("#title", "New conversation")
	p.write("What is two and two?")
	p.reads(".user .prose", "What is two and two?")
	id := "web:s2"
	p.until(`location.hash === '#/s/web%3As2'`)
	a.take(id, "t1", 0, "What is two and two?")
	p.shows("#status", "working")
	a.delta(id, "r1", "Two and ", "two ")
	p.reads(".assistant .prose", "Two and two")
	p.until(`document.querySelector('.assistant').getAttribute('aria-busy') === 'true'`)
	a.delta(id, "r1", "is four.\n\n", "```go\nx := 2 + 2\n", "```\n", "Is `x` clear?")
	a.append(id, "session:message", "t1", dict{"id": "r1", "role": "assistant", "model": "scripted/echo", "parts": []dict{
		{"type": "text", "text": "Two and two is four.\n\n```go\nx := 2 + 2\n```\nIs `x` clear?"},
	}})
	a.append(id, "session:turn_completed", "t1", dict{"stop_reason": "stop", "usage": dict{}})
	p.reads(".assistant .prose > *", "Two and two is four.", "x := 2 + 2", "Is x clear?")
	p.until(`document.querySelector('.assistant').getAttribute('aria-busy') === 'false'`)
	p.shows(".assistant .meta", "scripted/echo")
	p.until(`document.querySelector('#stop').hidden`)
	p.reads(".user .prose", "What is two and two?") // once, and without the runtime's note
	p.shows("#title", "What is two and two?")
	p.shows("#sessions a[aria-current]", "New conversation")
	if posts := see(a, func() int { return a.posts }); posts != 1 {
		t.Errorf("the message was posted %d times", posts)
	}
	p.run(chromedp.Reload())
	p.reads(".assistant .prose > *", "Two and two is four.", "x := 2 + 2", "Is x clear?")
	p.reads(".user .prose", "What is two and two?")
}

// TestTextStaysText holds that nothing somebody wrote becomes a part of the page.
func TestTextStaysText(t *testing.T) {
	t.Parallel()
	const evil = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
	a := newAPI(t)
	id := a.session(evil, evil)
	a.message(id, "m1", "user", evil)
	a.message(id, "m2", "assistant", evil+"\n\n```"+`"><b>`+"\n"+evil+"\n```")
	p := open(t, a.url+at(id))
	p.shows(".user .prose", evil)
	p.shows(".assistant .prose pre", evil)
	p.shows("#title", evil)
	p.shows("#sessions", evil)
	if n := eval[int](p, `document.querySelectorAll('#items img, #items b, #items script, #sessions img, #title *').length`); n != 0 {
		t.Errorf("%d elements came out of texts", n)
	}
	if title := eval[string](p, `document.title`); title != evil+" · Parley" {
		t.Errorf("the title is %q", title)
	}
}

// TestCutInReply drops the stream again and again in the middle of a reply.
func TestCutInReply(t *testing.T) {
	t.Parallel()
	for _, rough := range []bool{false, true} {
		t.Run(fmt.Sprintf("snapshots=%t", rough), func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			a.rough = rough
			id := a.session("Counting", "")
			a.append(id, "session:turn_started", "t1", dict{"attempt": 1})
			p := open(t, a.url+at(id))
			p.shows("#status", "working")
			var want strings.Builder
			for i := range 20 {
				word := fmt.Sprintf("w%d ", i)
				want.WriteString(word)
				a.delta(id, "r1", word)
				if i%2 == 0 {
					p.reads(".assistant .prose", strings.TrimSpace(want.String()))
				}
				a.dropStreams()
			}
			p.reads(".assistant .prose", strings.TrimSpace(want.String()))
			a.message(id, "r1", "assistant", want.String())
			a.append(id, "session:turn_completed", "t1", dict{"stop_reason": "stop", "usage": dict{}})
			p.until(`document.querySelector('#stop').hidden`)
			p.reads(".assistant .prose", strings.TrimSpace(want.String()))
			ids := see(a, func() []string { return slices.Clone(a.lastIDs) })
			if !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, "|r1|") }) {
				t.Errorf("no reconnect went on from inside of the reply: %q", ids)
			}
		})
	}
}

// TestRestartInReply is a daemon that died in a reply: the turn is taken up again
// and says something else.
func TestRestartInReply(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Restart", "")
	a.append(id, "session:turn_started", "t1", dict{"attempt": 1})
	p := open(t, a.url+at(id))
	a.delta(id, "r1", "The first ", "try")
	p.reads(".assistant .prose", "The first try")
	a.set(func() { a.down = true })
	a.dropStreams()
	p.shows("#banner", "Connection lost, trying again")
	a.append(id, "session:turn_started", "t1", dict{"attempt": 2})
	a.delta(id, "r2", "The second")
	a.set(func() { a.down = false })
	p.reads(".assistant .prose", "The second")
	p.shows(".note", "interrupted and is taken up again")
	p.until(`document.querySelector('#banner').hidden`)
	a.message(id, "r2", "assistant", "The second one.")
	p.reads(".assistant .prose", "The second one.")
}

func TestResync(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Resync", "")
	a.message(id, "m1", "user", "before")
	p := open(t, a.url+at(id))
	p.reads(".user .prose", "before")
	p.until(`document.querySelector('#banner').hidden`)
	a.set(func() {
		a.resync[id] = true
		s := a.find(id)
		s.events = s.events[:1] // a backup from before
		a.store(s, "session:message", "", dict{"id": "m9", "role": "user", "parts": []dict{{"type": "text", "text": "after"}}})
	})
	a.dropStreams()
	p.reads(".user .prose", "after")
	a.message(id, "m10", "assistant", "and on")
	p.reads(".assistant .prose", "and on")
}

// TestGap holds that a reply with a piece missing is read anew, not shown with a
// hole.
func TestGap(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Gap", "")
	a.append(id, "session:turn_started", "t1", dict{"attempt": 1})
	p := open(t, a.url+at(id))
	a.delta(id, "r1", "one ")
	p.reads(".assistant .prose", "one")
	before := see(a, func() int { return a.streams })
	a.set(func() { a.skip = 2 })
	a.delta(id, "r1", "two ", "three")
	p.reads(".assistant .prose", "one two three")
	if after := see(a, func() int { return a.streams }); after == before {
		t.Error("the page did not read anew")
	}
}

// TestLostAnswers drops the answers to a post: the message is there once.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Lost", "")
	p := open(t, a.url+at(id))
	p.shows("#title", "Lost")
	a.set(func() { a.lose = 2 })
	p.write("only once")
	p.write("and this one after it")
	p.reads(".user .prose", "only once", "and this one after it")
	p.until(`!document.querySelector('#items').innerText.includes('ending')`)
	inputs := see(a, func() []string { return slices.Clone(a.find(id).inputs) })
	if len(inputs) != 2 {
		t.Errorf("%d inputs were admitted, want 2", len(inputs))
	}
	if posts := see(a, func() int { return a.posts }); posts != 4 {
		t.Errorf("%d posts came, want 4: two whose answers were lost, and two", posts)
	}
}

// TestUnsentOutlivesReload holds that a message the server never had is sent
// after the page was loaded anew.
func TestUnsentOutlivesReload(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Reload", "")
	p := open(t, a.url+at(id))
	p.shows("#title", "Reload")
	a.set(func() { a.down = true })
	p.write("do not lose me")
	p.shows(".user.waiting .meta", "trying again: no answer from the server")
	p.run(chromedp.Reload())
	a.set(func() { a.down = false })
	p.reads(".user .prose", "do not lose me")
	p.until(`JSON.parse(sessionStorage.getItem('parley.outbox')).length === 0`)
	if inputs := see(a, func() int { return len(a.find(id).inputs) }); inputs != 1 {
		t.Errorf("%d inputs were admitted, want 1", inputs)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Refusals", "")
	next := a.session("The present one", "")
	p := open(t, a.url+at(id))
	p.shows("#title", "Refusals")

	a.set(func() { // until the page was seen to wait, however slow this machine is
		a.refuse = slices.Repeat([]refusal{{status: http.StatusTooManyRequests, code: "rate_limited", message: "too many requests", after: 1}}, 100)
	})
	p.write("in a hurry")
	p.shows(".user.waiting .meta", "Not sent yet, trying again: too many requests")
	a.set(func() { a.refuse = nil })
	p.reads(".user .prose", "in a hurry")
	p.until(`document.querySelector('.user.waiting') === null`)

	a.set(func() {
		a.refuse = []refusal{{status: http.StatusConflict, code: "busy", message: "The agent is busy."}}
	})
	p.write("now or never")
	p.shows(".user.refused .meta", "Not sent: The agent is busy.")
	p.press("Try again")
	p.until(`document.querySelector('.user.refused') === null`)
	p.reads(".user .prose", "in a hurry", "now or never")

	a.set(func() {
		a.refuse = []refusal{{status: http.StatusRequestEntityTooLarge, code: "too_large", message: "The message is too long."}}
	})
	p.write("very long")
	p.shows(".user.refused .meta", "Not sent: The message is too long.")
	p.press("Edit")
	p.until(`document.querySelector('#text').value === 'very long' && document.activeElement.id === 'text'`)
	p.script(`document.querySelector('#text').value = ''`)

	a.set(func() {
		a.refuse = []refusal{{
			status: http.StatusConflict, code: "conflict", message: "This conversation was replaced.",
			details: dict{"current": next},
		}}
	})
	p.write("too late")
	p.shows(".user.refused .meta", "Not sent: This conversation was replaced.")
	p.press("Open the present one")
	p.shows("#title", "The present one")
}

func TestQueueAndStop(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Queue", "")
	p := open(t, a.url+at(id))
	p.write("first")
	p.until(`document.querySelector('.user.waiting') === null && document.querySelector('.user') !== null`)
	a.take(id, "t1", 0, "first")
	a.delta(id, "r1", "Working on it")
	p.reads(".assistant .prose", "Working on it")
	p.write("second")
	p.write("third")
	p.shows("#status", "working, 2 waiting")
	p.reads(".user.waiting .prose", "second", "third")
	p.shows(".user.waiting .meta", "Waiting for its turn")
	p.script(`[...document.querySelectorAll('.user.waiting button')].at(-1).click()`)
	p.reads(".user.waiting .prose", "second")
	p.until(`document.querySelector('#text').value === 'third'`)
	p.shows("#status", "working, 1 waiting")
	p.press("Stop")
	p.shows(".note", "Stopped.")
	p.until(`document.querySelector('#stop').hidden`)
	if turns := see(a, func() []string { return slices.Clone(a.canceled) }); !slices.Equal(turns, []string{"t1"}) {
		t.Errorf("canceled %q, want t1", turns)
	}
	a.take(id, "t2", 1, "second")
	p.until(`document.querySelector('.user.waiting') === null`)
	p.reads(".user .prose", "first", "second")
}

func TestApproval(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Approval", "")
	ask := func(message, call string) {
		a.append(id, "session:message", "t1", dict{"id": message, "role": "assistant", "parts": []dict{
			{"type": "text", "text": "Let me look."},
			{"type": "tool_call", "tool_call": dict{"id": call, "name": "run_command", "arguments": dict{"command": []string{"rm", "-r", "build"}}}},
		}})
		question := dict{"call_id": call, "tool": "run_command", "default": "denied", "deadline": "2026-03-01T10:00:00Z"}
		a.append(id, "session:approval_requested", "t1", question)
		a.set(func() {
			a.approvals = append(a.approvals, dict{"session_id": id, "call_id": call, "tool": "run_command", "default": "denied"})
		})
	}
	a.append(id, "session:turn_started", "t1", dict{"attempt": 1})
	ask("r1", "c1")
	p := open(t, a.url+at(id))
	p.shows(".approval", "The agent asks to run run_command.")
	p.shows(".approval pre", `"rm", "-r", "build"`)
	p.shows("#status", "needs your answer")
	p.shows("#sessions em", "Needs you")
	p.press("Allow")
	p.until(`document.querySelector('.approval') === null`)
	a.append(id, "session:tool_started", "t1", dict{"call_id": "c1", "tool": "run_command"})
	p.shows(".call summary", "run_command")
	p.shows(".call .state", "running")
	a.append(id, "session:tool_completed", "t1", dict{"call_id": "c1", "tool": "run_command", "state": "finished"})
	a.append(id, "session:message", "t1", dict{"id": "c1.result", "role": "tool", "parts": []dict{
		{"type": "tool_result", "tool_result": dict{"call_id": "c1", "text": "removed 12 files"}},
	}})
	p.until(`document.querySelector('.call .state') === null`)
	p.until(`!document.querySelector('.call .result').checkVisibility()`)
	p.click(".call summary")
	p.shows(".call .result", "removed 12 files")

	ask("r2", "c2")
	p.press("Deny")
	p.shows(".call .state", "denied")

	ask("r3", "c3")
	p.shows(".approval", "run_command")
	a.set(func() { a.decided["c3"] = "expired" }) // somebody, or the deadline, was first
	p.press("Allow")
	p.shows("#banner", "this call was expired already")
	p.shows(".call .state", "not allowed in time")
	if got := see(a, func() string { return a.decided["c1"] + " " + a.decided["c2"] }); got != "approved denied" {
		t.Errorf("decided: %s", got)
	}
}

func TestCommandsAndNotes(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Commands", "")
	p := open(t, a.url+at(id))
	p.shows("#title", "Commands")
	p.write("/status")
	p.reads(".user .prose", "/status")
	input := see(a, func() string { return a.find(id).inputs[0] })
	a.append(id, "session:message", "", dict{
		"id": "n1", "role": "system", "hidden": true, "input_ids": []string{input},
		"parts": []dict{{"type": "text", "text": "Idle.\nNothing waits."}},
	})
	p.reads(".note.answer", "Idle.\nNothing waits.")
	p.reads(".user .prose", "/status")
	p.run(chromedp.Reload())
	p.reads(".item", "/status", "Idle.\nNothing waits.")
	a.append(id, "session:turn_started", "t1", dict{"attempt": 1})
	a.append(id, "session:turn_completed", "t1", dict{
		"stop_reason": "error", "usage": dict{},
		"error": dict{"code": "model_unavailable", "message": "The model cannot be reached."},
	})
	p.shows(".note.error", "The model cannot be reached.")
	a.message(id, "m5", "user", "forget this")
	a.append(id, "session:rewound", "", dict{"to_seq": 5, "turns": 1})
	p.shows(".note", "The last turn was undone.")
	p.shows(".user.undone", "forget this")
	seq := see(a, func() int { return len(a.find(id).events) })
	a.append(id, "session:redacted", "", dict{"seqs": []int{seq - 1}})
	p.shows(".note", "A message was removed.")
	p.until(`!document.body.innerText.includes('forget this')`)

	p.write("/new")
	fresh := a.session("Fresh", "")
	a.append(id, "session:ended", "", dict{"reason": "command", "next": fresh})
	p.shows("#title", "Fresh")
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Private", "")
	a.set(func() { a.signedOut = true })
	p := open(t, a.url+at(id))
	// A request that is under way may sign in before the button does, which has to ask
	// all the same.
	signIn := func() {
		t.Helper()
		a.set(func() { a.signedOut = false })
		if asked := eval[int](p, `(() => {
			const fetch = window.fetch;
			let asked = 0;
			window.fetch = (...args) => { asked++; return fetch(...args); };
			document.querySelector('#signin-again').click();
			window.fetch = fetch;
			return asked;
		})()`); asked == 0 {
			t.Error("the button asks for nothing")
		}
		p.until(`document.querySelector('#signin').hidden`)
	}
	p.shows("#signin", "You are not signed in")
	p.shows("#signin pre", "parley login")
	p.press("I have signed in")
	p.shows("#signin", "You are not signed in")
	signIn()
	p.shows("#title", "Private")

	// The token is revoked while somebody writes: nothing is lost.
	a.set(func() { a.signedOut = true })
	a.dropStreams()
	p.shows("#signin", "You are not signed in")
	signIn()
	p.run(chromedp.SendKeys(chromedp.CSS("#text"), "keep this"))
	a.set(func() { a.signedOut = true })
	p.script(`document.querySelector('#compose').requestSubmit()`)
	p.shows("#signin", "You are not signed in")
	signIn()
	p.reads(".user .prose", "keep this")
	a.message(id, "m1", "assistant", "kept")
	p.reads(".assistant .prose", "kept")

	p.press("Sign out")
	p.run(chromedp.WaitVisible(chromedp.CSS("#signin")))
	if text := eval[string](p, `document.body.textContent`); strings.Contains(text, "Private") {
		t.Errorf("after the sign-out the page has: %s", text)
	}
	if !see(a, func() bool { return a.signedOut }) {
		t.Error("the API was not told")
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := open(t, a.url+at("web:nothing"))
	p.shows("#empty", "does not exist, or is not yours to see")
	if !eval[bool](p, `document.querySelector('#text').disabled`) {
		t.Error("one can write to a conversation that is not there")
	}
}

// TestEarlierMessages pages back through a long conversation.
func TestEarlierMessages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Long", "")
	for i := range 150 {
		a.message(id, fmt.Sprintf("m%d", i), "assistant", fmt.Sprintf("line %d", i))
	}
	p := open(t, a.url+at(id))
	p.until(`document.querySelectorAll('.assistant').length === 60`)
	p.until(`document.querySelector('#log').scrollTop > 0`)
	p.press("Earlier messages")
	p.until(`document.querySelectorAll('.assistant').length === 120`)
	p.press("Earlier messages")
	p.until(`document.querySelectorAll('.assistant').length === 150 && document.querySelector('#older').hidden`)
	want := make([]string, 150)
	for i := range want {
		want[i] = fmt.Sprintf("line %d", i)
	}
	p.reads(".assistant .prose", want...)
}

func TestKeysAndPhone(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.session("Phone", "")
	p := open(t, "about:blank")
	p.run(chromedp.EmulateViewport(390, 780, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(a.url+"/"))
	p.shows("#sessions", "Phone")
	p.until(`!document.querySelector('#talk').checkVisibility()`)
	p.click("#sessions a")
	p.shows("#title", "Phone")
	p.until(`!document.querySelector('#side').checkVisibility()`)
	p.run(chromedp.SendKeys(chromedp.CSS("#text"), "one"))
	p.enter(chromedp.ModifierShift)
	p.write("two")
	p.reads(".user .prose", "one\ntwo")
	if wide := eval[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the phone")
	}
	if inputs := see(a, func() int { return len(a.find(id).inputs) }); inputs != 1 {
		t.Errorf("%d messages were sent, want 1", inputs)
	}
	p.click("#back")
	p.shows("#sessions", "Phone")
}
