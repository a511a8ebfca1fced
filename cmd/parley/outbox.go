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

func (a *app) outboxCommand() *cobra.Command {
	var state string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "outbox",
		Short: "See what is on its way to chats, and send or drop it",
		Long: `Outbox lists what is on its way to chats: what waits to be sent, what is held because
it became old while nothing could be sent, and what was given up.`,
		Example: `  parley outbox
  parley outbox retry d_7KQM
  parley outbox drop d_7KQM`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.outboxList(cmd.Context(), state, asJSON) },
	}
	outboxListFlags(cmd, &state, &asJSON)
	cmd.AddCommand(a.outboxLsCommand(), a.outboxRetryCommand(), a.outboxDropCommand())
	return cmd
}

// deliveryStates are those that a list can be of.
var deliveryStates = []string{"pending", "sending", "sent", "unknown", "held", "dead", "dropped"}

func outboxListFlags(cmd *cobra.Command, state *string, asJSON *bool) {
	cmd.Flags().StringVar(state, "state", "", "those in one state: "+strings.Join(deliveryStates, ", ")+" (default: all that is not done)")
	completeFlag(cmd, "state", cobra.FixedCompletions(deliveryStates, cobra.ShellCompDirectiveNoFileComp))
	jsonFlag(cmd, asJSON)
}

func (a *app) outboxLsCommand() *cobra.Command {
	var state string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List what is on its way, held or given up", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.outboxList(cmd.Context(), state, asJSON) },
	}
	outboxListFlags(cmd, &state, &asJSON)
	return cmd
}

// undone are the states of what has not arrived; the first is all that is open.
var undone = []parley.DeliveryState{"", parley.DeliveryHeld, parley.DeliveryDead}

// deliveries gives all deliveries in some states.
func deliveries(ctx context.Context, d desk, states ...parley.DeliveryState) ([]client.Delivery, error) {
	list := []client.Delivery{}
	for _, state := range states {
		for cursor := ""; ; {
			page, err := d.Outbox(ctx, state, cursor, parley.MaxPageSize)
			if err != nil {
				return nil, err
			}
			list = append(list, page.Deliveries...)
			if cursor = page.Cursor; cursor == "" {
				break
			}
		}
	}
	return list, nil
}

func (a *app) outboxList(ctx context.Context, state string, asJSON bool) error {
	states := undone
	if state != "" {
		if err := oneOf("--state", state, deliveryStates...); err != nil {
			return err
		}
		states = []parley.DeliveryState{parley.DeliveryState(state)}
	}
	var list []client.Delivery
	err := a.withDesk(ctx, func(d desk) (err error) {
		list, err = deliveries(ctx, d, states...)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(map[string]any{"deliveries": list})
	}
	if len(list) == 0 {
		a.hint("nothing is on its way")
		return nil
	}
	now := time.Now()
	t := listing{head: []string{"ID", "CHAT", "STATE", "AGE", "TRIES", "TEXT"}, wide: 5}
	for i := range list {
		d := &list[i]
		text := d.Text
		for _, m := range d.Media {
			text = strings.TrimSpace(text + " [" + cmp.Or(m.Name, m.Type) + "]")
		}
		if d.LastError != "" {
			text = d.LastError + ": " + text
		}
		t.add(string(d.ID), botName(d.Target.Channel, d.Target.Account)+" "+d.Target.Chat, string(d.State), lasted(now.Sub(d.CreatedAt)), thousands(int64(d.Attempts)), text)
	}
	return a.printText(t.text(a.columns))
}

func (a *app) outboxRetryCommand() *cobra.Command {
	return a.outboxActCommand(&cobra.Command{
		Use:   "retry [ID…]",
		Short: "Send what was held or given up, or waits",
		Long: `Retry sends deliveries now that were held, were given up, or wait for their next
attempt, with what else of the same reply was held or given up. Ids may be abbreviated;
that of a reply stands for all its parts.`,
		Example: `  parley outbox retry d_7KQM
  parley outbox retry --all`,
	}, "all that is held or was given up", "retried", "on the way", retryEach)
}

func (a *app) outboxDropCommand() *cobra.Command {
	return a.outboxActCommand(&cobra.Command{
		Use:   "drop [ID…]",
		Short: "Take something out of the outbox unsent",
		Long: `Drop takes deliveries out of the outbox. They are not sent; what was said stays in its
session. Ids may be abbreviated; that of a reply stands for all its parts.`,
		Example: `  parley outbox drop d_7KQM
  parley outbox drop --all`,
	}, "all that is held or was given up", "dropped", "dropped", dropEach)
}

// retryEach has deliveries sent. One brings with it what else of its reply was held or given
// up.
func retryEach(ctx context.Context, d desk, list []client.Delivery) error {
	brought := map[parley.DeliveryID]bool{}
	for i := range list {
		reply := cmp.Or(list[i].Of, list[i].ID)
		if brought[reply] {
			continue
		}
		if err := d.RetryDelivery(ctx, list[i].ID); err != nil {
			return err
		}
		brought[reply] = true
	}
	return nil
}

// dropEach takes deliveries out of the outbox.
func dropEach(ctx context.Context, d desk, list []client.Delivery) error {
	for i := range list {
		if err := d.DropDelivery(ctx, list[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// outboxActCommand completes a command that does something to deliveries.
func (a *app) outboxActCommand(cmd *cobra.Command, all, field, done string, do func(context.Context, desk, []client.Delivery) error) *cobra.Command {
	var every, asJSON bool
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if (len(args) > 0) == every {
			return &usageError{fmt.Sprintf("'%s' takes ids of deliveries, or --all; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		ids := []parley.DeliveryID{}
		err := a.withDesk(ctx, func(d desk) error {
			chosen, err := chooseDeliveries(ctx, d, args)
			if err != nil {
				return err
			}
			for i := range chosen {
				ids = append(ids, chosen[i].ID)
			}
			return do(ctx, d, chosen)
		})
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(map[string]any{field: ids})
		}
		return a.printText(fmt.Sprintf("%s %s.\n", counted(int64(len(ids)), "message"), done))
	}
	cmd.Flags().BoolVar(&every, "all", false, all)
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// chooseDeliveries finds the deliveries that somebody names by the beginnings of their
// ids, which may be all parts of a reply; without any, those that are held or were given up.
func chooseDeliveries(ctx context.Context, d desk, names []string) ([]client.Delivery, error) {
	states := undone
	if len(names) == 0 {
		states = undone[1:]
	}
	list, err := deliveries(ctx, d, states...)
	if err != nil || len(names) == 0 {
		return list, err
	}
	var chosen []client.Delivery
	for _, name := range names {
		var exact, found []client.Delivery
		for i := range list {
			switch x := &list[i]; {
			case string(x.ID) == name, string(x.Of) == name:
				exact = append(exact, *x)
			case strings.HasPrefix(string(x.ID), name):
				found = append(found, *x)
			}
		}
		if len(exact) > 0 {
			found = exact
		}
		if len(found) == 0 {
			return nil, parley.Errorf(parley.CodeNotFound, "nothing in the outbox is called %q; see 'parley outbox'", name)
		}
		for i := range found {
			if cmp.Or(found[i].Of, found[i].ID) != cmp.Or(found[0].Of, found[0].ID) {
				return nil, parley.Errorf(parley.CodeConflict, "%q is the beginning of several: %s and %s; give more of it", name, found[0].ID, found[i].ID)
			}
		}
		chosen = append(chosen, found...)
	}
	return chosen, nil
}

// outboxKeeper is the part of the desk for what is on its way to chats.
type outboxKeeper interface {
	Outbox(ctx context.Context, state parley.DeliveryState, cursor string, limit int) (client.DeliveryPage, error)
	RetryDelivery(ctx context.Context, id parley.DeliveryID) error
	DropDelivery(ctx context.Context, id parley.DeliveryID) error
}

// Outbox implements [outboxKeeper].
func (d *localDesk) Outbox(ctx context.Context, state parley.DeliveryState, cursor string, limit int) (client.DeliveryPage, error) {
	list, err := d.in.outbox.List(ctx, d.by.Principal(), parley.DeliveryQuery{State: state, After: parley.DeliveryID(cursor), Limit: limit})
	page := client.DeliveryPage{}
	for i := range list {
		x := &list[i]
		page.Deliveries = append(page.Deliveries, client.Delivery{
			ID: x.ID, Session: x.Session, Turn: x.Turn, Kind: x.Kind, Target: x.Target, Of: x.Of, Part: x.Part, Text: x.Text, Media: x.Media,
			State: x.State, Attempts: x.Attempts, NextAttempt: x.NextAttempt, LastError: x.LastError, CreatedAt: x.CreatedAt,
		})
	}
	if n := len(list); n > 0 && n == parley.PageSize(limit) {
		page.Cursor = string(list[n-1].ID)
	}
	return page, err
}

// RetryDelivery implements [outboxKeeper].
func (d *localDesk) RetryDelivery(ctx context.Context, id parley.DeliveryID) error {
	return d.in.outbox.Retry(ctx, d.by.Principal(), id)
}

// DropDelivery implements [outboxKeeper].
func (d *localDesk) DropDelivery(ctx context.Context, id parley.DeliveryID) error {
	return d.in.outbox.Drop(ctx, d.by.Principal(), id)
}
