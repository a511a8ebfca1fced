package client_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// reader puts together what a surface shows: the stored events, and the reply that
// is being written.
type reader struct {
	t      *testing.T
	types  []parley.EventType
	seq    uint64
	stream string
	n      int
	reply  string // of the last stream
	last   string // text of the last message
	input  string // id of the last input that a message showed
}

func (r *reader) see(u parley.Update) {
	r.t.Helper()
	switch {
	case u.Event != nil:
		if u.Event.Seq != r.seq+1 {
			r.t.Fatalf("event %d comes after %d", u.Event.Seq, r.seq)
		}
		r.seq++
		r.types = append(r.types, u.Event.Type)
		body, err := u.Event.Decode()
		if err != nil {
			r.t.Fatalf("event %d: %v", u.Event.Seq, err)
		}
		if m, ok := body.(*parley.Message); ok {
			r.last = parley.PlainText(m.Parts)
			if len(m.Inputs) > 0 {
				r.input = m.Inputs[0].ID
			}
		}
	case u.Snapshot != nil:
		r.stream, r.n, r.reply = u.Snapshot.Stream, u.Snapshot.N, parley.PlainText(u.Snapshot.Parts)
	case u.Delta != nil:
		if u.Delta.Stream != r.stream {
			r.stream, r.n, r.reply = u.Delta.Stream, 0, ""
		}
		if u.Delta.N != r.n+1 {
			r.t.Fatalf("delta %d comes after %d", u.Delta.N, r.n)
		}
		r.n++
		r.reply += u.Delta.Text
	}
	if u.Resync == "" && u.Position.Epoch == "" {
		r.t.Errorf("an update without a position: %+v", u)
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String()
}

// TestEventsThroughCuts reads one long reply over a connection that is cut a hundred
// times.
func TestEventsThroughCuts(t *testing.T) {
	t.Parallel()
	const count, cuts = 300, 100
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	id := w.session("cuts")
	var lost, back atomic.Int32
	c := w.client(client.Config{ReconnectFunc: func(err error, _ int) {
		if err != nil {
			lost.Add(1)
		} else {
			back.Add(1)
		}
	}})
	receipt, err := w.Post(ctx, id, text(fmt.Sprintf("count %d", count)))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t}
	read := make(chan int, 4*count)
	done := make(chan int, 1)
	go func() { done <- w.drive(ctx, id, count, cuts, read) }()
	for u, err := range c.Events(ctx, id, parley.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		r.see(u)
		if u.Event == nil {
			read <- r.n
		} else if u.Event.Type == parley.EventTurnCompleted {
			break
		}
	}
	cancel()
	if n := <-done; n != cuts || lost.Load() < cuts || back.Load() < cuts {
		t.Errorf("%d cuts, %d times lost, %d times back", n, lost.Load(), back.Load())
	}
	if r.last != numbers(count) || r.reply != r.last || r.input != receipt.ID {
		t.Errorf("read %q, and as a reply %q, to %q", r.last, r.reply, r.input)
	}
}

// drive has the agent say a number, waits until it was read, and so on, and cuts
// the connection between some of them. It gives the number of cuts.
func (w *world) drive(ctx context.Context, id parley.SessionID, count, cuts int, read <-chan int) int {
	done := 0
	for i := 1; ; i++ {
		select {
		case w.agent.step(id) <- struct{}{}:
		case <-ctx.Done():
			return done
		}
		if i > count {
			return done
		}
		for n := 0; n < i; {
			select {
			case n = <-read:
			case <-ctx.Done():
				return done
			}
		}
		if done < cuts && i%(count/cuts) == 0 {
			done++
			w.proxy.cut()
		}
	}
}

// TestAskEventsThroughCuts is the same for the events of one turn.
func TestAskEventsThroughCuts(t *testing.T) {
	t.Parallel()
	const count, cuts = 60, 20
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	id := w.session("turn")
	if _, err := w.Ask(ctx, id, text("before")); err != nil {
		t.Fatal(err)
	}
	s, err := w.Session(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, seq: s.LastSeq}
	read := make(chan int, 4*count)
	done := make(chan int, 1)
	go func() { done <- w.drive(ctx, id, count, cuts, read) }()
	var receipts []parley.Receipt
	for u, err := range w.AskEvents(ctx, id, text(fmt.Sprintf("count %d", count)), func(r parley.Receipt) { receipts = append(receipts, r) }) {
		if err != nil {
			t.Fatal(err)
		}
		r.see(u)
		if u.Event == nil {
			read <- r.n
		}
	}
	if ctx.Err() != nil {
		t.Fatal("the turn did not end")
	}
	cancel()
	if n := <-done; n != cuts {
		t.Errorf("%d cuts", n)
	}
	if len(receipts) != 1 || receipts[0].Duplicate || receipts[0].ID != r.input || r.last != numbers(count) || r.reply != r.last {
		t.Errorf("receipts %+v, read %q, and as a reply %q", receipts, r.last, r.reply)
	}
	if r.types[len(r.types)-1] != parley.EventTurnCompleted || len(w.texts(id)) != 2 {
		t.Errorf("events %v, said %v", r.types, w.texts(id))
	}
}

func TestAskEventsOfOtherInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.session("other")
	ends := func(in parley.Input) (types []parley.EventType, receipt parley.Receipt) {
		for u, err := range w.AskEvents(t.Context(), id, in, func(r parley.Receipt) { receipt = r }) {
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, u.Event.Type)
		}
		return types, receipt
	}
	types, receipt := ends(text("/status"))
	if receipt.State != parley.InputCarriedOut || len(types) < 2 || types[len(types)-1] != parley.EventMessage {
		t.Errorf("a command: %v, %+v", types, receipt)
	}
	// One that was taken back while it waited.
	if _, err := w.Post(t.Context(), id, text("hold")); err != nil {
		t.Fatal(err)
	}
	in := text("never mind")
	in.Ref.ID = "n/1"
	if _, err := w.Post(t.Context(), id, in); err != nil {
		t.Fatal(err)
	}
	if ok, err := w.Withdraw(t.Context(), id, parley.InputRef{ID: "n/1"}); !ok || err != nil {
		t.Fatalf("withdrawn: %v, %v", ok, err)
	}
	if types, receipt = ends(in); receipt.State != parley.InputDropped || !receipt.Duplicate || len(types) != 0 {
		t.Errorf("withdrawn: %v, %+v", types, receipt)
	}
	w.agent.step(id) <- struct{}{}
}

// TestEventsThroughRestart follows a session and all sessions while the server is
// stopped and another takes its place.
func TestEventsThroughRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := w.session("restart")
	for name, events := range map[string]func(parley.Position) func(func(parley.Update, error) bool){
		"a session": func(p parley.Position) func(func(parley.Update, error) bool) { return w.Events(ctx, id, p) },
		"all":       func(p parley.Position) func(func(parley.Update, error) bool) { return w.Follow(ctx, p) },
	} {
		var seqs []uint64
		var at parley.Position
		rounds := 0
		for u, err := range events(parley.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Event == nil || u.Event.Session != id {
				continue
			}
			seqs, at = append(seqs, u.Event.Seq), u.Position
			s, err := w.near.Store.Session(ctx, parley.SeeAll(), id)
			if err != nil {
				t.Fatal(err)
			}
			if u.Event.Seq < s.LastSeq {
				continue
			}
			if rounds++; rounds > 3 {
				break
			}
			w.stop()
			w.near.Say("cli:restart", "while it is away")
			w.restart(nil)
		}
		for i, seq := range seqs {
			if seq != uint64(i)+1 {
				t.Fatalf("%s: seqs %v", name, seqs)
			}
		}
		// A position is good for another subscription, too.
		w.near.Say("cli:restart", "one more")
		for u, err := range events(at) {
			if err != nil || u.Event == nil || u.Event.Seq != uint64(len(seqs))+1 {
				t.Errorf("%s: from a position: %+v, %v", name, u, err)
			}
			break
		}
	}
}
