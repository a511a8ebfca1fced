package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/internal/soak"
)

// TestChaos has several people post to a session through a proxy that does to each
// request what chance says, while others follow it over connections that are cut. In
// the end each message is there once, and who followed has seen every event once.
func TestChaos(t *testing.T) {
	t.Parallel()
	const people = 4
	each := soak.Count(20, 400)
	w := newWorld(t)
	id := w.session("chaos")
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(each)*2*time.Second)
	defer cancel()
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(soak.Seed(t), 0))
	w.proxy.fateFunc = func(r *http.Request) fate {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPost && chance.IntN(2) == 0:
			return fate(chance.IntN(int(fates)))
		case r.Method == http.MethodPost && chance.IntN(3) == 0:
			w.proxy.cut()
		case r.Method == http.MethodGet && chance.IntN(4) == 0:
			return []fate{refuse, page, nonsense}[chance.IntN(3)]
		}
		return forward
	}
	c := w.client(client.Config{Tries: 50})
	var posters, followers sync.WaitGroup
	for p := range people {
		posters.Go(func() {
			for i := range each {
				in := text(fmt.Sprintf("%d.%d", p, i))
				if i%2 == 0 {
					in.Ref.ID = fmt.Sprintf("own-%d-%d", p, i)
				}
				in.Busy = parley.BusyCollect
				for {
					receipt, err := c.Post(ctx, id, in)
					if err == nil {
						break
					}
					if parley.CodeOf(err) != parley.CodeBusy || ctx.Err() != nil {
						t.Errorf("post: %v", err)
						cancel()
						return
					}
					in.Ref.ID = receipt.ID // the queue is full: nothing was said
				}
			}
		})
	}
	results := make([][]string, 2)
	for i := range results {
		followers.Go(func() {
			if results[i] = followInputs(ctx, t, c, id, i == 1, people*each); len(results[i]) < people*each {
				cancel()
			}
		})
	}
	posters.Wait()
	followers.Wait()
	for _, got := range results {
		count := map[string]int{}
		for _, said := range got {
			count[said]++
		}
		for p := range people {
			last := -1
			for i, said := range got {
				if strings.HasPrefix(said, fmt.Sprintf("%d.", p)) {
					var n int
					if _, err := fmt.Sscanf(said, fmt.Sprintf("%d.%%d", p), &n); err != nil || n != last+1 {
						t.Fatalf("input %d is %q, after %d", i, said, last)
					}
					last = n
				}
			}
			if last != each-1 {
				t.Errorf("%d said %d things", p, last+1)
			}
		}
		if len(got) != people*each || len(count) != people*each {
			t.Errorf("%d inputs, %d different ones, want %d", len(got), len(count), people*each)
		}
	}
}

// followInputs gives what was said in a session, as one sees it who follows it, or
// all sessions.
func followInputs(ctx context.Context, t *testing.T, c *client.Client, id parley.SessionID, all bool, count int) (list []string) {
	updates := c.Events(ctx, id, parley.Position{})
	if all {
		updates = c.Follow(ctx, parley.Position{})
	}
	seq := uint64(0)
	for u, err := range updates {
		if err != nil {
			t.Errorf("follow: %v", err)
			return list
		}
		if u.Event == nil {
			continue
		}
		if seq++; u.Event.Seq != seq {
			t.Errorf("event %d comes as number %d", u.Event.Seq, seq)
			return list
		}
		body, err := u.Event.Decode()
		if err != nil {
			t.Errorf("event %d: %v", u.Event.Seq, err)
			return list
		}
		if in, ok := body.(*parley.Admitted); ok {
			if list = append(list, parley.PlainText(in.Parts)); len(list) == count {
				return list
			}
		}
	}
	t.Errorf("the stream ended after %d inputs", len(list))
	return list
}

// TestPositionOfAnotherSession begins where nothing can be continued.
func TestPositionOfAnotherSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, a, b := t.Context(), w.session("a"), w.session("b")
	var at parley.Position
	for u, err := range w.Events(ctx, a, parley.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		at = u.Position
		break
	}
	for name, from := range map[string]parley.Position{"another session's": at, "from the future": {Seq: 10_000}, "an engine's": {Epoch: "x", Seq: 1}} {
		n := 0
		for u, err := range w.Events(ctx, b, from) {
			if n++; err != nil || u.Resync != parley.ResyncUnknown {
				t.Errorf("%s: %+v, %v", name, u, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d updates", name, n)
		}
	}
}

// TestNow begins at the end: there is only what comes.
func TestNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.session("now")
	w.near.Say(id, "before")
	s, err := w.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		w.proxy.awaitStream()
		w.near.Post(id, "after")
	}()
	for u, err := range w.Events(t.Context(), id, client.Now()) {
		if err != nil || u.Event == nil || u.Event.Seq != s.LastSeq+1 {
			t.Errorf("got %+v, %v", u, err)
		}
		break
	}
	<-said
}
