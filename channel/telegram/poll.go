package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

const (
	pollTime = 50 * time.Second // how long Telegram may wait for an update
	// lookEvery is how often updates are asked for while some are still being taken in,
	// such as those with large files.
	lookEvery = time.Second
	lastTime  = 3 * time.Second // for telling Telegram at the end what was taken in
	// quietTime is after how long without updates the offset is forgotten. After a week
	// Telegram may number them anew, and all before it are confirmed by then.
	quietTime = 24 * time.Hour
)

// errStuck is in the chain if an update could not be taken in for now.
var errStuck = errors.New("an update could not be taken in")

// poller asks for updates. Those of one chat are taken in one after the other, those of
// several at once. The offset, which confirms updates, stands before the first that is
// not taken in.
type poller struct {
	bot *Bot
	in  *taker

	mu      sync.Mutex
	taken   map[int64]bool              // updates from the offset on; true: taken in
	waiting map[string][]*models.Update // by chat, while it has its goroutine
	next    int64                       // behind the last update there was
	failed  error                       // an update was not taken in
	changed chan struct{}
	work    sync.WaitGroup
}

// poll asks for updates until ctx ends.
func (b *Bot) poll(ctx context.Context, in *taker) error {
	p := &poller{bot: b, in: in, taken: map[int64]bool{}, waiting: map[string][]*models.Update{}, changed: make(chan struct{}, 1)}
	defer p.work.Wait()
	// Telegram gives updates one way or the other, and takes no question while there is
	// a webhook.
	hooked := true
	heard := false // Telegram answered the last question; if not, it need not wait for an update
	var pause pauses
	quiet := b.cfg.Clock.Now()
	for ctx.Err() == nil {
		var err error
		if hooked {
			err = b.dropWebhook(ctx)
		}
		hooked = hooked && err != nil
		var got []json.RawMessage
		if err == nil {
			got, err = b.updates(ctx, p.offset(), p.patience(heard))
		}
		heard = err == nil
		if ctx.Err() != nil {
			break
		}
		now := b.cfg.Clock.Now()
		if len(got) > 0 {
			quiet = now
		}
		switch {
		case err != nil:
		case len(got) > 0 || p.busy():
			err = p.take(ctx, got)
		case now.Sub(quiet) > quietTime:
			p.startOver()
			quiet = now
		}
		if err == nil {
			pause.reset()
			b.receives()
			continue
		}
		if ctx.Err() != nil {
			break
		}
		hooked = errors.Is(err, bot.ErrorConflict) && strings.Contains(err.Error(), "webhook")
		wait, final := b.fails(err, &pause)
		if final != nil {
			return final
		}
		b.wait(ctx, wait)
	}
	p.work.Wait()
	p.confirm(context.WithoutCancel(ctx))
	return nil
}

// offset is the first update that is not taken in, as far as is known.
func (p *poller) offset() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first()
}

func (p *poller) first() int64 {
	first := p.next
	for id, done := range p.taken {
		if !done {
			first = min(first, id)
		}
	}
	return first
}

// patience is how long Telegram may wait: not at all while something is being taken in,
// as it would give the same again at once, and while it is not known to answer.
func (p *poller) patience(heard bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !heard || p.first() < p.next {
		return 0
	}
	return pollTime
}

// startOver forgets the offset.
func (p *poller) startOver() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = 0
	clear(p.taken)
}

// take has updates taken in, and waits until all are, or for a while.
func (p *poller) take(ctx context.Context, list []json.RawMessage) error {
	for _, raw := range list {
		if u := p.bot.decode(raw); u != nil {
			p.add(ctx, u)
		}
	}
	over := make(chan struct{})
	stop := p.bot.cfg.Clock.AfterFunc(lookEvery, func() { close(over) })
	defer stop()
	for p.busy() {
		select {
		case <-p.changed:
		case <-over:
			return p.settle()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return p.settle()
}

func (p *poller) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) > 0
}

// settle forgets what lies before the offset, and gives what has failed.
func (p *poller) settle() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	failed := p.failed
	p.failed = nil
	first := p.first()
	for id := range p.taken {
		if id < first {
			delete(p.taken, id)
		}
	}
	return failed
}

// add puts an update into the line of its chat, unless it is there or was taken in. If
// one has failed since Telegram was asked, this one is left: it may belong behind that,
// and is given again with it.
func (p *poller) add(ctx context.Context, u *models.Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return
	}
	p.next = max(p.next, u.ID+1)
	if _, known := p.taken[u.ID]; known {
		return
	}
	p.taken[u.ID] = false
	chat := chatOf(u)
	line, working := p.waiting[chat]
	p.waiting[chat] = append(line, u)
	if !working {
		p.work.Go(func() { p.workOn(ctx, chat) })
	}
}

// workOn takes in the updates of a chat. After one that fails, those behind it wait for
// Telegram to give them again, in their order.
func (p *poller) workOn(ctx context.Context, chat string) {
	for {
		p.mu.Lock()
		line := p.waiting[chat]
		if len(line) == 0 {
			delete(p.waiting, chat)
			p.mu.Unlock()
			p.signal()
			return
		}
		u := line[0]
		p.mu.Unlock()

		err := p.bot.handle(ctx, p.in, u)

		p.mu.Lock()
		if err == nil {
			p.taken[u.ID] = true
			p.waiting[chat] = p.waiting[chat][1:]
		} else {
			for _, left := range p.waiting[chat] {
				delete(p.taken, left.ID)
				p.next = min(p.next, left.ID)
			}
			p.waiting[chat] = nil
			p.failed = errors.Join(errStuck, err)
		}
		p.mu.Unlock()
	}
}

func (p *poller) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// confirm tells Telegram at the end what was taken in. If it is not heard, it gives that
// again at the next start, and it is known.
func (p *poller) confirm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	defer cancel()
	if offset := p.offset(); offset > 0 {
		if _, err := p.bot.updates(ctx, offset, 0); err != nil {
			p.bot.cfg.Log.Debug("tell Telegram at the end what was taken in", "error", err)
		}
	}
}

// decode reads an update. What nobody can read is told and left behind: it would be in
// the way of all that come after it.
func (b *Bot) decode(raw []byte) *models.Update {
	var u models.Update
	err := json.Unmarshal(raw, &u)
	if err == nil {
		return &u
	}
	b.cfg.Log.Warn("Telegram gave an update that cannot be read", "error", err)
	var id struct {
		ID int64 `json:"update_id"`
	}
	if json.Unmarshal(raw, &id) != nil || id.ID == 0 {
		return nil
	}
	return &models.Update{ID: id.ID}
}

// dropWebhook has Telegram keep updates until they are asked for.
func (b *Bot) dropWebhook(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if _, err := b.api.DeleteWebhook(ctx, &bot.DeleteWebhookParams{}); err != nil {
		return b.problem(err)
	}
	return nil
}
