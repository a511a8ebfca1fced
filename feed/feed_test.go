package feed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
)

func TestClose(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		live, all := w.follow(parley.SeeAll(), home, parley.Position{Seq: 1}), w.follow(parley.SeeAll(), "", parley.Position{Seq: 1})
		inBacklog := w.pauseAfterOne(parley.SeeAll(), home, parley.Position{})
		w.feed.Publish(delta("m1", 1, 1, "a"))
		w.settle()
		w.feed.Close()
		w.feed.Close()
		w.gets("the reader", live, "m1:1=a unavailable")
		w.gets("the reader of all", all, "m1:1=a unavailable")
		inBacklog.resume()
		w.gets("the reader in its backlog", inBacklog, "1 unavailable")
		w.add(home, message("m", "x"))
		w.feed.Publish(delta("m1", 2, 1, "b"))
		w.gets("who comes later", w.follow(parley.SeeAll(), home, parley.Position{}), "unavailable")
		w.gets("who comes later", w.follow(parley.SeeAll(), "", parley.Position{}), "unavailable")
		if n := w.feed.Topics(); n != 0 {
			t.Errorf("%d topics are left", n)
		}
	})
}

// TestIdle: what nobody follows holds nothing.
func TestIdle(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		w.feed.Publish(delta("m1", 1, 1, "a"))
		w.settle()
		if w.feed.Topics() != 1 {
			t.Error("a reply that is being written is not kept")
		}
		w.add(home, message("m1", "a"))
		w.settle()
		if n := w.feed.Topics(); n != 0 {
			t.Errorf("%d topics are left after the reply", n)
		}
		tails := []*tail{w.follow(parley.SeeAll(), home, parley.Position{}), w.follow(parley.SeeAs(anna), "", parley.Position{})}
		w.add(home, message("m2", "b"))
		w.settle()
		if n := w.feed.Kept(); n != 0 {
			t.Errorf("everybody has read everything, and %d are kept", n)
		}
		for _, tl := range tails {
			tl.stop()
		}
		w.settle()
		if n := w.feed.Topics(); n != 0 {
			t.Errorf("%d topics are left after the readers", n)
		}
		for range w.feed.Subscribe(w.Context(), parley.SeeAll(), home, parley.Position{}) {
			break
		}
		ended, cancel := context.WithCancel(w.Context())
		cancel()
		for _, id := range []parley.SessionID{home, ""} {
			for u, err := range w.feed.Subscribe(ended, parley.SeeAll(), id, parley.Position{Seq: 2}) {
				t.Errorf("a context that has ended gives %+v, %v", u, err)
			}
		}
		w.settle()
		if n := w.feed.Topics(); n != 0 {
			t.Errorf("%d topics are left after short visits", n)
		}
	})
}

// counting is a store that counts what is read.
type counting struct {
	parley.Store
	reads atomic.Int64
}

func (s *counting) Events(ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery) ([]parley.Event, error) {
	s.reads.Add(1)
	return s.Store.Events(ctx, v, id, q)
}

func (s *counting) Participants(ctx context.Context, v parley.Visibility, id parley.SessionID) ([]parley.IdentityID, error) {
	s.reads.Add(1)
	return s.Store.Participants(ctx, v, id)
}

// Nothing is read for a turn that nobody follows, and nothing is left of it.
func TestUnfollowed(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		store := &counting{Store: w.raw}
		w.use(store)
		w.create(home, anna)
		reads := func(some bool) {
			t.Helper()
			w.settle()
			if n := store.reads.Swap(0); n > 0 != some {
				t.Errorf("%d reads", n)
			}
		}
		topics := func(want int) {
			t.Helper()
			w.settle()
			if n := w.feed.Topics(); n != want {
				t.Errorf("%d topics, want %d", n, want)
			}
		}
		after := w.add(home, &parley.TurnStarted{Attempt: 1})
		for i, text := range []string{"a", "b", "c"} {
			w.feed.Publish(delta("m1", i+1, after, text))
		}
		w.add(home, joins(bert))
		topics(1)
		reads(false)

		// Who comes now gets all of it, whole and live.
		tl := w.follow(parley.SeeAs(bert), home, parley.Position{Seq: after})
		w.settle()
		w.feed.Publish(delta("m1", 4, after, "d"))
		w.settle()
		if got := tl.reply(); got != "abcd" {
			t.Errorf("who comes in the middle got %q of the reply", got)
		}
		reads(true)
		tl.stop()
		w.settle()

		// A message that is stored and another reply do not change that.
		store.reads.Store(0)
		last := w.add(home, message("m1", "abcd"))
		w.feed.Publish(delta("m2", 1, last, "e"))
		topics(1)
		reads(false)
		tl = w.follow(parley.SeeAs(anna), home, parley.Position{Seq: last})
		w.settle()
		if got := tl.reply(); got != "e" {
			t.Errorf("who comes in the second reply got %q of it", got)
		}
		tl.stop()
		w.settle()

		// The end of the turn takes all away, in one commit with another message.
		store.reads.Store(0)
		w.add(home, message("m2", "e"), &parley.TurnCompleted{StopReason: parley.StopDone})
		topics(0)
		reads(false)

		// What comes late is looked up, and is over.
		w.feed.Publish(delta("m3", 1, last, "late"))
		topics(0)
		reads(true)

		// A commit that may not have been made proves nothing: the log tells.
		after = w.add(home, &parley.TurnStarted{Attempt: 1})
		w.feed.Publish(delta("m4", 1, after, "f"))
		topics(1)
		reads(false)
		lost := feed.Announce(&forgetful{Store: store, unknown: true}, w.feed)
		if _, err := lost.Commit(w.Context(), parley.Batch{At: base, Sessions: []parley.SessionChange{events(home, message("m4", "f"))}}); err == nil {
			t.Fatal("the store has forgotten nothing")
		}
		topics(0)
		reads(true)

		// A session that is deleted in its turn leaves nothing either.
		after = w.add(home, &parley.TurnStarted{Attempt: 1})
		w.feed.Publish(delta("m5", 1, after, "g"))
		topics(1)
		w.commit(parley.SessionChange{Session: home, Delete: true})
		topics(0)
	})
}

// failing is a store whose reads fail when told to.
type failing struct {
	parley.Store
	err error
}

func (s *failing) Events(ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery) ([]parley.Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Store.Events(ctx, v, id, q)
}

func (s *failing) Log(ctx context.Context, v parley.Visibility, after uint64, limit int) ([]parley.Event, uint64, error) {
	if s.err != nil {
		return nil, after, s.err
	}
	return s.Store.Log(ctx, v, after, limit)
}

func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		w.create(home)
		store := &failing{Store: w.raw}
		w.feed.Close()
		w.use(store)
		live, all := w.follow(parley.SeeAll(), home, parley.Position{Seq: 1}), w.follow(parley.SeeAll(), "", parley.Position{Seq: 1})
		store.err = parley.Errorf(parley.CodeUnavailable, "the disk is gone")
		w.add(home, message("m", "x"))
		w.gets("the reader", live, "unavailable")
		w.gets("the reader of all", all, "unavailable")
		if !errors.Is(live.err, store.err) || !errors.Is(all.err, store.err) {
			t.Errorf("the readers are told %v and %v", live.err, all.err)
		}
		w.gets("who comes meanwhile", w.follow(parley.SeeAll(), home, parley.Position{}), "unavailable")
		w.gets("who comes meanwhile", w.follow(parley.SeeAll(), "", parley.Position{}), "unavailable")
		w.settle()
		if n := w.feed.Topics(); n != 0 {
			t.Errorf("%d topics are left", n)
		}
		store.err = nil
		w.gets("who comes later", w.follow(parley.SeeAll(), home, parley.Position{}), "1 2")
		w.gets("who comes later", w.follow(parley.SeeAll(), "", parley.Position{}), "1 2")
	})
}

// wakes keeps the wake-ups it got.
type wakes []string

func (l *wakes) Wake(id parley.SessionID, pos uint64) { *l = append(*l, fmt.Sprintf("%s@%d", id, pos)) }

// forgetful is a store that does not say what became of a commit.
type forgetful struct {
	parley.Store
	unknown bool
}

func (s *forgetful) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	res, err := s.Store.Commit(ctx, b)
	if s.unknown {
		return parley.Result{}, &parley.Error{Code: parley.CodeUnavailable, Err: parley.ErrOutcomeUnknown}
	}
	return res, err
}

func TestAnnounce(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		var got wakes
		store := &forgetful{Store: w.raw}
		announced := feed.Announce(store, &got)
		admit := events(home)
		admit.Admit = []parley.Input{{
			Ref: parley.InputRef{Origin: "cli", ID: "1"}, Kind: parley.InputMessage, State: parley.InputQueued,
			Principal: parley.Principal{Identity: anna, User: "anna", Role: parley.RoleOwner, Via: "cli"}, Parts: []parley.Part{parley.TextPart("hi")},
		}}
		text := "about"
		for _, step := range []struct {
			name    string
			changes []parley.SessionChange
			unknown bool
			fails   bool
			want    []string
		}{
			{name: "events of two sessions", changes: []parley.SessionChange{creation(home, anna), creation(away)}, want: []string{"cli:home@3", "web:away@3"}},
			{name: "an input", changes: []parley.SessionChange{admit}, want: []string{"cli:home@4"}},
			{name: "the same again", changes: []parley.SessionChange{admit}},
			{name: "a change without events", changes: []parley.SessionChange{{Session: away, Patch: parley.SessionPatch{Description: &text}}}, want: []string{"web:away@0"}},
			{name: "refused", changes: []parley.SessionChange{creation(home)}, fails: true},
			{name: "outcome unknown", changes: []parley.SessionChange{events(home, message("m", "x"))}, unknown: true, fails: true, want: []string{"cli:home@0"}},
			{name: "refused after that", changes: []parley.SessionChange{creation(home)}, fails: true},
			{name: "the next that succeeds", changes: []parley.SessionChange{admit}, want: []string{"cli:home@0"}},
			{name: "deletion", changes: []parley.SessionChange{{Session: away, Delete: true, Events: []parley.Draft{{Body: &parley.Ended{Reason: "delete"}}}}}, want: []string{"web:away@0"}},
		} {
			got, store.unknown = nil, step.unknown
			_, err := announced.Commit(w.Context(), parley.Batch{At: base, Sessions: step.changes})
			if (err != nil) != step.fails || !slices.Equal(got, step.want) {
				t.Errorf("%s: error %v, wakes %v, want %v", step.name, err, got, step.want)
			}
		}
	})
}
