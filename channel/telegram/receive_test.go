package telegram_test

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
)

func id(c *telegramserver.Chat) string { return strconv.FormatInt(c.ID, 10) }

func readerOf(text string) io.Reader { return strings.NewReader(text) }

// TestReceive has people write in every kind of chat.
func TestReceive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Account: "work"})
	private := w.Private(w.ann)
	group := w.Group("Family", w.ann, w.bob)
	forum := w.Forum("Club", w.ann, w.bob)
	topic := w.Topic(forum, w.ann, "Chess")
	w.run()

	first := w.Say(private, w.ann, "hello")
	inGroup := w.Say(group, w.bob, "hello all")
	w.Post(group, w.ann, telegramserver.Post{Text: "what do you mean?", ReplyTo: inGroup.ID})
	w.Say(group, w.bob, "@"+w.Bot().Username+" what do you think?")
	w.Post(forum, w.bob, telegramserver.Post{Text: "e4", Topic: topic})
	w.Say(forum, w.bob, "in general")
	got := map[string]channel.Received{}
	for _, m := range w.received(6) {
		got[parley.PlainText(m.Parts)] = m
	}

	bob := parley.Sender{ID: strconv.FormatInt(w.bob.ID, 10), Name: "Bob"}
	ann := parley.Sender{ID: strconv.FormatInt(w.ann.ID, 10), Name: "Ann Lee"}
	for text, want := range map[string]channel.Received{
		"hello": {
			Inbound:   parley.Inbound{ChatType: "direct", ChatID: id(private), ChatName: "Ann Lee", Sender: ann},
			Target:    parley.Target{Chat: id(private)},
			Mentioned: true,
		},
		"hello all": {
			Inbound: parley.Inbound{ChatType: "group", ChatID: id(group), ChatName: "Family", Sender: bob},
			Target:  parley.Target{Chat: id(group)},
		},
		"(in reply to Bob: \"hello all\")\nwhat do you mean?": {
			Inbound: parley.Inbound{ChatType: "group", ChatID: id(group), ChatName: "Family", Sender: ann, ReplyTo: strconv.Itoa(inGroup.ID)},
			Target:  parley.Target{Chat: id(group)},
		},
		"@" + w.Bot().Username + " what do you think?": {
			Inbound:   parley.Inbound{ChatType: "group", ChatID: id(group), ChatName: "Family", Sender: bob},
			Target:    parley.Target{Chat: id(group)},
			Mentioned: true,
		},
		"e4": {
			Inbound: parley.Inbound{ChatType: "group", ChatID: id(forum), ChatName: "Club", TopicID: strconv.Itoa(topic), Sender: bob},
			Target:  parley.Target{Chat: id(forum), Topic: strconv.Itoa(topic)},
		},
		"in general": {
			Inbound: parley.Inbound{ChatType: "group", ChatID: id(forum), ChatName: "Club", Sender: bob},
			Target:  parley.Target{Chat: id(forum)},
		},
	} {
		have, ok := got[text]
		if !ok {
			t.Errorf("%q was not received; there is %q", text, w.inbox.texts())
			continue
		}
		want.Channel, want.Account, want.Target.Channel, want.Target.Account = "telegram", "work", "telegram", "work"
		want.Parts, want.MessageID, want.At = []parley.Part{parley.TextPart(text)}, have.MessageID, have.At
		if want.ChatType == "group" {
			want.Target.ReplyTo = have.MessageID
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if m := got["hello"]; m.MessageID != strconv.Itoa(first.ID) || m.At.Unix() != first.Date {
		t.Errorf("message %s of %s is %d of %d", m.MessageID, m.At, first.ID, first.Date)
	}
}

func TestReceive_Commands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	group := w.Group("Family", w.ann)
	w.run()
	w.Say(group, w.ann, "/new@"+strings.ToUpper(w.Bot().Username)+" topic")
	w.Say(group, w.ann, "/new@other_bot topic")
	w.Say(group, w.ann, "/new")
	w.Post(group, w.ann, telegramserver.Post{Text: "/new", Forward: &w.bob})
	got := w.received(4)
	for i, want := range []struct {
		text      string
		mentioned bool
	}{{"/new topic", true}, {"/new@other_bot topic", false}, {"/new", false}, {"(forwarded from Bob)\n/new", false}} {
		if text := parley.PlainText(got[i].Parts); text != want.text || got[i].Mentioned != want.mentioned {
			t.Errorf("got %q, mentioned %t, want %q, %t", text, got[i].Mentioned, want.text, want.mentioned)
		}
	}
	if !got[3].Forwarded || got[0].Forwarded {
		t.Error("what was forwarded is not known as such")
	}
}

func TestReceive_Edit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	w.run()
	m := w.Say(chat, w.ann, "hello")
	edited := w.Edit(chat, m.ID, "hello there")
	got := w.received(2)
	if date := strconv.FormatInt(edited.EditDate, 10); got[0].Edit != "" || !strings.HasPrefix(got[1].Edit, date+"-") || got[0].MessageID != got[1].MessageID {
		t.Errorf("got edits %q and %q of messages %s and %s", got[0].Edit, got[1].Edit, got[0].MessageID, got[1].MessageID)
	}
	if text := parley.PlainText(got[1].Parts); text != "hello there" {
		t.Errorf("the edit says %q", text)
	}
}

// TestReceive_EditsInOneSecond has somebody edit faster than Telegram's time goes.
func TestReceive_EditsInOneSecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{Clock: newClock()}, telegram.Config{})
	chat := w.Private(w.ann)
	w.run()
	m := w.Say(chat, w.ann, "hello")
	first, second := w.Edit(chat, m.ID, "hello there"), w.Edit(chat, m.ID, "hello there!")
	got := w.received(3)
	if first.EditDate != second.EditDate || got[1].Edit == got[2].Edit {
		t.Errorf("edits at %d and %d are %q and %q", first.EditDate, second.EditDate, got[1].Edit, got[2].Edit)
	}
}

// TestReceive_NobodySaid has things happen that are no messages.
func TestReceive_NobodySaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	w.run()
	forum := w.Forum("Club", w.ann)
	w.Topic(forum, w.ann, "Chess")
	group := w.Group("Family", w.ann)
	w.Join(group, w.ann)
	bigger := w.Upgrade(group, w.ann)
	w.Say(bigger, w.ann, "we are many")
	w.received(1)
	w.confirmed()
	if got := w.inbox.texts(); len(got) != 1 || got[0] != "we are many" {
		t.Errorf("received %q", got)
	}
}

func TestReceive_Full(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	w.run()
	w.Say(chat, w.ann, strings.Repeat("😀", 2048))
	w.Say(chat, w.ann, strings.Repeat("x", 3000))
	got := w.received(2)
	if !got[0].Full || got[1].Full {
		t.Errorf("of a full message and another, full are %t and %t", got[0].Full, got[1].Full)
	}
}

func TestReceive_Media(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{MaxDownload: 1 << 10}, telegram.Config{})
	chat := w.Private(w.ann)
	w.run()
	picture := func(n byte) telegramserver.File {
		return telegramserver.File{Data: bytes.Repeat([]byte{n}, 300)}
	}
	w.Post(chat, w.ann, telegramserver.Post{Text: "look", Photos: []telegramserver.File{picture(1), picture(2)}})
	w.Post(chat, w.ann, telegramserver.Post{Document: &telegramserver.File{Name: "plan.pdf", MIME: "application/pdf", Data: []byte("a plan")}})
	w.Post(chat, w.ann, telegramserver.Post{Voice: &telegramserver.File{MIME: "audio/ogg", Data: []byte("a voice")}})
	w.Post(chat, w.ann, telegramserver.Post{Text: "large", Document: &telegramserver.File{Name: "film.mp4", MIME: "video/mp4", Size: 30 << 20}})
	// The server's own limit is smaller, and it does not say how large this one is.
	w.Post(chat, w.ann, telegramserver.Post{Document: &telegramserver.File{Name: "book.txt", Data: make([]byte, 2<<10)}})
	got := w.received(6)
	if got[0].Album == "" || got[0].Album != got[1].Album || parley.PlainText(got[0].Parts) != "look" {
		t.Errorf("an album is %q and %q, and says %q", got[0].Album, got[1].Album, parley.PlainText(got[0].Parts))
	}
	for i, want := range []struct{ mime, name, data string }{
		{"image/jpeg", "", strings.Repeat("\x01", 300)},
		{"image/jpeg", "", strings.Repeat("\x02", 300)},
		{"application/pdf", "plan.pdf", "a plan"},
		{"audio/ogg", "", "a voice"},
		{"video/mp4", "film.mp4", ""},
		{"", "book.txt", ""},
	} {
		if len(got[i].Media) != 1 {
			t.Fatalf("message %d has %d media", i, len(got[i].Media))
		}
		m := got[i].Media[0]
		data, err := fetch(t, m)
		if m.Name != want.name || want.mime != "" && m.Type != want.mime || data != want.data {
			t.Errorf("message %d has %q of %q with %q (%v), want %+v", i, m.Name, m.Type, data, err, want)
		}
		if tooLarge := parley.CodeOf(err) == parley.CodeTooLarge; tooLarge != (want.data == "") {
			t.Errorf("message %d: %v", i, err)
		}
	}
}

func fetch(t *testing.T, m channel.Attachment) (string, error) {
	t.Helper()
	content, err := m.FetchFunc(t.Context())
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(content)
	if e := content.Close(); e != nil {
		t.Error(e)
	}
	return string(data), err
}

// TestReceive_MediaFails has downloads fail. The token must not be in what they say.
func TestReceive_MediaFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	w.run()
	w.Post(chat, w.ann, telegramserver.Post{Voice: &telegramserver.File{Data: []byte("a voice")}})
	m := w.received(1)[0].Media[0]
	for _, fault := range []telegramserver.Fault{
		{Kind: telegramserver.FaultStatus, Method: "file", Status: 404},
		{Kind: telegramserver.FaultClose, Method: "file", Times: -1},
		{Kind: telegramserver.FaultStatus, Method: "getFile"},
		{Kind: telegramserver.FaultClose, Method: "getFile"},
	} {
		injected := w.Inject(fault)
		_, err := fetch(t, m)
		if err == nil || parley.CodeOf(err) == parley.CodeTooLarge {
			t.Errorf("%+v: %v", fault, err)
		} else if strings.Contains(err.Error(), w.Token()) {
			t.Errorf("the token is in %q", err)
		}
		injected.Release()
	}
	if data, err := fetch(t, m); data != "a voice" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestPress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Account: "work"})
	forum := w.Forum("Club", w.ann)
	topic := w.Topic(forum, w.ann, "Chess")
	w.inbox.answer = strings.Repeat("yes ", 100)
	w.inbox.pressErr = errBusy // it comes again
	w.run()
	target := to(forum)
	target.Topic = strconv.Itoa(topic)
	message, err := w.bot.Send(t.Context(), channel.Outgoing{Target: target, Text: channel.Plain("May it?"), Buttons: [][]channel.Button{{{Text: "Yes", Data: "y:1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(message)
	if err != nil {
		t.Fatal(err)
	}
	query, err := w.Press(forum, w.ann, number, "Yes")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.WaitAnswer(w.deadline(), query)
	if err != nil {
		t.Fatal(err)
	}
	if n := telegramserver.Units(answer.Text); n > 200 || !strings.HasPrefix(answer.Text, "yes yes ") {
		t.Errorf("the answer has %d units: %q", n, answer.Text)
	}
	w.confirmed()
	if len(w.inbox.presses) != 1 {
		t.Fatalf("there are %d presses", len(w.inbox.presses))
	}
	got := w.inbox.presses[0]
	target.Account = "work"
	want := channel.Press{
		Target: target, Sender: parley.Sender{ID: strconv.FormatInt(w.ann.ID, 10), Name: "Ann Lee"}, MessageID: message, Data: "y:1", At: got.At,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
