package feed_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
)

func TestStream(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{Deltas: 3}, func(w *world) {
		w.create(home)
		live := w.follow(parley.SeeAll(), home, parley.Position{})
		w.gets("the live reader", live, "1")
		after := w.add(home, &parley.TurnStarted{Attempt: 1})
		publish := func(n int, kind parley.PartKind, text string) {
			d := delta("m1", n, after, text)
			d.Kind = kind
			w.feed.Publish(d)
		}
		publish(1, parley.PartReasoning, "hm ")
		publish(2, parley.PartReasoning, "so ")
		w.settle()
		publish(3, parley.PartText, "a")
		w.gets("the live reader", live, "2 m1:1=hm  m1:2=so  m1:3=a")
		midway := w.follow(parley.SeeAll(), home, parley.Position{Seq: 1})
		at := midway.position()
		if want := (parley.Position{Epoch: at.Epoch, Seq: 2, Stream: "m1", N: 3}); at != want {
			t.Errorf("position in a reply is %+v, want %+v", at, want)
		}
		w.gets("who came in the middle", midway, "2 m1:..3=<reasoning>hm so a")
		publish(3, parley.PartText, "a") // again
		publish(4, parley.PartText, "b")
		w.settle()
		// An event in the middle of a reply keeps the place in it.
		w.add(home, &parley.Updated{Fields: []string{"title"}})
		w.settle()
		publish(5, parley.PartText, "c")
		w.settle()
		at = live.position()
		w.gets("the live reader", live, "m1:4=b 3 m1:5=c")
		w.gets("who came in the middle", midway, "m1:4=b 3 m1:5=c")
		for n, want := range map[int]string{
			1: "m1:..5=<reasoning>hm so abc", // too much to catch up on
			3: "m1:4=b m1:5=c",
			5: "",
			6: "m1:..5=<reasoning>hm so abc", // there are no more than 5
		} {
			at.N = n
			w.gets("who came back", w.follow(parley.SeeAll(), home, at), want)
		}
		at.Stream = "m0"
		w.gets("who was in another reply", w.follow(parley.SeeAll(), home, at), "m1:..5=<reasoning>hm so abc")
		w.add(home, message("m1", "abc"))
		w.gets("the live reader", live, "4")
		publish(6, parley.PartText, "d")
		w.gets("the live reader", live, "")
		if at := w.follow(parley.SeeAll(), home, parley.Position{Seq: 3}).position(); at.Stream != "" {
			t.Errorf("after a reply the position is %+v", at)
		}
	})
}

// TestStream_Ends has what ends a reply; after each its deltas are not shown.
func TestStream_Ends(t *testing.T) {
	t.Parallel()
	next := delta("m2", 1, 2, "z")
	next.Fence = 2
	for name, c := range map[string]struct {
		end  func(w *world)
		want string // what the end itself brings
	}{
		"its message":         {func(w *world) { w.add(home, message("m1", "ab")) }, "3"},
		"its turn":            {func(w *world) { w.add(home, &parley.TurnCompleted{StopReason: parley.StopAborted}) }, "3"},
		"another attempt":     {func(w *world) { w.add(home, &parley.TurnStarted{Attempt: 2}) }, "3"},
		"the session's end":   {func(w *world) { w.add(home, &parley.Ended{Reason: "reset"}) }, "3"},
		"another reply":       {func(w *world) { w.feed.Publish(delta("m2", 1, 2, "z")) }, "m2:1=z"},
		"a new owner's reply": {func(w *world) { w.feed.Publish(next) }, "m2:1=z"},
		"a gap":               {func(w *world) { w.feed.Publish(delta("m1", 4, 2, "d")) }, ""},
		"too long a text": {func(w *world) {
			w.feed.Publish(delta("m1", 3, 2, strings.Repeat("x", parley.MaxBodyBytes)))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, feed.Config{}, func(w *world) {
				w.create(home)
				w.add(home, &parley.TurnStarted{Attempt: 1})
				live, all := w.follow(parley.SeeAll(), home, parley.Position{Seq: 2}), w.follow(parley.SeeAll(), "", parley.Position{Seq: 2})
				w.feed.Publish(delta("m1", 1, 2, "a"))
				w.feed.Publish(delta("m1", 2, 2, "b"))
				w.settle()
				c.end(w)
				w.settle()
				w.feed.Publish(delta("m1", 3, 2, "c"))
				want := strings.TrimSpace("m1:1=a m1:2=b " + c.want)
				w.gets("the reader", live, want)
				w.gets("the reader of all", all, want)
				from := parley.Position{Seq: 2, Stream: "m1", N: 2}
				back := w.follow(parley.SeeAll(), home, from)
				if c.want == "m2:1=z" {
					c.want = "m2:..1=z"
				}
				w.gets("who came back", back, c.want)
			})
		})
	}
}

// TestStream_OfAFormerOwner is not shown, whatever the feed has seen.
func TestStream_OfAFormerOwner(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		w.add(home, &parley.TurnStarted{Attempt: 1}) // 2
		w.add(home, &parley.TurnStarted{Attempt: 2}) // 3
		w.add(home, &parley.Updated{Fields: []string{"title"}})
		stale := delta("old", 1, 2, "x")
		w.feed.Publish(stale) // nobody follows
		w.gets("who came later", w.follow(parley.SeeAll(), home, parley.Position{Seq: 3}), "4")
		w.feed.Publish(stale) // the feed has not seen what began after it
		late := w.follow(parley.SeeAll(), home, parley.Position{Seq: 3})
		w.gets("who came later", late, "4")
		fresh := delta("new", 1, 3, "y")
		fresh.Fence = 2
		w.feed.Publish(fresh)
		w.gets("who came later", late, "new:1=y")
		stale = delta("old", 1, 4, "x")
		w.feed.Publish(stale)
		stale.N = 2
		w.feed.Publish(stale)
		w.gets("who came later", late, "")
	})
}

// TestStream_BehindEvents: what was committed before a delta comes before it.
func TestStream_BehindEvents(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home, anna)
		readers := map[string]*tail{
			"one":         w.follow(parley.SeeAll(), home, parley.Position{Seq: 2}),
			"all":         w.follow(parley.SeeAll(), "", parley.Position{Seq: 2}),
			"anna's":      w.follow(parley.SeeAs(anna), "", parley.Position{Seq: 2}),
			"a namespace": w.follow(parley.Visibility{All: true, Namespace: "cli"}, "", parley.Position{Seq: 2}),
		}
		other := w.follow(parley.Visibility{All: true, Namespace: "web"}, "", parley.Position{Seq: 2})
		stranger := w.follow(parley.SeeAs(bert), "", parley.Position{Seq: 2})
		want := ""
		seq := uint64(2)
		for range 20 {
			// No settle here: the feed has not read yet when the delta comes.
			seq = w.add(home, &parley.TurnStarted{Attempt: 1})
			name := "m" + word(parley.Update{Event: &parley.Event{Seq: seq}})
			w.feed.Publish(delta(name, 1, seq, "a"))
			w.feed.Publish(delta(name, 2, seq, "b"))
			want += word(parley.Update{Event: &parley.Event{Seq: seq}}) + " " + name + ":1=a " + name + ":2=b "
			w.settle()
		}
		for name, tl := range readers {
			w.gets(name, tl, strings.TrimSpace(want))
		}
		w.gets("another namespace", other, "")
		w.gets("a stranger", stranger, "")
		// A stream that names an event the feed was not told about.
		if _, err := w.raw.Commit(w.Context(), parley.Batch{At: base, Sessions: []parley.SessionChange{events(home, message("x", "x"))}}); err != nil {
			t.Fatal(err)
		}
		w.feed.Publish(delta("late", 1, seq+1, "a"))
		w.gets("one", readers["one"], "23 late:1=a")
	})
}

func TestStream_WithoutItsBeginning(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		w.feed.Publish(delta("m1", 2, 1, "b"))
		live := w.follow(parley.SeeAll(), home, parley.Position{Seq: 1})
		w.feed.Publish(delta("m1", 3, 1, "c"))
		w.gets("the reader", live, "")
		w.feed.Publish(parley.Delta{Session: home, N: 1})
		w.feed.Publish(parley.Delta{Stream: "m", N: 1})
		w.gets("the reader", live, "")
	})
}

// delayed is a store whose next questions about the end of a log are asked late: one for each that
// is let go.
type delayed struct {
	parley.Store
	held atomic.Int64
	let  chan struct{}
}

func (s *delayed) Events(ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery) ([]parley.Event, error) {
	if q.Last && s.held.Add(-1) >= 0 {
		<-s.let
	}
	return s.Store.Events(ctx, v, id, q)
}

// TestStream_StoredBeforeTheFirstLook: a reply may begin and be stored after somebody has come to
// follow the session, and before the feed has found the end of its log.
func TestStream_StoredBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	var many []parley.EventBody // more than a page of them
	for range 100 {
		many = append(many, message("x", "x"))
	}
	for name, before := range map[string][]parley.EventBody{
		"alone":         {message("m1", "a")},
		"between two":   {message("x", "x"), message("m1", "a"), message("y", "y")},
		"after a crowd": append(many, message("m1", "a")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, feed.Config{}, func(w *world) {
				store := &delayed{Store: w.raw, let: make(chan struct{})}
				w.use(store)
				w.create(home)
				after := w.add(home, &parley.TurnStarted{Attempt: 1})
				store.held.Store(1)
				own, all := w.follow(parley.SeeAll(), home, parley.Position{Seq: after}), w.follow(parley.SeeAll(), "", parley.Position{Seq: after})
				w.settle()
				w.feed.Publish(delta("m1", 1, after, "a"))
				want := ""
				for _, body := range before {
					want = strings.TrimSpace(want + " " + word(parley.Update{Event: &parley.Event{Seq: w.add(home, body)}}))
				}
				w.settle()
				store.let <- struct{}{}
				w.gets("who follows the session", own, want)
				w.gets("who follows all", all, want)
				w.feed.Publish(delta("m1", 2, after, "b"))
				w.gets("who follows the session", own, "")
				w.gets("who follows all", all, "")
			})
		})
	}
}
