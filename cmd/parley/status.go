package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/internal/disk"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether Parley is well",
		Long: `Status says whether a daemon runs on the data folder and how it is: its store, the
room on the disk, what is to be done, the providers of models, the channels, and what
has not arrived there.

It exits with 1 if something is not well. That no daemon runs is told, and is no
fault.`,
		Example: `  parley status
  parley status --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.status(cmd.Context(), asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// condition is how an installation is.
type condition struct {
	OK       bool              `json:"ok"`
	Problem  string            `json:"problem,omitempty"` // what is wrong with the whole
	Version  string            `json:"version"`           // of this program
	Folder   string            `json:"data"`
	Store    string            `json:"store"`
	Bytes    int64             `json:"store_bytes"`
	Room     uint64            `json:"disk_free_bytes"`
	Daemon   *daemonInfo       `json:"daemon"`
	Answered *client.Readiness `json:"ready,omitempty"`
}

func (a *app) status(ctx context.Context, asJSON bool) error {
	c := condition{Version: version}
	var err error
	if c.Daemon, err = a.daemon(); err != nil {
		return err
	}
	if c.Folder, err = a.dataDir(); err != nil {
		return err
	}
	c.Store, err = a.storePath()
	switch {
	case err == nil:
		if c.Bytes, err = storeBytes(c.Store); err != nil {
			return err
		}
	case c.Daemon == nil:
		return a.mustHaveStore(ctx)
	default:
		c.Problem = describe(err) // the daemon goes on with what it was started with
	}
	if c.Room, err = disk.Room(c.Folder); err != nil {
		return fmt.Errorf("see how much room there is: %w", err)
	}
	if err := a.look(ctx, &c); err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.Problem = describe(err)
	}
	c.OK = c.Problem == "" && c.Answered != nil && c.Answered.Ready
	if asJSON {
		err = a.printJSON(c)
	} else {
		err = a.printText(c.text(time.Now()))
	}
	if err == nil && !c.OK {
		err = errNotWell
	}
	return err
}

// storeBytes is how large the store is, with what is not yet in its file.
func storeBytes(path string) (int64, error) {
	var sum int64
	for _, name := range []string{path, path + "-wal", path + "-intents-a", path + "-intents-b"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// look asks the daemon how it is, or looks into the store.
func (a *app) look(ctx context.Context, c *condition) error {
	if c.Daemon == nil {
		return a.lookInside(ctx, c)
	}
	// Whoever is not well may not answer at all.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	remote, err := a.dial(*c.Daemon)
	if err != nil {
		return err
	}
	defer remote.Close()
	ready, err := remote.Ready(ctx)
	if err != nil {
		return err
	}
	c.Answered = &ready
	return nil
}

// lookInside reads the store, which nobody else need be using.
func (a *app) lookInside(ctx context.Context, c *condition) (err error) {
	f, err := a.dataFolder(ctx)
	if err != nil {
		return err
	}
	o, err := f.Open(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	eng, err := engine.New(o.Store, engine.Config{Runner: idleRunner{}})
	if err != nil {
		return err
	}
	var todo httpapi.Backlog
	if err := errors.Join(countWork(ctx, eng, &todo), countUnsent(ctx, o.Store, &todo)); err != nil {
		return err
	}
	c.Answered = &client.Readiness{
		Ready: c.Room >= leastDisk, Store: "ok", Disk: "ok", Channels: map[string]string{}, Providers: map[string]string{},
		Backlog: client.Backlog(todo),
	}
	if c.Room < leastDisk {
		c.Answered.Disk = "it is full"
	}
	return nil
}

// idleRunner is for engines that run nothing.
type idleRunner struct{}

// Run implements [parley.Runner].
func (idleRunner) Run(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
	return parley.TurnEnd{}, parley.Errorf(parley.CodeInternal, "nothing runs here")
}

// text is the condition for people.
func (c *condition) text(now time.Time) string {
	var b strings.Builder
	if d := c.Daemon; d == nil {
		fmt.Fprintf(&b, "No daemon runs on %s; 'parley serve' starts one.\n", c.Folder)
	} else {
		fmt.Fprintf(&b, "Parley %s runs as process %d at %s, for %s.\n", cell(d.Version), d.PID, cell(d.URL), lasted(now.Sub(d.StartedAt)))
		if d.Version != c.Version {
			fmt.Fprintf(&b, "This program is %s; the daemon changes with its next start.\n", c.Version)
		}
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	state := client.Readiness{Store: "not known", Disk: "not known"}
	if c.Answered != nil {
		state = *c.Answered
	}
	row("store", "%s; %s in %s", cell(state.Store), sized(c.Bytes), c.Store)
	row("disk", "%s; %s free", cell(state.Disk), sized(int64(c.Room)))
	if c.Answered != nil {
		row("backlog", "%s", backlogText(state.Backlog))
		row("providers", "%s", wordsText(state.Providers, "none was asked yet"))
		row("channels", "%s", wordsText(state.Channels, "none"))
		if text := outboxText(state.Backlog); text != "" {
			row("outbox", "%s", text)
		}
	}
	switch {
	case c.Problem != "":
		fmt.Fprintf(&b, "It is not well: %s\n", cell(c.Problem))
	case !c.OK:
		b.WriteString("It is not ready to take messages.\n")
	}
	return b.String()
}

func backlogText(l client.Backlog) string {
	text := fmt.Sprintf("%s running, %s asking, %s parked; %s waiting",
		counted(int64(l.Running), "turn"), thousands(int64(l.Awaiting)), thousands(int64(l.Parked)), counted(int64(l.Queued), "message"))
	if l.Queued > 0 {
		text += ", the oldest for " + lasted(time.Duration(l.OldestSeconds)*time.Second)
	}
	return text
}

// outboxText says what has not arrived in chats; "" if there is nothing.
func outboxText(l client.Backlog) string {
	number := func(n int) string {
		if n >= channel.MostCounted {
			return thousands(int64(n)) + " or more"
		}
		return thousands(int64(n))
	}
	var list []string
	if l.Unsent > 0 {
		list = append(list, number(l.Unsent)+" on the way")
	}
	if l.Held > 0 {
		list = append(list, number(l.Held)+" held, as they became old")
	}
	if l.Dead > 0 {
		list = append(list, number(l.Dead)+" given up")
	}
	text := strings.Join(list, ", ")
	if l.Held+l.Dead > 0 {
		text += "; see 'parley outbox'"
	}
	return text
}

// wordsText lists how things are.
func wordsText(all map[string]string, none string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, cell(name)+": "+cell(all[name]))
	}
	return cmp.Or(strings.Join(list, ", "), none)
}
