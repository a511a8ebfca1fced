package telegram

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// state is how a bot is doing: ok, or what is wrong.
type state struct {
	mu   sync.Mutex
	text string
}

// set notes how the bot is doing, and reports whether that is news.
func (s *state) set(text string) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news = s.text != text
	s.text = text
	return news
}

// Condition implements [channel.Reporter].
func (b *Bot) Condition() string {
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	return b.state.text
}

// receives notes that updates come in.
func (b *Bot) receives() {
	if b.state.set(stateOK) {
		b.cfg.Log.Info("the bot receives messages")
	}
}

// What is the matter with a bot, in words.
const (
	stateOK          = "ok"
	stateStopped     = "it was stopped"
	stateRefused     = "token refused: Telegram does not know it; BotFather shows the present one with /mybots"
	stateConflict    = "another program receives the messages of this bot: stop it, or make a new token with BotFather"
	stateUnreachable = "Telegram cannot be reached"
	stateUnwell      = "Telegram does not answer as it should"
	stateLimited     = "Telegram has had too many requests and asked to wait"
	stateStuck       = "messages cannot be taken in, and are kept at Telegram"
)

// fails notes why updates do not come in, logs it once, and gives how long to wait
// before the next attempt. Final says that there is no use in one.
func (b *Bot) fails(err error, pause *pauses) (wait time.Duration, final error) {
	text := stateUnwell
	limited, isLimited := errors.AsType[*bot.TooManyRequestsError](err)
	unreached, isUnreached := errors.AsType[*webhookError](err)
	switch {
	case errors.Is(err, errStuck): // whatever the receiver said
		text = stateStuck
	case isUnreached:
		text = unreached.Error()
	case errors.Is(err, bot.ErrorUnauthorized), errors.Is(err, bot.ErrorNotFound), errors.Is(err, parley.ErrUnauthorized):
		text = stateRefused
		final = &parley.Error{Code: parley.CodeUnauthorized, Message: stateRefused, Err: err}
	case errors.Is(err, bot.ErrorConflict), errors.Is(err, parley.ErrConflict):
		text = stateConflict
	case isLimited:
		text = stateLimited
	case errors.Is(err, errNotSent):
		text = stateUnreachable
	case errors.Is(err, bot.ErrorBadRequest):
		text = "Telegram refuses: " + strings.TrimPrefix(err.Error(), bot.ErrorBadRequest.Error()+", ")
	}
	if b.state.set(text) {
		b.cfg.Log.Warn("the bot does not receive messages", "state", text, "error", err)
	}
	wait = pause.next()
	if isLimited {
		wait = max(wait, time.Duration(limited.RetryAfter)*time.Second)
	}
	if retry, ok := errors.AsType[*channel.RetryError](err); ok {
		wait = max(wait, retry.After)
	}
	return wait, final
}

// pauses grow from one attempt to the next.
type pauses struct{ last time.Duration }

const (
	firstPause   = time.Second
	longestPause = time.Minute
)

func (p *pauses) next() time.Duration {
	p.last = min(max(firstPause, 2*p.last), longestPause)
	return p.last
}

func (p *pauses) reset() { p.last = 0 }

// wait waits, by the bot's clock, or until ctx ends.
func (b *Bot) wait(ctx context.Context, d time.Duration) {
	over := make(chan struct{})
	stop := b.cfg.Clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}
