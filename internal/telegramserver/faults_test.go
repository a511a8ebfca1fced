package telegramserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot"

	"github.com/parley-run/parley/internal/telegramserver"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault telegramserver.Fault
		want  string // in the library's error
		taken bool
	}{
		{"500", telegramserver.Fault{Kind: telegramserver.FaultStatus}, "500 Internal Server Error", false},
		{"502", telegramserver.Fault{Kind: telegramserver.FaultStatus, Status: http.StatusBadGateway}, "502 Bad Gateway", false},
		{"504, taken", telegramserver.Fault{Kind: telegramserver.FaultStatus, Status: http.StatusGatewayTimeout, Taken: true}, "504 Gateway Timeout", true},
		{"a proxy's page", telegramserver.Fault{Kind: telegramserver.FaultStatus, Status: http.StatusBadGateway, Body: "<html>502</html>"}, "error decode response body", false},
		{"closed before", telegramserver.Fault{Kind: telegramserver.FaultClose}, "EOF", false},
		{"closed after", telegramserver.Fault{Kind: telegramserver.FaultClose, Taken: true}, "EOF", true},
		{"truncated", telegramserver.Fault{Kind: telegramserver.FaultTruncate}, "unexpected end of JSON input", true},
		{"limited", telegramserver.Fault{Kind: telegramserver.FaultLimit, RetryAfter: 7}, "retry_after 7", false},
		{"moved", telegramserver.Fault{Kind: telegramserver.FaultMigrate, MigrateTo: -100123}, "migrate_to_chat_id -100123", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			c.fault.Method = "sendMessage"
			fault := st.Inject(c.fault)
			_, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: st.chat.ID, Text: "x"})
			refused(t, err, c.want)
			if sent := st.Sent(st.chat); (len(sent) == 1) != c.taken {
				t.Errorf("the chat has %d messages", len(sent))
			}
			if fault.Hits() != 1 {
				t.Errorf("%d requests went wrong", fault.Hits())
			}
		})
	}
}

func TestFaultsAreChosen(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	other := st.Private(st.AddUser(telegramserver.User{FirstName: "Bob"}))
	fault := st.Inject(telegramserver.Fault{Kind: telegramserver.FaultStatus, Method: "SENDMESSAGE", Chat: st.chat.ID, Skip: 1, Times: 2})
	send := func(chat int64) bool {
		_, err := st.bot.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat, Text: "x"})
		return err == nil
	}
	for i, step := range []struct {
		chat int64
		want bool
	}{
		{st.chat.ID, true}, {other.ID, true}, {st.chat.ID, false}, {other.ID, true}, {st.chat.ID, false}, {st.chat.ID, true},
	} {
		if got := send(step.chat); got != step.want {
			t.Errorf("step %d: went well: %v, want %v", i, got, step.want)
		}
	}
	if fault.Hits() != 2 {
		t.Errorf("%d requests went wrong, want 2", fault.Hits())
	}
	always := st.Inject(telegramserver.Fault{Kind: telegramserver.FaultStatus, Times: -1})
	for range 3 {
		if send(other.ID) {
			t.Error("it went well")
		}
	}
	always.Release()
	if !send(other.ID) {
		t.Error("it went wrong after the fault was released")
	}
}

func TestLimitFaultClosesTheChat(t *testing.T) {
	t.Parallel()
	s, now, b := limited(t)
	chat := s.Private(s.AddUser(telegramserver.User{FirstName: "Ada"}))
	s.Inject(telegramserver.Fault{Kind: telegramserver.FaultLimit, RetryAfter: 5})
	if wait := sendTo(t, b, chat.ID, "x"); wait != 5*time.Second {
		t.Errorf("it has to wait %v, want 5 s", wait)
	}
	if kinds(s) != "[]" {
		t.Errorf("violations: %v", s.Violations())
	}
	now.advance(3 * time.Second)
	if wait := sendTo(t, b, chat.ID, "x"); wait != 2*time.Second {
		t.Errorf("it has to wait %v, want 2 s", wait)
	}
	if got, want := kinds(s), "[did not wait for retry_after]"; got != want {
		t.Errorf("violations: %v, want %v", got, want)
	}
	now.advance(2 * time.Second)
	if wait := sendTo(t, b, chat.ID, "x"); wait != 0 {
		t.Errorf("after the pause it has to wait %v", wait)
	}
}

// inBackground sends a text and gives how that ended.
func (st stage) inBackground(ctx context.Context, text string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := st.bot.SendMessage(ctx, &bot.SendMessageParams{ChatID: st.chat.ID, Text: text})
		done <- err
	}()
	return done
}

// result gives what a channel gives.
func result(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-soon(t).Done():
		t.Fatal("it hangs")
		return nil
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		st := newStage(t)
		fault := st.Inject(telegramserver.Fault{Kind: telegramserver.FaultHang, Method: "sendMessage", Times: 2, Taken: taken})
		ctx, giveUp := context.WithCancel(t.Context())
		first := st.inBackground(ctx, "one")
		if err := st.Wait(soon(t), func() bool { return fault.Waiting() == 1 }); err != nil {
			t.Fatal(err)
		}
		giveUp()
		if err := result(t, first); !errors.Is(err, context.Canceled) {
			t.Errorf("the client that gave up got %v", err)
		}
		if err := st.Wait(soon(t), func() bool { return fault.Waiting() == 0 }); err != nil {
			t.Fatal("the server still waits for a client that is gone")
		}
		second := st.inBackground(t.Context(), "two")
		if err := st.Wait(soon(t), func() bool { return fault.Waiting() == 1 }); err != nil {
			t.Fatal(err)
		}
		fault.Release()
		if err := result(t, second); !errors.Is(err, io.EOF) {
			t.Errorf("after it was released: %v, want a closed connection", err)
		}
		want := 0
		if taken {
			want = 2
		}
		if sent := st.Sent(st.chat); len(sent) != want {
			t.Errorf("taken %v: the chat has %d messages, want %d", taken, len(sent), want)
		}
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := telegramserver.Start(t, telegramserver.Config{Clock: now})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	st := stage{Server: s, bot: newBot(t, s), ada: ada, chat: s.Private(ada)}
	fault := st.Inject(telegramserver.Fault{Kind: telegramserver.FaultSlow, Method: "sendMessage", Delay: 10 * time.Second, Times: 2})
	for i := range 2 {
		done := st.inBackground(t.Context(), strconv.Itoa(i))
		if err := st.Wait(soon(t), func() bool { return fault.Waiting() == 1 }); err != nil {
			t.Fatal(err)
		}
		if sent := st.Sent(st.chat); len(sent) != i+1 {
			t.Fatalf("the chat has %d messages while the answer waits", len(sent))
		}
		now.advance(10 * time.Second)
		if err := result(t, done); err != nil {
			t.Errorf("the slow answer: %v", err)
		}
	}
}

func TestFaultOfADownload(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	m := st.Post(st.chat, st.ada, telegramserver.Post{Document: &telegramserver.File{Name: "a", Data: []byte("abc")}})[0]
	st.Inject(telegramserver.Fault{Kind: telegramserver.FaultStatus, Method: "file", Status: http.StatusBadGateway})
	file, err := st.bot.GetFile(t.Context(), &bot.GetFileParams{FileID: m.Document.FileID})
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := post(t, st.bot.FileDownloadLink(file), "", ""); status != http.StatusBadGateway {
		t.Errorf("the first download: %d", status)
	}
	if got := fetch(t, st.bot, m.Document.FileID); got != "abc" {
		t.Errorf("the second download: %q", got)
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	t.Parallel()
	s := telegramserver.New(telegramserver.Config{})
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	fault := s.Inject(telegramserver.Fault{Kind: telegramserver.FaultHang, Method: "getMe"})
	done := make(chan error, 1)
	go func() {
		_, err := bot.New(s.Token(), bot.WithServerURL(s.URL), bot.WithHTTPClient(time.Second, client(t)))
		done <- err
	}()
	if err := s.Wait(soon(t), func() bool { return fault.Waiting() == 1 }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if result(t, done) == nil {
		t.Error("the request went well")
	}
}

// The bot is a process of its own that is killed while it polls and while it
// sends; the server goes on, and gives the next one what the first did not confirm.
func TestBotIsKilled(t *testing.T) {
	t.Parallel()
	if target := os.Getenv("TELEGRAMSERVER_TEST_BOT"); target != "" {
		runBot(t, target)
		return
	}
	s := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	ada := s.AddUser(telegramserver.User{FirstName: "Ada"})
	chat := s.Private(ada)
	for round := range 5 {
		fault := s.Inject(telegramserver.Fault{Kind: telegramserver.FaultHang, Method: "sendMessage", Taken: round%2 == 1, Times: -1})
		said := s.Say(chat, ada, "message "+strconv.Itoa(round))
		process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBotIsKilled$")
		process.Env = append(os.Environ(), "TELEGRAMSERVER_TEST_BOT="+s.URL)
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(soon(t), func() bool { return fault.Waiting() > 0 }); err != nil {
			t.Fatal("the bot did not answer")
		}
		if err := process.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = process.Wait() // it says that it was killed
		if err := s.Wait(soon(t), func() bool { return fault.Waiting() == 0 }); err != nil {
			t.Fatal("the server waits for a process that is dead")
		}
		fault.Release()
		if ids, texts := poll(t, s, nil); len(ids) == 0 || texts[len(texts)-1] != said.Text {
			t.Fatalf("round %d: the next one gets %v", round, texts)
		}
	}
	if sent := s.Sent(chat); len(sent) < 2 {
		t.Errorf("the chat has %d messages, want those that were taken before the kill", len(sent))
	}
}

// runBot answers every message until it is killed.
func runBot(t *testing.T, target string) {
	t.Helper()
	b, err := bot.New(telegramserver.DefaultToken, bot.WithServerURL(target), bot.WithCheckInitTimeout(within))
	if err != nil {
		t.Fatal(err)
	}
	for {
		status, answer := post(t, target+"/bot"+telegramserver.DefaultToken+"/getUpdates?timeout=30", "", "")
		if status != http.StatusOK || strings.TrimSpace(string(answer.Result)) == "[]" {
			continue
		}
		_, _ = b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: firstChat(t, answer.Result), Text: "answer"})
	}
}
