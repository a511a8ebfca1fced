package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
)

func TestSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	forum := w.Forum("Club", w.ann)
	topic := w.Topic(forum, w.ann, "Chess")
	asked := w.Post(forum, w.ann, telegramserver.Post{Text: "well?", Topic: topic})[0]
	target := to(forum)
	target.Topic, target.ReplyTo = strconv.Itoa(topic), strconv.Itoa(asked.ID)
	message, err := w.bot.Send(t.Context(), channel.Outgoing{
		Target: target, Text: channel.Markdown("😀 **yes**, see [here](https://example.org)"),
		Buttons: [][]channel.Button{{{Text: "A", Data: "y:1"}, {Text: "B", Data: strings.Repeat("x", 64)}}, {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	sent := w.Sent(forum)[0]
	if strconv.Itoa(sent.ID) != message || sent.ThreadID != topic || sent.ReplyTo == nil || sent.ReplyTo.ID != asked.ID || sent.Text != "😀 yes, see here" {
		t.Errorf("message %s arrived as %+v", message, sent.Message)
	}
	if diff := cmp.Diff([]telegramserver.Entity{{Type: "bold", Offset: 3, Length: 3}, {Type: "text_link", Offset: 12, Length: 4, URL: "https://example.org"}}, sent.Entities); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(sent.ReplyMarkup.Rows) != 1 || len(sent.ReplyMarkup.Rows[0]) != 2 || sent.ReplyMarkup.Rows[0][0].CallbackData != "y:1" {
		t.Errorf("the buttons are %+v", sent.ReplyMarkup)
	}
	call := w.Calls("sendMessage")[0]
	if !strings.Contains(call.Params["link_preview_options"], `"is_disabled":true`) {
		t.Errorf("pages that are linked to are shown: %v", call.Params)
	}

	// Without buttons, an edit takes them away. The same again is no error.
	for range 2 {
		if err := w.bot.Edit(t.Context(), message, channel.Outgoing{Target: target, Text: channel.Plain("done")}); err != nil {
			t.Fatal(err)
		}
	}
	sent = w.Sent(forum)[0]
	if sent.Text != "done" || sent.ReplyMarkup != nil || len(sent.Versions) != 2 {
		t.Errorf("the message is %+v after %d versions", sent.Message, len(sent.Versions))
	}

	// What it answers may be gone.
	target.ReplyTo = "99999"
	if _, err := w.bot.Send(t.Context(), channel.Outgoing{Target: target, Text: channel.Plain("late")}); err != nil {
		t.Error(err)
	}
	if err := w.bot.Typing(t.Context(), target); err != nil {
		t.Error(err)
	}
	if actions := w.Actions(forum); len(actions) != 1 || actions[0].Action != "typing" || actions[0].Thread != topic {
		t.Errorf("it shows %+v", actions)
	}
	if v := w.Violations(); len(v) > 0 {
		t.Errorf("the server counted %+v", v)
	}
}

// TestSend_ManyEntities has more of them than Telegram takes: links stay.
func TestSend_ManyEntities(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	text := strings.Repeat("**b** *i* `c` ", 40) + strings.Repeat("[l](https://example.org) ", 60)
	if _, err := w.bot.Send(t.Context(), channel.Outgoing{Target: to(chat), Text: channel.Markdown(text)}); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, e := range w.Sent(chat)[0].Entities {
		kinds[e.Type]++
	}
	if kinds["text_link"] != 60 || kinds["italic"] != 0 || kinds["bold"]+kinds["code"] != 40 {
		t.Errorf("arrived are %v", kinds)
	}
	if v := w.Violations(); len(v) > 0 {
		t.Errorf("the server counted %+v", v)
	}
}

// TestSend_Refused has messages that will never be taken.
func TestSend_Refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	blocked := w.Private(w.bob)
	w.Block(w.bob)
	group := w.Group("Family", w.ann)
	w.Kick(group, w.ann)
	forum := w.Forum("Club", w.ann)
	closed := w.Topic(forum, w.ann, "Chess")
	w.CloseTopic(forum, closed)
	in := func(c *telegramserver.Chat, topic string) parley.Target {
		target := to(c)
		target.Topic = topic
		return target
	}
	for name, c := range map[string]struct {
		m    channel.Outgoing
		code parley.Code
	}{
		"too long":         {channel.Outgoing{Target: to(chat), Text: channel.Plain(strings.Repeat("x", 4097))}, parley.CodeTooLarge},
		"empty":            {channel.Outgoing{Target: to(chat)}, parley.CodeInvalid},
		"no chat":          {channel.Outgoing{Target: parley.Target{Chat: "4711"}, Text: channel.Plain("x")}, parley.CodeForbidden},
		"no number":        {channel.Outgoing{Target: parley.Target{Chat: "there"}, Text: channel.Plain("x")}, parley.CodeInvalid},
		"no number at all": {channel.Outgoing{Text: channel.Plain("x")}, parley.CodeInvalid},
		"no topic":         {channel.Outgoing{Target: in(forum, "4711"), Text: channel.Plain("x")}, parley.CodeForbidden},
		"wrong topic":      {channel.Outgoing{Target: in(forum, "x"), Text: channel.Plain("x")}, parley.CodeInvalid},
		"closed topic":     {channel.Outgoing{Target: in(forum, strconv.Itoa(closed)), Text: channel.Plain("x")}, parley.CodeForbidden},
		"blocked":          {channel.Outgoing{Target: to(blocked), Text: channel.Plain("x")}, parley.CodeForbidden},
		"kicked":           {channel.Outgoing{Target: to(group), Text: channel.Plain("x")}, parley.CodeForbidden},
		"long button":      {channel.Outgoing{Target: to(chat), Text: channel.Plain("x"), Buttons: [][]channel.Button{{{Text: "A", Data: strings.Repeat("x", 65)}}}}, parley.CodeInvalid},
		"nameless button":  {channel.Outgoing{Target: to(chat), Text: channel.Plain("x"), Buttons: [][]channel.Button{{{Data: "x"}}}}, parley.CodeInvalid},
	} {
		_, err := w.bot.Send(t.Context(), c.m)
		if parley.CodeOf(err) != c.code || errors.Is(err, parley.ErrOutcomeUnknown) {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
	if v := w.Violations(); len(v) > 0 {
		t.Errorf("the server counted %+v", v)
	}
}

func TestEdit_Gone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	theirs := w.Say(chat, w.ann, "hello")
	for _, message := range []string{"4711", strconv.Itoa(theirs.ID), "x", "", "-1"} {
		err := w.bot.Edit(t.Context(), message, channel.Outgoing{Target: to(chat), Text: channel.Plain("x")})
		if parley.CodeOf(err) != parley.CodeNotFound {
			t.Errorf("message %q: %v", message, err)
		}
	}
}

// TestSend_Faults has Telegram and the network fail: what is known then matters.
func TestSend_Faults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault   telegramserver.Fault
		unknown bool
		after   time.Duration
	}{
		"limit":        {telegramserver.Fault{Kind: telegramserver.FaultLimit, RetryAfter: 7}, false, 7 * time.Second},
		"500":          {telegramserver.Fault{Kind: telegramserver.FaultStatus}, true, 0},
		"500, taken":   {telegramserver.Fault{Kind: telegramserver.FaultStatus, Taken: true}, true, 0},
		"502 as HTML":  {telegramserver.Fault{Kind: telegramserver.FaultStatus, Status: 502, Body: "<html>Bad Gateway</html>"}, true, 0},
		"504":          {telegramserver.Fault{Kind: telegramserver.FaultStatus, Status: 504}, true, 0},
		"closed":       {telegramserver.Fault{Kind: telegramserver.FaultClose}, true, 0},
		"closed after": {telegramserver.Fault{Kind: telegramserver.FaultClose, Taken: true}, true, 0},
		"truncated":    {telegramserver.Fault{Kind: telegramserver.FaultTruncate}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, telegramserver.Config{}, telegram.Config{})
			chat := w.Private(w.ann)
			c.fault.Method = "sendMessage"
			w.Inject(c.fault)
			_, err := w.send(chat, "hello")
			if err == nil || errors.Is(err, parley.ErrOutcomeUnknown) != c.unknown {
				t.Errorf("got %v", err)
			}
			if retry, ok := errors.AsType[*channel.RetryError](err); ok != (c.after > 0) || ok && (retry.After != c.after || retry.Everything) {
				t.Errorf("got %+v", retry)
			}
			if code := parley.CodeOf(err); code != parley.CodeUnavailable && code != parley.CodeRateLimited {
				t.Errorf("the code is %s", code)
			}
			if strings.Contains(fmt.Sprint(err), w.Token()) {
				t.Errorf("the token is in %q", err)
			}
		})
	}
}

func TestSend_GivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	hang := w.Inject(telegramserver.Fault{Kind: telegramserver.FaultHang, Method: "sendMessage"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := w.bot.Send(ctx, channel.Outgoing{Target: to(chat), Text: channel.Plain("hello")})
		done <- err
	}()
	w.eventually("it hangs", func() bool { return hang.Waiting() == 1 })
	cancel()
	if err := <-done; !errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Errorf("what was given up ended with %v", err)
	}
	hang.Release()
}

// TestSend_Unreached has nobody listen: then it is certain that nothing arrived.
func TestSend_Unreached(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	b := newBot(t, telegram.Config{Token: telegramserver.DefaultToken, URL: url})
	_, err = b.Send(t.Context(), channel.Outgoing{Target: parley.Target{Chat: "1"}, Text: channel.Plain("x")})
	if parley.CodeOf(err) != parley.CodeUnavailable || errors.Is(err, parley.ErrOutcomeUnknown) || strings.Contains(err.Error(), telegramserver.DefaultToken) {
		t.Errorf("got %v", err)
	}
}

// TestSend_Token has a token that was taken back: that is no fault of the message.
func TestSend_Token(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	b := newBot(t, telegram.Config{Token: "1:other", URL: w.URL})
	_, err := b.Send(t.Context(), channel.Outgoing{Target: to(w.Private(w.ann)), Text: channel.Plain("x")})
	if parley.CodeOf(err) != parley.CodeUnauthorized || errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	if _, err := telegram.New(telegram.Config{Token: "not a token"}); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

// TestSend_Everything has several chats refused in a row: then it is about the bot.
func TestSend_Everything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	var chats []*telegramserver.Chat
	for range 6 {
		chats = append(chats, w.Private(w.AddUser(telegramserver.User{FirstName: "Guest"})))
	}
	limited := w.Inject(telegramserver.Fault{Kind: telegramserver.FaultLimit, Method: "sendMessage", Times: -1})
	everything := func(c *telegramserver.Chat) bool {
		_, err := w.send(c, "x")
		retry, ok := errors.AsType[*channel.RetryError](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		return retry.Everything
	}
	for _, i := range []int{0, 0, 1, 1, 0, 2, 2} {
		if everything(chats[i]) {
			t.Error("three chats or fewer are everything")
		}
	}
	if !everything(chats[3]) {
		t.Error("four chats in a row are not everything")
	}
	limited.Release()
	if _, err := w.send(chats[4], "x"); err != nil {
		t.Fatal(err)
	}
	w.Inject(telegramserver.Fault{Kind: telegramserver.FaultLimit, Method: "sendMessage"})
	if everything(chats[5]) {
		t.Error("a chat is everything, though another was heard")
	}
}

func TestSend_Supergroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	group := w.Group("Family", w.ann)
	before, err := w.send(group, "before")
	if err != nil {
		t.Fatal(err)
	}
	bigger := w.Upgrade(group, w.ann)
	target := to(group)
	target.ReplyTo = before
	for _, text := range []string{"first", "second"} {
		if _, err := w.bot.Send(t.Context(), channel.Outgoing{Target: target, Text: channel.Plain(text)}); err != nil {
			t.Fatal(err)
		}
	}
	if sent := w.Sent(bigger); len(sent) != 2 || sent[0].Text != "first" || sent[1].Text != "second" {
		t.Errorf("arrived in the supergroup: %+v", sent)
	}
	err = w.bot.Edit(t.Context(), before, channel.Outgoing{Target: target, Text: channel.Plain("after")})
	if parley.CodeOf(err) != parley.CodeNotFound {
		t.Errorf("what stayed behind was edited: %v", err)
	}
}
