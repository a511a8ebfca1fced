package feed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
