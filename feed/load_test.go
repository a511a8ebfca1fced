package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// openWorld makes a world outside a bubble, where goroutines run as they do in a
// program.
func openWorld(t *testing.T, cfg feed.Config) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, cfg: cfg, raw: store}
	w.use(store)
	return w
}

// TestManySubscriptions opens and closes subscriptions in random order while
// things happen: nothing of them stays.
func TestManySubscriptions(t *testing.T) { //nolint:paralleltest // it looks at the heap of the whole process
	w := openWorld(t, feed.Config{Events: 32})
	defer w.shut()
	rnd := rand.New(rand.NewPCG(soak.Seed(t), 0))
	ids := []parley.SessionID{""}
	for i := range 20 {
		ids = append(ids, parley.SessionID("cli:s"+strconv.Itoa(i)))
		w.create(ids[len(ids)-1], anna)
	}
	views := []parley.Visibility{parley.SeeAll(), parley.SeeAs(anna), parley.SeeAs(bert, anna), {All: true, Namespace: "cli"}}
	type visit struct {
		cancel context.CancelFunc
		done   chan struct{}
	}
	var open []visit
	leave := func(i int) {
		open[i].cancel()
		<-open[i].done
		open[i] = open[len(open)-1]
		open = open[:len(open)-1]
	}
	half := func(count int) uint64 {
		for i := range count {
			ctx, cancel := context.WithCancel(t.Context())
			v := visit{cancel: cancel, done: make(chan struct{})}
			updates := w.feed.Subscribe(ctx, views[rnd.IntN(len(views))], ids[rnd.IntN(len(ids))], parley.Position{Seq: rnd.Uint64N(3)})
			go func() {
				defer close(v.done)
				for u, err := range updates {
					if err != nil || u.Resync != "" && u.Resync != parley.ResyncSlow {
						t.Errorf("a subscription ended with %v, %s", err, u.Resync)
					}
				}
			}()
			open = append(open, v)
			if i%20 == 0 {
				id := ids[1+rnd.IntN(len(ids)-1)]
				seq := w.add(id, message("m", "text"), message("m", "text"))
				name := strconv.Itoa(i)
				w.feed.Publish(parley.Delta{Session: id, Fence: 1, After: seq, Stream: name, N: 1, Text: "text"})
				w.add(id, message(name, "text"))
			}
			for len(open) > 100 || len(open) > 0 && rnd.IntN(3) == 0 {
				leave(rnd.IntN(len(open)))
			}
		}
		for len(open) > 0 {
			leave(0)
		}
		// What was written last may still be read for nobody.
		for w.feed.Topics() > 0 {
			runtime.Gosched()
		}
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	goroutines := runtime.NumGoroutine()
	first := half(soak.Count(1_000, 10_000) / 2)
	second := half(soak.Count(1_000, 10_000) / 2)
	if second > first+first/10+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", first, second)
	}
	// The pumps have done their last; their goroutines end by themselves.
	w.feed.Close()
	if n := runtime.NumGoroutine(); n > goroutines+1 {
		t.Errorf("%d goroutines have become %d", goroutines, n)
	}
}

// TestVisibilityUnderLoad has somebody join and leave while much is written.
// Whatever is written while bert is away names the stretch, and no reader of his
// may have it before he is back.
func TestVisibilityUnderLoad(t *testing.T) {
	t.Parallel()
	w := openWorld(t, feed.Config{Events: 64, Deltas: 4})
	defer w.shut()
	stretches := 2 * soak.Count(40, 400)
	w.create(home, anna)
	var stretch atomic.Int64 // bert is there in the odd ones
	check := func(text string) {
		for field := range strings.FieldsSeq(text) {
			number, secret := strings.CutPrefix(field, "away")
			if !secret {
				continue
			}
			if written, err := strconv.ParseInt(number, 10, 64); err != nil || stretch.Load() <= written {
				t.Errorf("bert got %q in stretch %d", field, stretch.Load())
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	var got, refused atomic.Int64
	for i := range 12 {
		id := []parley.SessionID{home, ""}[i%2]
		reading.Go(func() {
			var at parley.Position
			for ctx.Err() == nil {
				if i%4 < 2 {
					at = parley.Position{} // read all of it each time
				}
				for u, err := range w.feed.Subscribe(ctx, parley.SeeAs(bert), id, at) {
					if errors.Is(err, parley.ErrNotFound) {
						refused.Add(1)
						break
					}
					if err != nil || u.Resync != "" && u.Resync != parley.ResyncSlow {
						t.Errorf("bert's subscription ended with %v, %s", err, u.Resync)
						break
					}
					at = u.Position
					got.Add(1)
					check(content(u))
				}
			}
		})
	}
	for n := range stretches {
		there := n%2 == 1
		word := map[bool]string{true: "there", false: "away"}[there] + strconv.Itoa(n)
		if there {
			stretch.Add(1)
			w.add(home, joins(bert))
		}
		seq := w.add(home, &parley.TurnStarted{Attempt: 1})
		for i := range 8 {
			w.feed.Publish(parley.Delta{Session: home, Fence: 1, After: seq, Stream: word, N: i + 1, Kind: parley.PartText, Text: word + " "})
			if i%3 == 0 {
				w.add(home, message(fmt.Sprintf("%s_%d", word, i), word))
			}
		}
		if n%3 == 0 {
			w.add(home, message(word, word))
		}
		if there {
			w.add(home, leaves(bert))
			stretch.Add(1)
		}
	}
	cancel()
	reading.Wait()
	if got.Load() == 0 || refused.Load() == 0 {
		t.Errorf("bert got %d updates and was refused %d times: this shows nothing", got.Load(), refused.Load())
	}
}

// content gives all text of an update.
func content(u parley.Update) string {
	switch {
	case u.Event != nil && u.Event.Type == parley.EventMessage:
		body, err := u.Event.Decode()
		if m, ok := body.(*parley.Message); err == nil && ok {
			return parley.PlainText(m.Parts)
		}
	case u.Delta != nil:
		return u.Delta.Text
	case u.Snapshot != nil:
		return textOf(u.Snapshot)
	}
	return ""
}
