package engine_test

import (
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

// quick is how chats bring messages.
var quick = engine.Manner{Pause: 1500 * time.Millisecond, Longest: 8 * time.Second}

// bring brings a message from a chat.
func (s *stage) bring(as access.Caller, id parley.SessionID, in parley.Input) parley.Receipt {
	s.t.Helper()
	r, err := s.eng.As(as).Bring(s.t.Context(), id, in, quick)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func TestBurst(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for n, text := range []string{"a", "b", "c"} {
		if r := s.bring(alice, id, say(text, text)); r.State != parley.InputQueued || r.Position != n {
			t.Errorf("%s: %+v", text, r)
		}
		s.clock.Advance(time.Second)
	}
	if r := s.bring(alice, id, say("b", "b")); !r.Duplicate || r.State != parley.InputQueued {
		t.Errorf("%+v", r)
	}
	s.clock.WaitForTimer(2 * time.Second)
	s.clock.Advance(time.Second)
	s.turns(id, 1)
	s.bring(alice, id, say("d", "d"))
	s.clock.WaitForTimer(2 * time.Second)
	s.clock.Advance(2 * time.Second)
	if got := sketch(t, s.turns(id, 2)); got != ">a >b >c <re:a+b+c |stop >d <re:d |stop" {
		t.Errorf("%s", got)
	}
}

// TestBurstEnds: somebody who does not stop is answered all the same.
func TestBurstEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for _, text := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		s.bring(alice, id, say(text, text))
		s.clock.WaitForTimer(1500 * time.Millisecond)
		s.clock.Advance(time.Second)
	}
	if got := sketch(t, s.turns(id, 1)); got != ">1 >2 >3 >4 >5 >6 >7 >8 <re:1+2+3+4+5+6+7+8 |stop" {
		t.Errorf("%s", got)
	}
}

// TestBurstOfOne: what somebody else says is not part of it, and does not end it.
func TestBurstOfOne(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionGroup, "cli:alice", "web:bob")
	s.bring(alice, id, say("1", "a"))
	s.bring(bob, id, say("2", "x"))
	s.bring(alice, id, say("3", "b"))
	s.clock.WaitForTimer(1500 * time.Millisecond)
	s.clock.Advance(2 * time.Second)
	if got := sketch(t, s.turns(id, 2)); got != ">a >b <re:[somebody] a+[somebody] b |stop >x <re:[somebody] x |stop" {
		t.Errorf("%s", got)
	}
}

// TestBurstSurvives: what waits when the program stops is one turn after the next
// start.
func TestBurstSurvives(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.bring(alice, id, say("1", "a"))
	s.clock.Advance(time.Second)
	s.bring(alice, id, say("2", "b"))
	s.end()
	s.clock.Advance(time.Minute)
	s.start()
	if got := sketch(t, s.turns(id, 1)); got != ">a >b <re:a+b |stop" {
		t.Errorf("%s", got)
	}
}

// TestBurstWhereNothingWaits: a session that rejects takes a burst, as it is one
// thing that somebody says.
func TestBurstWhereNothingWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo), Busy: parley.BusyReject})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.bring(alice, id, say("1", "a"))
	s.bring(alice, id, say("2", "b"))
	if _, err := s.eng.As(alice).Post(t.Context(), id, say("3", "c")); parley.CodeOf(err) != parley.CodeBusy {
		t.Errorf("got %v", err)
	}
	s.clock.WaitForTimer(1500 * time.Millisecond)
	s.clock.Advance(2 * time.Second)
	if got := sketch(t, s.turns(id, 1)); got != ">a >b <re:a+b |stop" {
		t.Errorf("%s", got)
	}
}

// TestCommandsPassBursts: a command is carried out at once, whatever waits.
func TestCommandsPassBursts(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.bring(alice, id, say("1", "a"))
	if r := s.bring(alice, id, say("2", "/title Trip")); r.State != parley.InputCarriedOut {
		t.Errorf("%+v", r)
	}
}

// TestBotsThatMay: a program triggers a turn only where it is allowed.
func TestBotsThatMay(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionGroup, "cli:alice", "web:bob")
	bot := func(in *parley.Input) { in.Sender = parley.Sender{ID: "9", Name: "Relay", Bot: true} }
	for _, allow := range []bool{false, true} {
		want := map[bool]parley.InputState{false: parley.InputLogged, true: parley.InputRunning}[allow]
		r, err := s.eng.As(bob).Bring(t.Context(), id, say(string(want), "x", bot), engine.Manner{AllowBots: allow})
		if err != nil || r.State != want {
			t.Errorf("%t: %+v, %v", allow, r, err)
		}
	}
}
