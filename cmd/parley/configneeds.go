package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-run/parley/config"
)

// unmet lists what a configuration needs of this machine and program that is not there: a start would fail
// for it. Whether keys are good is left to the start, which may have others than who checks.
func (a *app) unmet(l *config.Loaded) (config.Problems, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	places := map[string]config.Place{}
	for _, v := range l.Values() {
		places[v.Path] = v.Place
	}
	problems := config.Problems{}
	missing := func(path, file, message string) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		if _, err := os.Stat(file); err != nil {
			problems = append(problems, config.Problem{Place: places[path], Message: path + ": " + file + " " + message})
		}
	}
	c := &l.Config
	for name, agent := range c.Agents {
		if file, ok := strings.CutPrefix(agent.System, "file:"); ok {
			missing("agents."+name+".system", file, "is not there; write the prompt into it")
		}
	}
	for path, file := range map[string]string{"serve.tls_cert": c.Serve.TLSCert, "serve.tls_key": c.Serve.TLSKey} {
		if file != "" {
			missing(path, file, "is not there")
		}
	}
	if filepath.IsAbs(c.Store.Path) {
		missing("store.path", filepath.Dir(c.Store.Path), "is not there; make the folder first")
	}
	for name, ch := range c.Channels {
		if _, known := a.platforms[name]; !known && (!ch.Token.IsZero() || len(ch.Accounts) > 0) {
			path := "channels." + name + ".token"
			problems = append(problems, config.Problem{Place: places[path], Message: path + ": this program has no adapter for " + name + "; take its token out"})
		}
	}
	return problems.Sorted(), nil
}
