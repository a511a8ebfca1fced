package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

func (a *app) psCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "Show what the agents are doing",
		Long: `Ps lists the turns that run, or wait for a person or a model: in which session, with
which agent, since when, in which call of a tool, and how many messages wait behind.`,
		Example: `  parley ps
  parley ps --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.ps(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) ps(ctx context.Context, asJSON bool) error {
	var turns []client.OpenTurn
	stopped := false
	err := a.withDesk(ctx, func(d desk) (err error) {
		_, stopped = d.(*localDesk)
		turns, err = d.Turns(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(map[string]any{"turns": append([]client.OpenTurn{}, turns...)})
	}
	if stopped {
		a.hint("no daemon runs: what is open goes on when one does")
	}
	if len(turns) == 0 {
		a.hint("nothing runs")
		return nil
	}
	now := time.Now()
	t := listing{head: []string{"SESSION", "AGENT", "STATE", "SINCE", "CALL", "WAITING"}, wide: 4}
	for _, turn := range turns {
		t.add(string(turn.Session), turn.Agent, turnState(turn, now), lasted(now.Sub(turn.StartedAt)), callText(turn, now), thousands(int64(turn.Queued)))
	}
	return a.printText(t.text(a.columns))
}

// turnState is what a turn does, for people.
func turnState(t client.OpenTurn, now time.Time) string {
	switch t.State {
	case parley.TurnAwaitingApproval:
		return "asks"
	case parley.TurnParked:
		if wait := t.ParkedUntil.Sub(now); wait > 0 {
			return "parked for " + lasted(wait)
		}
		return "parked"
	}
	return string(t.State)
}

// callText is the call that runs, and for how long.
func callText(t client.OpenTurn, now time.Time) string {
	if t.Tool == "" {
		return "-"
	}
	return t.Tool + " (" + lasted(now.Sub(t.Since)) + ")"
}

// lasted is how long something took, in whole seconds.
func lasted(d time.Duration) string { return max(d, 0).Truncate(time.Second).String() }
