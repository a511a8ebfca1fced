package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// completeWithin is how long somebody waits who has pressed the key.
const completeWithin = time.Second

// mostCompleted is how many there are to choose from.
const mostCompleted = 200

// completeFlag has the values of a flag completed.
func completeFlag(cmd *cobra.Command, name string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // the flag is defined beside this
	}
}

// complete asks a running daemon what there is. Nothing is said about what goes wrong:
// somebody is in the middle of a line.
func (a *app) complete(cmd *cobra.Command, ask func(ctx context.Context, c *client.Client) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	running, err := a.daemon()
	if err != nil || running == nil {
		return nil, directive
	}
	c, err := a.dial(*running)
	if err != nil {
		return nil, directive
	}
	defer c.Close()
	found, err := ask(ctx, c)
	if err != nil {
		return nil, directive
	}
	return found[:min(len(found), mostCompleted)], directive
}

// described is a completion with what people know it by.
func described(value, about string) cobra.Completion {
	return cobra.CompletionWithDesc(value, cutWidth(cell(about), 60))
}

// completeSession completes the id of a session: the first argument, or a flag's.
func (a *app) completeSession(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Flags().Lookup("session") == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		page, err := c.Sessions(ctx, parley.SessionQuery{IncludeInactive: begun != "", Limit: parley.MaxPageSize})
		var found []cobra.Completion
		for _, s := range page.Sessions {
			if strings.HasPrefix(string(s.ID), begun) {
				found = append(found, described(string(s.ID), titleOf(s)))
			}
		}
		return found, err
	})
}

// completeUser completes a user as the first argument, and the second from a list.
func (a *app) completeUser(second ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			if len(args) > 1 {
				second = nil
			}
			return second, cobra.ShellCompDirectiveNoFileComp
		}
		return a.complete(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
			page, err := c.Users(ctx, "", parley.MaxPageSize)
			var found []cobra.Completion
			for _, u := range page.Users {
				if strings.HasPrefix(string(u.ID), begun) {
					found = append(found, described(string(u.ID), u.Name+" ("+string(u.Role)+")"))
				}
			}
			return found, err
		})
	}
}

// completeAccount completes an account.
func (a *app) completeAccount(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.complete(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		page, err := c.Identities(ctx, "", parley.MaxPageSize)
		var found []cobra.Completion
		for _, id := range page.Identities {
			if strings.HasPrefix(string(id.ID), begun) {
				found = append(found, described(string(id.ID), id.Name))
			}
		}
		return found, err
	})
}

// completeToken completes the id of a token that is good.
func (a *app) completeToken(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		page, err := c.Tokens(ctx, "", parley.MaxPageSize)
		var found []cobra.Completion
		for _, t := range page.Tokens {
			if strings.HasPrefix(string(t.ID), begun) && t.Valid(time.Now()) {
				found = append(found, described(string(t.ID), t.Name+" ("+string(t.Kind)+", "+tokenFor(t)+")"))
			}
		}
		return found, err
	})
}

// completeAgents completes the name of an agent of the configuration.
func (a *app) completeAgents(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(loaded.Config.Agents)), cobra.ShellCompDirectiveNoFileComp
}
