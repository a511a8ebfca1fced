package channel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/sqlite"
)

func TestRetryAndDrop(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(inTurn("send", declined, declined))
	w.session("fake:a")
	w.answer("fake:a", "one")
	w.answer("fake:a", "two")
	w.settled()
	dead, err := w.outbox.List(t.Context(), owner, parley.DeliveryQuery{State: parley.DeliveryDead})
	if err != nil || len(dead) != 2 {
		t.Fatalf("%+v, %v", dead, err)
	}
	for what, err := range map[string]error{
		"list":  second(w.outbox.List(t.Context(), somebody, parley.DeliveryQuery{})),
		"retry": w.outbox.Retry(t.Context(), somebody, dead[0].ID),
		"drop":  w.outbox.Drop(t.Context(), somebody, dead[0].ID),
	} {
		if parley.CodeOf(err) != parley.CodeForbidden {
			t.Errorf("%s by somebody who is no owner: %v", what, err)
		}
	}
	w.clock.Advance(3 * time.Hour) // whoever has it tried again knows that it is old
	if err := w.outbox.Retry(t.Context(), owner, dead[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := w.outbox.Drop(t.Context(), owner, dead[1].ID); err != nil {
		t.Fatal(err)
	}
	w.settled()
	if got := w.chat.texts("fake:a"); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the chat shows %q", got)
	}
	for what, c := range map[string]struct {
		err  error
		want parley.Code
	}{
		"retry what was sent":    {w.outbox.Retry(t.Context(), owner, dead[0].ID), parley.CodeConflict},
		"drop what was sent":     {w.outbox.Drop(t.Context(), owner, dead[0].ID), parley.CodeConflict},
		"drop what was dropped":  {w.outbox.Drop(t.Context(), owner, dead[1].ID), parley.CodeConflict},
		"retry what is not":      {w.outbox.Retry(t.Context(), owner, "nothing"), parley.CodeNotFound},
		"release what is no sum": {second(w.outbox.Release(t.Context(), owner, dead[0].ID)), parley.CodeConflict},
	} {
		if parley.CodeOf(c.err) != c.want {
			t.Errorf("%s: %v", what, c.err)
		}
	}
	lines, err := w.store.Audit(t.Context(), parley.AuditQuery{Session: "fake:a"})
	if err != nil || len(lines) != 2 || lines[0].Action != "outbox_drop" || lines[1].Subject != string(dead[0].ID) || lines[1].Actor != owner.Identity {
		t.Errorf("the audit has %+v, %v", lines, err)
	}
	stats, err := channel.StatsOf(t.Context(), w.store)
	if err != nil || stats != (channel.Stats{}) {
		t.Errorf("stats are %+v, %v", stats, err)
	}
}

// TestStatsOf: what is shown while it is being written is not on its way.
func TestStatsOf(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	change := parley.SessionChange{Session: "fake:a", Create: &parley.NewSession{
		Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "channel"}, Type: parley.SessionDirect,
	}}
	add := func(state parley.DeliveryState, draft bool) {
		id := parley.DeliveryID(fmt.Sprintf("d%d", len(change.Deliveries)))
		change.Deliveries = append(change.Deliveries, parley.DeliveryChange{New: &parley.Delivery{
			ID: id, Session: change.Session, Kind: parley.DeliveryMessage, Target: parley.Target{Channel: "fake", Chat: "a"}, Text: "hello", State: state, Draft: draft,
		}})
	}
	add(parley.DeliverySending, true)
	for _, state := range []parley.DeliveryState{
		parley.DeliveryPending, parley.DeliverySending, parley.DeliveryUnknown, parley.DeliveryHeld, parley.DeliverySent, parley.DeliveryDropped,
	} {
		add(state, false)
	}
	for range channel.MostCounted + 1 {
		add(parley.DeliveryDead, false)
	}
	if _, err := store.Commit(t.Context(), parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{change}}); err != nil {
		t.Fatal(err)
	}
	got, err := channel.StatsOf(t.Context(), store)
	if want := (channel.Stats{Open: 3, Held: 1, Dead: channel.MostCounted}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func second[T any](_ T, err error) error { return err }

func TestRedactedWhileItWaits(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(inTurn("send", taken, astray))
	w.session("fake:a")
	w.answer("fake:a", "Part 0 stays "+strings.Repeat("x", 700)+"\n\n"+strings.Repeat("secret ", 120))
	w.until("the second part waits", func() bool {
		o := w.open()
		return len(w.chat.called()) == 2 && len(o) == 1 && o[0].State == parley.DeliveryPending
	})
	seq := w.open()[0].Seq
	w.change(parley.SessionChange{Session: "fake:a", Redact: []uint64{seq}})
	w.settled()
	if got := w.chat.texts("fake:a"); len(got) != 1 || strings.Contains(got[0], "secret") {
		t.Errorf("the chat shows %q", got)
	}
	for _, d := range w.everything() {
		if d.Text != "" || d.Markup != "" {
			t.Errorf("the outbox still has %+v", d)
		}
	}
}

func TestRedactedInTheLastMoment(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w := newWorld(t, f, f)
	redacted := false
	w.commits = func(b parley.Batch) fate {
		for _, s := range b.Sessions {
			for _, d := range s.Deliveries {
				if d.State == nil || *d.State != parley.DeliverySending || redacted {
					continue
				}
				redacted = true
				seq := w.open()[0].Seq
				if _, err := w.store.Commit(context.Background(), parley.Batch{At: w.clock.Now(), Sessions: []parley.SessionChange{
					{Session: s.Session, Redact: []uint64{seq}},
				}}); err != nil {
					t.Error(err)
				}
			}
		}
		return taken
	}
	w.begin(-1)
	w.session("fake:a")
	w.answer("fake:a", "the secret")
	w.settled()
	if got := f.texts("fake:a"); len(got) > 0 || !redacted {
		t.Errorf("the chat shows %q", got)
	}
	for _, d := range w.everything() {
		if d.Text != "" || d.Markup != "" {
			t.Errorf("the outbox still has %+v", d)
		}
	}
}

func TestRedactedWhileItsBeginningIsShown(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	w.delta("fake:a", turn, 1, "The secret")
	w.until("its beginning is shown", func() bool { return len(w.chat.texts("a")) == 1 && len(w.open()) == 1 && w.open()[0].PlatformID != "" })
	w.chat.decide(func(string, string, string) fate { return astray })
	w.change(closing("fake:a", turn, says(turn, "m1", "The secret is out.")))
	seq := w.open()[0].Seq
	w.change(parley.SessionChange{Session: "fake:a", Redact: []uint64{seq}})
	w.chat.decide(nil)
	w.settled()
	if got := w.chat.texts("a"); len(got) != 1 || strings.Contains(got[0], "secret") {
		t.Errorf("the chat shows %q", got)
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	for state, want := range map[parley.ApprovalState]string{
		parley.ApprovalApproved: "Approved", parley.ApprovalDenied: "Denied",
		parley.ApprovalExpired: "Nobody answered", parley.ApprovalCanceled: "No longer needed",
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			w := oneChat(t)
			w.session("fake:a")
			turn := w.ask("fake:a", target("a"))
			w.change(asking("fake:a", turn))
			w.settled()
			asked := w.chat.note(t, "a", 0)
			if !strings.Contains(asked.text, "run_command") || !strings.Contains(asked.text, "rm -r build") {
				t.Errorf("it asks %q", asked.text)
			}
			var choices []channel.Choice
			for _, row := range asked.buttons {
				for _, b := range row {
					id, choice, ok := channel.PressedButton(b.Data)
					d, err := w.outbox.Delivery(t.Context(), id)
					if !ok || err != nil || d.Session != "fake:a" || d.Call != "c1" || d.Turn != turn {
						t.Errorf("button %+v leads to %+v, %v", b, d, err)
					}
					if len(b.Data) > 64 {
						t.Errorf("the data of a button is %d bytes long", len(b.Data))
					}
					choices = append(choices, choice)
				}
			}
			if !slices.Equal(choices, []channel.Choice{channel.ChooseApprove, channel.ChooseDeny, channel.ChooseSession}) {
				t.Errorf("it offers %v", choices)
			}
			w.again() // the answer comes to another process
			w.change(answering("fake:a", turn, state))
			w.settled()
			answered := w.chat.note(t, "a", 0)
			if !strings.Contains(answered.text, want) || answered.buttons != nil || len(w.chat.texts("a")) != 1 {
				t.Errorf("it says %q, with buttons %v", answered.text, answered.buttons)
			}
		})
	}
}

func TestAnAnswerThatIsFasterThanItsQuestion(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	w.chat.decide(func(string, string, string) fate { return astray })
	w.change(asking("fake:a", turn))
	w.until("it was tried", func() bool { return len(w.chat.called()) > 0 && w.open()[0].State == parley.DeliveryPending })
	w.change(answering("fake:a", turn, parley.ApprovalDenied))
	w.chat.decide(nil)
	w.settled()
	if got := w.chat.texts("a"); len(got) != 0 {
		t.Errorf("the chat shows %q", got)
	}
}

func TestAnAnswerWhileItsQuestionIsSent(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	hang := make(chan struct{})
	w.chat.mu.Lock()
	w.chat.hangs["a"] = hang
	w.chat.mu.Unlock()
	w.change(asking("fake:a", turn))
	w.until("it is being sent", func() bool { return len(w.chat.called()) == 1 })
	w.change(answering("fake:a", turn, parley.ApprovalApproved))
	close(hang)
	w.settled()
	if got := w.chat.note(t, "a", 0); !strings.Contains(got.text, "Approved") || got.buttons != nil {
		t.Errorf("the chat shows %+v", got)
	}
}

func FuzzPressedButton(f *testing.F) {
	for _, data := range []string{"", "y:", "y:d_1", "s:a_x", "x:1", "n", "r:b_:1"} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		id, choice, ok := channel.PressedButton(data)
		if ok && string(choice)+":"+string(id) != data {
			t.Errorf("%q is read as %q, %q", data, choice, id)
		}
	})
}
