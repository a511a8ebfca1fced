package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

const aUser = "the id or name of a user"

func (a *app) usersCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "users",
		Short: "See and change who may talk to the agents",
		Long: `Users are people and bots, each with a role (owner, user or guest) and one or more
accounts, such as telegram:7. A user is named by id, by the beginning of it, or by
name.`,
		Example: `  parley users
  parley users add Ada --identity telegram:7
  parley users pair K7QX-2MPA          let a stranger in who shows this code`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.usersList(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(a.usersLsCommand(), a.usersAddCommand(), a.usersRoleCommand(), a.usersRenameCommand(), a.usersRmCommand(),
		a.usersLinkCommand(), a.usersUnlinkCommand(), a.usersPairCommand())
	return cmd
}

func roles() []string {
	return []string{string(parley.RoleOwner), string(parley.RoleUser), string(parley.RoleGuest)}
}

// person is a user with their accounts.
type person struct {
	parley.User

	Identities []parley.Identity `json:"identities"`
}

// persons gives everybody.
func persons(ctx context.Context, d desk) ([]person, error) {
	accounts := map[parley.UserID][]parley.Identity{}
	for cursor := ""; ; {
		page, err := d.Identities(ctx, cursor, parley.MaxPageSize)
		if err != nil {
			return nil, err
		}
		for _, id := range page.Identities {
			accounts[id.User] = append(accounts[id.User], id)
		}
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	var all []person
	for cursor := ""; ; {
		page, err := d.Users(ctx, cursor, parley.MaxPageSize)
		if err != nil {
			return nil, err
		}
		for _, u := range page.Users {
			all = append(all, person{u, append([]parley.Identity{}, accounts[u.ID]...)})
		}
		if cursor = page.Cursor; cursor == "" {
			return all, nil
		}
	}
}

// onUser does something with the user that somebody means.
func (a *app) onUser(ctx context.Context, text string, do func(d desk, p person) error) error {
	return a.withDesk(ctx, func(d desk) error {
		p, err := findUser(ctx, d, text)
		if err != nil {
			return err
		}
		return do(d, p)
	})
}

func findUser(ctx context.Context, d desk, text string) (person, error) {
	all, err := persons(ctx, d)
	if err != nil {
		return person{}, err
	}
	return onlyOne("user", text, all, person.names)
}

// names are what somebody may call the person.
func (p person) names() names {
	n := names{ids: []string{string(p.ID), strings.TrimPrefix(string(p.ID), "u_")}, whole: []string{p.Name}}
	for _, id := range p.Identities {
		n.whole = append(n.whole, string(id.ID))
	}
	return n
}

func (a *app) usersLsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List users, their roles and accounts", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.usersList(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) usersList(ctx context.Context, asJSON bool) error {
	var all []person
	err := a.withDesk(ctx, func(d desk) (err error) {
		all, err = persons(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(map[string]any{"users": append([]person{}, all...)})
	}
	t := listing{head: []string{"NAME", "ROLE", "ID", "ACCOUNTS"}, wide: 3}
	for _, p := range all {
		t.add(p.Name, string(p.Role), string(p.ID), accountsText(p.Identities))
	}
	return a.printText(t.text(a.columns))
}

func accountsText(list []parley.Identity) string {
	names := make([]string, len(list))
	for i, id := range list {
		names[i] = string(id.ID)
	}
	return strings.Join(names, ", ")
}

// printPerson tells who somebody is from now on.
func (a *app) printPerson(u parley.User, list []parley.Identity, asJSON bool) error {
	if asJSON {
		return a.printJSON(map[string]any{"user": person{u, append([]parley.Identity{}, list...)}})
	}
	text := fmt.Sprintf("%s (%s) has the role %s", cmp.Or(cell(u.Name), "somebody"), u.ID, u.Role)
	if len(list) > 0 {
		text += " and the accounts " + cell(accountsText(list))
	}
	return a.printText(text + ".\n")
}

func (a *app) usersAddCommand() *cobra.Command {
	var n client.NewUser
	var id, role, identity string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add somebody",
		Example: `  parley users add Ada
  parley users add Ada --role guest --identity telegram:7`,
		Args: takes("a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--role", role, roles()...); err != nil {
				return err
			}
			n.Name, n.ID, n.Role, n.Identity = args[0], parley.UserID(id), parley.Role(role), parley.IdentityID(identity)
			return a.withDesk(cmd.Context(), func(d desk) error {
				user, list, err := d.AddUser(cmd.Context(), n)
				if err != nil {
					return err
				}
				return a.printPerson(user, list, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "the user's id (default: one is made)")
	cmd.Flags().StringVar(&role, "role", string(parley.RoleUser), "owner, user or guest")
	cmd.Flags().StringVar(&identity, "identity", "", "the account they begin with, such as telegram:7 (default: user:<id>)")
	jsonFlag(cmd, &asJSON)
	completeFlag(cmd, "role", cobra.FixedCompletions(roles(), cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (a *app) usersRoleCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "role USER ROLE",
		Short:   "Give a user another role, from their next request on",
		Example: `  parley users role Ada owner`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := takes(aUser, "a role")(cmd, args); err != nil {
				return err
			}
			return oneOf("the role", args[1], roles()...)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onUser(cmd.Context(), args[0], func(d desk, p person) error {
				user, err := d.SetRole(cmd.Context(), p.ID, parley.Role(args[1]))
				if err != nil {
					return err
				}
				return a.printPerson(user, p.Identities, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeUser(roles()...)
	return cmd
}

func (a *app) usersRenameCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "rename USER NAME",
		Short:   "Give a user another name",
		Example: `  parley users rename Ada "Ada Lovelace"`,
		Args:    takes(aUser, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onUser(cmd.Context(), args[0], func(d desk, p person) error {
				user, err := d.RenameUser(cmd.Context(), p.ID, args[1])
				if err != nil {
					return err
				}
				return a.printPerson(user, p.Identities, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeUser()
	return cmd
}

func (a *app) usersRmCommand() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "rm USER",
		Short: "Remove a user",
		Long: `Rm removes a user. Their tokens end, their accounts are nobody's, and what they said
stays. It asks first.`,
		Example: `  parley users rm Ada`,
		Args:    takes(aUser),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onUser(cmd.Context(), args[0], func(d desk, p person) error {
				if err := whole(args[0], string(p.ID), p.names().has(args[0]), yes); err != nil {
					return err
				}
				who := fmt.Sprintf("%s (%s)", cmp.Or(cell(p.Name), "somebody"), p.ID)
				if err := a.confirm(cmd.Context(), "Remove "+who+"? Their tokens end.", yes); err != nil {
					return err
				}
				if err := d.RemoveUser(cmd.Context(), p.ID); err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(map[string]any{"user_id": p.ID, "removed": true})
				}
				return a.printText("Removed " + who + ".\n")
			})
		},
	}
	yesFlag(cmd, &yes)
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeUser()
	return cmd
}
