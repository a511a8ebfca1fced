package feed_test

import (
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
)

func TestSession_BacklogThenLive(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home, anna)
		owner := w.follow(parley.SeeAll(), home, parley.Position{})
		w.gets("the owner", owner, "1 2")
		w.add(home, message("m1", "one"), message("m2", "two"))
		w.gets("the owner", owner, "3 4")
		late := w.follow(parley.SeeAs(anna), home, parley.Position{Seq: 3})
		w.gets("a late reader", late, "4")
		w.add(home, message("m3", "three"))
		w.gets("the owner", owner, "5")
		w.gets("a late reader", late, "5")

		owner.stop()
		if owner.err != nil {
			t.Errorf("a context that ends gives %v", owner.err)
		}
		w.add(home, message("m4", "four"))
		again := w.follow(parley.SeeAll(), home, parley.Position{Seq: 5})
		w.gets("the owner, back again,", again, "6")
		head, err := w.raw.Head(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.add(home, message("m5", "five"))
		w.settle()
		if want := (parley.Position{Epoch: head.Epoch, Seq: 7}); again.position() != want {
			t.Errorf("position is %+v, want %+v", again.position(), want)
		}
	})
}

// TestSession_LongBacklog needs several pages, and events that come while they
// are read.
func TestSession_LongBacklog(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{Events: 8}, func(w *world) {
		w.create(home)
		many := make([]parley.EventBody, 700)
		for i := range many {
			many[i] = message("m", "text")
		}
		w.add(home, many...)
		var want uint64
		for u, err := range w.feed.Subscribe(w.Context(), parley.SeeAll(), home, parley.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			if want++; u.Event == nil || u.Event.Seq != want || u.Position.Seq != want {
				t.Fatalf("got %+v, want event %d", u, want)
			}
			if want%100 == 0 && want <= 700 {
				w.add(home, message("m", "text"), message("m", "text"))
			}
			if want == 701+14 {
				break
			}
		}
	})
}

// TestSeam: a reader that is still giving what it read from the store goes on with
// what others have in the window, without a gap or a repeat.
func TestSeam(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]parley.SessionID{"of a session": home, "of all": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, feed.Config{}, func(w *world) {
				w.create(home)
				w.add(home, message("m", "x"), message("m", "x"))
				other := w.pauseAfterOne(parley.SeeAll(), id, parley.Position{Seq: 3})
				w.add(home, message("m", "x")) // the other has this, and nothing after it
				w.settle()
				late := w.pauseAfterOne(parley.SeeAll(), id, parley.Position{})
				later := w.pauseAfterOne(parley.SeeAll(), id, parley.Position{Seq: 1})
				for range 2 {
					w.add(home, message("m", "x"))
					w.settle()
				}
				if w.feed.Kept() == 0 {
					t.Fatal("nothing is kept for the reader that is behind")
				}
				late.resume()
				w.gets("the late one", late, "1 2 3 4 5 6")
				w.add(home, message("m", "x"))
				w.settle()
				later.resume()
				w.gets("the later one", later, "2 3 4 5 6 7")
				other.resume()
				w.gets("the other", other, "4 5 6 7")
				w.gets("the late one", late, "7")
			})
		})
	}
}

// TestSession_PieceLargerThanTheWindow: who was not behind is not slow.
func TestSession_PieceLargerThanTheWindow(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{Events: 4}, func(w *world) {
		w.create(home)
		reader := w.follow(parley.SeeAll(), home, parley.Position{})
		all := w.follow(parley.SeeAll(), "", parley.Position{})
		w.gets("the reader", reader, "1")
		w.gets("the reader of all", all, "1")
		many := make([]parley.EventBody, 9)
		for i := range many {
			many[i] = message("m", "text")
		}
		w.add(home, many...)
		w.gets("the reader", reader, "2 3 4 5 6 7 8 9 10")
		w.gets("the reader of all", all, "2 3 4 5 6 7 8 9 10")
	})
}

func TestSession_Resync(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{Events: 4}, func(w *world) {
		w.create(home)
		slow := w.pauseAfterOne(parley.SeeAll(), home, parley.Position{Seq: 1})
		quick := w.follow(parley.SeeAll(), home, parley.Position{})
		for range 6 {
			w.add(home, message("m", "text"))
			w.settle()
		}
		w.gets("the quick one", quick, "1 2 3 4 5 6 7")
		slow.resume()
		w.settle()
		at := slow.position()
		w.gets("the slow one", slow, "2 slow")
		if !slow.ended() || at.Seq != 2 {
			t.Errorf("after slow the subscription goes on, or its position %+v is not good", at)
		}
		w.gets("the slow one, back again,", w.follow(parley.SeeAll(), home, at), "3 4 5 6 7")

		for name, from := range map[string]parley.Position{
			"one too far":   {Seq: 8},
			"far too far":   {Seq: 1 << 40},
			"all that fits": {Seq: 1<<64 - 1},
		} {
			beyond := w.follow(parley.SeeAll(), home, from)
			at := beyond.position()
			w.gets(name, beyond, "unknown_position")
			if !beyond.ended() || at.Seq != 0 || at.Epoch == "" {
				t.Errorf("%s: the subscription goes on, or starts anew at %+v", name, at)
			}
		}
		w.gets("one that is up to date", w.follow(parley.SeeAll(), home, parley.Position{Seq: 7}), "")
		restored := w.follow(parley.SeeAll(), home, parley.Position{Epoch: "before", Seq: 3})
		w.gets("one from before", restored, "restored")
		if !restored.ended() {
			t.Error("after restored the subscription goes on")
		}
	})
}

func TestSession_NotFound(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home, anna)
		w.create(away, anna)
		missing := w.follow(parley.SeeAll(), "cli:none", parley.Position{})
		w.gets("a reader of nothing", missing, "not_found")
		for name, v := range map[string]parley.Visibility{
			"nobody":            {},
			"somebody else":     parley.SeeAs(bert),
			"another namespace": {All: true, Namespace: "web"},
			"prefix of another": {All: true, Namespace: "cl"},
		} {
			for _, from := range []parley.Position{{}, {Seq: 2}, {Seq: 99}, {Epoch: "before"}} {
				hidden := w.follow(v, home, from)
				w.gets(name, hidden, "not_found")
				if hidden.err == nil || hidden.err.Error() != "subscribe: there is no session cli:home" {
					t.Errorf("%s is told %v", name, hidden.err)
				}
			}
		}
		w.gets("anna in the namespace", w.follow(parley.Visibility{Identities: []parley.IdentityID{bert, anna}, Namespace: "cli"}, home, parley.Position{Seq: 1}), "2")
	})
}

func TestSession_Deleted(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		reader := w.follow(parley.SeeAll(), home, parley.Position{})
		w.gets("the reader", reader, "1")
		w.feed.Publish(delta("m1", 1, 1, "a"))
		w.gets("the reader", reader, "m1:1=a")
		w.commit(parley.SessionChange{Session: home, Delete: true})
		w.gets("the reader", reader, "not_found")
		w.feed.Publish(delta("m1", 2, 1, "b"))
		w.gets("the reader", reader, "not_found")

		// The name is taken again before the feed has looked.
		w.create(home)
		reader = w.follow(parley.SeeAll(), home, parley.Position{})
		w.gets("the reader", reader, "1")
		for _, change := range []parley.SessionChange{{Session: home, Delete: true}, creation(home), events(home, message("m", "x"))} {
			if _, err := w.raw.Commit(w.Context(), parley.Batch{At: base, Sessions: []parley.SessionChange{change}}); err != nil {
				t.Fatal(err)
			}
		}
		w.feed.Wake(home, 0)
		w.gets("the reader", reader, "not_found")
	})
}

func TestSession_LosesSight(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home, anna, bert)
		a, b := w.follow(parley.SeeAs(anna), home, parley.Position{}), w.follow(parley.SeeAs(bert), home, parley.Position{})
		// This one has read its backlog, and given the first of it.
		paused := w.pauseAfterOne(parley.SeeAs(bert), home, parley.Position{})
		w.gets("anna", a, "1 2 3")
		w.gets("bert", b, "1 2 3")
		w.feed.Publish(delta("m1", 1, 3, "se"))
		w.gets("bert", b, "m1:1=se")
		w.add(home, leaves(bert), message("m0", "secret"))
		w.feed.Publish(delta("m1", 2, 3, "cret"))
		w.gets("anna", a, "m1:1=se 4 5 m1:2=cret")
		w.gets("bert", b, "not_found")
		paused.resume()
		w.gets("bert, who was slow,", paused, "1 not_found")
		w.gets("bert, back again,", w.follow(parley.SeeAs(bert), home, parley.Position{Seq: 3}), "not_found")
		w.add(home, joins(bert))
		w.gets("bert, as one of us,", w.follow(parley.SeeAs(bert), home, parley.Position{Seq: 3}), "4 5 6 m1:..2=secret")
	})
}

func TestSession_Redaction(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		slow := w.pauseAfterOne(parley.SeeAll(), home, parley.Position{})
		all := w.pauseAfterOne(parley.SeeAll(), "", parley.Position{})
		w.add(home, message("m1", "secret"))
		w.settle()
		w.commit(parley.SessionChange{Session: home, Redact: []uint64{2}, Events: []parley.NewEvent{{Body: &parley.Redacted{Seqs: []uint64{2}}}}})
		w.settle()
		for name, tl := range map[string]*tail{"of the session": slow, "of all": all} {
			tl.resume()
			w.settle()
			if len(tl.updates) != 3 || tl.updates[1].Event == nil || !tl.updates[1].Event.Redacted() {
				t.Errorf("a slow reader %s got %q", name, tl.words())
			}
		}
	})
}
