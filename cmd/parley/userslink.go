package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
)

func (a *app) usersLinkCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "link [CODE]",
		Short: "Link another account with yours, by a code",
		Long: `Link makes another account one of yours. Without a code it prints one, which you
enter with the other account within ten minutes; with a code it takes the one that
the other account shows.`,
		Example: `  parley users link
  parley users link K7QX-2MPA`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return takes("a code, or nothing")(cmd, nil)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withDesk(cmd.Context(), func(d desk) error {
				if len(args) == 0 {
					code, err := d.LinkCode(cmd.Context(), nil)
					if err != nil {
						return err
					}
					return a.printSecret(code, "enter it with the other account, once, within ten minutes", asJSON, map[string]any{"code": code})
				}
				user, err := d.Link(cmd.Context(), args[0], nil)
				if err != nil {
					return err
				}
				return a.printPerson(user, nil, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// printSecret writes what only one may have alone on standard output, so that it can
// be piped, and what is to be said about it beside.
func (a *app) printSecret(value, about string, asJSON bool, fields map[string]any) error {
	if asJSON {
		return a.printJSON(fields)
	}
	a.say("* " + about + "\n")
	return a.printText(value + "\n")
}

func (a *app) usersUnlinkCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "unlink ACCOUNT",
		Short: "Give an account a user of its own again",
		Long: `Unlink parts an account from its user. What was said with it stays, and so does who
took part where.`,
		Example: `  parley users unlink telegram:7`,
		Args:    takes("an account, such as telegram:7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withDesk(cmd.Context(), func(d desk) error {
				if err := d.Unlink(cmd.Context(), parley.IdentityID(args[0])); err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(map[string]any{"identity": args[0], "unlinked": true})
				}
				return a.printText(fmt.Sprintf("%s is on its own again.\n", cell(args[0])))
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeAccount
	return cmd
}

func (a *app) usersPairCommand() *cobra.Command {
	var role, name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pair CODE",
		Short: "Let a stranger in who shows a code",
		Long: `Pair lets in who wrote to an agent from an account that nobody knows, and was given
this code to show to you. It is good for ten minutes.`,
		Example: `  parley users pair K7QX-2MPA
  parley users pair K7QX-2MPA --role guest --name Ada`,
		Args: takes("the code that the stranger shows"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--role", role, roles()...); err != nil {
				return err
			}
			return a.withDesk(cmd.Context(), func(d desk) error {
				user, err := d.Pair(cmd.Context(), args[0], parley.Role(role), name)
				if err != nil {
					return err
				}
				return a.printPerson(user, nil, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", string(parley.RoleUser), "owner, user or guest")
	cmd.Flags().StringVar(&name, "name", "", "what to call them (default: as their account does)")
	jsonFlag(cmd, &asJSON)
	completeFlag(cmd, "role", cobra.FixedCompletions(roles(), cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}
