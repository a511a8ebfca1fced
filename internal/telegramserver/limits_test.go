package telegramserver_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-telegram/bot"

	"github.com/parley-run/parley/internal/telegramserver"
)

// limited is a server with the default limits and a clock that stands still.
func limited(t *testing.T) (*telegramserver.Server, *clock, *bot.Bot) {
	t.Helper()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now})
	return s, now, newBot(t, s)
}

// sendTo sends a text to a chat and gives how long the bot has to wait, 0 if it was
// taken.
func sendTo(t *testing.T, b *bot.Bot, chat int64, text string) time.Duration {
	t.Helper()
	_, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat, Text: text})
	return asked(t, err)
}

// asked gives how long an error asks to wait.
func asked(t *testing.T, err error) time.Duration {
	t.Helper()
	if many, ok := errors.AsType[*bot.TooManyRequestsError](err); ok {
		return time.Duration(many.RetryAfter) * time.Second
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// kinds gives the kinds of the violations.
func kinds(s *telegramserver.Server) string {
	var out []telegramserver.ViolationKind
	for _, v := range s.Violations() {
		out = append(out, v.Kind)
	}
	return fmt.Sprint(out)
}

func TestLimitOfAPrivateChat(t *testing.T) {
	t.Parallel()
	s, now, b := limited(t)
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	other := s.Private(s.AddUser(telegramserver.User{FirstName: "Bob"}))
	for i := range 3 {
		if wait := sendTo(t, b, chat.ID, fmt.Sprint(i)); wait != 0 {
			t.Fatalf("message %d has to wait %v", i, wait)
		}
		now.advance(500 * time.Millisecond)
	}
	if kinds(s) != "[]" {
		t.Fatalf("violations: %v", s.Violations())
	}
	// 1.5 s have passed; the first leaves the stretch of 3 s after 1.5 s more.
	if wait := sendTo(t, b, chat.ID, "4"); wait != 2*time.Second {
		t.Errorf("the fourth has to wait %v, want 2 s", wait)
	}
	if wait := sendTo(t, b, other.ID, "x"); wait != 0 {
		t.Errorf("another chat has to wait %v", wait)
	}
	now.advance(1600 * time.Millisecond) // there would be room, but two seconds were asked for
	if wait := sendTo(t, b, chat.ID, "4"); wait != time.Second {
		t.Errorf("too early, it has to wait %v, want 1 s", wait)
	}
	now.advance(400 * time.Millisecond)
	if wait := sendTo(t, b, chat.ID, "4"); wait != 0 {
		t.Errorf("after the pause it has to wait %v", wait)
	}
	if got, want := kinds(s), "[limit of a chat did not wait for retry_after]"; got != want {
		t.Errorf("violations: %v, want %v", got, want)
	}
	if sent := s.Sent(chat); len(sent) != 4 || sent[3].Text != "4" {
		t.Errorf("the chat has %+v", sent)
	}
}

func TestOneASecondIsAllowedForever(t *testing.T) {
	t.Parallel()
	s, now, b := limited(t)
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	for i := range 100 {
		if wait := sendTo(t, b, chat.ID, fmt.Sprint(i)); wait != 0 {
			t.Fatalf("message %d has to wait %v", i, wait)
		}
		now.advance(time.Second)
	}
}

func TestLimitOfAGroup(t *testing.T) {
	t.Parallel()
	s, now, b := limited(t)
	group := s.Supergroup("family")
	for i := range 20 {
		if wait := sendTo(t, b, group.ID, fmt.Sprint(i)); wait != 0 {
			t.Fatalf("message %d has to wait %v", i, wait)
		}
		now.advance(time.Second)
	}
	if wait := sendTo(t, b, group.ID, "x"); wait != 40*time.Second {
		t.Errorf("the 21st has to wait %v, want 40 s", wait)
	}
	now.advance(40 * time.Second)
	if wait := sendTo(t, b, group.ID, "x"); wait != 0 {
		t.Errorf("after the pause it has to wait %v", wait)
	}
}

func TestOverallLimit(t *testing.T) {
	t.Parallel()
	s, now, b := limited(t)
	for i := range 31 {
		chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
		wait := sendTo(t, b, chat.ID, "x")
		if i < 30 && wait != 0 {
			t.Fatalf("message %d has to wait %v", i, wait)
		}
		if i == 30 && wait != time.Second {
			t.Errorf("the 31st has to wait %v, want 1 s", wait)
		}
	}
	if got, want := kinds(s), "[overall limit]"; got != want {
		t.Errorf("violations: %v, want %v", got, want)
	}
	now.advance(time.Second)
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	if wait := sendTo(t, b, chat.ID, "x"); wait != 0 {
		t.Errorf("a second later it has to wait %v", wait)
	}
}

func TestEditsHaveACountOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, now, b := limited(t)
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	sent, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat.ID, Text: "0"})
	if err != nil {
		t.Fatal(err)
	}
	edit := func(text string) time.Duration {
		_, err := b.EditMessageText(t.Context(), &bot.EditMessageTextParams{ChatID: chat.ID, MessageID: sent.ID, Text: text})
		return asked(t, err)
	}
	for i := range 3 {
		if wait := edit(fmt.Sprint(i + 1)); wait != 0 {
			t.Fatalf("edit %d has to wait %v", i, wait)
		}
	}
	if wait := sendTo(t, b, chat.ID, "x"); wait != 0 {
		t.Errorf("a message beside edits has to wait %v", wait)
	}
	if wait := edit("5"); wait != 3*time.Second {
		t.Errorf("the fourth edit has to wait %v, want 3 s", wait)
	}
	now.advance(3 * time.Second)
	if wait := edit("5"); wait != 0 {
		t.Errorf("after the pause it has to wait %v", wait)
	}
}

func TestSlack(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now, Limits: telegramserver.Limits{
		Private: telegramserver.Limit{Count: 1, Per: time.Second}, Slack: 50 * time.Millisecond,
	}})
	b := newBot(t, s)
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	for i := range 3 {
		if wait := sendTo(t, b, chat.ID, fmt.Sprint(i)); wait != 0 {
			t.Fatalf("message %d has to wait %v", i, wait)
		}
		now.advance(950 * time.Millisecond)
	}
}
