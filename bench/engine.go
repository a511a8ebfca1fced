package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/turn"
)

// Engine measures what the engine adds to a store: the processor time of a turn
// beside that of its commits, and how many turns it keeps going at once. Every
// message has to be answered, and every row of it to be there, else the run fails
// with [parley.CodeInternal]. For the rest it is as [Store].
func Engine(ctx context.Context, cfg Config) (Report, error) {
	cfg.Size.Sessions, cfg.Size.Few, cfg.Size.Deep = 1, 1, 1 // none are stored
	return measureAll(ctx, cfg, engineMeasures(), (*run).engine)
}

// engine takes the figures of [Engine].
func (r *run) engine(ctx context.Context) error {
	return r.steps(ctx, []step{
		{r.engineOverhead, []string{EngineOverhead}},
		{r.turnsConcurrent, []string{TurnsConcurrent}},
	})
}

// engineBed is an engine at work, put together as a daemon does it, with the
// default runner.
type engineBed struct {
	*feedBed
	eng     *engine.Engine
	model   *scripted.Model
	commits atomic.Int64

	mu    sync.Mutex
	talks map[parley.SessionID]*talk

	stop func() error
}

// openEngine starts an engine whose model says answer, after a delay.
func (r *run) openEngine(ctx context.Context, name string, delay time.Duration, answer string) (_ *engineBed, err error) {
	b := &engineBed{talks: map[parley.SessionID]*talk{}}
	script, err := scripted.Parse(name, fmt.Appendf(nil, "rules: [{say: [{delay: %s}, {text: %q}]}]", delay, answer))
	if err != nil {
		return nil, err
	}
	if b.model, err = scripted.New(scripted.Config{Name: "bench", Script: script}); err != nil {
		return nil, err
	}
	runner, err := turn.New(turn.Config{AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) {
		return turn.Agent{Models: []parley.Model{b.model}}, nil
	}})
	if err != nil {
		return nil, err
	}
	if b.feedBed, err = r.openFeed(ctx, name+".db"); err != nil {
		return nil, err
	}
	b.eng, err = engine.New(&closingStore{Store: b.store, bed: b}, engine.Config{
		Runner: runner, Feed: b.feed, Limits: engine.Limits{RunningTurns: together64},
	})
	if err != nil {
		return nil, errors.Join(err, b.feedBed.close())
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.eng.Run(running) }()
	b.stop = func() error { cancel(); return <-ended }
	select {
	case <-b.eng.Ready():
		return b, nil
	case err := <-ended:
		cancel()
		return nil, errors.Join(err, b.feedBed.close())
	}
}

func (b *engineBed) close() error { return errors.Join(b.stop(), b.feedBed.close()) }

// expect makes the bed tell talks of the ends of their turns, and no others.
func (b *engineBed) expect(talks []*talk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.talks)
	for _, t := range talks {
		b.talks[t.id] = t
	}
}

// closingStore is a store that tells the talks of a bed when a turn of theirs is over.
// Who follows the feed is told at the same time, and at some cost.
type closingStore struct {
	parley.Store
	bed *engineBed
}

// Commit implements [parley.Store].
func (c *closingStore) Commit(ctx context.Context, batch parley.Batch) (parley.Result, error) {
	res, err := c.Store.Commit(ctx, batch)
	if err != nil {
		return res, err
	}
	c.bed.commits.Add(1)
	for i := range batch.Sessions {
		for _, t := range batch.Sessions[i].Turns {
			if t.State != nil && *t.State == parley.TurnDone {
				c.bed.mu.Lock()
				talk := c.bed.talks[batch.Sessions[i].Session]
				c.bed.mu.Unlock()
				if talk != nil {
					talk.closed <- struct{}{}
				}
			}
		}
	}
	return res, nil
}

// converse lets all talks say what they have to say, one after the other is
// answered, all talks at once.
func (b *engineBed) converse(ctx context.Context, talks []*talk, turns int) error {
	b.expect(talks)
	return atOnce(ctx, len(talks), func(ctx context.Context, i int) error {
		t := talks[i]
		for range turns {
			t.made++
			receipt, err := b.eng.As(t.caller).Post(ctx, t.id, t.says(t.made))
			if err != nil {
				return err
			}
			if receipt.Duplicate {
				return lost("a message that was sent once was taken for a repeat")
			}
			select {
			case <-t.closed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
}

// stretchLimit is how long messages may take to be answered.
const stretchLimit = 5 * time.Minute

// atOnce calls f n times at once and waits. The first error ends the others.
func atOnce(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, over := context.WithTimeoutCause(ctx, stretchLimit, lost("not all messages were answered within %s", stretchLimit))
	defer over()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// openTalks starts n sessions of a round, in one commit.
func (r *run) openTalks(ctx context.Context, store parley.Store, round, n int, answer string) ([]*talk, error) {
	talks := make([]*talk, n)
	base := time.Now().UTC().Truncate(time.Second)
	b := parley.Batch{At: base}
	for i := range talks {
		talks[i] = newTalk(fmt.Sprintf("%d_%d", round, i), base, answer)
		talks[i].add(&b, i)
	}
	if _, err := store.Commit(ctx, b); err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	return talks, nil
}

// openBare opens a store like that of an engine, without one.
func (r *run) openBare(ctx context.Context, name string) (parley.Store, error) {
	store, err := r.cfg.OpenFunc(ctx, filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("make a store: %w", err)
	}
	return store, nil
}
