package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func (a *app) resolveCommand() *cobra.Command {
	var explain, asJSON bool
	cmd := &cobra.Command{
		Use:   "resolve",
		Short: "Say which conversation a message belongs to, and why",
		Long: `Resolve reads messages as JSON lines on standard input and prints, line by line,
where each would go: the agent, the scope, the key, its aliases, whether several
people share the conversation, and why. It changes nothing.

All but the context is optional and comes from the configuration:

  {"context": {"channel", "account", "space_type", "space_id", "chat_type", "chat_id",
               "topic_id", "sender_id", "sender_id_alt"},
   "agent_id", "dimensions": ["chat"], "group_sessions_per_user", "thread_sessions_per_user",
   "identity_links": {"alice": ["telegram:7"]}, "unified", "user", "role", "session_key"}

A line that cannot be read is answered with an error in its place; the others go
on, and the exit status is 1 in the end.`,
		Example: `  echo '{"context":{"channel":"telegram","chat_type":"group","chat_id":"-1001"}}' | parley resolve
  parley resolve --explain < messages.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if explain && asJSON {
				return &usageError{"--explain is for people and --json for programs; give one of them"}
			}
			return a.resolve(cmd.Context(), explain)
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "print for people instead of programs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, which is the default")
	return cmd
}

// routeConfig gives what the command line and the daemon route by.
func (a *app) routeConfig() (route.Config, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return route.Config{}, err
	}
	return loaded.Config.Route(), nil
}

func (a *app) resolve(ctx context.Context, explain bool) error {
	cfg, err := a.routeConfig()
	if err != nil {
		return err
	}
	rt, err := route.New(cfg)
	if err != nil {
		return err
	}
	answering := answerJSON(rt)
	if explain {
		answering = answerText(rt)
	}
	count, err := answerLines(ctx, interruptible(ctx, a.in), a.out, answering)
	if err == nil && count.wrong > 0 {
		err = parley.Errorf(parley.CodeInvalid, "%s of %s could not be answered; each has its error in its place",
			thousands(count.wrong), counted(count.lines, "line"))
	}
	return err
}

// answerJSON gives functions that answer lines for programs.
func answerJSON(rt *route.Router) func() answerFunc {
	return func() answerFunc {
		lines := route.NewLines(rt)
		return func(dst, line []byte, _ int64, err error) ([]byte, bool) {
			if err != nil {
				return route.AppendError(dst, err), false
			}
			return lines.Append(dst, line)
		}
	}
}

// benchResolve is `parley resolve` as the bench measures it.
func benchResolve(ctx context.Context, in io.Reader, out io.Writer) error {
	rt, err := route.New(route.Config{})
	if err != nil {
		return err
	}
	_, err = answerLines(ctx, in, out, answerJSON(rt))
	return err
}
