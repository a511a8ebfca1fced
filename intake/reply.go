package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
)

// replies sends what belongs to no conversation: as well as can be, a few at once, and
// not often to one chat.
type replies struct {
	log     *slog.Logger
	perChat *access.Throttle
	slots   chan struct{}

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

const (
	maxReplies = 16 // that are on their way at once
	replyTime  = 15 * time.Second
)

func newReplies(clock parley.Clock, log *slog.Logger) *replies {
	return &replies{
		log: log, slots: make(chan struct{}, maxReplies),
		perChat: access.NewThrottle(access.ThrottleConfig{Clock: clock, Rate: 0.2, Burst: 5}),
	}
}

// reply tells who wrote something what has nothing to do with a conversation.
func (r *receiver) reply(a *arrival, text string) {
	target := a.Target
	if a.group {
		target.ReplyTo = a.MessageID
	}
	r.replies.send(r.platform, target, text)
}

func (s *replies) send(p channel.Platform, to parley.Target, text string) {
	if s.perChat.Request(to.Channel+"/"+to.Account+"/"+to.Chat) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		s.log.Warn("a reply is left out, as too many are on their way", "channel", to.Channel)
		return
	}
	s.work.Go(func() {
		defer func() { <-s.slots }()
		// Nobody else waits for it, so it has its own time.
		ctx, cancel := context.WithTimeout(context.Background(), replyTime)
		defer cancel()
		if _, err := p.Send(ctx, channel.Outgoing{Target: to, Text: channel.Rich{Text: text}}); err != nil {
			s.log.Warn("a reply could not be sent", "channel", to.Channel, "error", err)
		}
	})
}

func (s *replies) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}
