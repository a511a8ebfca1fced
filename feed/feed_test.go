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

// sawReads fails unless some of the log was read since it was last asked, or nothing.
func (s *counting) sawReads(w *world, some bool) {
	w.Helper()
	w.settle()
	if n := s.reads.Swap(0); n > 0 != some {
		w.Errorf("%d reads; wanted some: %t", n, some)
	}
}

// hasTopics fails unless there are so many topics.
func (w *world) hasTopics(want int) {
	w.Helper()
	w.settle()
	if n := w.feed.Topics(); n != want {
		w.Errorf("%d topics, want %d", n, want)
	}
}

// beginUnfollowed makes a session with a turn whose reply has begun, in a store that counts.
func beginUnfollowed(w *world) (store *counting, after uint64) {
	w.Helper()
	store = &counting{Store: w.raw}
	w.use(store)
	w.create(home, anna)
	after = w.add(home, &parley.TurnStarted{Attempt: 1})
	for i, text := range []string{"a", "b", "c"} {
		w.feed.Publish(delta("m1", i+1, after, text))
	}
	w.hasTopics(1)
	store.sawReads(w, false)
	return store, after
}

// Nothing is read for a turn that nobody follows, and nothing is left of it.
func TestUnfollowedTurn(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		store, _ := beginUnfollowed(w)
		last := w.add(home, message("m1", "abc"))
		w.hasTopics(0)
		w.feed.Publish(delta("m2", 1, last, "d"))
		w.hasTopics(1)
		w.add(home, &parley.TurnCompleted{StopReason: parley.StopDone})
		w.hasTopics(0)
		store.sawReads(w, false)
		if n := w.feed.InTurn(); n != 0 {
			t.Errorf("%d sessions are taken to be in a turn", n)
		}

		// What comes late is looked up, and is over.
		w.feed.Publish(delta("m3", 1, last, "late"))
		w.hasTopics(0)
		store.sawReads(w, true)
	})
}

// Who comes in the middle of a reply that nobody followed gets all of it.
func TestUnfollowedUntilNow(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		store, after := beginUnfollowed(w)
		w.add(home, joins(bert))
		store.sawReads(w, false)
		tl := w.follow(parley.SeeAs(bert), home, parley.Position{Seq: after})
		w.settle()
		w.feed.Publish(delta("m1", 4, after, "d"))
		w.settle()
		if got := tl.reply(); got != "abcd" {
			t.Errorf("who comes in the middle got %q of the reply", got)
		}
		store.sawReads(w, true)
		tl.stop()

		last := w.add(home, message("m1", "abcd"))
		w.feed.Publish(delta("m2", 1, last, "e"))
		tl = w.follow(parley.SeeAs(anna), home, parley.Position{Seq: last})
		w.settle()
		if got := tl.reply(); got != "e" {
			t.Errorf("who comes in the second reply got %q of it", got)
		}
		w.add(home, message("m2", "e"), &parley.TurnCompleted{StopReason: parley.StopDone})
		w.settle()
		tl.stop()
		w.hasTopics(0)
	})
}

// Who follows all sessions gets what is said from then on of a reply that nobody followed.
func TestUnfollowedUntilAll(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		_, after := beginUnfollowed(w)
		tl := w.follow(parley.SeeAll(), "", parley.Position{})
		w.settle()
		tl.words() // what happened before
		w.feed.Publish(delta("m1", 4, after, "d"))
		w.settle()
		w.gets("who follows all", tl, "m1:4=d")
		w.add(home, message("m1", "abcd"), &parley.TurnCompleted{StopReason: parley.StopDone})
		w.settle()
		tl.stop()
		w.hasTopics(0)
	})
}

// A commit that may not have been made proves nothing, and a session that was deleted has
// no turn: the log is read.
func TestUnfollowedDoubt(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		store, _ := beginUnfollowed(w)
		lost := feed.Announce(&forgetful{Store: store, unknown: true}, w.feed)
		if _, err := lost.Commit(w.Context(), parley.Batch{At: base, Sessions: []parley.SessionChange{events(home, message("m1", "abc"))}}); err == nil {
			t.Fatal("the store has forgotten nothing")
		}
		w.hasTopics(0)
		store.sawReads(w, true)

		after := w.add(home, &parley.TurnStarted{Attempt: 1})
		w.feed.Publish(delta("m2", 1, after, "d"))
		w.hasTopics(1)
		w.commit(parley.SessionChange{Session: home, Delete: true})
		w.hasTopics(0)
		if n := w.feed.InTurn(); n != 0 {
			t.Errorf("%d sessions are taken to be in a turn", n)
		}
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
			{name: "deletion", changes: []parley.SessionChange{{Session: away, Delete: true, Events: []parley.NewEvent{{Body: &parley.Ended{Reason: "delete"}}}}}, want: []string{"web:away@0"}},
		} {
			got, store.unknown = nil, step.unknown
			_, err := announced.Commit(w.Context(), parley.Batch{At: base, Sessions: step.changes})
			if (err != nil) != step.fails || !slices.Equal(got, step.want) {
				t.Errorf("%s: error %v, wakes %v, want %v", step.name, err, got, step.want)
			}
		}
	})
}

// told is a store that takes no commits, and says of each that the log ends with an event then.
type told struct {
	parley.Store
	lastSeq uint64
}

func (s *told) Commit(context.Context, parley.Batch) (parley.Result, error) {
	return parley.Result{Sessions: []parley.SessionResult{{FirstSeq: s.lastSeq, LastSeq: s.lastSeq}}}, nil
}

// A commit that is announced late ends no reply that began after it.
func TestUnfollowedLateAnnouncement(t *testing.T) {
	t.Parallel()
	inBubble(t, feed.Config{}, func(w *world) {
		_, after := beginUnfollowed(w)
		late := feed.Announce(&told{Store: w.raw, lastSeq: after}, w.feed)
		if _, err := late.Commit(w.Context(), parley.Batch{At: base, Sessions: []parley.SessionChange{
			events(home, &parley.TurnCompleted{StopReason: parley.StopDone}),
		}}); err != nil {
			t.Fatal(err)
		}
		w.hasTopics(1)
		tl := w.follow(parley.SeeAs(anna), home, parley.Position{Seq: after})
		w.settle()
		if got := tl.reply(); got != "abc" {
			t.Errorf("of the reply there is %q", got)
		}
	})
}
