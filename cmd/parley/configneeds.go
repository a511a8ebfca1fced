package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-run/parley/config"
)

// unmet lists what a configuration needs of this machine and program that is not there: a start would fail
// for it. What only the start can tell, which may be somebody else's, is left to it: whether keys are good, and what
// is in folders that one may not look into.
func (a *app) unmet(l *config.Loaded) config.Problems {
	dir, err := a.dataDir()
	known := err == nil // else what is relative to it cannot be looked at
	places := map[string]config.Place{}
	for _, v := range l.Values() {
		places[v.Path] = v.Place
	}
	problems := config.Problems{}
	missing := func(path, file, message string) {
		if !filepath.IsAbs(file) {
			if !known {
				return
			}
			file = filepath.Join(dir, file)
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, config.Problem{Place: places[path], Message: path + ": " + file + " " + message})
		}
	}
	c := &l.Config
	for name, agent := range c.Agents {
		if file, ok := strings.CutPrefix(agent.System, "file:"); ok {
			missing("agents."+name+".system", file, "is not there; write the prompt into it")
		}
	}
	if c.Serve.TLSCert != "" {
		missing("serve.tls_cert", c.Serve.TLSCert, "is not there")
		if c.Serve.TLSKey != "" {
			missing("serve.tls_key", c.Serve.TLSKey, "is not there")
		}
	}
	if filepath.IsAbs(c.Store.Path) {
		missing("store.path", filepath.Dir(c.Store.Path), "is not there; make the folder first")
	}
	for name, channel := range c.Channels {
		if _, there := a.platforms[name]; there {
			continue
		}
		for account := range channel.Bots() {
			path := "channels." + name + ".token"
			if account != "" {
				path = "channels." + name + ".accounts." + account + ".token"
			}
			problems = append(problems, config.Problem{Place: places[path], Message: path + ": this program has no adapter for " + name + "; take its token out"})
		}
	}
	return problems.Sorted()
}
