package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
)

func (a *app) loginCommand() *cobra.Command {
	var url string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Print a link with which a browser signs in, once",
		Long: `Login prints a link with which a browser signs in as the owner: once, within ten
minutes. A later link takes the place of one that was not used.

The link has the address of serve.public_url, else that of the daemon; --url names
another under which the browser reaches it, such as that of a tunnel.`,
		Example: `  parley login
  parley login --url https://parley.example.com`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.login(cmd.Context(), url, asJSON) },
	}
	cmd.Flags().StringVar(&url, "url", "", "the address under which the browser reaches the daemon")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) login(ctx context.Context, url string, asJSON bool) error {
	if url != "" && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return &usageError{"--url must begin with http:// or https://"}
	}
	running, err := a.daemon()
	if err != nil {
		return err
	}
	if running == nil {
		return parley.Errorf(parley.CodeUnavailable, "no daemon runs that somebody could sign in to; start one with 'parley serve', which prints a link as well")
	}
	c, err := a.dial(*running)
	if err != nil {
		return err
	}
	defer c.Close()
	link, err := c.LoginCode(ctx)
	if err != nil {
		return err
	}
	if url != "" {
		link.URL = loginLink(strings.TrimRight(url, "/"), "", link.Code)
	}
	return a.printSecret(link.URL, "good once, within ten minutes", asJSON, map[string]any{"url": link.URL, "code": link.Code})
}
