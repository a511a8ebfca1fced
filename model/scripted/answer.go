package scripted

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/parley-run/parley"
)

// answer is one answer on its way.
type answer struct {
	model   *Model
	yield   func(parley.ModelPiece, error) bool
	stopped bool // who asked has heard enough

	view    *view
	found   groups
	pace    time.Duration
	room    int // bytes that the answer may have
	written int
}

var (
	errStopped = errors.New("nobody listens any more")
	errLength  = errors.New("the answer is as long as it may be")
)

// give gives the whole answer, or ends with what went wrong.
func (a *answer) give(ctx context.Context, req parley.ModelRequest) error {
	config := &a.model.config
	prompt := promptTokens(req)
	room := min(config.Context-prompt, config.MaxOutput)
	if room <= 0 {
		return parley.Errorf(parley.CodeTooLarge, "the request has %d tokens, and %s takes %d with the answer", prompt, a.model.Info().Name, config.Context)
	}
	if req.MaxTokens > 0 {
		room = min(room, req.MaxTokens)
	}
	a.room = room * tokenBytes
	a.pace = config.Pace
	if config.Script.pace != nil {
		a.pace = *config.Script.pace
	}
	var rule int
	rule, a.found, a.view = config.Script.choose(req)
	steps := unheard
	switch {
	case rule >= 0:
		steps = config.Script.rules[rule].steps
	case a.view.afterTool():
		steps = unread
	}
	done := parley.ModelDone{StopReason: parley.StopDone}
	for i := range steps {
		s := &steps[i]
		if s.fail != nil && s.fail.tries > 0 && !a.model.fails(digestOf(req, rule, i), s.fail.tries) {
			continue
		}
		if s.stop != "" {
			done.StopReason = s.stop
			break
		}
		err := a.take(ctx, s)
		if errors.Is(err, errLength) {
			done.StopReason = parley.StopLength
			break
		}
		if err != nil {
			return err
		}
	}
	done.Usage = parley.Usage{InputTokens: int64(prompt), OutputTokens: int64(tokensOf(a.written))}
	return a.send(ctx, parley.ModelPiece{Done: &done})
}

// take takes one step.
func (a *answer) take(ctx context.Context, s *step) error {
	pace := a.pace
	if s.pace != nil {
		pace = *s.pace
	}
	switch {
	case s.fail != nil:
		if err := ended(ctx); err != nil {
			return err
		}
		return &parley.Error{Code: s.fail.code, Message: cut(s.fail.message.text(a.view, a.found), errorRunes), RetryAfter: s.fail.retryAfter}
	case s.call != nil:
		return a.call(ctx, s.call)
	case s.words > 0:
		for word := range words(s.words) {
			if err := a.write(ctx, parley.PartText, word, pace, nil); err != nil {
				return err
			}
		}
		return nil
	case s.reasoning != nil:
		h := sha256.New()
		for part := range s.reasoning.parts(a.view, a.found) {
			if err := a.write(ctx, parley.PartReasoning, part, pace, h); err != nil {
				return err
			}
		}
		opaque := []byte("scripted:" + hex.EncodeToString(h.Sum(nil)[:8]))
		return a.send(ctx, parley.ModelPiece{Kind: parley.PartReasoning, Opaque: opaque})
	case s.text != nil:
		for part := range s.text.parts(a.view, a.found) {
			if err := a.write(ctx, parley.PartText, part, pace, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return a.pause(ctx, s.delay)
}

// errorRunes is how long an error's message may be.
const errorRunes = 300

// write sends text in small pieces and adds it to h, if there is one.
func (a *answer) write(ctx context.Context, kind parley.PartKind, text string, pace time.Duration, h hash.Hash) error {
	for piece := range pieces(text) {
		whole := piece
		piece = within(piece, a.room-a.written)
		if piece != "" {
			if h != nil {
				h.Write([]byte(piece))
			}
			a.written += len(piece)
			if err := a.send(ctx, parley.ModelPiece{Kind: kind, Text: piece}); err != nil {
				return err
			}
		}
		if len(piece) < len(whole) {
			return errLength
		}
		if err := a.pause(ctx, pace); err != nil {
			return err
		}
	}
	return nil
}

// call sends a call, if there is room for all of it.
func (a *answer) call(ctx context.Context, c *callStep) error {
	name := callName(c.tool.text(a.view, a.found))
	arguments, ok := c.arguments.json(a.view, a.found, a.room-a.written-len(name))
	if !ok {
		return errLength
	}
	a.written += len(name) + len(arguments)
	return a.send(ctx, parley.ModelPiece{Kind: parley.PartToolCall, Call: &parley.ToolCall{Name: name, Arguments: arguments}})
}

// send gives a piece to who asked.
func (a *answer) send(ctx context.Context, p parley.ModelPiece) error {
	if err := ended(ctx); err != nil {
		return err
	}
	if !a.yield(p, nil) {
		a.stopped = true
		return errStopped
	}
	return nil
}

// pause waits, or ends with ctx.
func (a *answer) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if err := ended(ctx); err != nil {
		return err
	}
	over := make(chan struct{})
	stop := a.model.config.Clock.AfterFunc(d, func() { close(over) })
	defer stop()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended gives the error of a context that has ended.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("answer from the script: %w", err)
	}
	return nil
}
