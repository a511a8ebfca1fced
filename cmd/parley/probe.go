package main

import (
	"github.com/spf13/cobra"

	"github.com/parley-run/parley/bench"
)

// probeCommand is what bench runs in fresh processes.
func (a *app) probeCommand() *cobra.Command {
	var pages int
	cmd := &cobra.Command{
		Use:    "probe STORE",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			res, err := bench.Probe(cmd.Context(), openStore, args[0], pages)
			if err != nil {
				return err
			}
			return a.printJSON(res)
		},
	}
	cmd.Flags().IntVar(&pages, "pages", 0, "pages of the list to read")
	return cmd
}

// loadCommand is what puts load on the daemon that bench measures.
func (a *app) loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "load",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return bench.Load(cmd.Context(), a.in, a.out) },
	}
}
