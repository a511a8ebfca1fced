package chat_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// TestReconnect: a lost connection is shown; what happened meanwhile stands below a
// mark, once, and what comes after is live.
func TestReconnect(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "before")
	p.answers("cli:a", "t1", "r1", "yes")
	p.shows("yes")
	p.connection(errors.New("gone"))
	p.shows("reconnecting 0s")
	p.until("the seconds", func() bool {
		p.clock.move(time.Second)
		return !strings.Contains(p.Screen(), "reconnecting 0s")
	})
	p.event("cli:a", "", me, &parley.Admitted{ID: "web-1", Origin: "x", Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart("meanwhile")}})
	p.settle() // the fake's stream does not break: this is from before
	p.clock.move(time.Second)
	p.connection(nil)
	p.gone("reconnecting")
	p.clock.move(-time.Second) // it happened before the connection was back
	p.event("cli:a", "t2", me, &parley.Message{
		ID: "m-web-1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("meanwhile")}, Inputs: []parley.InputRef{{Origin: "x", ID: "web-1"}},
	})
	p.clock.move(time.Minute)
	p.answers("cli:a", "t2", "r2", "and live again")
	p.shows("── missed while away ──", "▌ meanwhile", "and live again")
	screen := p.Screen()
	mark, missed := strings.Index(screen, "missed while away"), strings.Index(screen, "▌ meanwhile")
	if mark > missed || strings.Count(screen, "missed while away") != 1 || strings.Count(screen, "▌ meanwhile") != 1 {
		t.Errorf("the screen is\n%s", screen)
	}
}

// TestReconnect_Nothing: if nothing was missed there is no mark.
func TestReconnect_Nothing(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.connection(errors.New("gone"))
	p.shows("reconnecting")
	p.connection(nil)
	p.gone("reconnecting")
	p.clock.move(time.Minute)
	p.says("cli:a", "t1", "chat-x", "after")
	p.shows("▌ after")
	if strings.Contains(p.Screen(), "missed") {
		t.Errorf("the screen is\n%s", p.Screen())
	}
}

// TestResync: what cannot be continued is read anew, and nothing is there twice.
func TestResync(t *testing.T) {
	t.Parallel()
	for _, reason := range []parley.ResyncReason{parley.ResyncSlow, parley.ResyncRestored} {
		p := start(t, newFake())
		p.says("cli:a", "t1", "chat-x", "before")
		p.shows("▌ before")
		p.resync("cli:a", reason)
		p.answers("cli:a", "t1", "r1", "the answer")
		p.shows("the answer")
		if n := strings.Count(p.Screen(), "▌ before"); n != 1 {
			t.Errorf("%s: it is there %d times\n%s", reason, n, p.Screen())
		}
	}
}

// TestGap: a delta that is missing has the session read anew.
func TestGap(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "before")
	p.delta("cli:a", "t1", "r1", 1, parley.PartText, "one ")
	p.shows("one")
	p.with("cli:a", func(s *fakeSession) {
		s.updates = append(s.updates, parley.Update{Delta: &parley.Delta{Session: "cli:a", Turn: "t1", Stream: "r1", N: 3, Kind: parley.PartText, Text: "three"}})
	})
	p.until("the second reading", func() bool { return strings.Count(strings.Join(p.requests(), "\n"), "messages") > 1 })
}

// TestTakenUp: a turn that goes on after a restart begins its answer anew.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "before")
	p.delta("cli:a", "t1", "r1", 1, parley.PartText, "half an ans")
	p.shows("half an ans")
	p.event("cli:a", "t1", "", &parley.TurnStarted{Attempt: 2})
	p.shows("the answer was interrupted, and is taken up again")
	p.gone("half an ans")
	p.answers("cli:a", "t1", "r2", "a whole answer")
	p.shows("a whole answer")
}

// TestStart_Unreachable: a session that cannot be read yet is read when it can be.
func TestStart_Unreachable(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	f := p.fake
	f.add("cli:b")
	f.says("cli:b", "t1", "chat-y", "over there")
	p.press("ctrl+p")
	p.shows("cli:b")
	f.fails(parley.Errorf(parley.CodeUnavailable, "the server is not there"))
	p.press("down", "enter")
	p.shows("reconnecting", "reading…")
	f.fails(nil)
	p.until("the session", func() bool {
		p.clock.move(time.Second)
		return strings.Contains(p.Screen(), "▌ over there")
	})
	p.gone("reconnecting")
	f.fails(parley.Errorf(parley.CodeNotFound, "it was deleted"))
	p.resync("cli:b", parley.ResyncRestored)
	p.shows("it was deleted (not_found)")
}

// TestReconnect_Resync: the mark stands above what was missed also if the session has to
// be read anew after the connection is back.
func TestReconnect_Resync(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.says("cli:a", "t1", "chat-x", "before")
	p.answers("cli:a", "t1", "r1", "yes")
	p.shows("yes")
	p.connection(errors.New("gone"))
	p.shows("reconnecting")
	p.clock.move(time.Minute)
	p.connection(nil)
	p.gone("reconnecting")
	p.clock.move(-time.Second) // it happened before the connection was back
	p.resync("cli:a", parley.ResyncSlow)
	p.says("cli:a", "t2", "web-1", "meanwhile")
	p.shows("── missed while away ──", "▌ meanwhile")
	if n := strings.Count(p.Screen(), "missed while away"); n != 1 {
		t.Errorf("the screen is\n%s", p.Screen())
	}
}

// TestReconnect_ToldLate: a backend that tells of its connection when a stream is over
// already harms nothing.
func TestReconnect_ToldLate(t *testing.T) {
	t.Parallel()
	p := start(t, newFake())
	p.until("somebody who follows", func() bool { return p.watcher() != nil })
	late := p.watcher()
	p.resync("cli:a", parley.ResyncUnknown)
	p.says("cli:a", "t1", "chat-x", "read anew")
	p.shows("▌ read anew")
	for range 1000 { // more than are kept for who reads
		late(errors.New("gone"))
	}
	p.says("cli:a", "t2", "chat-y", "goes on")
	p.shows("▌ goes on")
	if strings.Contains(p.Screen(), "reconnecting") {
		t.Errorf("the screen is\n%s", p.Screen())
	}
}
