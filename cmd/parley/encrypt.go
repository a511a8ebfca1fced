package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley/keep"
)

func (a *app) encryptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "encrypt",
		Short: "Encrypt the store and its media, or change the key",
		Long: `Encrypt makes the store and its media unreadable to whoever takes the disk, or a
copy of it. The key is kept in the system's keyring, or in a file that you name
with --key; without it nobody can read the store, so keep a copy in a safe place.

Stop Parley first. It can be interrupted, or the power may fail: the store is
then what it was, or what it was to become, and whole. It needs room on the disk
for a second copy while it runs.`,
		Example: `  parley encrypt on
  parley encrypt on --key ~/parley.key
  parley encrypt rotate`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, c := range []struct {
		use, short, done string
		do               func(context.Context, keep.Folder, keep.Progress) error
	}{
		{
			"on", "Encrypt the store and its media", "The store is encrypted. Its key is in %s; keep a copy of it in a safe place.",
			func(ctx context.Context, f keep.Folder, p keep.Progress) error { return f.Encrypt(ctx, p) },
		},
		{
			"off", "Decrypt the store and its media", "The store is not encrypted any more. Its key is still in %s: backups that were made until now need it.",
			func(ctx context.Context, f keep.Folder, p keep.Progress) error { return f.Decrypt(ctx, p) },
		},
		{
			"rotate", "Replace the key", "The store has another key, in %s. Backups that were made until now need the old one.",
			func(ctx context.Context, f keep.Folder, _ keep.Progress) error { return f.Rotate(ctx) },
		},
	} {
		var asJSON bool
		sub := &cobra.Command{
			Use: c.use, Short: c.short, Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.encrypt(cmd.Context(), c.do, c.done, asJSON) },
		}
		sub.Flags().BoolVar(&asJSON, "json", false, "print JSON")
		cmd.AddCommand(sub)
	}
	return cmd
}

func (a *app) encrypt(ctx context.Context, do func(context.Context, keep.Folder, keep.Progress) error, done string, asJSON bool) error {
	f, err := a.dataFolder()
	if err != nil {
		return err
	}
	p := a.startProgress()
	err = do(ctx, f, p.fn())
	p.stop()
	if err != nil {
		return err
	}
	encrypted, err := f.EncryptedFunc(f.Path())
	if err != nil {
		return err
	}
	place, err := a.keyPlace()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(struct {
			Store     string `json:"store"`
			Encrypted bool   `json:"encrypted"`
			Key       string `json:"key"`
		}{f.Path(), encrypted, place})
	}
	return a.printText(fmt.Sprintf(done, keyPlaceText(place)) + "\n")
}
