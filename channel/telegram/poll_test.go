package telegram_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/internal/telegramserver"
)

// TestPoll_OffsetAfterAdmission has messages that cannot be taken in at first: Telegram
// keeps them, and those after them in the same chat, and gives them again in order.
func TestPoll_OffsetAfterAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Clock: newClock()})
	chat, other := w.Private(w.ann), w.Private(w.bob)
	var refused atomic.Int32
	w.inbox.receiveFunc = func(_ context.Context, m channel.Received) error {
		if parley.PlainText(m.Parts) == "second" && refused.Add(1) <= 3 {
			return errBusy
		}
		return nil
	}
	w.Say(chat, w.ann, "first")
	w.Say(chat, w.ann, "second")
	w.Say(other, w.bob, "beside it")
	w.Say(chat, w.ann, "third")
	w.run()
	w.received(4)
	w.confirmed()
	var texts []string
	for _, m := range w.inbox.all() {
		if m.ChatID == id(chat) {
			texts = append(texts, parley.PlainText(m.Parts))
		}
	}
	if diff := cmp.Diff([]string{"first", "second", "third"}, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := refused.Load(); n != 4 {
		t.Errorf("the second was given %d times", n)
	}
	if n := strings.Count(strings.Join(w.inbox.texts(), ","), "beside it"); n != 1 {
		t.Errorf("another chat's message was taken in %d times", n)
	}
	w.eventually("it is well again", func() bool { return w.bot.Condition() == "ok" })
}

// TestPoll_Stopped stops while a message is being taken in: it comes again.
func TestPoll_Stopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat, other := w.Private(w.ann), w.Private(w.bob)
	began := make(chan struct{})
	w.inbox.receiveFunc = func(ctx context.Context, m channel.Received) error {
		if m.ChatID != id(chat) {
			return nil
		}
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}
	w.Say(other, w.bob, "taken")
	w.Say(chat, w.ann, "hello")
	stop := w.run()
	<-began
	w.received(1)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if n := w.Pending(); n != 1 {
		t.Errorf("%d updates are not confirmed, want the one", n)
	}
	if got := w.bot.Condition(); got != "it was stopped" {
		t.Errorf("it is %q", got)
	}
	w.inbox.mu.Lock()
	w.inbox.receiveFunc = nil
	w.inbox.mu.Unlock()
	w.run()
	w.received(2)
	w.confirmed()
	if diff := cmp.Diff([]string{"taken", "hello"}, w.inbox.texts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPoll_SlowChat has one chat take long, as with a large file: others go on.
func TestPoll_SlowChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Clock: newClock()})
	slow, quick := w.Private(w.ann), w.Private(w.bob)
	release := make(chan struct{})
	w.inbox.receiveFunc = func(ctx context.Context, m channel.Received) error {
		if m.ChatID == id(slow) {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
	w.run()
	w.Say(slow, w.ann, "a film")
	w.Say(slow, w.ann, "and a word")
	for i := range 5 {
		w.Say(quick, w.bob, fmt.Sprint("quick ", i))
		w.received(i + 1)
	}
	if w.Pending() == 0 {
		t.Error("what was not taken in is confirmed")
	}
	close(release)
	w.received(7)
	w.confirmed()
	if diff := cmp.Diff([]string{"a film", "and a word"}, w.inbox.texts()[5:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPoll_Again has Telegram give updates twice, out of order, and after the offset
// was lost. They all get through, under the same names: who receives knows them.
func TestPoll_Again(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	chat := w.Private(w.ann)
	w.run()
	w.Say(chat, w.ann, "one")
	w.received(1)
	w.confirmed()
	first := w.Updates()[0].ID
	w.Repeat(first)
	w.received(2)
	w.Hold()
	w.Say(chat, w.ann, "two")
	w.Say(chat, w.ann, "three")
	w.Say(chat, w.ann, "four")
	w.Release(2, 0, 1)
	w.received(5)
	w.confirmed()
	w.Rewind(first)
	w.received(9)
	w.confirmed()
	texts := w.inbox.texts()
	if diff := cmp.Diff([]string{"one", "one", "four", "two", "three"}, texts[:5]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ids := map[string]map[string]bool{}
	for _, m := range w.inbox.all() {
		text := parley.PlainText(m.Parts)
		if ids[text] == nil {
			ids[text] = map[string]bool{}
		}
		ids[text][m.MessageID] = true
	}
	for text, names := range ids {
		if len(names) != 1 {
			t.Errorf("%q came under the names %v", text, names)
		}
	}
}

// TestPoll_Network has everything fail for a while.
func TestPoll_Network(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault     telegramserver.Fault
		condition string
	}{
		"closed":    {telegramserver.Fault{Kind: telegramserver.FaultClose}, "does not answer"},
		"502":       {telegramserver.Fault{Kind: telegramserver.FaultStatus, Status: 502, Body: "<html>"}, "does not answer"},
		"truncated": {telegramserver.Fault{Kind: telegramserver.FaultTruncate}, "does not answer"},
		"limited":   {telegramserver.Fault{Kind: telegramserver.FaultLimit, RetryAfter: 100}, "too many requests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newClock()
			w := newWorld(t, telegramserver.Config{}, telegram.Config{Clock: clock})
			chat := w.Private(w.ann)
			c.fault.Method, c.fault.Times = "getUpdates", -1
			fault := w.Inject(c.fault)
			w.Say(chat, w.ann, "hello")
			w.run()
			w.eventually("it has failed often", func() bool { return fault.Hits() > 8 })
			if got := w.bot.Condition(); !strings.Contains(got, c.condition) {
				t.Errorf("it is %q, want %q in it", got, c.condition)
			}
			fault.Release()
			w.received(1)
			w.eventually("it is well again", func() bool { return w.bot.Condition() == "ok" })
			waited := clock.waited()[:8]
			if !slices.IsSorted(waited) || waited[0] < time.Second || waited[7] < time.Minute || name != "limited" && waited[7] > time.Minute {
				t.Errorf("it waited for %v", waited)
			}
			if name == "limited" && waited[0] < 100*time.Second {
				t.Errorf("it was told to wait for 100 s and waited for %v", waited)
			}
		})
	}
}

// TestPoll_NobodyThere starts while Telegram cannot be reached at all.
func TestPoll_NobodyThere(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	w.bot = newBot(t, telegram.Config{Token: w.Token(), URL: gone.URL, Clock: newClock()})
	w.run()
	w.eventually("that is known", func() bool { return w.bot.Condition() == "Telegram cannot be reached" })
}

func TestPoll_TokenRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	b := newBot(t, telegram.Config{Token: "1:other", URL: w.URL})
	err := b.Run(t.Context(), w.inbox)
	if parley.CodeOf(err) != parley.CodeUnauthorized || !strings.Contains(err.Error(), "BotFather") {
		t.Errorf("it ended with %v", err)
	}
	if got := b.Condition(); !strings.HasPrefix(got, "token refused") {
		t.Errorf("it is %q", got)
	}
	if _, err := b.Profile(t.Context()); parley.CodeOf(err) != parley.CodeUnauthorized {
		t.Errorf("its profile: %v", err)
	}
}

// TestPoll_Conflict has another program ask for the same bot's updates.
func TestPoll_Conflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Clock: newClock()})
	chat := w.Private(w.ann)
	other := w.Inject(telegramserver.Fault{
		Kind: telegramserver.FaultStatus, Method: "getUpdates", Times: -1, Status: http.StatusConflict,
		Body: `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}`,
	})
	w.run()
	w.eventually("that is known", func() bool { return strings.HasPrefix(w.bot.Condition(), "another program") })
	other.Release()
	w.Say(chat, w.ann, "hello")
	w.received(1)
}

// TestPoll_Webhook begins while there is a webhook, and another is set later.
func TestPoll_Webhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Clock: newClock()})
	chat := w.Private(w.ann)
	hooked := newBot(t, telegram.Config{Token: w.Token(), URL: w.URL, Webhook: "http://127.0.0.1:1/nobody"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hooked.Run(ctx, w.inbox) }()
	w.until("there is a webhook", func() bool { return len(w.Calls("setWebhook")) > 0 })
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.Say(chat, w.ann, "hello")
	w.run()
	w.received(1)
	if n := len(w.Calls("deleteWebhook")); n != 1 {
		t.Errorf("the webhook was taken away %d times", n)
	}
}

// TestPoll_Unreadable has updates that nobody can read, or that nobody asked for: they
// are confirmed, and those after them come.
func TestPoll_Unreadable(t *testing.T) {
	t.Parallel()
	updates := []string{
		`{"update_id":7,"message_reaction":{"chat":{"id":1}}}`,
		`{"update_id":8,"message":{"message_id":"no number"}}`,
		`{"update_id":9,"something_of_next_year":{"id":1}}`,
		`{"update_id":10,"callback_query":{"id":"1","from":{"id":5},"inline_message_id":"x","data":"y:1"}}`,
		`{"update_id":11,"message":{"message_id":3,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":5,"first_name":"Ann"},"text":"hello"}}`,
	}
	var confirmed atomic.Int64
	url := scripted(t, func(ctx context.Context, offset int64) []string {
		confirmed.Store(offset)
		if offset > 7 {
			<-ctx.Done()
		}
		return updates
	})
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	w.bot = newBot(t, telegram.Config{Token: w.Token(), URL: url})
	w.run()
	got := w.received(1)
	if text := parley.PlainText(got[0].Parts); text != "hello" || len(got) != 1 {
		t.Errorf("received %d, the first %q", len(got), text)
	}
	w.eventually("all are confirmed", func() bool { return confirmed.Load() == 12 })
}

// scripted is a server that gives a bot updates by its offset.
func scripted(t *testing.T, updatesFunc func(ctx context.Context, offset int64) []string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result := "true"
		switch body, _ := io.ReadAll(r.Body); {
		case strings.HasSuffix(r.URL.Path, "/getMe"):
			result = `{"id":42,"is_bot":true,"first_name":"Bot","username":"my_bot"}`
		case strings.HasSuffix(r.URL.Path, "/getUpdates"):
			var asked struct {
				Offset int64 `json:"offset"`
			}
			if err := json.Unmarshal(body, &asked); err != nil {
				t.Error(err)
			}
			result = "[" + strings.Join(updatesFunc(r.Context(), asked.Offset), ",") + "]"
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":`+result+`}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestPoll_Quiet has a week pass, after which Telegram numbers updates anew, from
// anywhere.
func TestPoll_Quiet(t *testing.T) {
	t.Parallel()
	const update = `{"update_id":%d,"message":{"message_id":%d,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":5,"first_name":"Ann"},"text":"hello"}}`
	clock := newClock()
	var given atomic.Bool
	url := scripted(t, func(ctx context.Context, offset int64) []string {
		switch {
		case offset == 0 && given.CompareAndSwap(false, true):
			return []string{fmt.Sprintf(update, 900, 1)}
		case offset == 901:
			clock.AfterFunc(7*time.Hour, func() {})
			return nil
		case offset <= 20:
			return []string{fmt.Sprintf(update, 20, 2)}
		}
		<-ctx.Done()
		return nil
	})
	w := newWorld(t, telegramserver.Config{}, telegram.Config{})
	w.bot = newBot(t, telegram.Config{Token: w.Token(), URL: url, Clock: clock})
	w.run()
	if got := w.received(2); got[1].MessageID != "2" {
		t.Errorf("received %+v", got)
	}
}

func TestMenu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Commands: []telegram.Command{
		{Name: "new", Description: "start anew"}, {Name: "No-Good", Description: "x"}, {Name: "empty"}, {Name: "help", Description: strings.Repeat("what there is ", 30)},
	}})
	w.run()
	w.eventually("it is well, though nobody has written", func() bool { return w.bot.Condition() == "ok" })
	w.until("the menu is set", func() bool { return len(w.Calls("setMyCommands")) == 1 })
	call := w.Calls("setMyCommands")[0]
	var menu []telegramserver.BotCommand
	if err := json.Unmarshal([]byte(call.Params["commands"]), &menu); err != nil {
		t.Fatal(err)
	}
	if call.Status != http.StatusOK || len(menu) != 2 || menu[0] != (telegramserver.BotCommand{Command: "new", Description: "start anew"}) || menu[1].Command != "help" {
		t.Errorf("the menu is %+v, which was answered by %d %s", menu, call.Status, call.Error)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	for _, privacy := range []bool{true, false} {
		w := newWorld(t, telegramserver.Config{Privacy: privacy}, telegram.Config{})
		p, err := w.bot.Profile(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != fmt.Sprint(w.Bot().ID) || p.Name != "@parley_test_bot" || p.Link != "https://t.me/parley_test_bot?start=" {
			t.Errorf("the profile is %+v", p)
		}
		if hinted := strings.Contains(strings.Join(p.Hints, " "), "/setprivacy"); hinted != privacy {
			t.Errorf("with privacy mode %t it says %q", privacy, p.Hints)
		}
	}
}

// TestPoll_Random has many people write, and messages fail at random: each is taken in
// once, and those of a chat in their order.
func TestPoll_Random(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Clock: newClock()})
	random := rand.New(rand.NewPCG(soak.Seed(t), 4))
	var mu sync.Mutex
	chance := func(n int) bool {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n) == 0
	}
	w.inbox.receiveFunc = func(context.Context, channel.Received) error {
		for !chance(10) {
			runtime.Gosched()
		}
		if chance(6) {
			return errBusy
		}
		return nil
	}
	w.run()
	const chats, messages = 8, 40
	var people []telegramserver.User
	for n := range chats {
		people = append(people, w.AddUser(telegramserver.User{FirstName: fmt.Sprint("Guest ", n)}))
	}
	want := map[string][]string{}
	for n := range messages {
		for _, p := range people {
			chat := w.Private(p)
			text := fmt.Sprint("message ", n)
			w.Say(chat, p, text)
			want[id(chat)] = append(want[id(chat)], text)
		}
	}
	w.received(chats * messages)
	w.confirmed()
	got := map[string][]string{}
	for _, m := range w.inbox.all() {
		got[m.ChatID] = append(got[m.ChatID], parley.PlainText(m.Parts))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
