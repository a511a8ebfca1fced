package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
)

func (a *app) backupCommand() *cobra.Command {
	var verify, asJSON bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store and its media into one file, while they are in use",
		Long: `Backup writes every conversation into one file: the store with all that was
acknowledged before the backup began, and the media it refers to. Parley may go on
working meanwhile. The backup of an encrypted store is encrypted, and needs the same
key. The configuration, prompts and the folders of agents are not in it.

With --verify the file is read back, restored aside and checked, media included.
It needs room beside FILE for a copy of the store while it runs, with --verify for
another of everything.`,
		Example: `  parley backup /backups/parley-monday.backup
  parley backup --verify /backups/parley-monday.backup
  parley restore /backups/parley-monday.backup --to /srv/parley`,
		Args: fileArg,
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args[0], verify, asJSON) },
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "read the backup back and check it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// fileArg wants the name of a file.
func fileArg(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "-" {
		return &usageError{"a backup is a file with a name; it is not written to a pipe, nor read from one"}
	}
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return &usageError{fmt.Sprintf("'%s' takes the name of a file; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
}

// backupReport is what a backup or a restore gives as JSON.
type backupReport struct {
	File   string           `json:"file"`
	Folder string           `json:"folder"`
	Bytes  int64            `json:"bytes"`
	OK     bool             `json:"ok"`
	Lost   []parley.Problem `json:"lost,omitempty"` // media that could not be saved
	Check  *keep.Report     `json:"check,omitempty"`
}

func (a *app) backup(ctx context.Context, file string, verify, asJSON bool) error {
	f, err := a.dataFolder(ctx)
	if err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	start := time.Now()
	r := backupReport{File: file, Folder: f.Dir}
	p := a.startProgress()
	r.Lost, err = f.Backup(ctx, file, p.fn())
	r.OK = len(r.Lost) == 0
	if err == nil && verify {
		var report keep.Report
		report, err = f.Verify(ctx, file, p.fn())
		r.Check, r.OK = &report, r.OK && report.OK()
	}
	p.stop()
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	r.Bytes = info.Size()
	if asJSON {
		err = a.printJSON(r)
	} else {
		err = a.printText(backupText(r, time.Since(start)))
	}
	if err == nil && !r.OK {
		err = errNotWell
	}
	return err
}

func backupText(r backupReport, took time.Duration) string {
	text := fmt.Sprintf("%s\nBacked up %s from %s in %s.\n", r.File, sized(r.Bytes), r.Folder, took.Round(time.Millisecond))
	text += lostText(r.Lost)
	switch {
	case r.Check == nil:
	case r.Check.OK():
		text += fmt.Sprintf("It was read back: %s with %s, all is well.\n", counted(r.Check.Sessions, "session"), counted(r.Check.Events, "event"))
	default:
		text += fmt.Sprintf("It was read back, and %s found: run parley doctor on the store.\n", counted(r.Check.Found, "problem"))
	}
	return text
}

// lostText lists media that are not in a backup.
func lostText(lost []parley.Problem) string {
	if len(lost) == 0 {
		return ""
	}
	text := fmt.Sprintf("It has everything but %s:\n", counted(int64(len(lost)), "media file"))
	for i, p := range lost {
		if i == maxListed {
			return text + fmt.Sprintf("  and %s more\n", thousands(int64(len(lost)-i)))
		}
		text += "  " + p.Detail + "\n"
	}
	return text
}

// maxListed is how many of the same are listed.
const maxListed = 20

func (a *app) restoreCommand() *cobra.Command {
	var to string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore FILE --to DIR",
		Short: "Bring a backup into an empty folder",
		Long: `Restore brings a backup into a folder that is empty or does not exist, and checks
it. Nothing that exists is touched. The store of an encrypted backup is encrypted
and needs the key it was made with.

Clients that followed the store are told to read anew.`,
		Example: `  parley restore /backups/parley-monday.backup --to /srv/parley
  parley restore parley-monday.backup --to ./again --key ~/parley.key`,
		Args: fileArg,
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args[0], to, asJSON) },
	}
	cmd.Flags().StringVar(&to, "to", "", "the folder to restore into; empty, or not there")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	if err := cmd.MarkFlagDirname("to"); err != nil {
		panic(err) // the flag was defined just above
	}
	return cmd
}

func (a *app) restore(ctx context.Context, file, to string, asJSON bool) error {
	if to == "" {
		return &usageError{"say with --to DIR into which folder; it must be empty, or not there"}
	}
	dir, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	f, err := a.restoreFolder(dir)
	if err != nil {
		return err
	}
	start := time.Now()
	p := a.startProgress()
	lost, err := f.Restore(ctx, file, p.fn())
	p.stop()
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(backupReport{File: file, Folder: dir, Bytes: info.Size(), Lost: lost, OK: len(lost) == 0})
	}
	return a.printText(fmt.Sprintf("%s\nRestored %s from %s in %s. To use it: --data %s\n",
		dir, sized(info.Size()), file, time.Since(start).Round(time.Millisecond), dir) + lostText(lost))
}

// sized writes a number of bytes as people read it.
func sized(n int64) string {
	const unit = 1024
	if n < unit {
		return counted(n, "byte")
	}
	value, suffix := float64(n)/unit, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if value < unit {
			break
		}
		value, suffix = value/unit, next
	}
	return fmt.Sprintf("%.1f %s", value, suffix)
}
