package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/internal/disk"
	"github.com/parley-run/parley/secret"
)

// addOptions are the flags of channels add.
type addOptions struct {
	token  string
	noWait bool
}

func (a *app) channelsAddCommand() *cobra.Command {
	var o addOptions
	cmd := &cobra.Command{
		Use:   "add CHANNEL",
		Short: "Connect a bot, and link your account with it",
		Long: `Add connects a bot of a chat app. It asks for the token, checks it with the platform,
says what the platform will not show the bot, and writes the configuration. Then it
waits for your first message to the bot, by which your account there becomes yours
here.

A token that is typed is kept in a file in the data folder. With --token it stays
where it is: env:NAME, file:PATH or keyring:NAME.`,
		Example: `  parley channels add telegram
  parley channels add telegram --token env:TELEGRAM_TOKEN`,
		Args: takes("the name of a chat app, such as telegram"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.channelsAdd(cmd.Context(), args[0], o) },
	}
	cmd.Flags().StringVar(&o.token, "token", "", "where the bot's token is: env:NAME, file:PATH or keyring:NAME (default: it is asked for)")
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "do not wait for a first message")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) channelsAdd(ctx context.Context, name string, o addOptions) error {
	loaded, err := a.loadConfig()
	if err != nil {
		return err
	}
	if a.platforms[name] == nil {
		return parley.Errorf(parley.CodeInvalid, "this program has no adapter for %q", name)
	}
	cfg, known := loaded.Config.Channels[name]
	known = known && !cfg.Token.IsZero()
	if known && o.token != "" && cfg.Token.String() != o.token {
		return parley.Errorf(parley.CodeConflict, "%s has a token already, %s; change it in the configuration", name, cfg.Token)
	}
	if !known {
		if cfg.Token, err = a.askToken(ctx, name, o.token); err != nil {
			return err
		}
	}
	maker, err := a.botMaker(loaded)
	if err != nil {
		return err
	}
	b, profile, err := maker.meet(ctx, name, cfg)
	if err != nil && !known && o.token == "" {
		err = errors.Join(err, a.forgetToken(name)) // what was typed is good for nothing
	}
	if err != nil {
		return err
	}
	if err := a.printText(fmt.Sprintf("The token is good: the bot is %s.\n", cell(profile.Name))); err != nil {
		return err
	}
	for _, hint := range profile.Hints {
		a.say("* " + hint + "\n")
	}
	if !known {
		if err := a.configureBot(name, cfg.Token); err != nil {
			return err
		}
	}
	return a.linkOwner(ctx, b, profile, o.noWait)
}

// askToken gives where the token is: where the flag says, or in a file that is written
// with what is typed.
func (a *app) askToken(ctx context.Context, name, where string) (secret.Ref, error) {
	if where != "" {
		return secret.Parse(where)
	}
	token, err := a.readSecret(ctx, "The bot's token (it is not shown): ")
	if err != nil {
		return secret.Ref{}, err
	}
	if token == "" {
		return secret.Ref{}, parley.Errorf(parley.CodeInvalid, "there is no token; type it, or say with --token where it is")
	}
	dir, err := a.dataDir()
	if err != nil {
		return secret.Ref{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return secret.Ref{}, cannotWrite(err)
	}
	file := name + ".token"
	if err := disk.WriteFile(filepath.Join(dir, file), []byte(token+"\n")); err != nil {
		return secret.Ref{}, cannotWrite(err)
	}
	return secret.Parse("file:" + file)
}

// forgetToken removes the file with a token that was typed.
func (a *app) forgetToken(name string) error {
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(dir, name+".token"))
}

// hasChannels finds the key under which channels stand.
var hasChannels = regexp.MustCompile(`(?m)^["']?channels["']?\s*:`)

// configureBot writes the bot into the configuration, if that can be done by adding to
// the end of it. Else it says what to write where.
func (a *app) configureBot(name string, token secret.Ref) error {
	path, err := a.configPath()
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path) //nolint:gosec // whoever runs the command names the file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(err)
	}
	entry := fmt.Sprintf("  %s:\n    token: %s\n", name, token)
	if hasChannels.Match(before) {
		return a.printText(fmt.Sprintf("Add this to channels in %s:\n\n%s\n", path, entry))
	}
	text := string(before)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := disk.WriteFile(path, []byte(text+"channels:\n"+entry)); err != nil {
		return cannotWrite(err)
	}
	loaded, err := a.readConfig()
	if err == nil && loaded.Config.Channels[name].Token.String() == token.String() {
		a.loaded = loaded
		return a.printText(fmt.Sprintf("It is in %s.\n", path))
	}
	if undo := disk.WriteFile(path, before); undo != nil { // an odd file, such as one with an end marker
		return cannotWrite(errors.Join(err, undo))
	}
	return a.printText(fmt.Sprintf("Add this to %s:\n\nchannels:\n%s\n", path, entry))
}

// linkOwner makes the account of who sets up the bot the owner's.
func (a *app) linkOwner(ctx context.Context, b *bot, profile channel.Profile, noWait bool) error {
	running, err := a.daemon()
	if err != nil {
		return err
	}
	if running != nil {
		return a.printText("The daemon knows of it after a restart. Then write to the bot: it gives you a code, which you enter with 'parley channels pair CODE --role owner'.\n")
	}
	if noWait {
		return a.printText("Start the daemon with 'parley serve', and write to the bot.\n")
	}
	linked := make(chan parley.IdentityID, 1)
	in, err := a.install(ctx, installOptions{Idle: true, Bots: []*bot{b}, LinkedFunc: func(id parley.IdentityID) {
		select {
		case linked <- id:
		default:
		}
	}})
	if err != nil {
		return err
	}
	return errors.Join(a.awaitOwner(ctx, in, b, profile, linked), in.close())
}

// awaitTime is how long a first message is waited for: as long as a code is good.
const awaitTime = 10 * time.Minute

// awaitOwner waits for the message that shows whose account it is. What else comes
// meanwhile is taken, and answered when the daemon runs.
func (a *app) awaitOwner(ctx context.Context, in *installation, b *bot, profile channel.Profile, linked <-chan parley.IdentityID) error {
	owner, err := in.people.Local(ctx)
	if err != nil {
		return err
	}
	code, err := in.people.LinkCode(ctx, owner)
	if err != nil {
		return err
	}
	a.say(fmt.Sprintf("Send this to %s, with the account that is yours: /link %s\n", cell(profile.Name), code))
	if profile.Link != "" {
		a.say("or open " + profile.Link + code + "\n")
	}
	ctx, stop := context.WithTimeout(ctx, awaitTime)
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- b.platform.Run(ctx, b.receiver) }()
	select {
	case id := <-linked:
		stop()
		<-ran
		text := fmt.Sprintf("%s is you. Start the daemon with: parley serve\n", cell(string(id)))
		if in.offline() {
			text += "Before that, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a model in parley.yaml: chats are not answered from a script.\n"
		}
		return a.printText(text)
	case err := <-ran:
		if ctx.Err() == nil {
			return errors.Join(parley.Errorf(parley.CodeUnavailable, "the platform cannot be listened to"), err)
		}
		return parley.Errorf(parley.CodeUnavailable, "no message with the code came; 'parley channels add' waits again")
	}
}

// lookTime is how long a platform may take to say who a bot is.
const lookTime = 30 * time.Second

// botMaker makes bots of what the configuration says about them.
type botMaker struct {
	table   map[string]newPlatformFunc
	sources secret.Sources
	public  string // the address under which platforms reach us
	log     *slog.Logger
}

// meet makes the bot of a channel, and asks the platform who it is.
func (m *botMaker) meet(ctx context.Context, name string, cfg config.Channel) (*bot, channel.Profile, error) {
	b, err := m.newBot(ctx, name, "", cfg.Bot)
	if err != nil {
		return nil, channel.Profile{}, err
	}
	b.channel = cfg
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	profile, err := profileOf(ctx, b.platform)
	return b, profile, err
}

// botMaker makes bots without an installation.
func (a *app) botMaker(loaded *config.Loaded) (*botMaker, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	return &botMaker{
		table: a.platforms, public: loaded.Config.Serve.PublicURL, log: slog.New(slog.DiscardHandler),
		sources: secret.Sources{Dir: dir, Scrubber: &secret.Scrubber{}, LookupEnvFunc: a.lookupEnv},
	}, nil
}
