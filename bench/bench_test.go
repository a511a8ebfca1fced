package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/bench"
	"github.com/parley-run/parley/sqlite"
)

// TestMain is also the fresh process that the runs in these tests start.
func TestMain(m *testing.M) {
	if path := os.Getenv("BENCH_PROBE"); path != "" {
		if err := probe(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if why := os.Getenv("BENCH_BROKEN"); why != "" {
		fmt.Fprintln(os.Stderr, why)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func probe(path string) error {
	pages, err := strconv.Atoi(os.Getenv("BENCH_PAGES"))
	if err != nil {
		return err
	}
	res, err := bench.Probe(context.Background(), openStore, path, pages)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

func openStore(ctx context.Context, path string) (parley.Store, error) {
	return sqlite.Open(ctx, path, sqlite.Config{})
}

func encryptStore(ctx context.Context, path, to string) (parley.Store, error) {
	store, err := sqlite.Open(ctx, path, sqlite.Config{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	key := make([]byte, sqlite.KeyBytes)
	if err := errors.Join(store.CopyTo(ctx, to, key, nil), store.Close()); err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, to, sqlite.Config{Key: key})
}

// tiny is a run of everything, as small as it can be.
func tiny(t *testing.T) bench.Config {
	t.Helper()
	return bench.Config{
		OpenFunc: openStore, EncryptFunc: encryptStore,
		ProbeFunc: func(ctx context.Context, path string, pages int) *exec.Cmd {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), "BENCH_PROBE="+path, "BENCH_PAGES="+strconv.Itoa(pages))
			return cmd
		},
		Dir:  t.TempDir(),
		Size: bench.Size{Sessions: 600, Few: 60, Deep: 150, Rounds: 2, CommitRounds: 2, Stretch: time.Minute},
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	cfg := tiny(t)
	steps := map[string]bool{}
	cfg.ProgressFunc = func(step string, done, total int64) {
		if total > 0 && done > total {
			t.Errorf("%s: %d of %d", step, done, total)
		}
		steps[step] = true
	}
	report, err := bench.Store(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range report.Results {
		names = append(names, r.Name)
		if r.Reference <= 0 || r.Name != bench.RSSIdle && r.Value <= 0 {
			t.Errorf("%s has value %v and reference %v", r.Name, r.Value, r.Reference)
		}
		if r.Unit == "" || r.Bar <= 0 || r.What == "" || r.ReferenceIs == "" || r.BarIs == "" {
			t.Errorf("%+v leaves something out", r)
		}
	}
	want := slices.DeleteFunc(bench.Names(), func(name string) bool {
		switch name {
		case bench.ResolveRate, bench.EngineOverhead, bench.TurnsConcurrent, bench.CancelStream, bench.CancelTool,
			bench.HTTPAck, bench.SSEFanout, bench.SSEIdle, bench.ChatStart, bench.ChatKey:
			return true
		}
		return strings.HasPrefix(name, "feed_")
	})
	if report.Machine.OS != "linux" { // no memory figure elsewhere
		want = slices.DeleteFunc(want, func(name string) bool { return name == bench.RSSIdle })
	}
	if !slices.Equal(names, want) {
		t.Errorf("results are %v, want %v", names, want)
	}
	if report.Machine.Cores < 1 || report.Machine.Go == "" {
		t.Errorf("machine is %+v", report.Machine)
	}
	if !steps["storing sessions"] || !steps["measuring commits"] {
		t.Errorf("progress had the steps %v", steps)
	}
	empty(t, cfg.Dir)
}

// empty fails if a run left something behind.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("the run left %v", left)
	}
}

func TestStore_Only(t *testing.T) {
	t.Parallel()
	cfg := tiny(t)
	cfg.Only = []string{bench.AliasLookup, bench.Commit64}
	report, err := bench.Store(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 2 || report.Results[0].Name != bench.Commit64 || report.Results[1].Name != bench.AliasLookup {
		t.Errorf("results are %+v", report.Results)
	}
	if !strings.Contains(report.Results[0].Note, "one session alone") {
		t.Errorf("%s does not say what group commit gains: %q", bench.Commit64, report.Results[0].Note)
	}
}

func TestStore_JSON(t *testing.T) {
	t.Parallel()
	cfg := tiny(t)
	cfg.Only = []string{bench.AliasLookup}
	report, err := bench.Store(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine map[string]any   `json:"machine"`
		Results []map[string]any `json:"results"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var fields []string
	for field := range got.Results[0] {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	if want := []string{"bar", "name", "ok", "ratio", "reference", "unit", "value"}; !slices.Equal(fields, want) {
		t.Errorf("a result has the fields %v, want %v", fields, want)
	}
	if len(got.Machine) == 0 {
		t.Error("the machine is missing")
	}
}

func TestStore_Refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bench.Config)
		code   parley.Code
	}{
		"unknown figure":          {func(c *bench.Config) { c.Only = []string{"speed"} }, parley.CodeInvalid},
		"negative size":           {func(c *bench.Config) { c.Size.Sessions = -1 }, parley.CodeInvalid},
		"nothing to encrypt with": {func(c *bench.Config) { c.EncryptFunc = nil }, parley.CodeInvalid},
		"nothing to open":         {func(c *bench.Config) { c.OpenFunc = nil }, parley.CodeInvalid},
		"no such folder":          {func(c *bench.Config) { c.Dir += "/none" }, parley.CodeUnavailable},
		"no room":                 {func(c *bench.Config) { c.Size.Sessions = 1 << 40 }, parley.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tiny(t)
			c.change(&cfg)
			if _, err := bench.Store(t.Context(), cfg); parley.CodeOf(err) != c.code {
				t.Errorf("error is %v, want one with code %s", err, c.code)
			}
		})
	}
}

func TestStore_StopsWithItsContext(t *testing.T) {
	t.Parallel()
	cfg := tiny(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.ProgressFunc = func(step string, _, _ int64) {
		if step == "measuring commits" {
			cancel()
		}
	}
	if _, err := bench.Store(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	empty(t, cfg.Dir)
}

// forgetful is a store that says it has committed an admission and has not.
type forgetful struct {
	parley.Store
	after int
	lost  parley.InputRef
}

func (f *forgetful) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	for i := range b.Sessions {
		c := &b.Sessions[i]
		if c.Session != "telegram:alone" {
			continue
		}
		if len(c.Admit) == 1 {
			if f.after--; f.after == 0 {
				f.lost = c.Admit[0].Ref
				return parley.Result{Sessions: make([]parley.SessionResult, 1)}, nil
			}
		}
		c.Inputs = slices.DeleteFunc(c.Inputs, func(in parley.InputChange) bool { return in.Ref == f.lost })
	}
	return f.Store.Commit(ctx, b)
}

func TestStore_FailsIfAnAdmissionIsLost(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]int{"the last one": 32, "one in the middle": 7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tiny(t)
			cfg.Only = []string{bench.Commit1}
			cfg.Size.CommitRounds = 1
			cfg.OpenFunc = func(ctx context.Context, path string) (parley.Store, error) {
				store, err := openStore(ctx, path)
				return &forgetful{Store: store, after: after}, err
			}
			_, err := bench.Store(t.Context(), cfg)
			if !errors.Is(err, parley.ErrInternal) || !strings.Contains(err.Error(), "telegram:alone") {
				t.Errorf("an acknowledged admission was lost, and the run says %v", err)
			}
		})
	}
}
