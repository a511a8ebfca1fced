package command

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// Config is which commands may run, and how.
type Config struct {
	// Allowed are the commands: what an argument vector has to begin with, element
	// by element, or, with a last element "$", what it has to be. None allows none.
	// The first element is a name that is looked up in Path, or an absolute path.
	Allowed [][]string
	// Dir is the folder commands run in, or in a folder below it. Required.
	Dir string
	// Path are the folders in which names of commands are looked up, and the PATH
	// of commands: absolute, and not inside Dir, where the agent could put a command
	// under the name of another. Default: the usual ones of the system.
	Path []string
	// Home is the HOME of commands. It should not be a folder the agent writes to:
	// there it could put files that change what a command does, such as .gitconfig.
	// Default: one that does not exist.
	Home string
	// Env are further variables, as NAME=value. They take the place of others.
	Env []string

	Timeout    time.Duration // of a command that asks for none; default 1 minute
	MaxTimeout time.Duration // that a call may ask for; default 10 minutes
	MaxOutput  int           // bytes of output that are kept, half of them the first and half the last; default 256 KiB
	MaxTotal   int64         // bytes of output after which a command is killed; default 64 MiB
}

const (
	maxArguments = 1000     // elements of a vector
	maxVector    = 96 << 10 // bytes of all together
	maxStdin     = 1 << 20
)

// Command is the tool.
type Command struct {
	cfg  Config
	base *os.Root
	env  []string
}

// New makes the tool. It fails with [parley.CodeInvalid] for a Config that makes no
// sense, and with [parley.CodeNotFound] if the folder is not there. Close it after
// use.
func New(cfg Config) (*Command, error) {
	if cfg.Dir == "" {
		return nil, parley.Errorf(parley.CodeInvalid, "run_command needs a folder to run in")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Op: "run_command", Message: "the folder's path cannot be used", Err: err}
	}
	cfg.Dir = dir
	cfg.setDefaults()
	if err := cfg.checkAllowed(); err != nil {
		return nil, err
	}
	base, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeNotFound, Op: "run_command", Message: "the folder to run in cannot be opened", Err: err}
	}
	c := &Command{cfg: cfg, base: base}
	err = cfg.checkPath()
	if err == nil {
		c.env, err = cfg.environment()
	}
	if err != nil {
		_ = base.Close() // nothing was done with it
		return nil, err
	}
	keepDescriptors()
	return c, nil
}

// Close gives the folder back. Calls that come later fail.
func (c *Command) Close() error { return c.base.Close() }

func (c *Config) setDefaults() {
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.MaxTimeout <= 0 {
		c.MaxTimeout = 10 * time.Minute
	}
	c.MaxTimeout = max(c.MaxTimeout, c.Timeout)
	if c.MaxOutput <= 0 {
		c.MaxOutput = 256 << 10
	}
	if c.MaxTotal <= 0 {
		c.MaxTotal = 64 << 20
	}
	if c.Home == "" {
		c.Home = noHome
	}
	if len(c.Path) == 0 {
		c.Path = systemPath()
	}
}

// exact ends an entry that allows nothing behind it.
const exact = "$"

func (c *Config) checkAllowed() error {
	allowed := make([][]string, 0, len(c.Allowed))
	for _, entry := range c.Allowed {
		switch {
		case len(entry) == 0 || entry[0] == "" || entry[0] == exact:
			return parley.Errorf(parley.CodeInvalid, "an allowed command is empty; it needs at least a name")
		case slices.ContainsFunc(entry, func(s string) bool { return strings.ContainsRune(s, 0) }):
			return parley.Errorf(parley.CodeInvalid, "the allowed command %q holds a zero byte", entry[0])
		case hasSeparator(entry[0]) && !filepath.IsAbs(entry[0]):
			return parley.Errorf(parley.CodeInvalid, "the allowed command %q must be a name or an absolute path", entry[0])
		}
		allowed = append(allowed, slices.Clone(entry))
	}
	c.Allowed = allowed
	return nil
}

// checkPath makes sure that no folder of Path is one the agent works in, also not
// by way of a link.
func (c *Config) checkPath() error {
	home, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return &parley.Error{Code: parley.CodeNotFound, Op: "run_command", Message: "the folder to run in cannot be opened", Err: err}
	}
	for _, dir := range c.Path {
		if !filepath.IsAbs(dir) || strings.ContainsRune(dir, filepath.ListSeparator) {
			return parley.Errorf(parley.CodeInvalid, "the folder %q of commands must be an absolute path", dir)
		}
		is, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // nothing is found there
		}
		if rel, err := filepath.Rel(home, is); err == nil && filepath.IsLocal(rel) {
			return parley.Errorf(parley.CodeInvalid, "the folder %q of commands lies in the folder the agent works in", dir)
		}
	}
	return nil
}

// environment gives the variables of commands.
func (c *Config) environment() ([]string, error) {
	values := map[string]string{"PATH": strings.Join(c.Path, string(filepath.ListSeparator)), "HOME": c.Home, "LANG": "C.UTF-8"}
	// Git takes a folder that looks like the inside of a repository for one, with
	// the commands that its config names. The agent can make such a folder.
	maps.Copy(values, map[string]string{
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.bareRepository", "GIT_CONFIG_VALUE_0": "explicit",
		"GIT_TERMINAL_PROMPT": "0",
	})
	maps.Copy(values, systemVariables())
	for _, v := range c.Env {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" || strings.ContainsRune(v, 0) || name == mark {
			return nil, parley.Errorf(parley.CodeInvalid, "a variable of commands must be NAME=value") // it may be a secret
		}
		values[name] = value
	}
	var env []string
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}

// allows reports whether an argument vector is on the list.
func (c *Config) allows(argv []string) bool {
	return slices.ContainsFunc(c.Allowed, func(entry []string) bool {
		if n := len(entry) - 1; entry[n] == exact {
			return slices.Equal(entry[:n], argv)
		}
		return len(argv) >= len(entry) && slices.Equal(entry, argv[:len(entry)])
	})
}

// find gives the file of a command: an absolute path as it stands, a name in the
// folders of Path. Nothing is looked up in the folder the command runs in.
func (c *Config) find(name string) (string, bool) {
	if hasSeparator(name) {
		return name, filepath.IsAbs(name) && executable(name)
	}
	for _, dir := range c.Path {
		for _, ending := range endings {
			if path := filepath.Join(dir, name+ending); executable(path) {
				return path, true
			}
		}
	}
	return "", false
}

func hasSeparator(name string) bool {
	return strings.ContainsAny(name, `/\`+string(filepath.Separator))
}
