package channel_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

func TestStreamedReply(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	w.delta("fake:a", turn, 1, "Once upon")
	w.until("its beginning is shown", func() bool { return slices.Equal(w.chat.texts("a"), []string{"Once upon"}) })
	w.delta("fake:a", turn, 2, " a time")
	w.until("more is shown", func() bool { return slices.Equal(w.chat.texts("a"), []string{"Once upon a time"}) })
	w.change(parley.SessionChange{Session: "fake:a", Events: []parley.NewEvent{says(turn, "m1", "Once upon a time there was a fox.")}})
	w.settled()
	w.delta("fake:a", turn, 1, "And")
	w.change(closing("fake:a", turn, says(turn, "m2", "And then "+long(2))))
	w.settled()
	got := w.chat.texts("a")
	if len(got) != 3 || got[0] != "Once upon a time there was a fox." || !strings.HasPrefix(got[1], "And then Part 0") || !strings.HasPrefix(got[2], "Part 1") {
		t.Errorf("the chat shows %.60q", got)
	}
	if w.chat.overlaps > 0 {
		t.Error("two calls were under way in a chat")
	}
}

func TestStreamKeepsItsPace(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	before := w.clock.Now()
	n := 0
	w.until("ten seconds have passed", func() bool {
		n++
		w.delta("fake:a", turn, n, "word ")
		return w.clock.Now().Sub(before) > 10*time.Second
	})
	if calls := len(w.chat.called()); calls < 5 || calls > 11 {
		t.Errorf("%d calls in ten seconds", calls)
	}
	w.change(closing("fake:a", turn, says(turn, "m1", "done")))
	w.settled()
}

func TestStreamThatEndsOtherwise(t *testing.T) {
	t.Parallel()
	notice := func(turn parley.TurnID) parley.NewEvent {
		return parley.NewEvent{Turn: turn, Body: &parley.Message{
			ID: "m.end", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart("The model broke.")},
		}}
	}
	for name, c := range map[string]struct {
		restart bool
		last    func(parley.TurnID) []parley.NewEvent
		want    []string
	}{
		"an error":                  {false, func(id parley.TurnID) []parley.NewEvent { return []parley.NewEvent{notice(id)} }, []string{"The model broke."}},
		"nothing":                   {false, func(parley.TurnID) []parley.NewEvent { return nil }, []string{"(This answer was not finished.)"}},
		"an error, after a restart": {true, func(id parley.TurnID) []parley.NewEvent { return []parley.NewEvent{notice(id)} }, []string{"The model broke."}},
		"nothing, after a restart":  {true, func(parley.TurnID) []parley.NewEvent { return nil }, []string{"(This answer was not finished.)"}},
		"an answer and an error, after a restart": {true, func(id parley.TurnID) []parley.NewEvent {
			return []parley.NewEvent{says(id, "m1", "Here."), notice(id)}
		}, []string{"Here.", "The model broke."}},
		"an answer and an error": {false, func(id parley.TurnID) []parley.NewEvent {
			return []parley.NewEvent{says(id, "m1", "Here."), notice(id)}
		}, []string{"Here.", "The model broke."}},
		"an answer, after a restart": {true, func(id parley.TurnID) []parley.NewEvent { return []parley.NewEvent{says(id, "m1", "Here.")} }, []string{"Here."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oneChat(t)
			w.session("fake:a")
			turn := w.ask("fake:a", target("a"))
			w.delta("fake:a", turn, 1, "Once upon")
			w.until("its beginning is shown", func() bool { o := w.open(); return len(o) == 1 && o[0].PlatformID != "" })
			if c.restart {
				w.again()
			}
			w.change(closing("fake:a", turn, c.last(turn)...))
			w.settled()
			if got := w.chat.texts("a"); !slices.Equal(got, c.want) {
				t.Errorf("the chat shows %q", got)
			}
		})
	}
}

func TestReplyIsStoredWhileItsBeginningIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		became fate
		want   []string
	}{
		"it arrives":         {taken, []string{"The end."}},
		"it does not arrive": {astray, []string{"The end."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oneChat(t)
			w.session("fake:a")
			turn := w.ask("fake:a", target("a"))
			hang := make(chan struct{})
			w.chat.mu.Lock()
			w.chat.hangs["a"] = hang
			w.chat.mu.Unlock()
			w.chat.decide(inTurn("send", c.became))
			w.delta("fake:a", turn, 1, "The")
			w.until("it is being sent", func() bool { return len(w.chat.called()) == 1 })
			w.change(closing("fake:a", turn, says(turn, "m1", "The end.")))
			close(hang)
			w.settled()
			if got := w.chat.texts("a"); !slices.Equal(got, c.want) {
				t.Errorf("the chat shows %q", got)
			}
		})
	}
}

func TestBeginningThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		became fate
		marked bool
	}{"lost": {astray, false}, "in doubt": {vanished, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oneChat(t)
			w.session("fake:a")
			turn := w.ask("fake:a", target("a"))
			w.chat.decide(inTurn("send", c.became))
			w.delta("fake:a", turn, 1, "The")
			w.until("it was sent", func() bool { return len(w.chat.called()) == 1 })
			w.change(closing("fake:a", turn, says(turn, "m1", "The end.")))
			w.settled()
			got := w.chat.texts("a")
			if len(got) != 1 || isMarked(got[0]) != c.marked || !strings.HasSuffix(got[0], "The end.") {
				t.Errorf("the chat shows %q", got)
			}
		})
	}
}

func TestADeletedMessageIsSentAnew(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	w.delta("fake:a", turn, 1, "The")
	w.until("its beginning is shown", func() bool { o := w.open(); return len(o) == 1 && o[0].PlatformID != "" })
	w.chat.mu.Lock()
	w.chat.chats["a"] = nil
	w.chat.mu.Unlock()
	w.change(closing("fake:a", turn, says(turn, "m1", "The end.")))
	w.settled()
	if got := w.chat.texts("a"); !slices.Equal(got, []string{"The end."}) {
		t.Errorf("the chat shows %q", got)
	}
}

func TestTypingFromAdmissionToDelivery(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	f.can.Typing, f.can.Edits = true, false
	w := newWorld(t, f, f)
	w.begin(-1)
	w.session("fake:a")
	in := parley.Input{
		Ref: parley.InputRef{Origin: "fake//a", ID: "1"}, Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart("hi")},
		Principal: somebody, State: parley.InputQueued, Target: target("a"),
	}
	w.change(parley.SessionChange{Session: "fake:a", Admit: []parley.Input{in}})
	w.until("it is shown twice", func() bool { return len(f.called()) == 2 })
	w.change(parley.SessionChange{
		Session: "fake:a", Turns: []parley.TurnChange{{ID: "t1", Start: true}},
		Inputs: []parley.InputChange{{Ref: in.Ref, State: parley.InputRunning, Turn: "t1"}},
	})
	w.until("it is shown four times", func() bool { return len(f.called()) == 4 })
	w.change(parley.SessionChange{Session: "fake:a", Turns: []parley.TurnChange{{ID: "t1", State: new(parley.TurnAwaitingApproval)}}})
	before := len(f.called())
	w.clock.Advance(time.Minute)
	if n := len(f.called()); n > before+1 {
		t.Errorf("it is shown while somebody is asked: %d calls", n-before)
	}
	w.change(parley.SessionChange{Session: "fake:a", Turns: []parley.TurnChange{{ID: "t1", State: new(parley.TurnRunning)}}})
	more := len(f.called())
	w.until("it is shown again", func() bool { return len(f.called()) > more })
	end := closing("fake:a", "t1", says("t1", "m1", "Hello."))
	end.Inputs[0].Ref = in.Ref
	w.change(end)
	w.settled()
	w.clock.Advance(time.Minute)
	calls := f.called()
	if calls[len(calls)-1] != "send a" || slices.Index(calls, "send a") != len(calls)-1 || f.overlaps > 0 {
		t.Errorf("the calls are %v", calls)
	}
}

// That an answer is on its way is not worth annoying a platform that asked for a pause.
func TestTypingRespectsRetryAfter(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	f.can.Typing, f.can.TypingEvery = true, time.Second
	w := newWorld(t, f, f)
	var mu sync.Mutex
	var shown []time.Time
	f.decide(func(call, _, _ string) fate {
		mu.Lock()
		defer mu.Unlock()
		if call == "typing" {
			shown = append(shown, w.clock.Now())
		}
		return limited
	})
	w.begin(-1)
	w.session("fake:a")
	turn := w.ask("fake:a", target("fake:a"))
	w.until("it is shown again and again", func() bool { return len(f.called()) >= 3 })
	f.decide(nil)
	w.change(closing("fake:a", turn, says(turn, "m1", "Hello.")))
	w.settled()
	mu.Lock()
	defer mu.Unlock()
	for i := 1; i < len(shown); i++ {
		if waited := shown[i].Sub(shown[i-1]); waited < 7*time.Second {
			t.Errorf("it was shown again after %s", waited)
		}
	}
}
