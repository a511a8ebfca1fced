package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

const aSession = "the id of a session"

// onSession does something with the session that somebody means.
func (a *app) onSession(ctx context.Context, text string, do func(d desk, s parley.Session) error) error {
	return a.withDesk(ctx, func(d desk) error {
		s, err := findSession(ctx, d, text)
		if err != nil {
			return err
		}
		return do(d, s)
	})
}

func (a *app) sessionsRenameCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "rename ID TITLE",
		Short:   "Give a conversation another title",
		Example: `  parley sessions rename 5f0c "Trip to Rome"`,
		Args:    takes(aSession, "a title"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd.Context(), args[0], func(d desk, s parley.Session) error {
				s, err := d.Patch(cmd.Context(), s.ID, client.Changes{Title: &args[1]})
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.printSession(s)
				}
				return a.printText(fmt.Sprintf("%s is called %q.\n", s.ID, visible(s.Title.Text)))
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

// printNext writes the id of a session that was made, alone, for scripts.
func (a *app) printNext(s parley.Session, asJSON bool) error {
	if asJSON {
		return a.printSession(s)
	}
	if err := a.printText(string(s.ID) + "\n"); err != nil {
		return err
	}
	a.hint("go on in it with: parley chat --session " + string(s.ID))
	return nil
}

func (a *app) sessionsForkCommand() *cobra.Command {
	var at uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fork ID",
		Short: "Go on from a point of a conversation in another one",
		Long: `Fork makes a session that shares what was said up to an event, and goes on by
itself from there. The one it came from stays as it is. It prints the new id.`,
		Example: `  parley sessions fork 5f0c
  parley chat --session "$(parley sessions fork 5f0c --at 40)" "what if not?"`,
		Args: takes(aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd.Context(), args[0], func(d desk, s parley.Session) error {
				if cmd.Flags().Changed("at") && (at == 0 || at > s.LastSeq) {
					return parley.Errorf(parley.CodeInvalid, "there is no event %d in %s; they count from 1 to %d", at, s.ID, s.LastSeq)
				}
				next, err := d.Fork(cmd.Context(), s.ID, at)
				if err != nil {
					return err
				}
				return a.printNext(next, asJSON)
			})
		},
	}
	cmd.Flags().Uint64Var(&at, "at", 0, "the last event that both share (default: the last there is)")
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

func (a *app) sessionsRewindCommand() *cobra.Command {
	var turns int
	var to uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rewind ID",
		Short: "Take back the last turns of a conversation",
		Long: `Rewind takes the last turns out of the model's sight, as if they had not been.
They stay in the log. It prints what the first of them was asked.`,
		Example: `  parley sessions rewind 5f0c
  parley sessions rewind 5f0c --turns 3
  parley sessions rewind 5f0c --to 40`,
		Args: takes(aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			if turns < 1 {
				return &usageError{"--turns must be 1 or more"}
			}
			if cmd.Flags().Changed("turns") && cmd.Flags().Changed("to") {
				return &usageError{"--turns and --to both say how far; give one of them"}
			}
			return a.onSession(cmd.Context(), args[0], func(d desk, s parley.Session) (err error) {
				var done client.Rewound
				if cmd.Flags().Changed("to") {
					done, err = d.RewindTo(cmd.Context(), s.ID, to)
				} else {
					done, err = d.Rewind(cmd.Context(), s.ID, turns)
				}
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.printJSON(done)
				case done.Text == "":
					return a.printText(fmt.Sprintf("Took back %s.\n", counted(int64(done.Turns), "turn")))
				}
				return a.printText(fmt.Sprintf("Took back %s, from here on: %s\n", counted(int64(done.Turns), "turn"), cell(short(done.Text, longestRow))))
			})
		},
	}
	cmd.Flags().IntVar(&turns, "turns", 1, "how many")
	cmd.Flags().Uint64Var(&to, "to", 0, "instead: the last event that stays")
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

func (a *app) sessionsRedactCommand() *cobra.Command {
	var reason string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "redact ID SEQ...",
		Short: "Take away what somebody wrote, for good",
		Long: `Redact takes away the content of events: the messages, every copy of them, and a
title that was made from them. That something was there stays in the log, with the
reason. The numbers are those that show and tail print.`,
		Example: `  parley sessions redact 5f0c 12 13 --reason "a password"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return takes(aSession, "the numbers of events")(cmd, nil)
			}
			_, err := seqs(args[1:])
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := seqs(args[1:])
			if err != nil {
				return err
			}
			return a.onSession(cmd.Context(), args[0], func(d desk, s parley.Session) error {
				if err := whole(args[0], string(s.ID), args[0] == string(s.ID), yes); err != nil {
					return err
				}
				what := counted(int64(len(list)), "event")
				if err := a.confirm(cmd.Context(), fmt.Sprintf("Take away the content of %s of %s, for good?", what, s.ID), yes); err != nil {
					return err
				}
				if err := d.Redact(cmd.Context(), s.ID, list, reason); err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(map[string]any{"session_id": s.ID, "redacted": list})
				}
				return a.printText(fmt.Sprintf("Redacted %s of %s.\n", what, s.ID))
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; it stays in the log")
	yesFlag(cmd, &yes)
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

func (a *app) sessionsResetCommand() *cobra.Command {
	var title string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reset ID",
		Short: "Start a conversation over; what was said is kept",
		Long: `Reset ends a session and starts another in its place: what comes from the same chat
goes there. A turn that runs is stopped. It prints the new id.`,
		Example: `  parley sessions reset 5f0c --title "Second try"`,
		Args:    takes(aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd.Context(), args[0], func(d desk, s parley.Session) error {
				next, err := d.Reset(cmd.Context(), s.ID, client.Anew{Title: title})
				if err != nil {
					return err
				}
				return a.printNext(next, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "of the new session")
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

func (a *app) sessionsDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Remove a conversation between the agent and one person, for good",
		Long: `Delete removes a session and everything in it. It asks first. A session in which a
turn runs is left alone, and so is a group's: see purge.`,
		Example: `  parley sessions delete 5f0c
  parley sessions delete cli:work --yes`,
	}
	return a.removal(cmd, "Remove %s and everything in it, for good?", false)
}

func (a *app) sessionsPurgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "purge ID",
		Short: "Remove a conversation for good, also if it is a group's",
		Long: `Purge removes a session and everything in it, for everybody who takes part. It asks
first. A session in which a turn runs is left alone.`,
		Example: `  parley sessions purge 5f0c`,
	}
	return a.removal(cmd, "Remove %s and everything in it, for good and for everybody?", true)
}

// removal makes a command one that removes a session.
func (a *app) removal(cmd *cobra.Command, question string, purge bool) *cobra.Command {
	var yes, asJSON bool
	cmd.Args = takes(aSession)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.onSession(cmd.Context(), args[0], func(d desk, s parley.Session) error {
			if err := whole(args[0], string(s.ID), args[0] == string(s.ID), yes); err != nil {
				return err
			}
			if err := a.confirm(cmd.Context(), fmt.Sprintf(question, s.ID), yes); err != nil {
				return err
			}
			if err := d.Delete(cmd.Context(), s.ID, purge); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(map[string]any{"session_id": s.ID, "deleted": true})
			}
			return a.printText(fmt.Sprintf("Removed %s.\n", s.ID))
		})
	}
	yesFlag(cmd, &yes)
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}
