package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
)

func (a *app) sessionsCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Browse and manage conversations",
		Long: `Sessions lists the conversations, shows them, says why a message lands where it
does, and changes them. Ids may be abbreviated as long as they fit one session.`,
		Example: `  parley sessions                     the same as parley sessions ls
  parley sessions show 5f0c           one of them, with what was said last
  parley sessions tail 5f0c --follow  what happens in it`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sessionsList(cmd.Context(), o) },
	}
	o.flags(a, cmd)
	for _, name := range []string{"agent", "status", "source", "since", "limit", "cursor"} {
		cmd.Flags().Lookup(name).Hidden = true // the help of ls has them
	}
	cmd.AddCommand(
		a.sessionsLsCommand(), a.sessionsShowCommand(), a.sessionsWhyCommand(), a.sessionsRenameCommand(), a.sessionsForkCommand(),
		a.sessionsRewindCommand(), a.sessionsRedactCommand(), a.sessionsResetCommand(), a.sessionsDeleteCommand(), a.sessionsPurgeCommand(),
		a.sessionsTailCommand(),
	)
	return cmd
}

// listOptions narrow the list.
type listOptions struct {
	agent, status, source, since, cursor string
	all, asJSON                          bool
	limit                                int
}

func (o *listOptions) flags(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.agent, "agent", "", "those with this agent")
	cmd.Flags().StringVar(&o.status, "status", "", "those that are idle, running, awaiting_approval or inactive")
	cmd.Flags().StringVar(&o.source, "source", "", "those that were started there: cli, web, api, channel")
	cmd.Flags().StringVar(&o.since, "since", "", "those used since then: 24h, 7d, 2026-03-01")
	cmd.Flags().BoolVar(&o.all, "all", false, "also those that others have replaced, or that nobody used for long")
	cmd.Flags().IntVar(&o.limit, "limit", parley.PageSize(0), "how many")
	cmd.Flags().StringVar(&o.cursor, "cursor", "", "go on where a list before ended, as it said")
	jsonFlag(cmd, &o.asJSON)
	completeFlag(cmd, "status", cobra.FixedCompletions(statuses(), cobra.ShellCompDirectiveNoFileComp))
	completeFlag(cmd, "source", cobra.FixedCompletions([]string{"cli", "web", "api", "channel"}, cobra.ShellCompDirectiveNoFileComp))
	completeFlag(cmd, "agent", a.completeAgents)
}

func statuses() []string {
	return []string{string(parley.StatusIdle), string(parley.StatusRunning), string(parley.StatusAwaitingApproval), string(parley.StatusInactive)}
}

func (a *app) sessionsLsCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List conversations, those used last at the top",
		Example: `  parley sessions ls --since 7d
  parley sessions ls --agent ops --status running
  parley sessions ls --all --limit 500 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.sessionsList(cmd.Context(), o) },
	}
	o.flags(a, cmd)
	return cmd
}

// query is what is asked for.
func (o *listOptions) query(now time.Time) (parley.SessionQuery, error) {
	q := parley.SessionQuery{
		Agent: o.agent, Status: parley.Status(o.status), Source: o.source, Cursor: o.cursor,
		IncludeInactive: o.all || o.status == string(parley.StatusInactive),
	}
	if o.limit < 1 {
		return q, &usageError{"--limit must be 1 or more"}
	}
	switch o.status {
	case "":
	case asksWord:
		q.Status = parley.StatusAwaitingApproval
	case endedWord:
		return q, &usageError{"those that have ended are among the others with --all; --status inactive lists them with those that nobody used for long"}
	default:
		if err := oneOf("--status", o.status, statuses()...); err != nil {
			return q, err
		}
	}
	if o.since != "" {
		var err error
		if q.ActiveSince, err = moment("--since", o.since, now); err != nil {
			return q, err
		}
	}
	return q, nil
}

func (a *app) sessionsList(ctx context.Context, o listOptions) error {
	now := time.Now()
	q, err := o.query(now)
	if err != nil {
		return err
	}
	var page parley.SessionPage
	err = a.withDesk(ctx, func(d desk) (err error) {
		page, err = collect(ctx, d, q, o.limit)
		return err
	})
	if err != nil {
		return err
	}
	if o.asJSON {
		out := struct {
			Sessions []sessionJSON `json:"sessions"`
			Cursor   string        `json:"cursor"`
		}{make([]sessionJSON, 0, len(page.Sessions)), page.Cursor}
		for _, s := range page.Sessions {
			out.Sessions = append(out.Sessions, jsonSession(s))
		}
		return a.printJSON(out)
	}
	none := "no conversations; 'parley chat' begins one"
	if !o.all {
		none += ", and --all shows those that were put away"
	}
	return a.printSessions(page, none, now)
}

// collect gives so many sessions, or all there are: a page may be short.
func collect(ctx context.Context, d sessionReader, q parley.SessionQuery, limit int) (parley.SessionPage, error) {
	var all parley.SessionPage
	for {
		q.Limit = min(limit-len(all.Sessions), parley.MaxPageSize)
		page, err := d.Sessions(ctx, q)
		if err != nil {
			return all, err
		}
		all.Sessions = append(all.Sessions, page.Sessions...)
		all.Cursor = page.Cursor
		if q.Cursor = page.Cursor; q.Cursor == "" || len(all.Sessions) >= limit {
			return all, nil
		}
	}
}

func (a *app) printSessions(page parley.SessionPage, none string, now time.Time) error {
	if len(page.Sessions) == 0 {
		a.hint(none)
	} else {
		t := listing{head: []string{"TITLE", "STATUS", "USED", "ID"}}
		for _, s := range page.Sessions {
			t.add(titleOf(s), statusWord(s), age(s.UpdatedAt, now), string(s.ID))
		}
		if err := a.printText(t.text(a.columns)); err != nil {
			return err
		}
	}
	if page.Cursor != "" {
		a.say("* there are more: --cursor " + visible(page.Cursor) + "\n") // also to who only keeps the list
	}
	return nil
}

// hint tells who looks at the terminal something beside what was asked for.
func (a *app) hint(text string) {
	if a.terminal || a.outTerminal {
		a.say("* " + text + "\n")
	}
}

// titleOf is what a session is called, or what was said in it last.
func titleOf(s parley.Session) string { return cmp.Or(s.Title.Text, s.Preview, "(nothing said yet)") }

// What lists call two of the things a session may be doing.
const (
	asksWord  = "asks"
	endedWord = "ended"
)

// statusWord is what a session is doing, for people.
func statusWord(s parley.Session) string {
	switch {
	case s.Status == parley.StatusAwaitingApproval:
		return asksWord
	case s.Status == parley.StatusInactive && s.Ended != nil:
		return endedWord
	case s.Recovery.State == parley.RecoverySuspended:
		return "suspended"
	}
	return string(s.Status)
}

// sessionJSON is a session as the API shows it.
type sessionJSON struct {
	parley.Session

	Agent       string            `json:"agent"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Preview     string            `json:"preview"`
	Metadata    map[string]string `json:"metadata"`
}

func jsonSession(s parley.Session) sessionJSON {
	s.CreatedAt, s.UpdatedAt = s.CreatedAt.UTC(), s.UpdatedAt.UTC()
	out := sessionJSON{Session: s, Agent: s.Agent.Name, Title: s.Title.Text, Description: s.Description, Preview: s.Preview, Metadata: s.Metadata}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	return out
}

// printSession writes one session as JSON.
func (a *app) printSession(s parley.Session) error {
	return a.printJSON(struct {
		Session sessionJSON `json:"session"`
	}{jsonSession(s)})
}
