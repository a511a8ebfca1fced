package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
)

// app is what the commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  func() []string
	terminal bool   // err is a terminal: progress may be shown
	data     string // --data
	config   string // --config
	key      string // --key

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
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNotWell):
		return exitFailed
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
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return fmt.Sprintf("%v (%s)", err, e.Code)
	}
	return err.Error()
}

// usageError is a command line that cannot be understood.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "parley",
		Short: "Parley keeps conversations between AI agents and people",
		Long:  `Parley keeps conversations between AI agents and people, durably, in one file.`,
		Example: `  parley doctor                     is the store well?
  parley backup today.parley        a copy of everything, while it is in use
  parley encrypt on                 unreadable to whoever takes the disk`,
		Args:          a.noSuchCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Sprintf("%v; see '%s --help'", err, cmd.CommandPath())}
	})
	root.PersistentFlags().StringVar(&a.data, "data", "", "folder of the store (default: $PARLEY_DATA, else the user's data folder)")
	if err := root.MarkPersistentFlagDirname("data"); err != nil {
		panic(err) // the flag was defined one line above
	}
	root.PersistentFlags().StringVar(&a.config, "config", "", "configuration file (default: parley.yaml in the data folder, if it is there)")
	root.PersistentFlags().StringVar(&a.key, "key", "", "where the key of an encrypted store is: keyring, or a file (default: what store.key says)")
	root.AddCommand(a.backupCommand(), a.restoreCommand(), a.encryptCommand(), a.doctorCommand(), a.resolveCommand(), a.configCommand(), a.benchCommand(), a.versionCommand())
	// Cobra's own would answer an unknown shell with its help and success.
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = a.noSuchCommand
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

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
