package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show, check or begin the configuration",
		Long: `The configuration is the file parley.yaml in the data folder, or the one that
--config names. Every value has a default, and a variable that counts more than
the file: session.busy is PARLEY_SESSION_BUSY.`,
		Example: `  parley config init
  parley config check
  parley config show --json`,
		Args: a.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.configShowCommand(), a.configCheckCommand(), a.configInitCommand())
	return cmd
}

// configPath gives the configuration file: the one asked for, else the one of
// the data folder. It need not exist.
func (a *app) configPath() (string, error) {
	if a.config != "" {
		return filepath.Abs(a.config)
	}
	dir, err := a.dataDir()
	return filepath.Join(dir, config.FileName), err
}

// loadConfig loads the configuration, once. That the data folder has none is no
// error; that the one asked for is missing is.
func (a *app) loadConfig() (*config.Loaded, error) {
	if a.loaded != nil {
		return a.loaded, nil
	}
	loaded, err := a.readConfig()
	if err == nil {
		a.loaded = loaded
	}
	return loaded, err
}

// readConfig reads the configuration as it is at the moment.
func (a *app) readConfig() (*config.Loaded, error) {
	path, err := a.configPath()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); a.config == "" && errors.Is(err, fs.ErrNotExist) {
		path = ""
	}
	return config.Load(config.Options{File: path, Environ: a.environ(), PricedFunc: priced})
}

func (a *app) configShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show every value, and where it comes from",
		Long: `Show lists the values that hold: those of the file, those of variables, and the
defaults for the rest. A secret is shown as the reference to it, never itself.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.configShow(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) configShow(asJSON bool) error {
	loaded, err := a.loadConfig()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(struct {
			File   string         `json:"file"`
			Values []config.Value `json:"values"`
		}{loaded.File, loaded.Values()})
	}
	return a.printText(valuesText(loaded.Values()))
}

// valuesText is the list of values for people.
func valuesText(values []config.Value) string {
	const most = 48 // a long value does not push the others' columns away
	paths, texts := 0, 0
	for _, v := range values {
		paths = max(paths, len(v.Path))
		texts = max(texts, min(most, len(v.Text())))
	}
	var b strings.Builder
	for _, v := range values {
		from := string(v.Origin)
		if v.Origin != config.FromDefault {
			from = v.Place.String()
		}
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", paths, v.Path, texts, v.Text(), from)
	}
	return b.String()
}

func (a *app) configCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say everything that is wrong with the configuration",
		Long: `Check reads the configuration, with the variables that override it, and lists all
errors and warnings with their places. Prompts, certificates and the store's folder
must be there, relative to the data folder. It exits with 1 if there is an error.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.configCheck(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) configCheck(asJSON bool) error {
	loaded, err := a.loadConfig()
	var wrong config.Problems
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		wrong = invalid.Problems
	} else if err != nil {
		return err
	} else {
		wrong = a.unmet(loaded)
	}
	if asJSON {
		err = a.printJSON(struct {
			File     string          `json:"file"`
			OK       bool            `json:"ok"`
			Errors   config.Problems `json:"errors"`
			Warnings config.Problems `json:"warnings"`
		}{loaded.File, len(wrong) == 0, wrong, append(config.Problems{}, loaded.Warnings...)})
	} else {
		err = a.printText(checkText(loaded, wrong))
	}
	if err == nil && len(wrong) > 0 {
		err = errNotWell
	}
	return err
}

// checkText is the outcome of a check for people.
func checkText(l *config.Loaded, wrong config.Problems) string {
	var b strings.Builder
	for _, p := range wrong {
		fmt.Fprintf(&b, "%s: error: %s\n", p.Place, p.Message)
	}
	for _, p := range l.Warnings {
		fmt.Fprintf(&b, "%s: warning: %s\n", p.Place, p.Message)
	}
	if len(wrong) > 0 {
		fmt.Fprintf(&b, "%s, %s.\n", counted(int64(len(wrong)), "error"), counted(int64(len(l.Warnings)), "warning"))
		return b.String()
	}
	set := map[config.Origin]int64{}
	for _, v := range l.Values() {
		set[v.Origin]++
	}
	file := "There is no file, so the defaults hold"
	if l.File != "" {
		file = fmt.Sprintf("%s sets %s", l.File, counted(set[config.FromFile], "value"))
	}
	c := l.Config
	fmt.Fprintf(&b, "ok: %s, %s, %s.\n", counted(int64(len(c.Agents)), "agent"), counted(int64(len(c.Channels)), "channel"), counted(int64(len(c.Routes)), "route"))
	fmt.Fprintf(&b, "%s; variables set %s.\n", file, thousands(set[config.FromEnv]))
	return b.String()
}

func (a *app) configInitCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration file with every key, commented",
		Long: `Init writes a configuration file with every key, what it is for and its default,
into the data folder, or where --config says. It changes nothing until you take
away a #. A file that is there is kept, unless --force is given.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.configInit(force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func (a *app) configInit(force bool) error {
	path, err := a.configPath()
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return parley.Errorf(parley.CodeInvalid, "%s is a folder; name the file, such as %s", path, filepath.Join(path, config.FileName))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return cannotWrite(err)
	}
	if err := writeTemplate(path, force); err != nil {
		return err
	}
	check := "parley config check"
	if a.config != "" {
		check += " --config " + a.config
	}
	return a.printText(path + "\nEvery key is in it, with its default. Check it with: " + check + "\n")
}

// writeTemplate writes the template. A file that is there is refused, or with
// force replaced in one step.
func writeTemplate(path string, force bool) error {
	if force {
		beside := path + ".new"
		if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotWrite(err)
		}
		if err := writeTemplate(beside, false); err != nil {
			return err
		}
		if err := os.Rename(beside, path); err != nil {
			return cannotWrite(errors.Join(err, os.Remove(beside)))
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // whoever runs the command names the file
	switch {
	case errors.Is(err, fs.ErrExist):
		return parley.Errorf(parley.CodeConflict, "there is a file %s already; --force replaces it", path)
	case err != nil:
		return cannotWrite(err)
	}
	_, err = f.WriteString(config.Template())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return cannotWrite(errors.Join(err, os.Remove(path)))
	}
	return nil
}

func cannotWrite(err error) error {
	return &parley.Error{Code: parley.CodeUnavailable, Message: "cannot write the configuration", Err: err}
}
