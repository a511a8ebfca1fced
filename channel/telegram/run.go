package telegram

import (
	"context"
	"regexp"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley/channel"
)

// Run implements [channel.Platform]: it receives until ctx ends, whatever becomes of the
// network. A token that Telegram refuses ends it with [parley.CodeUnauthorized].
func (b *Bot) Run(ctx context.Context, to channel.Receiver) error {
	defer b.client.CloseIdleConnections()
	me, err := b.meet(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	b.offerCommands(ctx)
	in := &taker{to: to, me: me}
	if b.cfg.Webhook != "" {
		err = b.serveWebhook(ctx, in)
	} else {
		err = b.poll(ctx, in)
	}
	if err == nil {
		b.state.set(stateStopped)
	}
	return err
}

// meet asks who the bot is, until there is an answer or ctx ends.
func (b *Bot) meet(ctx context.Context) (models.User, error) {
	var pause pauses
	for {
		me, err := b.getMe(ctx)
		if err == nil {
			return me, nil
		}
		if ctx.Err() != nil {
			return me, nil //nolint:nilerr // that it ends is no error
		}
		wait, final := b.fails(err, &pause)
		if final != nil {
			return me, final
		}
		b.wait(ctx, wait)
	}
}

// commandForm is what Telegram takes as the name of a command.
var commandForm = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

const (
	maxCommands    = 100
	maxDescription = 256 // UTF-16 units
)

// offerCommands puts the commands into the menu of chats. Without it they work as well,
// so a failure is only told.
func (b *Bot) offerCommands(ctx context.Context) {
	var menu []models.BotCommand
	for _, c := range b.cfg.Commands {
		if commandForm.MatchString(c.Name) && c.Description != "" && len(menu) < maxCommands {
			menu = append(menu, models.BotCommand{Command: c.Name, Description: shorten(c.Description, maxDescription)})
		}
	}
	if len(menu) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if _, err := b.api.SetMyCommands(ctx, &bot.SetMyCommandsParams{Commands: menu}); err != nil && ctx.Err() == nil {
		b.cfg.Log.Warn("put the commands into the menu", "error", err)
	}
}
