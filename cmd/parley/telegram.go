package main

import (
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/command"
)

// newTelegram makes the adapter for Telegram, with the commands in the menu of chats.
func newTelegram(cfg platformConfig) (channel.Platform, error) {
	var menu []telegram.Command
	for _, c := range command.All() {
		menu = append(menu, telegram.Command{Name: c.Name, Description: c.Help})
	}
	return telegram.New(telegram.Config{
		Token: cfg.Token.Reveal(), Account: cfg.Account, URL: cfg.BaseURL, Webhook: cfg.Webhook, Commands: menu, Log: cfg.Log,
	})
}
