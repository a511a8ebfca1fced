package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
)

// auditOptions choose lines.
type auditOptions struct {
	action, actor, session, cursor string
	limit                          int
	asJSON                         bool
}

func (a *app) auditCommand() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who did what that others may ask about",
		Long: `Audit lists, the newest first, who signed in, made and revoked tokens, changed roles,
answered approvals, and looked into or changed conversations of others. It holds no
content of conversations, and no secrets.`,
		Example: `  parley audit
  parley audit --action sign_in --limit 200
  parley audit --session 5f0c --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.audit(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.action, "action", "", "lines of this action, such as sign_in")
	cmd.Flags().StringVar(&o.actor, "actor", "", "what this account did, such as telegram:7")
	cmd.Flags().StringVar(&o.session, "session", "", "what was done in this session")
	cmd.Flags().IntVar(&o.limit, "limit", parley.PageSize(0), "how many")
	cmd.Flags().StringVar(&o.cursor, "cursor", "", "go on where a list before ended, as it said")
	jsonFlag(cmd, &o.asJSON)
	completeFlag(cmd, "session", a.completeSession)
	completeFlag(cmd, "actor", a.completeAccount)
	return cmd
}

func (a *app) audit(ctx context.Context, o auditOptions) error {
	if o.limit < 1 {
		return &usageError{"--limit must be 1 or more"}
	}
	entries := []parley.AuditEntry{}
	err := a.withDesk(ctx, func(d desk) error {
		q := parley.AuditQuery{Action: o.action, Actor: parley.IdentityID(o.actor)}
		if o.session != "" {
			s, err := findSession(ctx, d, o.session)
			q.Session = s.ID
			if errors.Is(err, parley.ErrNotFound) && parley.SessionID(o.session).Validate() == nil {
				q.Session, err = parley.SessionID(o.session), nil // it may be deleted
			}
			if err != nil {
				return err
			}
		}
		for len(entries) < o.limit {
			q.Limit = min(o.limit-len(entries), parley.MaxPageSize)
			page, err := d.Audit(ctx, q, o.cursor)
			if err != nil {
				return err
			}
			entries = append(entries, page.Entries...)
			if o.cursor = page.Cursor; o.cursor == "" {
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if o.asJSON {
		return a.printJSON(map[string]any{"entries": entries, "cursor": o.cursor})
	}
	t := listing{head: []string{"WHEN", "ACTION", "WHO", "VIA", "ON", "DETAIL"}, wide: 5}
	for _, e := range entries {
		on := cmp.Or(e.Subject, string(e.Session))
		if e.Subject != "" && e.Session != "" {
			on += " in " + string(e.Session)
		}
		t.add(instant(e.At), e.Action, string(e.Actor), e.Via, on, e.Detail)
	}
	if err := a.printText(t.text(a.columns)); err != nil {
		return err
	}
	if o.cursor != "" {
		a.say("* there may be more: --cursor " + visible(o.cursor) + "\n")
	}
	return nil
}
