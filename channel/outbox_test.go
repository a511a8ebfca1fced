package channel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

func TestReplyReachesItsChat(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	turn := w.ask("fake:a", target("a"))
	w.change(parley.SessionChange{Session: "fake:a", Events: []parley.NewEvent{says(turn, "m1", "I look.")}})
	w.change(closing("fake:a", turn, says(turn, "m2", "It is **done**.<NO_REPLY>")))
	w.settled()
	if got, want := w.chat.texts("a"), []string{"I look.", "It is done."}; !slices.Equal(got, want) {
		t.Errorf("the chat shows %q, want %q", got, want)
	}
	if n := w.chat.note(t, "a", 0); n.replyTo != "m1" {
		t.Errorf("it answers %q", n.replyTo)
	}
	rows := w.rows(parley.DeliverySent)
	if len(rows) != 2 || rows[0].Seq == 0 || rows[0].PlatformID != "1" || rows[1].Turn != turn {
		t.Errorf("the outbox has %+v", rows)
	}
	s, err := w.store.Session(t.Context(), parley.SeeAll(), "fake:a")
	if err != nil || s.Chat == nil || *s.Chat != (parley.Target{Channel: "fake", Chat: "a"}) {
		t.Errorf("the session's chat is %+v, %v", s.Chat, err)
	}
}

func TestWhatIsDelivered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		draft parley.NewEvent
		want  []string
	}{
		"an answer":           {says("t1", "m1", "hello"), []string{"hello"}},
		"silence":             {says("t1", "m1", "<NO_REPLY>"), nil},
		"silence with quotes": {says("t1", "m1", "\"<NO_REPLY>\"."), nil},
		"an error": {parley.NewEvent{Turn: "t1", Body: &parley.Message{
			ID: "m1", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart("It broke.")},
		}}, []string{"It broke."}},
		"a note for the model": {parley.NewEvent{Turn: "t1", Body: &parley.Message{
			ID: "m1", Role: parley.MessageSystem, Parts: []parley.Part{parley.TextPart("restarted")},
		}}, nil},
		"what somebody said": {parley.NewEvent{Turn: "t1", Body: &parley.Message{
			ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("hi")},
		}}, nil},
		"only thoughts": {parley.NewEvent{Turn: "t1", Body: &parley.Message{
			ID: "m1", Role: parley.MessageAssistant, Parts: []parley.Part{{Kind: parley.PartReasoning, Text: "hm"}},
		}}, nil},
		"nothing to see": {says("t1", "m1", "\u200b"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oneChat(t)
			w.session("fake:a")
			turn := w.ask("fake:a", target("a"))
			w.change(closing("fake:a", turn, c.draft))
			w.settled()
			if got := w.chat.texts("a"); !slices.Equal(got, c.want) {
				t.Errorf("the chat shows %q, want %q", got, c.want)
			}
		})
	}
}

// countingStore counts reads.
type countingStore struct {
	parley.Store
	reads atomic.Int64
}

func (c *countingStore) Session(ctx context.Context, v parley.Visibility, id parley.SessionID) (parley.Session, error) {
	c.reads.Add(1)
	return c.Store.Session(ctx, v, id)
}

func (c *countingStore) Input(ctx context.Context, v parley.Visibility, ref parley.InputRef) (parley.Input, error) {
	c.reads.Add(1)
	return c.Store.Input(ctx, v, ref)
}

func (c *countingStore) OpenInputs(ctx context.Context, v parley.Visibility, id parley.SessionID, after parley.InputRef, limit int) ([]parley.Input, error) {
	c.reads.Add(1)
	return c.Store.OpenInputs(ctx, v, id, after, limit)
}

func (c *countingStore) Deliveries(ctx context.Context, v parley.Visibility, q parley.DeliveryQuery) ([]parley.Delivery, error) {
	c.reads.Add(1)
	return c.Store.Deliveries(ctx, v, q)
}

func TestWithoutAChatNothingIsReadOrWritten(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w := newWorld(t, f, f)
	counted := &countingStore{Store: w.store}
	var err error
	if w.outbox, err = channel.New(counted, channel.Config{Clock: w.clock, Platforms: []channel.Platform{f}}); err != nil {
		t.Fatal(err)
	}
	w.session("web:a")
	in := parley.Input{
		Ref: parley.InputRef{Origin: "web:anna/web:a", ID: "1"}, Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart("hi")},
		Principal: owner, State: parley.InputQueued,
	}
	w.change(parley.SessionChange{Session: "web:a", Admit: []parley.Input{in}})
	w.change(parley.SessionChange{
		Session: "web:a", Turns: []parley.TurnChange{{ID: "t1", Start: true}},
		Inputs: []parley.InputChange{{Ref: in.Ref, State: parley.InputRunning, Turn: "t1"}},
	})
	w.change(parley.SessionChange{Session: "web:a", Events: []parley.NewEvent{says("t1", "m1", "one")}})
	end := closing("web:a", "t1", says("t1", "m2", "two"))
	end.Inputs[0].Ref = in.Ref
	w.change(end)
	if n := counted.reads.Load(); n > 0 {
		t.Errorf("%d reads", n)
	}
	if rows := w.open(); len(rows) > 0 {
		t.Errorf("the outbox has %+v", rows)
	}
	if n := channel.Remembered(w.outbox); n > 0 {
		t.Errorf("%d sessions are remembered in which nothing goes on", n)
	}
}

func TestWhereAnswersGo(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	admit := func(id string, kind parley.InputKind, to *parley.Target) parley.InputRef {
		ref := parley.InputRef{Origin: "x", ID: id}
		w.change(parley.SessionChange{Session: "fake:a", Admit: []parley.Input{{
			Ref: ref, Kind: kind, Parts: []parley.Part{parley.TextPart(id)}, Principal: owner, State: parley.InputQueued, Target: to,
		}}})
		return ref
	}
	turn := func(id parley.TurnID, restart bool, refs ...parley.InputRef) {
		t.Helper()
		if restart {
			w.again()
		}
		c := parley.SessionChange{Session: "fake:a", Turns: []parley.TurnChange{{ID: id, Start: true}}}
		end := closing("fake:a", id, says(id, "m."+string(id), "answer "+string(id)))
		end.Inputs = nil
		for _, ref := range refs {
			c.Inputs = append(c.Inputs, parley.InputChange{Ref: ref, State: parley.InputRunning, Turn: id})
			end.Inputs = append(end.Inputs, parley.InputChange{Ref: ref, State: parley.InputDone})
		}
		w.change(c)
		if restart {
			w.again()
		}
		w.change(end)
	}
	turn("nowhere", false, admit("1", parley.InputAutomation, nil))
	turn("first", false, admit("2", parley.InputMessage, target("a")))
	turn("web", false, admit("3", parley.InputMessage, nil))
	turn("automation", false, admit("4", parley.InputAutomation, nil))
	turn("both", false, admit("5", parley.InputMessage, target("b")), admit("6", parley.InputMessage, nil))
	turn("restarted", true, admit("7", parley.InputMessage, target("c")))
	turn("webagain", true, admit("8", parley.InputMessage, nil))
	turn("automationagain", true, admit("9", parley.InputAutomation, nil))
	w.settled()
	for chat, want := range map[string][]string{
		"a": {"answer first", "answer automation"}, "b": {"answer both"}, "c": {"answer restarted", "answer automationagain"},
	} {
		if got := w.chat.texts(chat); !slices.Equal(got, want) {
			t.Errorf("chat %s shows %q, want %q", chat, got, want)
		}
	}
}

// Where a redacted message came from, only its origin tells.
func TestAnswerToWhatWasRedacted(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	ref := parley.InputRef{Origin: "fake/default/a", ID: "1"}
	w.change(parley.SessionChange{Session: "fake:a", Admit: []parley.Input{{
		Ref: ref, Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart("hi")}, Principal: somebody, State: parley.InputQueued, Target: target("a"),
	}}})
	in, err := w.store.Input(t.Context(), parley.SeeAll(), ref)
	if err != nil {
		t.Fatal(err)
	}
	w.change(parley.SessionChange{Session: "fake:a", Redact: []uint64{in.Seq}})
	w.again()
	w.change(parley.SessionChange{
		Session: "fake:a", Turns: []parley.TurnChange{{ID: "t1", Start: true}},
		Inputs: []parley.InputChange{{Ref: ref, State: parley.InputRunning, Turn: "t1"}},
	})
	end := closing("fake:a", "t1", says("t1", "m1", "answer"))
	end.Inputs[0].Ref = ref
	w.change(end)
	w.settled()
	if got := w.chat.texts("a"); !slices.Equal(got, []string{"answer"}) {
		t.Errorf("the chat shows %q", got)
	}
}

func TestWhatWasImportedIsNotDelivered(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	w.change(parley.SessionChange{Session: "fake:a", Patch: parley.SessionPatch{Chat: &parley.Target{Channel: "fake", Chat: "a"}}})
	old := says("t9", "m1", "long ago")
	old.At = start.AddDate(-1, 0, 0)
	w.change(parley.SessionChange{Session: "fake:a", Events: []parley.NewEvent{old, says("", "m2", "by nobody")}})
	if rows := w.everything(); len(rows) > 0 {
		t.Errorf("the outbox has %+v", rows)
	}
}

func TestAnswersToCommandsAndNewSessions(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	command := parley.Input{
		Ref: parley.InputRef{Origin: "fake//a", ID: "1"}, Kind: parley.InputCommand, Parts: []parley.Part{parley.TextPart("/new")},
		Principal: owner, State: parley.InputCarriedOut, Target: target("a"),
	}
	answer := &parley.Message{ID: "m1", Role: parley.MessageSystem, Hidden: true, Inputs: []parley.InputRef{command.Ref}, Parts: []parley.Part{parley.TextPart("A new one.")}}
	w.change(parley.SessionChange{Session: "fake:a", Admit: []parley.Input{command}, Events: []parley.NewEvent{{Body: answer}}})
	w.change(parley.SessionChange{
		Session: "fake:b", Create: &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "channel"}, Type: parley.SessionDirect},
		Events: []parley.NewEvent{{Body: &parley.Reset{From: "fake:a", Reason: "command"}}},
	})
	notice := &parley.Message{ID: "m2", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart("The budget is nearly spent.")}}
	w.change(parley.SessionChange{Session: "fake:b", Events: []parley.NewEvent{{Body: notice}}})
	w.settled()
	if got, want := w.chat.texts("a"), []string{"A new one.", "The budget is nearly spent."}; !slices.Equal(got, want) {
		t.Errorf("the chat shows %q, want %q", got, want)
	}
}

// long is a text of so many parts.
func long(parts int) string {
	var b strings.Builder
	for i := range parts {
		fmt.Fprintf(&b, "Part %d %s\n\n", i, strings.Repeat("x", 700))
	}
	return strings.TrimSpace(b.String())
}

func TestPartsComeInOrder(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(inTurn("send", taken, astray, taken, limited))
	w.session("fake:a")
	w.answer("fake:a", long(3))
	w.answer("fake:a", "and then")
	w.settled()
	got := w.chat.texts("fake:a")
	if len(got) != 4 {
		t.Fatalf("%d messages", len(got))
	}
	for i, text := range got[:3] {
		if !strings.HasPrefix(text, fmt.Sprintf("Part %d ", i)) {
			t.Errorf("message %d is %.20q", i, text)
		}
	}
	if got[3] != "and then" || w.chat.note(t, "fake:a", 1).replyTo != "" {
		t.Errorf("the last is %.20q; the second answers %q", got[3], w.chat.note(t, "fake:a", 1).replyTo)
	}
}

func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(inTurn("send", declined))
	w.session("fake:a")
	w.answer("fake:a", "one")
	w.answer("fake:a", "two")
	w.settled()
	if got := w.chat.texts("fake:a"); !slices.Equal(got, []string{"two"}) {
		t.Errorf("the chat shows %q", got)
	}
	dead := w.rows(parley.DeliveryDead)
	if len(dead) != 1 || dead[0].Text != "one" || !strings.Contains(dead[0].LastError, "blocked") {
		t.Fatalf("dead are %+v", dead)
	}
	failed := false
	for _, b := range w.bodies("fake:a") {
		if f, ok := b.(*parley.DeliveryFailed); ok {
			failed = f.Delivery == dead[0].ID && f.Channel == "fake"
		}
	}
	if !failed {
		t.Error("no event says that a delivery failed")
	}
}

// TestPartsBehindOneThatIsRefused has the second of four parts refused.
func TestPartsBehindOneThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		retry string // which part is tried again
		part  int
	}{{"the reply", 0}, {"the part that was refused", 1}, {"the last part", 3}} {
		t.Run(c.retry, func(t *testing.T) {
			t.Parallel()
			w := oneChat(t)
			w.chat.decide(inTurn("send", taken, declined))
			w.session("fake:a")
			w.answer("fake:a", long(4))
			w.answer("fake:a", "and then")
			w.settled()
			if got := parts(w.chat.texts("fake:a")); !slices.Equal(got, []string{"Part 0", "and th"}) {
				t.Fatalf("the chat shows %q", got)
			}
			dead, sent := w.rows(parley.DeliveryDead), w.rows(parley.DeliverySent)
			if len(dead) != 3 || dead[0].Part != 1 || dead[2].Part != 3 || !strings.Contains(dead[0].LastError, "blocked") || !strings.Contains(dead[2].LastError, "earlier part") {
				t.Fatalf("dead are %+v", dead)
			}
			var failed []parley.DeliveryID
			for _, b := range w.bodies("fake:a") {
				if f, ok := b.(*parley.DeliveryFailed); ok {
					failed = append(failed, f.Delivery)
				}
			}
			if !slices.Equal(failed, []parley.DeliveryID{dead[0].ID}) {
				t.Errorf("events say that %q failed", failed)
			}
			w.again() // they stay where they are
			w.settled()
			id := append(sent[:1:1], dead...)[c.part].ID
			if err := w.outbox.Retry(t.Context(), owner, id); err != nil {
				t.Fatal(err)
			}
			w.settled()
			if got := parts(w.chat.texts("fake:a")); !slices.Equal(got, []string{"Part 0", "and th", "Part 1", "Part 2", "Part 3"}) {
				t.Errorf("the chat shows %q", got)
			}
			if err := w.outbox.Retry(t.Context(), owner, id); parley.CodeOf(err) != parley.CodeConflict {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// TestDropBehindOneThatIsRefused has an owner drop a part while the one before it is being
// refused.
func TestDropBehindOneThatIsRefused(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w := newWorld(t, f, f)
	dropped := false
	w.commits = func(b parley.Batch) fate {
		for _, s := range b.Sessions {
			if dropped || len(s.Deliveries) != 3 || s.Deliveries[0].State == nil || *s.Deliveries[0].State != parley.DeliveryDead {
				continue
			}
			dropped = true
			if _, err := w.store.Commit(context.Background(), parley.Batch{At: w.clock.Now(), Sessions: []parley.SessionChange{
				{Session: s.Session, Deliveries: []parley.DeliveryChange{{ID: s.Deliveries[1].ID, State: new(parley.DeliveryDropped)}}},
			}}); err != nil {
				t.Error(err)
			}
		}
		return taken
	}
	w.begin(-1)
	f.decide(inTurn("send", taken, declined))
	w.session("fake:a")
	w.answer("fake:a", long(4))
	w.settled()
	if got := parts(f.texts("fake:a")); !dropped || !slices.Equal(got, []string{"Part 0"}) {
		t.Errorf("the chat shows %q", got)
	}
	if dead, gone := w.rows(parley.DeliveryDead), w.rows(parley.DeliveryDropped); len(dead) != 2 || len(gone) != 1 || gone[0].Part != 2 {
		t.Errorf("dead are %+v, dropped %+v", dead, gone)
	}
}

// parts gives how messages begin.
func parts(texts []string) (list []string) {
	for _, text := range texts {
		list = append(list, text[:min(6, len(text))])
	}
	return list
}

func TestWithoutItsLooks(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(inTurn("send", ugly))
	w.session("fake:a")
	w.answer("fake:a", "some **bold** words")
	w.settled()
	if got := w.chat.texts("fake:a"); !slices.Equal(got, []string{"some bold words"}) {
		t.Errorf("the chat shows %q", got)
	}
}

func TestRetryAfterIsRespected(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(inTurn("send", limited))
	w.session("fake:a")
	before := w.clock.Now()
	w.answer("fake:a", "one")
	w.settled()
	if waited := w.clock.Now().Sub(before); waited < 7*time.Second {
		t.Errorf("it was sent again after %s", waited)
	}
}

func TestAHangDelaysNoOther(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w := newWorld(t, f, f)
	w.cfg.CallTime = time.Hour
	w.cfg.HoldAfter = 24 * time.Hour
	f.hangs["fake:hangs"] = make(chan struct{})
	w.begin(-1)
	w.session("fake:hangs")
	w.answer("fake:hangs", "late")
	const others = 200
	for i := range others {
		id := parley.SessionID(fmt.Sprintf("fake:%d", i))
		w.session(id)
		w.answer(id, "at once")
	}
	w.until("all others have theirs", func() bool { return len(w.rows(parley.DeliverySent)) == others })
	if open := w.open(); len(open) != 1 || open[0].State != parley.DeliverySending {
		t.Errorf("open are %+v", open)
	}
	close(f.hangs["fake:hangs"])
	w.settled()
	if got := f.texts("fake:hangs"); !slices.Equal(got, []string{"late"}) {
		t.Errorf("the chat shows %q", got)
	}
	if f.overlaps > 0 {
		t.Errorf("%d times two calls were under way in a chat", f.overlaps)
	}
	w.until("no goroutine is left", func() bool { return channel.Lines(w.outbox) == 0 })
}

func TestACallThatTakesTooLongIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	w := newWorld(t, f, f)
	w.begin(-1)
	w.session("fake:a")
	f.mu.Lock()
	f.hangs["fake:a"] = make(chan struct{})
	f.mu.Unlock()
	w.answer("fake:a", "one")
	w.until("it is given up", func() bool { o := w.open(); return len(o) == 1 && o[0].State == parley.DeliveryUnknown })
	f.mu.Lock()
	delete(f.hangs, "fake:a")
	f.mu.Unlock()
	w.settled()
	got := f.texts("fake:a")
	if len(got) != 1 || !isMarked(got[0]) || !strings.HasSuffix(got[0], "one") {
		t.Errorf("the chat shows %q", got)
	}
}

func TestDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*fakeChat) channel.Platform
		fates   []fate
		want    int // messages
		marked  int
	}{
		"it arrived, nobody can tell":        {nil, []fate{doubtful}, 2, 1},
		"it did not arrive, nobody can tell": {nil, []fate{vanished}, 1, 1},
		"twice in doubt":                     {nil, []fate{doubtful, doubtful}, 3, 2},
		"it arrived, the chat can be read":   {func(f *fakeChat) channel.Platform { return readable{f} }, []fate{doubtful}, 1, 0},
		"it is not there, as can be read":    {func(f *fakeChat) channel.Platform { return readable{f} }, []fate{vanished}, 1, 0},
		"it arrived, the key is known": {func(f *fakeChat) channel.Platform {
			f.can.Idempotent = time.Hour
			return f
		}, []fate{doubtful}, 1, 0},
		"it did not arrive, the key is not known": {func(f *fakeChat) channel.Platform {
			f.can.Idempotent = time.Hour
			return f
		}, []fate{vanished}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeChat()
			var p channel.Platform = f
			if c.prepare != nil {
				p = c.prepare(f)
			}
			w := newWorld(t, p, f)
			w.begin(-1)
			f.decide(inTurn("send", c.fates...))
			w.session("fake:a")
			w.answer("fake:a", "the answer")
			w.settled()
			got := f.texts("fake:a")
			marked := 0
			for _, text := range got {
				if isMarked(text) {
					marked++
				}
				if !strings.HasSuffix(text, "the answer") {
					t.Errorf("a message says %q", text)
				}
			}
			if len(got) != c.want || marked != c.marked {
				t.Errorf("the chat shows %q", got)
			}
		})
	}
}

func TestEndlessDoubtEnds(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.chat.decide(func(string, string, string) fate { return vanished })
	w.session("fake:a")
	w.answer("fake:a", "the answer")
	w.settled()
	if dead := w.rows(parley.DeliveryDead); len(dead) != 1 {
		t.Errorf("dead are %+v", dead)
	}
	if n := len(w.chat.called()); n > 6 {
		t.Errorf("it was sent %d times", n)
	}
}
