package telegram_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
	"github.com/parley-run/parley/sqlite"
)

// wire connects a client with a server in the same process, so that the time of a
// bubble passes while both wait.
type wire struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newWire() *wire { return &wire{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept gives the next connection.
func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

// Close ends it.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.done) })
	return nil
}

// Addr is nowhere.
func (*wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case w.conns <- far:
		return near, nil
	case <-w.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// crowdOf serves a server in a bubble, and gives a bot there.
func crowdOf(t *testing.T) (*telegramserver.Server, *telegram.Bot) {
	t.Helper()
	server := telegramserver.New(telegramserver.Config{})
	wire := newWire()
	front := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- front.Serve(wire) }()
	transport := &http.Transport{DialContext: wire.dial, MaxIdleConnsPerHost: 64}
	b, err := telegram.New(telegram.Config{Token: server.Token(), URL: "http://telegram.test", Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
		_ = front.Close()
		<-served
	})
	return server, b
}

// TestCrowd has replies for a thousand chats at once. One of them hangs, one is
// limited, and one has blocked the bot; they delay no other. All others are sent in the
// time that Telegram's limits ask for, and these are never exceeded as the server
// counts them.
func TestCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many = 1000
		server, b := crowdOf(t)
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		var chats []*telegramserver.Chat
		for n := range many {
			person := server.AddUser(telegramserver.User{FirstName: fmt.Sprint("Guest ", n)})
			chats = append(chats, server.Private(person))
			if n == 2 {
				server.Block(person)
			}
		}
		// Groups have more to hear than they may in a minute.
		group := server.Group("Family")
		fill(t, store, chats, 1)
		fill(t, store, []*telegramserver.Chat{group}, 25)
		server.Inject(telegramserver.Fault{Kind: telegramserver.FaultHang, Method: "sendMessage", Chat: chats[0].ID, Times: 3})
		server.Inject(telegramserver.Fault{Kind: telegramserver.FaultLimit, Method: "sendMessage", Chat: chats[1].ID, RetryAfter: 120})

		outbox, err := channel.New(store, channel.Config{Platforms: []channel.Platform{b}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		begin := time.Now()
		go func() { ran <- outbox.Run(ctx) }()

		arrived := func(list []*telegramserver.Chat, n int) func() bool {
			return func() bool {
				for _, c := range list {
					if len(server.Sent(c)) < n {
						return false
					}
				}
				return true
			}
		}
		within, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := server.Wait(within, arrived(chats[3:], 1)); err != nil {
			t.Fatal(err)
		}
		if n := len(server.Sent(chats[0])) + len(server.Sent(chats[1])) + len(server.Sent(chats[2])); n != 0 {
			t.Errorf("%d messages are in chats that hang, are limited or are closed", n)
		}
		const longest = 40 * time.Second // until the last chat was tried
		// In every second 30 may go: the last of so many after so many full ones.
		sent := len(chats[3:]) + 20
		least := time.Duration((sent-1)/30) * time.Second
		if took := time.Since(begin); took > least*12/10 {
			t.Errorf("%d replies took %s; the limits allow them in %s", sent, took, least)
		} else {
			t.Logf("%d replies took %s; the limits allow them in %s", sent, took, least)
		}
		if err := server.Wait(within, arrived([]*telegramserver.Chat{chats[1]}, 1)); err != nil {
			t.Errorf("the chat that was limited: %v", err)
		} else if took := time.Since(begin); took < 120*time.Second || took > longest+125*time.Second {
			t.Errorf("what had to wait for two minutes was sent after %s", took)
		}
		if err := server.Wait(within, arrived([]*telegramserver.Chat{group}, 25)); err != nil {
			t.Errorf("the group: %v", err)
		}
		if err := server.Wait(within, arrived(chats[:1], 1)); err != nil {
			t.Errorf("the chat that hung: %v", err)
		} else if got := server.Sent(chats[0])[0].Text; !strings.HasPrefix(got, "↻") {
			t.Errorf("nobody knew whether it had arrived, and it is not marked: %q", got)
		}
		synctest.Wait()
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		for _, v := range server.Violations() {
			t.Errorf("the server counted %+v", v)
		}
		checkState(t, store, chats[2], parley.DeliveryDead)
	})
}

// fill puts replies for chats into the outbox, each chat's in a session of its own.
func fill(t *testing.T, store parley.Store, chats []*telegramserver.Chat, n int) {
	t.Helper()
	var batch parley.Batch
	batch.At = time.Now()
	for _, c := range chats {
		change := parley.SessionChange{
			Session: session(c),
			Create: &parley.NewSession{
				Key: parley.Key("sk_v1_" + id(c)), Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"},
				Source: parley.Source{Kind: "channel", Platform: "telegram"},
			},
		}
		for i := range n {
			change.Deliveries = append(change.Deliveries, parley.DeliveryChange{New: &parley.Delivery{
				ID: parley.DeliveryID(fmt.Sprintf("d_%s_%02d", id(c), i)), Kind: parley.DeliveryMessage, Target: to(c),
				Text: fmt.Sprintf("**Reply** %d", i), State: parley.DeliveryPending,
			}})
		}
		batch.Sessions = append(batch.Sessions, change)
		batch.Keys = append(batch.Keys, parley.KeyChange{Key: change.Create.Key, Session: change.Session})
		if len(batch.Sessions) == 50 {
			commit(t, store, batch)
			batch.Sessions, batch.Keys = nil, nil
		}
	}
	if len(batch.Sessions) > 0 {
		commit(t, store, batch)
	}
}

func session(c *telegramserver.Chat) parley.SessionID { return parley.SessionID("telegram:" + id(c)) }

func commit(t *testing.T, store parley.Store, b parley.Batch) {
	t.Helper()
	if _, err := store.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// checkState checks what became of a chat's only reply.
func checkState(t *testing.T, store parley.Store, c *telegramserver.Chat, want parley.DeliveryState) {
	t.Helper()
	rows, err := store.Deliveries(t.Context(), parley.SeeAll(), parley.DeliveryQuery{Session: session(c), State: want})
	if err != nil || len(rows) != 1 {
		t.Errorf("%d deliveries of the chat are %s (%v)", len(rows), want, err)
	}
}
