package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-run/parley"
)

const (
	fanoutEvery  = 50 * time.Millisecond // 20 events a second
	fanoutWarmUp = 5                     // events before the measured ones
	fanoutLimit  = time.Minute           // for an event to get to everybody
)

// fanOut measures how long an event takes from the call of Commit until the last
// of many subscribers has it. Each has an identity of its own that takes part.
func (r *run) fanOut(ctx context.Context) (err error) {
	b, err := r.openFeed(ctx, "fanout.db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	identities, last, err := gather(ctx, b.store, r.cfg.Size.Subscribers)
	if err != nil {
		return err
	}
	a := newArena(len(identities), last, fanoutWarmUp+r.cfg.Size.FanoutEvents)
	following, stop := context.WithCancel(ctx)
	defer a.running.Wait()
	defer stop()
	for _, who := range identities {
		a.running.Go(func() {
			// Like a request, each has a context of its own.
			own, leave := context.WithCancel(following)
			defer leave()
			a.watch(b.feed.Subscribe(own, parley.SeeAs(who), arenaID, parley.Position{Seq: last}))
		})
	}
	tick := time.NewTicker(fanoutEvery)
	defer tick.Stop()
	var took, commits []float64
	for i := range a.events {
		r.cfg.ProgressFunc("measuring "+FeedFanout, int64(i), int64(len(a.events)))
		start := time.Now()
		if _, err := b.store.Commit(ctx, parley.Batch{At: start, Sessions: []parley.SessionChange{{
			Session: arenaID, Events: []parley.NewEvent{{Body: &parley.Message{
				ID: "m" + strconv.Itoa(i), Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(text(uint32(i), 300))},
			}}},
		}}}); err != nil {
			return fmt.Errorf("commit an event: %w", err)
		}
		committed := time.Now()
		if i < fanoutWarmUp {
			// Everybody is there when everybody has it.
			if err := a.wait(ctx, i); err != nil {
				return err
			}
		} else {
			commits = append(commits, milliseconds(committed.Sub(start)))
			a.events[i].start = start
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i := fanoutWarmUp; i < len(a.events); i++ {
		if err := a.wait(ctx, i); err != nil {
			return err
		}
		took = append(took, milliseconds(a.events[i].end.Sub(a.events[i].start)))
	}
	if m, ok := r.measures[FeedFanout]; ok {
		res := m.result(p99(took), p99(commits))
		res.Note = fmt.Sprintf("%d subscribers, each with its own identity, %d events, %.0f a second; median %.1f ms",
			len(identities), len(took), float64(time.Second/fanoutEvery), median(took))
		r.results[FeedFanout] = res
	}
	return nil
}

// arenaID is the session that everybody follows.
const arenaID = parley.SessionID("web:arena")

// gather makes the session with n people in it.
func gather(ctx context.Context, store parley.Store, n int) (identities []parley.IdentityID, last uint64, err error) {
	source := parley.Source{Kind: "web", Interactive: true}
	change := parley.SessionChange{
		Session: arenaID,
		Create:  &parley.NewSession{Type: parley.SessionGroup, Agent: parley.AgentSnapshot{Name: "main"}, Source: source},
		Events:  []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}},
	}
	for i := range n {
		who := parley.IdentityID("web:" + strconv.Itoa(i))
		identities = append(identities, who)
		change.Events = append(change.Events, parley.NewEvent{Identity: who, Body: &parley.ParticipantChanged{Identity: who}})
		if len(change.Events) < 2_000 && i < n-1 {
			continue
		}
		res, err := store.Commit(ctx, parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{change}})
		if err != nil {
			return nil, 0, fmt.Errorf("gather people: %w", err)
		}
		last = res.Sessions[0].LastSeq
		change = parley.SessionChange{Session: arenaID}
	}
	return identities, last, nil
}

// arena counts who has got what.
type arena struct {
	subscribers int64
	last        uint64 // the event before the first
	events      []fannedEvent
	running     sync.WaitGroup

	failing sync.Once
	failed  chan struct{} // closed when err is set
	err     error
}

// fannedEvent is one event on its way.
type fannedEvent struct {
	start, end time.Time
	got        atomic.Int64
	done       chan struct{} // closed when everybody has it
}

func newArena(subscribers int, last uint64, events int) *arena {
	a := &arena{subscribers: int64(subscribers), last: last, events: make([]fannedEvent, events), failed: make(chan struct{})}
	for i := range a.events {
		a.events[i].done = make(chan struct{})
	}
	return a
}

// watch is one subscriber: every event must come, in order, and once.
func (a *arena) watch(updates func(func(parley.Update, error) bool)) {
	next := 0
	for u, err := range updates {
		switch {
		case err != nil:
		case next == len(a.events) || u.Event == nil || u.Event.Seq != a.last+1+uint64(next):
			err = lost("a subscriber got %+v where event %d should be", u, a.last+1+uint64(next))
		default:
			a.arrived(next)
			next++
		}
		if err != nil {
			a.fail(err)
			return
		}
	}
}

// arrived says that one more subscriber has an event.
func (a *arena) arrived(i int) {
	e := &a.events[i]
	if e.got.Add(1) == a.subscribers {
		e.end = time.Now()
		close(e.done)
	}
}

// fail ends the wait of whoever waits. The first reason counts.
func (a *arena) fail(err error) {
	a.failing.Do(func() {
		a.err = err
		close(a.failed)
	})
}

// wait waits until everybody has an event.
func (a *arena) wait(ctx context.Context, i int) error {
	limit := time.NewTimer(fanoutLimit)
	defer limit.Stop()
	select {
	case <-a.events[i].done:
		return nil
	case <-a.failed:
		return a.err
	case <-limit.C:
		return lost("only %d of %d subscribers have got event %d", a.events[i].got.Load(), a.subscribers, a.last+1+uint64(i))
	case <-ctx.Done():
		return ctx.Err()
	}
}

// p99 gives the smallest value that 99 of 100 do not pass.
func p99(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(0.99*float64(len(sorted))))-1, 0)]
}
