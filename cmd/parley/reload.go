package main

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley/config"
)

// reloaded is what came of a reload, as paths of the configuration.
type reloaded struct {
	Applied []string // holds from the next turn or session on
	Restart []string // holds after a restart
}

// atStart are the parts of the configuration that are looked at when the program
// starts, and not again.
var atStart = []string{
	"limits.max_turns", "limits.queue", "limits.running_turns", "limits.outage", "limits.blob", "limits.hold_after",
	"session.busy", "session.stop", "session.reset", "session.resume", "session.inactive_after", "session.identity_links",
	"owner", "groups", "channels", "store", "serve",
}

// reload applies a configuration as far as that can be done while turns run, and says
// what needs a restart. Turns under way end with what they began with, and sessions
// keep what they keep of their agent. A configuration that cannot be used changes
// nothing.
func (in *installation) reload(ctx context.Context, loaded *config.Loaded) (reloaded, error) {
	next, err := in.newSetup(ctx, loaded)
	if err != nil {
		return reloaded{}, err
	}
	next.ledger = in.newLedger(loaded.Config.Budget)
	in.mu.Lock()
	before := in.present
	if before.loaded.Config.Budget == loaded.Config.Budget {
		next.ledger = before.ledger // it knows what is set aside
	}
	in.present = next
	in.mu.Unlock()
	var done reloaded
	for _, path := range changed(before.loaded, loaded) {
		if !needsRestart(path) {
			done.Applied = append(done.Applied, path)
		}
	}
	for name, ag := range next.agents {
		// The text of a prompt may be in a file, which no path tells of.
		path := "agents." + name + ".system"
		if old := before.agents[name]; old != nil && !bytes.Equal(old.snapshot.Config, ag.snapshot.Config) && old.frozen.System != ag.frozen.System && !slices.Contains(done.Applied, path) {
			done.Applied = append(done.Applied, path)
		}
	}
	for _, path := range changed(in.started, loaded) {
		if needsRestart(path) {
			done.Restart = append(done.Restart, path)
		}
	}
	slices.Sort(done.Applied)
	return done, before.retire()
}

func needsRestart(path string) bool {
	return slices.ContainsFunc(atStart, func(part string) bool { return path == part || strings.HasPrefix(path, part+".") })
}

// changed gives the paths whose values differ, sorted; an entry that is only in one of
// both is one path, and so are all routes.
func changed(before, after *config.Loaded) []string {
	old, present := valueTexts(before), valueTexts(after)
	paths := map[string]bool{}
	for _, both := range [][2]map[string]string{{old, present}, {present, old}} {
		for path, text := range both[0] {
			if other, ok := both[1][path]; !ok || other != text {
				paths[path] = true
			}
		}
	}
	for _, entry := range entries(&before.Config, &after.Config) {
		for path := range paths {
			if strings.HasPrefix(path, entry+".") {
				delete(paths, path)
				paths[entry] = true
			}
		}
	}
	for path := range paths {
		if strings.HasPrefix(path, "routes[") {
			delete(paths, path)
			paths["routes"] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

func valueTexts(l *config.Loaded) map[string]string {
	all := map[string]string{}
	for _, v := range l.Values() {
		all[v.Path] = v.Text()
	}
	return all
}

// entries gives the entries that only one of two configurations has.
func entries(a, b *config.Config) []string {
	var list []string
	list = append(list, oneSided("agents", a.Agents, b.Agents)...)
	list = append(list, oneSided("providers", a.Providers, b.Providers)...)
	list = append(list, oneSided("models", a.Models, b.Models)...)
	return append(list, oneSided("channels", a.Channels, b.Channels)...)
}

func oneSided[T any](section string, a, b map[string]T) []string {
	var list []string
	for _, both := range [][2]map[string]T{{a, b}, {b, a}} {
		for name := range both[0] {
			if _, ok := both[1][name]; !ok {
				list = append(list, section+"."+name, section+"."+strconv.Quote(name))
			}
		}
	}
	return list
}
