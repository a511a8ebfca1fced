package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/config"
)

// chatApp is a chat platform in the same process. Its only good token is "good".
type chatApp struct {
	cfg platformConfig
	*chatServer
}

// chatServer is where all bots of a test are.
type chatServer struct {
	came chan channel.Received
	sent chan channel.Outgoing

	mu     sync.Mutex
	broken error // what sending fails with
}

func newChatServer() *chatServer {
	return &chatServer{came: make(chan channel.Received, 10), sent: make(chan channel.Outgoing, 100)}
}

// table has this chat app alone.
func (s *chatServer) table() map[string]newPlatformFunc {
	return map[string]newPlatformFunc{"telegram": func(cfg platformConfig) (channel.Platform, error) { return &chatApp{cfg, s}, nil }}
}

func (*chatApp) Name() string      { return "telegram" }
func (a *chatApp) Account() string { return a.cfg.Account }
func (*chatApp) Capabilities() channel.Capabilities {
	return channel.Capabilities{MaxUnits: 4096, Buttons: true, MaxData: 64}
}
func (*chatApp) Typing(context.Context, parley.Target) error          { return nil }
func (*chatApp) Edit(context.Context, string, channel.Outgoing) error { return nil }

func (a *chatApp) Send(_ context.Context, m channel.Outgoing) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken != nil {
		return "", a.broken
	}
	a.sent <- m
	return "sent-1", nil
}

func (a *chatApp) Run(ctx context.Context, to channel.Receiver) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-a.came:
			if err := to.Receive(ctx, m); err != nil {
				return err
			}
		}
	}
}

func (a *chatApp) Profile(context.Context) (channel.Profile, error) {
	if a.cfg.Token.Reveal() != "good" {
		return channel.Profile{}, parley.Errorf(parley.CodeUnauthorized, "no")
	}
	return channel.Profile{ID: "99", Name: "@our_bot", Link: "https://chat.example/our_bot?start=", Hints: []string{"Group privacy is on."}}, nil
}

func (a *chatApp) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusTeapot)
}

// says is a direct message.
func says(id, sender, text string) channel.Received {
	return channel.Received{Inbound: parley.Inbound{
		ChatType: "direct", ChatID: sender, MessageID: id, Sender: parley.Sender{ID: sender, Name: "Ada"}, Parts: []parley.Part{parley.TextPart(text)},
	}, Mentioned: true}
}

// hears waits for the next message that is sent.
func (s *chatServer) hears(t *testing.T) channel.Outgoing {
	t.Helper()
	select {
	case m := <-s.sent:
		return m
	case <-time.After(time.Minute):
		t.Fatal("nothing was sent")
		return channel.Outgoing{}
	}
}

// chatTest is an app with a chat platform and a configuration.
func chatTest(t *testing.T, text string, environ ...string) (*app, *chatServer, *bytes.Buffer) {
	t.Helper()
	env := map[string]string{"TELEGRAM_TOKEN": "good"}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		env[name] = value
	}
	s, out := newChatServer(), &bytes.Buffer{}
	a := &app{
		in: strings.NewReader(""), out: out, err: &bytes.Buffer{}, data: t.TempDir(), platforms: s.table(),
		getenv: func(name string) string { return env[name] }, environ: func() []string { return nil },
	}
	env["PARLEY_DATA"] = a.data
	if text != "" {
		if err := os.WriteFile(filepath.Join(a.getenv("PARLEY_DATA"), config.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a, s, out
}

// runChats runs an installation with its chats until the test ends or stop is called.
func runChats(t *testing.T, a *app) (in *installation, stop func()) {
	t.Helper()
	in, err := a.install(t.Context(), installOptions{Channels: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- in.run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("it ended with %v", err)
		}
		if err := in.close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	<-in.engine.Ready()
	return in, stop
}

const chatConfig = `
agents: {main: {model: scripted/demo}}
owner: {identities: ["telegram:7"]}
channels: {telegram: {token: env:TELEGRAM_TOKEN, burst: 0s}}
`

// TestChat goes from a message in a chat to its answer there.
func TestChat(t *testing.T) {
	t.Parallel()
	a, s, _ := chatTest(t, chatConfig)
	in, stop := runChats(t, a)
	s.came <- says("1", "7", "hello")
	if got := s.hears(t); got.Target.Chat != "7" || got.Text.Text == "" {
		t.Errorf("got %+v", got)
	}
	s.came <- says("1", "7", "hello") // again: nothing more is said
	s.came <- says("2", "8", "hello")
	if got := s.hears(t); got.Target.Chat != "8" || !strings.Contains(got.Text.Text, "parley channels pair") {
		t.Errorf("got %+v", got)
	}
	if got := in.channels.conditions(); got["telegram"] != "ok" {
		t.Errorf("got %v", got)
	}
	stop()
	if got := in.channels.conditions(); got["telegram"] != "it has stopped" {
		t.Errorf("got %v", got)
	}
	if len(s.sent) > 0 {
		t.Errorf("it said %+v", <-s.sent)
	}
}

// TestChatNeedsModel: chats are not answered from a script, unless that is wanted.
func TestChatNeedsModel(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"no model":   {"channels: {telegram: {token: env:TELEGRAM_TOKEN}}\n", "would answer people from a script"},
		"no token":   {"agents: {main: {model: scripted/demo}}\nchannels: {telegram: {token: env:OTHER}}\n", "the token of telegram cannot be read"},
		"no adapter": {"agents: {main: {model: scripted/demo}}\nchannels: {slack: {token: env:TELEGRAM_TOKEN}}\n", "this program has no adapter for it"},
	} {
		a, _, _ := chatTest(t, test.text)
		if _, err := a.install(t.Context(), installOptions{Channels: true}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestOutboxCommands: what could not be sent is listed, sent again or dropped.
func TestOutboxCommands(t *testing.T) {
	t.Parallel()
	a, s, out := chatTest(t, chatConfig)
	s.broken = parley.Errorf(parley.CodeForbidden, "the bot was blocked")
	in, stop := runChats(t, a)
	s.came <- says("1", "7", "hello")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		dead, err := in.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{State: parley.DeliveryDead})
		if err != nil {
			t.Fatalf("nothing was given up: %v", err)
		}
		if len(dead) > 0 {
			tick.Stop()
			break
		}
		<-tick.C
	}
	stop()
	run := func(args ...string) string {
		t.Helper()
		out.Reset()
		if status := a.execute(t.Context(), args); status != 0 {
			t.Fatalf("%v: %d, %s", args, status, a.err)
		}
		return out.String()
	}
	var list struct {
		Deliveries []struct{ ID, State, Text string }
	}
	if err := json.Unmarshal([]byte(run("outbox", "--json")), &list); err != nil || len(list.Deliveries) != 1 || list.Deliveries[0].State != "dead" {
		t.Fatalf("got %+v, %v", list, err)
	}
	if got := run("outbox", "ls"); !strings.Contains(got, "dead") || !strings.Contains(got, "the bot was blocked") {
		t.Errorf("got %q", got)
	}
	if got := run("status"); !strings.Contains(got, "  outbox     1 given up; see 'parley outbox'\n") {
		t.Errorf("got %q", got)
	}
	if got := run("outbox", "retry", list.Deliveries[0].ID[:6]); got != "1 message on the way.\n" {
		t.Errorf("got %q", got)
	}
	if got := run("outbox", "ls", "--state", "pending"); !strings.Contains(got, "pending") {
		t.Errorf("got %q", got)
	}
	if got := run("status"); !strings.Contains(got, "  outbox     1 on the way\n") {
		t.Errorf("got %q", got)
	}
	if got := run("outbox", "drop", list.Deliveries[0].ID); got != "1 message dropped.\n" {
		t.Errorf("got %q", got)
	}
	if got := run("outbox", "--json"); !strings.Contains(got, `"deliveries": []`) {
		t.Errorf("got %q", got)
	}
	if got := run("status"); strings.Contains(got, "outbox") {
		t.Errorf("got %q", got)
	}
}

// TestChannelsAdd goes from a token to the owner's linked account.
func TestChannelsAdd(t *testing.T) {
	t.Parallel()
	a, s, out := chatTest(t, "agents: {main: {model: scripted/demo}}")
	a.in = strings.NewReader("good\n")
	said := &watched{want: regexp.MustCompile(`/link ([0-9A-Z]{4}-[0-9A-Z]{4})`), found: make(chan string, 1)}
	a.err = said
	go func() { s.came <- says("1", "7", "/link "+<-said.found) }()
	if status := a.execute(t.Context(), []string{"channels", "add", "telegram"}); status != 0 {
		t.Fatalf("%d: %s", status, said)
	}
	for _, want := range []string{"The token is good: the bot is @our_bot.", "It is in ", "telegram:7 is you."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out)
		}
	}
	for _, want := range []string{"Group privacy is on.", "https://chat.example/our_bot?start="} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	if got := s.hears(t).Text.Text; !strings.Contains(got, "linked") {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(filepath.Join(a.getenv("PARLEY_DATA"), "telegram.token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
	// The daemon knows the bot, and whose account it is.
	a.loaded = nil
	runChats(t, a)
	s.came <- says("2", "7", "hello")
	if got := s.hears(t).Text.Text; strings.Contains(got, "code") {
		t.Errorf("got %q", got)
	}
}

// watched is where something is written that a test waits for.
type watched struct {
	want  *regexp.Regexp
	found chan string

	mu   sync.Mutex
	text strings.Builder
	done bool
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if m := w.want.FindStringSubmatch(w.text.String()); m != nil && !w.done {
		w.done = true
		w.found <- m[1]
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestChannelsAddRefuses: a token that is not good changes nothing, and what cannot be
// added by itself is shown.
func TestChannelsAddRefuses(t *testing.T) {
	t.Parallel()
	a, _, _ := chatTest(t, "", "TELEGRAM_TOKEN=bad")
	if status := a.execute(t.Context(), []string{"channels", "add", "telegram", "--token", "env:TELEGRAM_TOKEN"}); status != exitFailed {
		t.Errorf("got %d", status)
	}
	if got := fmt.Sprint(a.err); !strings.Contains(got, "does not know the token") || strings.Contains(got, "bad") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(a.getenv("PARLEY_DATA"), config.FileName)); err == nil {
		t.Error("there is a configuration")
	}
	a, _, _ = chatTest(t, "")
	a.in = strings.NewReader("bad\n")
	if status := a.execute(t.Context(), []string{"channels", "add", "telegram"}); status != exitFailed {
		t.Errorf("got %d", status)
	}
	if left, err := os.ReadDir(a.getenv("PARLEY_DATA")); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
	a, _, _ = chatTest(t, "")
	a.platforms = platforms() // the real adapter sees by itself that this is none
	a.in = strings.NewReader("no token at all\n")
	if status := a.execute(t.Context(), []string{"channels", "add", "telegram"}); status != exitFailed {
		t.Errorf("got %d", status)
	}
	if left, err := os.ReadDir(a.getenv("PARLEY_DATA")); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
	a, _, out := chatTest(t, "channels: {}\n")
	if status := a.execute(t.Context(), []string{"channels", "add", "telegram", "--token", "env:TELEGRAM_TOKEN", "--no-wait"}); status != 0 {
		t.Errorf("got %d: %s", status, a.err)
	}
	if !strings.Contains(out.String(), "Add this to channels in ") || !strings.Contains(out.String(), "    token: env:TELEGRAM_TOKEN\n") {
		t.Errorf("got %q", out)
	}
}

func TestChannelsList(t *testing.T) {
	t.Parallel()
	a, _, out := chatTest(t, "channels: {telegram: {token: env:TELEGRAM_TOKEN, accounts: {work: {token: env:WORK}}}}\n", "WORK=bad")
	if status := a.execute(t.Context(), []string{"channels"}); status != 0 || !strings.Contains(out.String(), "telegram/work") || !strings.Contains(out.String(), "no daemon runs") {
		t.Errorf("got %d, %q", status, out)
	}
	out.Reset()
	if status := a.execute(t.Context(), []string{"channels", "test"}); status != exitFailed ||
		!strings.Contains(out.String(), "telegram: ok, @our_bot\n  Group privacy is on.\n") || !strings.Contains(out.String(), "telegram/work: the platform does not know the token") {
		t.Errorf("got %d, %q", status, out)
	}
	if status := a.execute(t.Context(), []string{"channels", "test", "slack"}); status != exitFailed {
		t.Errorf("got %d", status)
	}
}

// TestHooks: what a platform brings goes to its adapter, and the rest where it went.
func TestHooks(t *testing.T) {
	t.Parallel()
	a, _, _ := chatTest(t, `
agents: {main: {model: scripted/demo}}
channels: {telegram: {token: env:TELEGRAM_TOKEN, webhook: true, accounts: {work: {token: env:TELEGRAM_TOKEN}}}}
serve: {public_url: "https://parley.example.com"}
`)
	in, _ := runChats(t, a)
	if got := in.channels.bots[0].platform.(*chatApp).cfg.Webhook; got != "https://parley.example.com/hooks/telegram/default" { //nolint:forcetypeassert // there is no other
		t.Errorf("got %q", got)
	}
	h := in.channels.hooks(http.NotFoundHandler())
	for path, want := range map[string]int{
		"/hooks/telegram/default": http.StatusTeapot, "/hooks/telegram/work": http.StatusNotFound, "/api/sessions": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, http.NoBody))
		if w.Code != want {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}

// TestChannelWithoutToken: a channel that could have a bot and has none is told of.
func TestChannelWithoutToken(t *testing.T) {
	t.Parallel()
	a, _, _ := chatTest(t, "agents: {main: {model: scripted/demo}}\nchannels: {telegram: {allow: ['7']}, slack: {session: {reset: {mode: none}}}}")
	var log bytes.Buffer
	in, err := a.install(t.Context(), installOptions{Channels: true, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "channel=telegram") || strings.Contains(log.String(), "slack") {
		t.Errorf("the log has %q", &log)
	}
}

func TestOutboxText(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]client.Backlog{
		"": {Queued: 3}, "2 on the way": {Unsent: 2}, "100 or more on the way": {Unsent: 100},
		"1 on the way, 2 held, as they became old, 3 given up; see 'parley outbox'": {Unsent: 1, Held: 2, Dead: 3},
	} {
		if got := outboxText(l); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
