package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
)

func (a *app) doctorCommand() *cobra.Command {
	var rebuild, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the store, and repair what can be computed again",
		Long: `Doctor checks the store: that its file is whole, that every log is without gaps
and can be read, that counters, previews and participants are what the log says,
that nothing waits unseen, and that the media which messages show are there.

It changes nothing, and may run while the store is in use. With --rebuild it
computes anew what the log determines; then nobody else may use the store.
It exits with 1 if a problem is left.`,
		Example: `  parley doctor
  parley doctor --rebuild
  parley doctor --data /srv/parley --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), rebuild, asJSON) },
	}
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "compute anew what the log determines")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) doctor(ctx context.Context, rebuild, asJSON bool) (err error) {
	f, err := a.dataFolder(ctx)
	if err != nil {
		return err
	}
	path := f.Path()
	o, err := f.Open(ctx, !rebuild)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	start := time.Now()
	p := a.startProgress()
	report, err := keep.Doctor(ctx, o.Store, keep.Config{Media: o.Media, Rebuild: rebuild, ProgressFunc: p.fn()})
	p.stop()
	if err != nil {
		return err
	}
	if asJSON {
		err = a.printJSON(struct {
			Store string `json:"store"`
			OK    bool   `json:"ok"`
			keep.Report
		}{path, report.OK(), report})
	} else {
		err = a.printText(doctorText(path, report, time.Since(start)))
	}
	if err == nil && !report.OK() {
		err = errNotWell
	}
	return err
}

// notice shows what a store wants its people to know.
func (a *app) notice(text string) {
	// A notice nobody can be shown is no reason to fail.
	_, _ = fmt.Fprintln(a.err, "note: "+text)
}

// doctorText is the report for people.
func doctorText(path string, r keep.Report, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", path)
	fmt.Fprintf(&b, "Checked %s with %s in %s.\n", counted(r.Sessions, "session"), counted(r.Events, "event"), took.Round(time.Millisecond))
	if r.Blobs > 0 {
		fmt.Fprintf(&b, "Looked for the files of %s.\n", counted(r.Blobs, "blob"))
	}
	if r.Busy > 0 {
		fmt.Fprintf(&b, "%s changed all the time and could not be checked.\n", counted(r.Busy, "session"))
	}
	if r.Found == 0 {
		b.WriteString("All is well.\n")
		return b.String()
	}
	var subject parley.SessionID
	for i, f := range r.Findings {
		if i == 0 || f.Session != subject {
			subject = f.Session
			title := "session " + string(subject)
			if subject == "" {
				title = "the store as a whole"
			}
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		mark := ""
		if f.Fixed {
			mark = " (fixed)"
		}
		fmt.Fprintf(&b, "  %-12s %s%s\n", f.Kind, f.Detail, mark)
	}
	if more := r.Found - int64(len(r.Findings)); more > 0 {
		fmt.Fprintf(&b, "\nand %s more.\n", counted(more, "problem"))
	}
	fmt.Fprintf(&b, "\nFound %s, fixed %s; %s left.\n", counted(r.Found, "problem"), thousands(r.Fixed), thousands(r.Remaining))
	b.WriteString(adviceText(r))
	return b.String()
}

// adviceText says what to do about the problems that are left, each advice once.
func adviceText(r keep.Report) string {
	var order []string
	kinds := map[string][]string{}
	for _, f := range r.Findings {
		if f.Advice == "" {
			continue
		}
		if _, ok := kinds[f.Advice]; !ok {
			order = append(order, f.Advice)
		}
		if !slices.Contains(kinds[f.Advice], f.Kind) {
			kinds[f.Advice] = append(kinds[f.Advice], f.Kind)
		}
	}
	var b strings.Builder
	for _, advice := range order {
		fmt.Fprintf(&b, "\n%s:\n  %s\n", strings.Join(kinds[advice], ", "), advice)
	}
	return b.String()
}
