package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/bench"
	"github.com/parley-run/parley/sqlite"
)

// benchFlags is how a bench was asked for.
type benchFlags struct {
	json, quick bool
	dir         string
	only        []string
	sessions    int
	subscribers int
	posts       int
	streams     int
	deep        int
	rounds      int
}

// benchRun is a run of one of the benches.
type benchRun = func(context.Context, bench.Config) (bench.Report, error)

// benches are what can be named.
var benches = map[string]benchRun{
	"store": bench.Store, "feed": bench.Feed, "route": bench.Route, "engine": bench.Engine, "turn": bench.Turn,
	"http": bench.HTTP, "chat": bench.Chat, "all": bench.All,
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [store|feed|route|engine|turn|http|chat|all]",
		Short: "Measure Parley beside what this machine can do",
		Long: `Bench measures how close the store comes to what the disk can do, that a long
history or a million sessions make nothing slower, how fast events get to those
who follow, how fast messages are routed, what a turn costs and how many go on at
once, how fast one ends that is stopped, what clients get from the daemon, and how
fast the terminal program starts and shows a key. Each figure stands beside a
reference that is measured in the same seconds, and has a bar to hold: most as a
ratio to that, some as they are. It exits with 1 if one does not.

A full run stores a million sessions: it takes some minutes and about 8 GB, in a
folder of its own that is removed at the end. Your own store is not touched.`,
		Example: `  parley bench store --quick
  parley bench feed
  parley bench http --quick
  parley bench store --only commit_64,commit_1 --sessions 1000
  parley bench all --json`,
		Args:      a.benchArgs,
		ValidArgs: []string{"store", "feed", "route", "engine", "turn", "http", "chat", "all"},
		RunE: func(cmd *cobra.Command, args []string) error {
			run := bench.All
			if len(args) > 0 {
				run = benches[args[0]]
			}
			return a.bench(cmd.Context(), f, run)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.quick, "quick", false, "smaller sizes, done in half a minute")
	flags.StringVar(&f.dir, "dir", "", "folder whose disk is measured (default: beside the data folder)")
	flags.StringSliceVar(&f.only, "only", nil, "only these figures: "+strings.Join(bench.Names(), ", "))
	flags.IntVar(&f.sessions, "sessions", 0, "how many sessions to store (default 1000000, with --quick 20000)")
	flags.IntVar(&f.subscribers, "subscribers", 0, "how many follow at once (default 10000, with --quick 2000)")
	flags.IntVar(&f.posts, "posts", 0, "how many messages to post (default 30000, with --quick 1500)")
	flags.IntVar(&f.streams, "streams", 0, "how many streams to open (default 9000, and 5000 idle ones; with --quick 1000)")
	flags.IntVar(&f.deep, "deep", 0, "how long a long log is")
	flags.IntVar(&f.rounds, "rounds", 0, "how many rounds to measure")
	for _, err := range []error{
		flags.MarkHidden("posts"), flags.MarkHidden("streams"), flags.MarkHidden("deep"), flags.MarkHidden("rounds"),
		cmd.MarkFlagDirname("dir"),
		cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(bench.Names(), cobra.ShellCompDirectiveNoFileComp)),
	} {
		if err != nil {
			panic(err) // the flags were defined just above
		}
	}
	cmd.AddCommand(a.probeCommand(), a.loadCommand())
	return cmd
}

func (a *app) benchArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return &usageError{"'parley bench' takes one argument at most; see 'parley bench --help'"}
	case len(args) == 1 && benches[args[0]] == nil:
		return &usageError{fmt.Sprintf("there is no bench %q; it is store, feed, route, engine, turn, http, chat or all", args[0])}
	}
	return nil
}

func (a *app) bench(ctx context.Context, f benchFlags, run benchRun) error {
	cfg := bench.Config{OpenFunc: openStore, EncryptFunc: encryptStore, ResolveFunc: benchResolve, Size: bench.FullSize(), Only: f.only}
	if f.quick {
		cfg.Size = bench.QuickSize()
	}
	for _, set := range []struct {
		flag int
		to   []*int
	}{
		{f.sessions, []*int{&cfg.Size.Sessions}},
		{f.subscribers, []*int{&cfg.Size.Subscribers}},
		{f.posts, []*int{&cfg.Size.Posts}},
		{f.streams, []*int{&cfg.Size.Streams, &cfg.Size.IdleStreams}},
		{f.deep, []*int{&cfg.Size.Deep}},
		{f.rounds, []*int{&cfg.Size.Rounds, &cfg.Size.CommitRounds}},
	} {
		for _, field := range set.to {
			if set.flag != 0 {
				*field = set.flag
			}
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cfg.ProbeFunc = func(ctx context.Context, path string, pages int) *exec.Cmd {
		return exec.CommandContext(ctx, self, "bench", "probe", path, "--pages", strconv.Itoa(pages)) //nolint:gosec // it is this program
	}
	cfg.ServeFunc = func(ctx context.Context, dir string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, "serve", "--data", dir, "--listen", "127.0.0.1:0") //nolint:gosec // it is this program
		cmd.Env = a.benchEnviron()
		return cmd
	}
	cfg.ProgramFunc = func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, args...) //nolint:gosec // it is this program
		cmd.Env = append(a.benchEnviron(), "TERM=xterm-256color", "COLORTERM=truecolor")
		return cmd
	}
	cfg.LoadFunc = func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, self, "bench", "load")
	}
	if cfg.Dir, err = a.benchDir(f.dir); err != nil {
		return err
	}
	p := a.startProgress()
	cfg.ProgressFunc = p.fn()
	start := time.Now()
	report, err := run(ctx, cfg)
	p.stop()
	if err != nil {
		return err
	}
	if f.json {
		err = a.printJSON(report)
	} else {
		err = a.printText(benchText(report, cfg.Size, time.Since(start)))
	}
	if err == nil && !report.OK() {
		err = errNotWell
	}
	return err
}

// benchEnviron is the environment without what is configured for this program: that is not
// for those that are measured.
func (a *app) benchEnviron() []string {
	return slices.DeleteFunc(a.environ(), func(v string) bool {
		return strings.HasPrefix(v, "PARLEY_") || strings.HasPrefix(v, "NO_COLOR=")
	})
}

// benchDir gives the folder to measure in: the one asked for, else the nearest
// one above the data folder that exists, because that is the disk that counts.
func (a *app) benchDir(asked string) (string, error) {
	if asked != "" {
		if info, err := os.Stat(asked); err != nil || !info.IsDir() {
			return "", parley.Errorf(parley.CodeInvalid, "%s is not a folder; name an existing one with --dir", asked)
		}
		return filepath.Abs(asked)
	}
	dir, err := a.dataDir()
	if err != nil {
		return os.TempDir(), nil //nolint:nilerr // without a home there is nothing nearer
	}
	for {
		parent := filepath.Dir(dir)
		if parent == dir {
			return os.TempDir(), nil
		}
		dir = parent
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	// It may belong to somebody else.
	if f, err := os.MkdirTemp(dir, "parley-bench-*"); err != nil {
		return os.TempDir(), nil //nolint:nilerr // any folder is better than none
	} else if err := os.Remove(f); err != nil {
		return "", err
	}
	return dir, nil
}

// openStore opens the store that is measured, as the daemon would.
func openStore(ctx context.Context, path string) (parley.Store, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return nil, err // not a nil *Store in an interface
	}
	return store, nil
}

// encryptStore makes an encrypted copy of a store and opens it.
func encryptStore(ctx context.Context, path, to string) (parley.Store, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Config{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	key := make([]byte, sqlite.KeyBytes)
	_, _ = rand.Read(key) // it never fails
	if err := errors.Join(store.CopyTo(ctx, to, key, nil), store.Close()); err != nil {
		return nil, err
	}
	store, err = sqlite.Open(ctx, to, sqlite.Config{Key: key})
	if err != nil {
		return nil, err // not a nil *Store in an interface
	}
	return store, nil
}
