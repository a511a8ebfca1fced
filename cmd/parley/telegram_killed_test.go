package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/internal/telegramserver"
)

const (
	sentAgain   = "↻" // what a message begins with that may be there twice
	longMiddle  = 5000
	killedChats = 60
)

// TestTelegram_Killed kills a daemon again and again while it answers in many chats at
// once. Every message gets its answer. One that is there twice is marked, and was on its
// way when the daemon was killed: then nobody can know whether Telegram had it.
func TestTelegram_Killed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	server := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	l := &killedTelegram{killedLoad: newKilled(t), server: server, random: rand.New(rand.NewPCG(soak.Seed(t), 2))}
	l.configure()
	// What Telegram has taken, it confirms a little later: so many kills come in between.
	slow := func(method string) *telegramserver.Injected {
		return server.Inject(telegramserver.Fault{Kind: telegramserver.FaultSlow, Method: method, Times: -1, Delay: 20 * time.Millisecond})
	}
	sends := slow("sendMessage")
	slow("editMessageText")
	l.start()
	waiting, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	talking, hush := context.WithCancel(waiting)
	defer hush()
	var all sync.WaitGroup
	for n := range killedChats {
		person := server.AddUser(telegramserver.User{FirstName: fmt.Sprint("Guest ", n)})
		c := &killedChat{chat: server.Private(person), person: person}
		l.chats = append(l.chats, c)
		seed := l.random.Uint64()
		all.Go(func() { l.talk(talking, waiting, c, rand.New(rand.NewPCG(seed, 3))) })
	}
	kills := soak.Count(50, 500)
	for n := range kills {
		life := 50 + l.random.IntN(400)
		if l.random.IntN(5) == 0 {
			life += 3000 // in which slow answers come to their end
		}
		timer := time.NewTimer(time.Duration(life) * time.Millisecond)
		<-timer.C
		if n%10 == 0 { // others come in between by chance, or none does
			before := sends.Hits()
			if err := server.Wait(waiting, func() bool { return sends.Hits() > before }); err != nil {
				t.Fatal(err)
			}
		}
		l.kill()
		l.kills = append(l.kills, time.Now())
		l.start()
	}
	hush()
	late := time.AfterFunc(killedPatience, giveUp)
	all.Wait() // everybody has their answer by then
	late.Stop()
	if t.Failed() {
		return
	}
	l.settled()
	l.end()
	l.check(kills)
	parleyRun(t, t.TempDir(), "doctor", "--data", l.dir).says(t, 0)
}

// killedTelegram is a daemon that is killed, and who talks to its bot.
type killedTelegram struct {
	*killedLoad
	server *telegramserver.Server
	random *rand.Rand
	chats  []*killedChat
	kills  []time.Time
}

// killedChat is a chat, and what was asked in it.
type killedChat struct {
	chat   *telegramserver.Chat
	person telegramserver.User
	asked  []string
}

func (l *killedTelegram) configure() {
	l.t.Helper()
	put(l.t, l.dir, "telegram.token", l.server.Token())
	put(l.t, l.dir, "script.yaml", fmt.Sprintf(`rules:
- when: {starts: long}
  say: [{text: "Begin ${user} %s End ${user}"}]
- when: {starts: slow}
  say: [{text: "Well, that takes some time, as you see, but here it is: ${user}", pace: 120ms}]
- say: [{delay: 20ms}, {text: "You said: ${user}"}]
`, strings.Repeat("and so on, ", longMiddle/11)))
	put(l.t, l.dir, "parley.yaml", fmt.Sprintf(`
agents: {main: {model: scripted/test, access: public}}
models: {scripted/test: {script: script.yaml}}
session: {resume: {strikes: 100}}
channels: {telegram: {token: 'file:telegram.token', base_url: %q, burst: 0s}}
`, l.server.URL))
}

// talk asks, waits for the answer, and asks again, until talking ends.
func (l *killedTelegram) talk(talking, waiting context.Context, c *killedChat, random *rand.Rand) {
	for n := 1; talking.Err() == nil; n++ {
		kind := "plain"
		switch random.IntN(20) {
		case 0, 1:
			kind = "long"
		case 2:
			kind = "slow"
		}
		text := fmt.Sprintf("%s #%d.", kind, n)
		c.asked = append(c.asked, text)
		l.server.Say(c.chat, c.person, text)
		// A slow answer may need many starts.
		err := l.server.Wait(waiting, func() bool { return len(copies(l.server.Sent(c.chat), ending(text))) > 0 })
		if err != nil {
			sent := textsOf(l.server.Sent(c.chat))
			l.t.Errorf("%q in chat %d was not answered: %v; last there is %q", text, c.chat.ID, err, sent[max(0, len(sent)-2):])
			return
		}
	}
}

// ending is what the last message of the answer to a text ends with.
func ending(text string) string {
	switch {
	case strings.HasPrefix(text, "long"):
		return "End " + text
	case strings.HasPrefix(text, "slow"):
		return "here it is: " + text
	}
	return "You said: " + text
}

// copies gives the messages that end with a text.
func copies(sent []telegramserver.Sent, end string) []telegramserver.Sent {
	return slices.DeleteFunc(sent, func(s telegramserver.Sent) bool { return !strings.HasSuffix(s.Text, end) })
}

// settled waits until nothing is on its way.
func (l *killedTelegram) settled() {
	l.t.Helper()
	eventually(l.t, "nothing is on its way", func() bool {
		var open struct{ Deliveries []any }
		_, err := l.ask(l.t.Context(), http.MethodGet, l.url+"/api/outbox", nil, &open)
		return err == nil && len(open.Deliveries) == 0
	})
}

// check looks at what is in the chats in the end.
func (l *killedTelegram) check(kills int) {
	l.t.Helper()
	replies, doubled, marked := 0, 0, 0
	for _, c := range l.chats {
		sent := l.server.Sent(c.chat)
		known := make([]bool, len(sent))
		for _, text := range c.asked {
			parts := []func(string) bool{func(got string) bool { return strings.HasSuffix(got, ending(text)) }}
			if strings.HasPrefix(text, "long") {
				parts = append(parts, func(got string) bool { return strings.Contains(got, "Begin "+text) })
			}
			for _, is := range parts {
				replies++
				doubled += l.checkPart(text, sent, known, is)
			}
		}
		for i := range sent {
			if strings.HasPrefix(sent[i].Text, sentAgain) {
				marked++
			}
			if known[i] {
				continue
			}
			// The first message of an answer that was being shown, of which nobody
			// knew whether it arrived.
			if doubled++; !l.sentAgain(sent, i) {
				l.t.Errorf("chat %d has %q in it, which is no answer", c.chat.ID, sent[i].Text)
			}
		}
	}
	l.t.Logf("%d kills, %d replies; %d are there twice, %d are marked as possibly so", kills, replies, doubled, marked)
	if replies < 5*kills || doubled == 0 {
		l.t.Errorf("there were %d replies to %d kills, and %d twice: that was no load", replies, kills, doubled)
	}
}

// checkPart checks the messages that are one part of the answer to a text: one, or
// several, each of which but the last was on its way when the daemon was killed. It
// gives how many are too much.
func (l *killedTelegram) checkPart(text string, sent []telegramserver.Sent, known []bool, is func(string) bool) (doubled int) {
	l.t.Helper()
	last := -1
	for i := range sent {
		if !is(sent[i].Text) {
			continue
		}
		if known[i] = true; last >= 0 {
			if doubled++; last != i-1 || !l.sentAgain(sent, last) {
				l.t.Errorf("%q of %s is there again as %q of %s, without need or mark", sent[last].Text, sent[last].At, sent[i].Text, sent[i].At)
			}
		}
		last = i
	}
	if last < 0 {
		l.t.Errorf("the answer to %q is lost", text)
	}
	return doubled
}

// readLate is how long after a kill the server may still read what was sent before it.
const readLate = time.Second

// sentAgain reports whether nobody could know whether a message had arrived, and it was
// sent again with the mark: it was the last in its chat when the daemon was killed, and
// the next is marked.
func (l *killedTelegram) sentAgain(sent []telegramserver.Sent, i int) bool {
	return i+1 < len(sent) && strings.HasPrefix(sent[i+1].Text, sentAgain) &&
		slices.ContainsFunc(l.kills, func(at time.Time) bool { return at.Add(readLate).After(sent[i].At) && at.Before(sent[i+1].At) })
}
