package channel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// platforms are those that can tell what arrived, and one that cannot.
var platforms = map[string]func() (channel.Platform, *fakeChat){
	"cannot tell": func() (channel.Platform, *fakeChat) {
		f := newFakeChat()
		return f, f
	},
	"can be read": func() (channel.Platform, *fakeChat) {
		f := newFakeChat()
		return readable{f}, f
	},
	"knows keys": func() (channel.Platform, *fakeChat) {
		f := newFakeChat()
		f.can.Idempotent = time.Hour
		return f, f
	},
}

// killed runs a scenario once for each step that a process takes, cut off there, and
// looks at what the chat shows after the next process is done.
func killed(t *testing.T, scenario func(w *world, resume bool), check func(t *testing.T, w *world, canTell bool, step int)) {
	t.Helper()
	killedWith(t, func(*world) {}, scenario, check)
}

// killedWith is killed, with worlds that are prepared.
func killedWith(
	t *testing.T, prepare func(*world), scenario func(w *world, resume bool), check func(t *testing.T, w *world, canTell bool, step int),
) {
	t.Helper()
	for name, platform := range platforms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step := 0; ; step++ {
				p, f := platform()
				w := newWorld(t, p, f)
				prepare(w)
				w.session("fake:a")
				w.begin(step)
				scenario(w, false)
				w.settled()
				over := w.life.dead()
				w.again()
				scenario(w, true)
				w.settled()
				if w.chat.overlaps > 0 {
					t.Errorf("step %d: two calls were under way in a chat", step)
				}
				check(t, w, name != "cannot tell", step)
				w.end()
				if !over {
					if step < 8 {
						t.Fatalf("there were only %d steps", step)
					}
					return
				}
			}
		})
	}
}

func TestKilledAtEachStepOfADelivery(t *testing.T) {
	t.Parallel()
	killed(t, func(w *world, resume bool) {
		if resume {
			// What was not admitted or said is done again, as an engine does.
			w.turns = 0
			turn := parley.TurnID("t1")
			if _, err := w.store.Turn(w.t.Context(), parley.SeeAll(), "fake:a", turn); err != nil {
				w.ask("fake:a", target("fake:a"))
			}
			if !w.said("fake:a", "m1") {
				w.change(closing("fake:a", turn, says(turn, "m1", long(3))))
			}
			return
		}
		turn := w.ask("fake:a", target("fake:a"))
		if !w.life.dead() {
			w.change(closing("fake:a", turn, says(turn, "m1", long(3))))
		}
	}, func(t *testing.T, w *world, canTell bool, step int) {
		t.Helper()
		got := w.chat.texts("fake:a")
		if extra := len(got) - 3; extra > 1 || extra == 1 && canTell {
			t.Errorf("step %d: %d messages", step, len(got))
		}
		var order []string
		for _, text := range got {
			_, rest, found := strings.Cut(text, "Part ")
			if !found {
				t.Fatalf("step %d: a message says %.40q", step, text)
			}
			if !isMarked(text) && slices.Contains(order, rest[:1]) {
				t.Errorf("step %d: part %s is there twice and not marked", step, rest[:1])
			}
			if isMarked(text) && canTell {
				t.Errorf("step %d: part %s is marked", step, rest[:1])
			}
			if !slices.Contains(order, rest[:1]) {
				order = append(order, rest[:1])
			}
		}
		if !slices.Equal(order, []string{"0", "1", "2"}) {
			t.Errorf("step %d: the parts are %v", step, order)
		}
	})
}

func TestKilledAtEachStepOfAStreamedReply(t *testing.T) {
	t.Parallel()
	const final = "The whole answer, from its beginning to its end."
	killed(t, func(w *world, resume bool) {
		turn := parley.TurnID("t1")
		if resume {
			w.turns = 0
			if _, err := w.store.Turn(w.t.Context(), parley.SeeAll(), "fake:a", turn); err != nil {
				w.ask("fake:a", target("fake:a"))
			}
			if !w.said("fake:a", "m1") {
				w.change(parley.SessionChange{Session: "fake:a", Turns: []parley.TurnChange{{ID: turn, Attempt: new(2), State: new(parley.TurnRunning)}}})
				w.change(closing("fake:a", turn, says(turn, "m1", final)))
			}
			return
		}
		w.ask("fake:a", target("fake:a"))
		for i, beginning := range []string{"The whole answer,", " from its", " beginning"} {
			w.delta("fake:a", turn, i+1, beginning)
			calls := i + 1
			w.until("more of it is shown", func() bool { return w.life.dead() || len(w.chat.called()) >= calls })
		}
		if !w.life.dead() {
			w.change(closing("fake:a", turn, says(turn, "m1", final)))
		}
	}, func(t *testing.T, w *world, canTell bool, step int) {
		t.Helper()
		got := w.chat.texts("fake:a")
		if len(got) == 1 && (got[0] == final || !canTell && isMarked(got[0]) && strings.HasSuffix(got[0], final)) {
			return
		}
		// The platform took the beginning, and nobody could say so any more.
		if !canTell && len(got) == 2 && strings.HasPrefix(final, got[0]) && isMarked(got[1]) && strings.HasSuffix(got[1], final) {
			return
		}
		t.Errorf("step %d: the chat shows %q; calls %v; rows %+v", step, got, w.chat.called(), w.everything())
	})
}

func TestKilledAtEachStepOfAnApproval(t *testing.T) {
	t.Parallel()
	turn := parley.TurnID("t1")
	killed(t, func(w *world, _ bool) {
		w.turns = 0
		approvals := func() []parley.Approval {
			list, err := w.store.Approvals(w.t.Context(), parley.SeeAll(), "fake:a")
			if err != nil {
				w.t.Fatal(err)
			}
			return list
		}
		if _, err := w.store.Turn(w.t.Context(), parley.SeeAll(), "fake:a", turn); err != nil {
			w.ask("fake:a", target("fake:a"))
		}
		if len(approvals()) == 0 && !w.life.dead() {
			w.change(asking("fake:a", turn))
		}
		w.until("the question is there", func() bool { return w.life.dead() || len(w.chat.texts("fake:a")) > 0 })
		if list := approvals(); len(list) > 0 && list[0].State == parley.ApprovalPending && !w.life.dead() {
			w.change(answering("fake:a", turn, parley.ApprovalApproved))
		}
	}, func(t *testing.T, w *world, canTell bool, step int) {
		t.Helper()
		got := w.chat.texts("fake:a")
		last := got[len(got)-1]
		if len(got) == 1 && strings.Contains(last, "Approved") {
			return
		}
		// The platform took the question, and nobody could say so any more: it was asked
		// again, or answered before that. Then it is not asked any more.
		dropped := len(w.rows(parley.DeliveryDropped)) == 1
		if canTell || len(got) == 1 && !dropped || len(got) == 2 && !strings.Contains(last, "Approved") || len(got) > 2 {
			t.Errorf("step %d: the chat shows %q; rows %+v", step, got, w.everything())
		}
	})
}

// asking is the question whether a call may run.
func asking(id parley.SessionID, turn parley.TurnID) parley.SessionChange {
	m := &parley.Message{ID: "m.ask", Role: parley.MessageAssistant, Parts: []parley.Part{
		{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "run_command", Arguments: []byte(`{"line":"rm -r build"}`)}},
	}}
	return parley.SessionChange{
		Session:   id,
		Events:    []parley.NewEvent{{Turn: turn, Body: m}, {Turn: turn, Body: &parley.ApprovalRequested{Call: "c1", Tool: "run_command", Default: parley.ApprovalDenied}}},
		Approvals: []parley.ApprovalChange{{Turn: turn, Call: "c1", Tool: "run_command", State: parley.ApprovalPending, Default: parley.ApprovalDenied}},
	}
}

// answering is the answer to it.
func answering(id parley.SessionID, turn parley.TurnID, state parley.ApprovalState) parley.SessionChange {
	return parley.SessionChange{
		Session:   id,
		Events:    []parley.NewEvent{{Turn: turn, Body: &parley.ApprovalResolved{Call: "c1", State: state, By: owner.Identity}}},
		Approvals: []parley.ApprovalChange{{Turn: turn, Call: "c1", State: state, By: owner.Identity}},
	}
}

func TestHeldAfterALongDowntime(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	w.end()
	for i := range 3 {
		w.answer("fake:a", fmt.Sprint("old ", i)) // nobody brings it
	}
	w.clock.Advance(2 * time.Hour)
	w.answer("fake:a", "fresh")
	w.begin(-1)
	w.settled()
	got := w.chat.texts("fake:a")
	if len(got) != 2 || got[0] != "fresh" || !strings.HasPrefix(got[1], "3 replies") {
		t.Fatalf("the chat shows %q", got)
	}
	if held := w.rows(parley.DeliveryHeld); len(held) != 3 {
		t.Fatalf("held are %+v", held)
	}
	announced := w.chat.note(t, "fake:a", 1)
	id, choice, ok := channel.PressedButton(announced.buttons[0][0].Data)
	if !ok || choice != channel.ChooseRelease {
		t.Fatalf("the button is %+v", announced.buttons)
	}
	n, err := w.outbox.Release(t.Context(), somebody, id)
	if n != 3 || err != nil {
		t.Fatalf("%d are released, %v", n, err)
	}
	w.settled()
	if got := w.chat.texts("fake:a")[2:]; !slices.Equal(got, []string{"old 0", "old 1", "old 2"}) {
		t.Errorf("the chat shows %q", got)
	}
	if n, err := w.outbox.Release(t.Context(), somebody, id); n != 0 || err != nil {
		t.Errorf("a second time %d are released, %v", n, err)
	}
}

func TestAnOutageHoldsToo(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(func(string, string, string) fate { return astray })
	w.session("fake:a")
	w.answer("fake:a", "one")
	w.until("it was tried", func() bool { return len(w.chat.called()) > 1 })
	w.clock.Advance(2 * time.Hour)
	w.until("it is held", func() bool { return len(w.rows(parley.DeliveryHeld)) == 1 })
	w.chat.decide(nil)
	w.settled()
	if got := w.chat.texts("fake:a"); len(got) != 1 || !strings.HasPrefix(got[0], "A reply from earlier") {
		t.Errorf("the chat shows %q", got)
	}
}

// An outage in which answers become old one by one is announced once.
func TestALongOutageIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(func(string, string, string) fate { return astray })
	w.session("fake:a")
	const replies = 4
	for n := range replies {
		w.answer("fake:a", fmt.Sprint("reply ", n))
		w.clock.Advance(2 * time.Hour)
		w.until("it is held", func() bool { return len(w.rows(parley.DeliveryHeld)) == n+1 })
	}
	w.chat.decide(nil)
	w.settled()
	if got := w.chat.texts("fake:a"); len(got) != 1 || !strings.HasPrefix(got[0], "4 replies") {
		t.Fatalf("the chat shows %q", got)
	}
	id, _, _ := channel.PressedButton(w.chat.note(t, "fake:a", 0).buttons[0][0].Data)
	if n, err := w.outbox.Release(t.Context(), somebody, id); n != replies || err != nil {
		t.Errorf("%d are released, %v", n, err)
	}
}
