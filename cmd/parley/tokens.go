package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

func (a *app) tokensCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "See, make and revoke tokens",
		Long: `Tokens are what programs, chat adapters and signed-in devices authenticate with. The
store has a hash of each, so that a token is shown once, when it is made.`,
		Example: `  parley tokens
  parley tokens add --name "backup script" --ttl 90d
  parley tokens revoke 66ac`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tokensList(cmd.Context(), all, asJSON) },
	}
	tokenListFlags(cmd, &all, &asJSON)
	cmd.AddCommand(a.tokensLsCommand(), a.tokensAddCommand(), a.tokensRevokeCommand())
	return cmd
}

func tokenListFlags(cmd *cobra.Command, all, asJSON *bool) {
	cmd.Flags().BoolVar(all, "all", false, "also those that are over")
	jsonFlag(cmd, asJSON)
}

func (a *app) tokensLsCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List tokens, with their last use and end", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tokensList(cmd.Context(), all, asJSON) },
	}
	tokenListFlags(cmd, &all, &asJSON)
	return cmd
}

// allTokens gives every token there is.
func allTokens(ctx context.Context, d desk) ([]parley.Token, error) {
	var list []parley.Token
	for cursor := ""; ; {
		page, err := d.Tokens(ctx, cursor, parley.MaxPageSize)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Tokens...)
		if cursor = page.Cursor; cursor == "" {
			return list, nil
		}
	}
}

func (a *app) tokensList(ctx context.Context, all, asJSON bool) error {
	var list []parley.Token
	err := a.withDesk(ctx, func(d desk) (err error) {
		list, err = allTokens(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	now := time.Now()
	shown := []parley.Token{}
	for _, t := range list {
		if all || t.Valid(now) {
			shown = append(shown, t)
		}
	}
	if asJSON {
		return a.printJSON(map[string]any{"tokens": shown})
	}
	t := listing{head: []string{"NAME", "KIND", "FOR", "USED", "ENDS", "ID"}}
	for _, token := range shown {
		t.add(token.Name, string(token.Kind), tokenFor(token), age(token.LastUsedAt, now), tokenEnd(token, now), string(token.ID))
	}
	return a.printText(t.text(a.columns))
}

// tokenFor is who or what a token is good for.
func tokenFor(t parley.Token) string {
	switch {
	case t.Agent != "":
		return "agent " + t.Agent
	case t.Namespace != "":
		return "channel " + t.Namespace
	}
	return string(t.Identity)
}

// tokenEnd is when a token is over.
func tokenEnd(t parley.Token, now time.Time) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case t.ExpiresAt.IsZero():
		return "never"
	case !now.Before(t.ExpiresAt):
		return "over"
	}
	return t.ExpiresAt.Local().Format(time.DateOnly)
}

func (a *app) tokensAddCommand() *cobra.Command {
	var n client.NewToken
	var kind, who, ttl string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Make a token, and print it this once",
		Long: `Add makes a token. It stands alone on standard output, so that it can be piped; what
else there is to say about it is on standard error.`,
		Example: `  parley tokens add --name ci --ttl 90d > token
  parley tokens add --for ada --name phone
  parley tokens add --kind channel --namespace telegram
  parley tokens add --kind join --agent ops --ttl 1d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := oneOf("--kind", kind, tokenKinds()...); err != nil {
				return err
			}
			n.Kind = parley.TokenKind(kind)
			if cmd.Flags().Changed("ttl") {
				if n.TTL, err = period("--ttl", ttl); err == nil && n.TTL <= 0 {
					err = &usageError{"--ttl must be more than nothing"}
				}
				if err != nil {
					return err
				}
			}
			switch n.Kind {
			case parley.TokenChannel:
				if n.Namespace == "" {
					return &usageError{"--kind channel needs --namespace with the name of the channel, such as telegram"}
				}
			case parley.TokenJoin:
				if n.Agent == "" {
					return &usageError{"--kind join needs --agent with the agent that it lets people in to"}
				}
			}
			return a.tokensAdd(cmd.Context(), n, who, asJSON)
		},
	}
	cmd.Flags().StringVar(&n.Name, "name", "", "what it is used for")
	cmd.Flags().StringVar(&who, "for", "", "who acts with it: a user, or an account such as telegram:7 (default: you)")
	cmd.Flags().StringVar(&kind, "kind", string(parley.TokenUser), "user, channel or join")
	cmd.Flags().StringVar(&n.Namespace, "namespace", "", "of a channel's token: the name of the channel")
	cmd.Flags().StringVar(&n.Agent, "agent", "", "of a join token: the agent it lets people in to")
	cmd.Flags().StringVar(&ttl, "ttl", "", "how long it is good: 12h, 90d (default: until it is revoked)")
	jsonFlag(cmd, &asJSON)
	completeFlag(cmd, "kind", cobra.FixedCompletions(tokenKinds(), cobra.ShellCompDirectiveNoFileComp))
	completeFlag(cmd, "for", a.completeUser())
	completeFlag(cmd, "agent", a.completeAgents)
	return cmd
}

func tokenKinds() []string {
	return []string{string(parley.TokenUser), string(parley.TokenChannel), string(parley.TokenJoin)}
}

func (a *app) tokensAdd(ctx context.Context, n client.NewToken, who string, asJSON bool) error {
	return a.withDesk(ctx, func(d desk) error {
		if n.For = parley.IdentityID(who); who != "" && !strings.Contains(who, ":") {
			p, err := findUser(ctx, d, who)
			if err != nil {
				return err
			}
			if len(p.Identities) == 0 {
				return parley.Errorf(parley.CodeConflict, "user %s has no account to act with", p.ID)
			}
			n.For = p.Identities[0].ID
		}
		secret, token, err := d.CreateToken(ctx, n)
		if err != nil {
			return err
		}
		about := fmt.Sprintf("token %s of kind %s for %s", token.ID, token.Kind, cell(tokenFor(token)))
		if !token.ExpiresAt.IsZero() {
			about += ", good until " + instant(token.ExpiresAt)
		}
		return a.printSecret(secret, about+"; it is shown this once", asJSON, map[string]any{"secret": secret, "token": token})
	})
}

func (a *app) tokensRevokeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Aliases: []string{"rm"},
		Short:   "End a token, and what is connected with it",
		Example: `  parley tokens revoke 66ac`,
		Args:    takes("the id of a token, as 'parley tokens' shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.withDesk(ctx, func(d desk) error {
				list, err := allTokens(ctx, d)
				if err != nil {
					return err
				}
				token, err := onlyOne("token", args[0], list, func(t parley.Token) names {
					return names{ids: []string{string(t.ID), strings.TrimPrefix(string(t.ID), "tok_")}}
				})
				if err != nil {
					return err
				}
				if err := d.RevokeToken(ctx, token.ID); err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(map[string]any{"token_id": token.ID, "revoked": true})
				}
				if token.Kind == parley.TokenOwner {
					a.hint("that was the owner's own; the next start of the daemon writes another into " + tokenFile)
				}
				return a.printText(fmt.Sprintf("Revoked %s (%s).\n", token.ID, cmp.Or(cell(token.Name), string(token.Kind))))
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeToken
	return cmd
}
