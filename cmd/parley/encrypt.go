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
	cmd.AddCommand(
		a.switchCommand("on", "Encrypt the store and its media", "The store is encrypted. Its key is in %s; keep a copy of it in a safe place.",
			keep.Folder.Encrypt),
		a.switchCommand("off", "Decrypt the store and its media",
			"The store is not encrypted any more. Its key is still in %s: backups that were made until now need it.", keep.Folder.Decrypt),
		a.rotateCommand())
	return cmd
}

// switching is one of the ways to change a folder.
type switching func(keep.Folder, context.Context, keep.Progress) error

func (a *app) switchCommand(use, short, done string, do switching) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.encrypt(cmd.Context(), do, done, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) rotateCommand() *cobra.Command {
	forget := false
	cmd := a.switchCommand("rotate", "Replace the key", "The store has another key, in %s.",
		func(f keep.Folder, ctx context.Context, _ keep.Progress) error { return f.Rotate(ctx, forget) })
	cmd.Long = `Rotate makes another key, and seals with it what opens the store. The older keys
stay in their place, for backups and for other stores that use them. With
--forget-old they are removed: backups that were made until now, and other stores
with the same key file, can then not be opened any more.`
	cmd.Flags().BoolVar(&forget, "forget-old", false, "remove the older keys; what needs them is lost")
	return cmd
}

func (a *app) encrypt(ctx context.Context, do switching, done string, asJSON bool) error {
	f, err := a.dataFolder(ctx)
	if err != nil {
		return err
	}
	place, err := a.keyPlace()
	if err != nil {
		return err
	}
	p := a.startProgress()
	err = do(f, ctx, p.fn())
	p.stop()
	if err != nil {
		return err
	}
	encrypted, err := f.EncryptedFunc(f.Path())
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
	text := fmt.Sprintf(done, place) + "\n"
	switch {
	case place == keyring:
		text = fmt.Sprintf(done, "the system's keyring") + "\n"
	case encrypted && a.key != "":
		text += "Every command needs it from now on: set store.key in parley.yaml to that file, or give --key.\n"
	}
	return a.printText(text)
}
