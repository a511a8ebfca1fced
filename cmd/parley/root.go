package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/config"
)

// app is what the commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  func() []string
	terminal bool // err is a terminal: progress may be shown
	// Whether these are terminals: somebody types, somebody reads.
	inTerminal, outTerminal bool
	columns                 int // how wide the terminal is; 0: out is none

	platforms map[string]newPlatformFunc // the chat platforms there are adapters for

	data   string // --data
	config string // --config
	key    string // --key

	loaded *config.Loaded // the configuration, once it was needed
}

// Exit statuses besides 0.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// errNotWell ends a command with exitFailed after it has said why itself.
var errNotWell = errors.New("not well")

// execute runs a command line and gives the exit status.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status *statusError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNotWell):
		return exitFailed
	case errors.As(err, &status):
		a.complain(status.text)
		return status.status
	case ctx.Err() != nil:
		a.complain("interrupted")
		return exitInterrupted
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		a.complain(usage.Error())
		return exitUsage
	}
	a.complain(describe(err))
	return exitFailed
}

// complain writes the one line that says what is wrong.
func (a *app) complain(line string) {
	// Nothing is left to do if even this cannot be written.
	_, _ = fmt.Fprintln(a.err, "parley: "+strings.Join(strings.Fields(line), " "))
}

// describe gives an error as a person should read it: what is wrong and what to
// do, then the code, by which it can be looked up.
func describe(err error) string {
	text := err.Error()
	if remote, ok := errors.AsType[*client.RemoteError](err); ok && remote.Status < http.StatusInternalServerError {
		text = strings.Replace(text, ": "+remote.Error(), "", 1) // how it was said helps nobody
		switch {
		case remote.Status == http.StatusUnauthorized:
			text = "the token in " + tokenFile + " is not good any more; start the daemon again, which then writes another"
		case remote.Current != "":
			text += "; the current one is " + string(remote.Current)
		}
	}
	if e, ok := errors.AsType[*parley.Error](err); ok {
		text += fmt.Sprintf(" (%s)", e.Code)
	}
	return text
}

// statusError ends a command with a status of its own.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// usageError is a command line that cannot be understood.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "parley",
		Short: "Parley keeps conversations between AI agents and people",
		Long:  `Parley keeps conversations between AI agents and people, durably, in one file.`,
		Example: `  parley serve                      run the daemon, with a page to talk in
  parley chat "what can you do?"    talk to an agent
  parley sessions                   see what was talked about`,
		Args:          a.noSuchCommand,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate(versionText())
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Sprintf("%s; see '%s --help'", flagText(err), cmd.CommandPath())}
	})
	root.PersistentFlags().StringVar(&a.data, "data", "", "folder of the store (default: $PARLEY_DATA, else the user's data folder)")
	if err := root.MarkPersistentFlagDirname("data"); err != nil {
		panic(err) // the flag was defined one line above
	}
	root.PersistentFlags().StringVar(&a.config, "config", "", "configuration file (default: parley.yaml in the data folder, if it is there)")
	root.PersistentFlags().StringVar(&a.key, "key", "", "where the key of an encrypted store is: keyring, or a file (default: what store.key says)")
	root.AddCommand(
		a.serveCommand(), a.chatCommand(), a.sessionsCommand(), a.statusCommand(), a.psCommand(), a.loginCommand(),
		a.channelsCommand(), a.outboxCommand(), a.usersCommand(), a.tokensCommand(), a.auditCommand(),
		a.backupCommand(), a.restoreCommand(), a.encryptCommand(), a.doctorCommand(),
		a.resolveCommand(), a.configCommand(), a.benchCommand(), a.versionCommand(),
	)
	// Cobra's own would answer an unknown shell with its help and success.
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = a.noSuchCommand
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		completion.Short = "Print the script that completes commands in a shell"
	}
	shortHelp(root)
	return root
}

// flagText says what is wrong with a flag, and not how a program reads numbers.
func flagText(err error) string {
	text, how, ok := strings.Cut(err.Error(), ": strconv.")
	switch {
	case !ok:
		return text
	case strings.HasPrefix(how, "ParseBool"):
		return text + ": it is true or false"
	case strings.Contains(how, "out of range"):
		return text + ": the number is too large"
	case strings.HasPrefix(how, "ParseUint"):
		return text + ": a whole number of 0 or more is needed"
	}
	return text + ": a whole number is needed"
}

// shortHelp lets the help of the program fit a screen, with the commands in the order
// in which people come to need them.
func shortHelp(root *cobra.Command) {
	cobra.EnableCommandSorting = false
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasParent() {
			usual(cmd, args)
			return
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s Examples:\n%s\n\nCommands:\n", cmd.Long, cmd.Example)
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
		b.WriteString(commonFlags)
		cmd.Print(b.String())
	})
	root.SetUsageTemplate(usage)
}

// commonFlags is the end of the program's help.
const commonFlags = `
Every command has --data DIR (default: $PARLEY_DATA, else the user's data folder), --config FILE
(default: parley.yaml in it) and --key keyring|FILE (of an encrypted store). COMMAND --help says more.
`

// usage is how the help of a command goes on after what the command says about itself.
const usage = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}
Every command has --data, --config and --key; see 'parley --help'.{{end}}
`

// noSuchCommand refuses what is left of the command line when no command fits,
// and names the nearest one.
func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command '%s %s'", cmd.CommandPath(), args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return &usageError{fmt.Sprintf("%s; did you mean '%s %s'?", text, cmd.CommandPath(), near[0])}
	}
	return &usageError{fmt.Sprintf("%s; see '%s --help'", text, cmd.CommandPath())}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Sprintf("'%s' takes no arguments, and got %q; see '%s --help'", cmd.CommandPath(), args[0], cmd.CommandPath())}
}
