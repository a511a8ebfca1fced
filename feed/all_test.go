package feed_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
)

func TestAll_BacklogThenLive(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home, anna)       // pos 1, 2
		w.create(away, anna, bert) // pos 3, 4, 5
		owner := w.follow(parley.SeeAll(), "", parley.Position{})
		b := w.follow(parley.SeeAs(bert), "", parley.Position{})
		both := w.follow(parley.SeeAs(bert, anna), "", parley.Position{Seq: 2})
		web := w.follow(parley.Visibility{Identities: []parley.IdentityID{anna}, Namespace: "web"}, "", parley.Position{})
		nobody := w.follow(parley.Visibility{}, "", parley.Position{})
		w.gets("the owner", owner, "1 2 1 2 3")
		w.gets("bert", b, "1 2 3")
		w.gets("both", both, "1 2 3")
		w.gets("web", web, "1 2 3")
		w.commit(events(home, message("m", "x")), events(away, message("m", "y"))) // pos 6, 7
		w.gets("the owner", owner, "3 4")
		w.gets("bert", b, "4")
		w.gets("both", both, "3 4")
		w.gets("web", web, "4")
		w.add(home, joins(bert)) // pos 8
		w.add(home, message("m", "z"))
		w.gets("bert", b, "4 5")
		w.settle()
		if n := w.feed.Kept(); n != 0 {
			t.Errorf("everybody has read everything, and %d are kept", n)
		}
		w.add(away, leaves(bert))
		w.add(away, message("m", "secret"))
		w.gets("bert", b, "")
		w.gets("the owner", owner, "4 5 5 6")
		w.gets("nobody", nobody, "")
		again := w.follow(parley.SeeAs(bert), "", parley.Position{Seq: 5})
		w.gets("bert, back again,", again, "3 4 5")
		w.add(home, message("m", "!"))
		w.settle()
		if at := again.position(); at.Seq != 12 || at.Epoch == "" || at.Stream != "" {
			t.Errorf("position is %+v", at)
		}
	})
}

func TestAll_Resync(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{Events: 4}, func(w *world) {
		w.create(home)
		head, err := w.raw.Head(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		slow := w.pauseAfterOne(parley.SeeAll(), "", parley.Position{Seq: 1})
		quick := w.follow(parley.SeeAll(), "", parley.Position{})
		for range 7 {
			w.add(home, message("m", "text"))
			w.settle()
		}
		w.gets("the quick one", quick, "1 2 3 4 5 6 7 8")
		slow.resume()
		w.settle()
		at := slow.position()
		w.gets("the slow one", slow, "2 slow")
		if !slow.ended() {
			t.Error("after slow the subscription goes on")
		}
		w.gets("the slow one, back again,", w.follow(parley.SeeAll(), "", at), "3 4 5 6 7 8")
		w.gets("one from before", w.follow(parley.SeeAll(), "", parley.Position{Epoch: "before", Seq: 3}), "restored")
		w.gets("one too far", w.follow(parley.SeeAll(), "", parley.Position{Seq: 9}), "unknown_position")
		w.gets("one too far", w.follow(parley.SeeAs(anna), "", parley.Position{Seq: 1 << 40}), "unknown_position")
		w.gets("one that is up to date", w.follow(parley.SeeAll(), "", parley.Position{Seq: 8}), "")
		// The last events go; who had them is still where the store has been.
		w.create(away)
		w.commit(parley.SessionChange{Session: away, Delete: true})
		w.gets("one that has what was deleted", w.follow(parley.SeeAll(), "", parley.Position{Seq: 9}), "")
		w.feed.Close()
		w.use(w.raw)
		w.gets("the same with another feed", w.follow(parley.SeeAll(), "", parley.Position{Seq: 9}), "")
		w.gets("a made-up one of this epoch", w.follow(parley.SeeAll(), "", parley.Position{Epoch: head.Epoch, Seq: 10}), "unknown_position")
		back := w.follow(parley.SeeAll(), "", parley.Position{Epoch: head.Epoch, Seq: 9})
		w.add(home, message("m", "text"))
		w.gets("the same, when it goes on", back, "9")
	})
}

// TestAll_Deltas: a change of a session is asked about before its next delta.
func TestAll_Deltas(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home, anna, bert)
		a, b := w.follow(parley.SeeAs(anna), "", parley.Position{Seq: 3}), w.follow(parley.SeeAs(bert), "", parley.Position{Seq: 3})
		w.feed.Publish(delta("m1", 1, 3, "a"))
		w.settle()
		w.feed.Publish(delta("m1", 2, 3, "b"))
		w.gets("anna", a, "m1:1=a m1:2=b")
		w.gets("bert", b, "m1:1=a m1:2=b")
		w.add(home, leaves(bert))
		w.feed.Publish(delta("m1", 3, 3, "c"))
		w.gets("anna", a, "4 m1:3=c")
		w.gets("bert", b, "")
		w.add(home, joins(bert))
		w.feed.Publish(delta("m1", 4, 3, "d"))
		w.gets("anna", a, "5 m1:4=d")
		w.gets("bert", b, "5 m1:4=d")
		// A change without an event does not cut a reply short.
		title := "Lunch"
		w.commit(parley.SessionChange{Session: home, Patch: parley.SessionPatch{Description: &title}})
		w.feed.Publish(delta("m1", 5, 3, "e"))
		w.gets("bert", b, "m1:5=e")
		if at := b.position(); at.Stream != "" {
			t.Errorf("position is %+v", at)
		}
	})
}

// late is a store whose next answers about a log come late: one for each that is let go.
type late struct {
	parley.Store
	held atomic.Int64 // so many answers are kept back
	let  chan struct{}
}

func (s *late) Events(ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery) ([]parley.Event, error) {
	events, err := s.Store.Events(ctx, v, id, q)
	if s.held.Add(-1) >= 0 {
		<-s.let
	}
	return events, err
}

// TestAll_AfterTheReply: who begins to follow all sessions after a reply was stored is not
// shown pieces of it, also if the session's own readers may still have them.
func TestAll_AfterTheReply(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]parley.Visibility{"who sees all": parley.SeeAll(), "anna": parley.SeeAs(anna)} {
		inBubble(t, feed.Config{}, func(w *world) {
			store := &late{Store: w.raw, let: make(chan struct{})}
			w.use(store)
			w.create(home, anna)
			own := w.follow(parley.SeeAs(anna), home, parley.Position{Seq: 2})
			w.settle()
			// The topic reads that the turn began, then once more with the first piece there; the
			// answer to that does not have the end of the reply.
			store.held.Store(2)
			after := w.add(home, &parley.TurnStarted{Attempt: 1})
			w.settle()
			w.feed.Publish(delta("m1", 1, after, "a"))
			store.let <- struct{}{}
			w.settle()
			w.add(home, message("m1", "a"))
			all := w.follow(v, "", parley.Position{})
			w.settle()
			all.words() // what happened before
			store.let <- struct{}{}
			w.gets(name, all, "")
			// The session's own reader may be too slow for the piece, as well.
			if got := own.words(); got != "3 m1:1=a 4" && got != "3 4" {
				t.Errorf("who follows the session got %q", got)
			}
		})
	}
}

// TestAll_MadeAgain: a session that was deleted and made again counts anew, and so do the events
// that end its replies.
func TestAll_MadeAgain(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]parley.Visibility{"who sees all": parley.SeeAll(), "anna": parley.SeeAs(anna)} {
		inBubble(t, feed.Config{}, func(w *world) {
			w.create(home, anna)
			all := w.follow(v, "", parley.Position{})
			for range 5 {
				w.add(home, &parley.TurnStarted{Attempt: 1}, message("m", "text"), &parley.TurnCompleted{StopReason: parley.StopDone})
			}
			w.settle()
			w.commit(parley.SessionChange{Session: home, Delete: true})
			w.create(home, anna)
			after := w.add(home, &parley.TurnStarted{Attempt: 1})
			w.settle()
			all.words() // what happened before
			w.feed.Publish(delta("m1", 1, after, "a"))
			w.gets(name, all, "m1:1=a")
		})
	}
}
