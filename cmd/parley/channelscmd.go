package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/config"
)

func (a *app) channelsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "channels",
		Short: "Connect chat apps, and see how they are",
		Long: `Channels are the chat apps in which people talk to agents. Without a command, this
lists them.`,
		Example: `  parley channels add telegram         connect a bot, and link your account
  parley channels test                 ask each platform whether its token is good
  parley channels pair K7QX-2MPA       let a stranger in who shows this code`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.channelsList(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	pair := a.usersPairCommand()
	pair.Example = strings.ReplaceAll(pair.Example, "parley users", "parley channels")
	cmd.AddCommand(a.channelsAddCommand(), a.channelsLsCommand(), a.channelsTestCommand(), pair)
	return cmd
}

func (a *app) channelsLsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the bots of the configuration, and how they are", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.channelsList(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// configuredBot is a bot of the configuration.
type configuredBot struct {
	Name    string   `json:"name"`
	Channel string   `json:"channel"`
	Account string   `json:"account,omitempty"`
	State   string   `json:"state,omitempty"` // ok, or what is wrong
	Bot     string   `json:"bot,omitempty"`   // what the platform calls it
	Hints   []string `json:"hints,omitempty"`

	cfg config.Bot
}

// configuredBots gives the bots of the configuration, or those with a name.
func configuredBots(c *config.Config, name string) ([]configuredBot, error) {
	list := []configuredBot{}
	for _, ch := range slices.Sorted(maps.Keys(c.Channels)) {
		bots := c.Channels[ch].Bots()
		for _, account := range slices.Sorted(maps.Keys(bots)) {
			if full := botName(ch, account); name == "" || name == ch || name == full {
				list = append(list, configuredBot{Name: full, Channel: ch, Account: account, cfg: bots[account]})
			}
		}
	}
	if len(list) == 0 && name != "" {
		return nil, parley.Errorf(parley.CodeNotFound, "no channel %q is configured; see 'parley channels'", name)
	}
	return list, nil
}

func (a *app) channelsList(ctx context.Context, asJSON bool) error {
	loaded, err := a.loadConfig()
	if err != nil {
		return err
	}
	list, err := configuredBots(&loaded.Config, "")
	if err != nil {
		return err
	}
	running, err := a.daemon()
	if err != nil {
		return err
	}
	states := map[string]string{}
	if running != nil {
		remote, err := a.dial(*running)
		if err != nil {
			return err
		}
		defer remote.Close()
		ready, err := remote.Ready(ctx)
		if err != nil {
			return err
		}
		states = ready.Channels
	}
	for i := range list {
		state, known := states[list[i].Name]
		switch {
		case running == nil:
			state = "no daemon runs"
		case !known:
			state = "the daemon does not know it; restart it"
		}
		list[i].State = state
	}
	if asJSON {
		return a.printJSON(map[string]any{"channels": list})
	}
	if len(list) == 0 {
		a.hint("no chat app is connected; 'parley channels add telegram' connects one")
		return nil
	}
	t := listing{head: []string{"CHANNEL", "RECEIVES", "STATE"}, wide: 2}
	for i := range list {
		t.add(list[i].Name, map[bool]string{true: "by webhook", false: "by asking"}[list[i].cfg.Webhook], list[i].State)
	}
	return a.printText(t.text(a.columns))
}

func (a *app) channelsTestCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [CHANNEL]",
		Short: "Ask platforms whether the tokens of bots are good",
		Long: `Test asks the platform of each bot, or of those of one channel, who the bot is. It says
what the platform will not show the bot, and exits with 1 if one cannot be used.`,
		Example: `  parley channels test
  parley channels test telegram`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return takes("a channel, or nothing")(cmd, nil)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.channelsTest(cmd.Context(), strings.Join(args, ""), asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) channelsTest(ctx context.Context, name string, asJSON bool) error {
	loaded, err := a.loadConfig()
	if err != nil {
		return err
	}
	list, err := configuredBots(&loaded.Config, name)
	if err != nil {
		return err
	}
	maker, err := a.botMaker(loaded)
	if err != nil {
		return err
	}
	well := true
	for i := range list {
		b := &list[i]
		profile, err := maker.look(ctx, b.Channel, b.Account, b.cfg)
		if b.State = "ok"; err != nil {
			b.State, well = describe(err), false
		}
		b.Bot, b.Hints = profile.Name, profile.Hints
	}
	if asJSON {
		err = a.printJSON(map[string]any{"channels": list})
	} else {
		var text strings.Builder
		for i := range list {
			fmt.Fprintf(&text, "%s: %s\n", list[i].Name, strings.TrimSuffix(list[i].State+", "+cell(list[i].Bot), ", "))
			for _, hint := range list[i].Hints {
				fmt.Fprintf(&text, "  %s\n", hint)
			}
		}
		err = a.printText(text.String())
	}
	if err == nil && !well {
		err = errNotWell
	}
	return err
}

// look asks a platform who a bot is.
func (m *botMaker) look(ctx context.Context, name, account string, cfg config.Bot) (channel.Profile, error) {
	b, err := m.newBot(ctx, name, account, cfg)
	if err != nil {
		return channel.Profile{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return profileOf(ctx, b.platform)
}

func profileOf(ctx context.Context, p channel.Platform) (channel.Profile, error) {
	asks, ok := p.(channel.Profiler)
	if !ok {
		return channel.Profile{}, nil
	}
	profile, err := asks.Profile(ctx)
	if errors.Is(err, parley.ErrUnauthorized) {
		err = &parley.Error{Code: parley.CodeUnauthorized, Message: "the platform does not know the token; make sure that it is whole, and the bot's present one", Err: err}
	}
	return profile, err
}
