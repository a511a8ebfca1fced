package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// texts gives what users said in a session, in order.
func (w *world) texts(id parley.SessionID) []string {
	w.t.Helper()
	var list []string
	cursor := ""
	for {
		page, err := w.Messages(w.t.Context(), id, cursor, 3)
		if err != nil {
			w.t.Fatal(err)
		}
		var part []string
		for _, m := range page.Messages {
			if m.Message.Role == parley.MessageUser {
				part = append(part, parley.PlainText(m.Message.Parts))
			}
		}
		list = append(part, list...)
		if cursor = page.Cursor; cursor == "" {
			return list
		}
	}
}

// TestPostIsSaidOnce sends each message through a proxy that spoils the first
// attempts, each in another way.
func TestPostIsSaidOnce(t *testing.T) {
	t.Parallel()
	for what := range fates {
		t.Run(fmt.Sprint(what), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.session("once")
			var left atomic.Int32
			w.proxy.fateFunc = func(r *http.Request) fate {
				if r.Method == http.MethodPost && left.Add(-1) >= 0 {
					return what
				}
				return forward
			}
			left.Store(3)
			receipt, err := w.Post(t.Context(), id, text("made"))
			if err != nil || receipt.ID == "" || receipt.Duplicate {
				t.Fatalf("with an id that is made: %+v, %v", receipt, err)
			}
			left.Store(3)
			in := text("given")
			in.Ref.ID = "mine/1" // ids of platforms hold such things
			if receipt, err = w.Post(t.Context(), id, in); err != nil || receipt.ID != "mine/1" {
				t.Fatalf("with an id of one's own: %+v, %v", receipt, err)
			}
			left.Store(0)
			if receipt, err = w.Post(t.Context(), id, in); err != nil || !receipt.Duplicate {
				t.Fatalf("repeated: %+v, %v", receipt, err)
			}
			answer, err := w.Ask(t.Context(), id, text("last"))
			if err != nil || answer.Completed == nil {
				t.Fatalf("ask: %+v, %v", answer, err)
			}
			if got := strings.Join(w.texts(id), " "); got != "made given last" {
				t.Errorf("said %q", got)
			}
		})
	}
}

func TestPostGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.session("lost")
	var posts atomic.Int32
	what := lose
	w.proxy.fateFunc = func(r *http.Request) fate {
		if r.Method != http.MethodPost {
			return forward
		}
		posts.Add(1)
		return what
	}
	c := w.client(client.Config{Tries: 3})
	receipt, err := c.Post(t.Context(), id, text("hello"))
	wantCode(t, err, parley.CodeUnavailable)
	if !errors.Is(err, parley.ErrOutcomeUnknown) || receipt.ID == "" || posts.Load() != 3 {
		t.Errorf("%+v after %d posts, %v", receipt, posts.Load(), err)
	}
	what = forward
	again := text("hello")
	again.Ref.ID = receipt.ID
	if got, err := c.Post(t.Context(), id, again); err != nil || !got.Duplicate {
		t.Errorf("repeated by hand: %+v, %v", got, err)
	}
	// Other words under the same id are a mistake, and are not repeated.
	posts.Store(0)
	again.Parts = []parley.Part{parley.TextPart("bye")}
	_, err = c.Post(t.Context(), id, again)
	wantCode(t, err, parley.CodeConflict)
	if posts.Load() != 1 {
		t.Errorf("%d posts", posts.Load())
	}
	// What cannot be repeated is not, and says that it may have been done.
	what = lose
	posts.Store(0)
	if _, err = c.Fork(t.Context(), id, 0); !errors.Is(err, parley.ErrOutcomeUnknown) || posts.Load() != 1 {
		t.Errorf("fork: %d posts, %v", posts.Load(), err)
	}
	posts.Store(0)
	for _, err = range c.AskEvents(t.Context(), id, text("hello"), nil) {
		wantCode(t, err, parley.CodeUnavailable)
	}
	if !errors.Is(err, parley.ErrOutcomeUnknown) || posts.Load() != 3 {
		t.Errorf("ask: %d posts, %v", posts.Load(), err)
	}
	// Nobody is there: nothing was done.
	gone := newClient(t, client.Config{URL: "http://127.0.0.1:1", Tries: 2, Pause: time.Millisecond})
	_, err = gone.Post(t.Context(), id, text("hello"))
	wantCode(t, err, parley.CodeUnavailable)
	if errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Errorf("nothing was sent: %v", err)
	}
}

func TestPostEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // who has read it notices that the client goes
		cancel()
		<-r.Context().Done()
	}))
	c := newClient(t, client.Config{URL: url})
	receipt, err := c.Post(ctx, "cli:a", text("hello"))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, parley.ErrOutcomeUnknown) || receipt.ID == "" {
		t.Errorf("%+v, %v", receipt, err)
	}
	c = newClient(t, client.Config{URL: url, Timeout: 20 * time.Millisecond, Tries: 2, Pause: time.Millisecond})
	_, err = c.Post(t.Context(), "cli:a", text("hello"))
	wantCode(t, err, parley.CodeUnavailable)
	if !strings.Contains(err.Error(), "within 20ms") {
		t.Errorf("got %v", err)
	}
}

func TestPostRefuses(t *testing.T) {
	t.Parallel()
	c := newClient(t, client.Config{URL: "http://127.0.0.1:1", Tries: 1})
	for name, change := range map[string]func(*parley.Input){
		"an origin":                func(in *parley.Input) { in.Ref.Origin = "elsewhere" },
		"a kind":                   func(in *parley.Input) { in.Kind = parley.InputAutomation },
		"for later":                func(in *parley.Input) { in.NotBefore = time.Now() },
		"a sender of no channel":   func(in *parley.Input) { in.Sender.ID = "7" },
		"a session without a name": func(in *parley.Input) { in.Ref.ID = "x" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := text("hello")
			change(&in)
			id := parley.SessionID("cli:a")
			if strings.HasPrefix(name, "a session") {
				id = ".."
			}
			_, err := c.Post(t.Context(), id, in)
			wantCode(t, err, parley.CodeInvalid)
		})
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, id := t.Context(), w.session("ask")
	var posts atomic.Int32
	w.proxy.fateFunc = func(r *http.Request) fate {
		if r.Method == http.MethodPost && posts.Add(1)%2 == 1 {
			return lose
		}
		return forward
	}
	answer, err := w.Ask(ctx, id, text("hello"))
	if err != nil || parley.PlainText(answer.Message.Parts) != "you said: hello" || answer.Completed.StopReason != parley.StopDone ||
		answer.Completed.Usage.CostMicroUSD != 7 || answer.Receipt.State != parley.InputDone || answer.Receipt.Duplicate {
		t.Errorf("got %+v, %v", answer, err)
	}
	answer, err = w.Ask(ctx, id, text("/status"))
	if err != nil || answer.Message == nil || answer.Receipt.State != parley.InputCarriedOut || answer.Completed != nil {
		t.Errorf("a command: %+v, %v", answer, err)
	}
	in := text("ask")
	in.Ref.ID = "q1"
	if answer, err = w.Ask(ctx, id, in); err != nil || !answer.Awaits {
		t.Fatalf("a question: %+v, %v", answer, err)
	}
	questions, err := w.Approvals(ctx)
	if err != nil || len(questions) != 1 || questions[0].Session != id || questions[0].Tool != "danger" {
		t.Fatalf("approvals: %+v, %v", questions, err)
	}
	posts.Store(1) // an answer is not repeated
	if err := w.Approve(ctx, id, questions[0].Call, true, client.RememberOnce); err != nil {
		t.Fatal(err)
	}
	if answer, err = w.Ask(ctx, id, in); err != nil || answer.Awaits || parley.PlainText(answer.Message.Parts) != "the tool said: done" {
		t.Errorf("after the answer: %+v, %v", answer, err)
	}
	posts.Store(1)
	err = w.Approve(ctx, id, questions[0].Call, false, "")
	remote, ok := errors.AsType[*client.RemoteError](err)
	if !errors.Is(err, parley.ErrConflict) || !ok || remote.Outcome != parley.ApprovalApproved || remote.Status != 409 || remote.Request == "" {
		t.Errorf("answered again: %v, %+v", err, remote)
	}
}

// TestAskOutlastsRequests asks for something that takes longer than a request may.
func TestAskOutlastsRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.session("long")
	c := w.client(client.Config{Timeout: 200 * time.Millisecond})
	var posts atomic.Int32
	w.proxy.fateFunc = func(r *http.Request) fate {
		if r.Method == http.MethodPost && posts.Add(1) == 4 {
			go func() { w.agent.step(id) <- struct{}{} }()
		}
		return forward
	}
	answer, err := c.Ask(t.Context(), id, text("hold"))
	if err != nil || answer.Message == nil || parley.PlainText(answer.Message.Parts) != "you said: hold" || answer.Receipt.Duplicate {
		t.Errorf("got %+v, %v", answer, err)
	}
}
