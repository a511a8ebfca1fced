package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// Config is what is committed to, and as whom.
type Config struct {
	Dir   string // the top folder of the repository's files. Required
	Name  string // of author and committer; default Parley
	Email string // default parley@localhost

	// Hooks has the repository's hooks run. They are commands of whoever wrote
	// them.
	Hooks bool
	// GlobalConfig is the path of a further config file, such as a person's
	// .gitconfig: for what should be ignored everywhere, or for filters such as
	// that of Git LFS. Default: none; neither a person's nor the machine's counts.
	GlobalConfig string
	// Path are the folders in which git and what it runs are looked up: absolute
	// paths. Default: the usual ones of the system.
	Path []string

	Timeout time.Duration // of one commit; default 1 minute
}

// Git is the tool.
type Git struct {
	cfg  Config
	path string // of git
	env  []string
	turn chan struct{} // holds one token while a call works: git knows one at a time
}

// New makes the tool. It fails with [parley.CodeInvalid] for a Config that makes no
// sense and with [parley.CodeNotFound] if there is no git. Whether the folder is a
// repository is looked at by each call.
func New(cfg Config) (*Git, error) {
	if cfg.Dir == "" {
		return nil, parley.Errorf(parley.CodeInvalid, "git_commit needs the folder of a repository")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Op: "git_commit", Message: "the folder's path cannot be used", Err: err}
	}
	// Git compares real paths.
	if is, err := filepath.EvalSymlinks(dir); err == nil {
		dir = is
	}
	cfg.Dir = dir
	cfg.setDefaults()
	if strings.ContainsAny(cfg.Name+cfg.Email, "<>\n\x00") {
		return nil, parley.Errorf(parley.CodeInvalid, "the author of commits must not hold < > or line ends")
	}
	if cfg.GlobalConfig != "" && !filepath.IsAbs(cfg.GlobalConfig) {
		return nil, parley.Errorf(parley.CodeInvalid, "the path of the config for git must be absolute")
	}
	g := &Git{cfg: cfg, turn: make(chan struct{}, 1)}
	for _, folder := range cfg.Path {
		if !filepath.IsAbs(folder) {
			return nil, parley.Errorf(parley.CodeInvalid, "the folder %q of commands must be an absolute path", folder)
		}
		if g.path == "" {
			// It is an absolute path, which is not looked up anywhere else.
			g.path, _ = exec.LookPath(filepath.Join(folder, "git"))
		}
	}
	if g.path == "" {
		return nil, parley.Errorf(parley.CodeNotFound, "there is no git on this machine; install it, or do without git_commit")
	}
	g.env = cfg.environment()
	return g, nil
}

func (c *Config) setDefaults() {
	if c.Name == "" {
		c.Name = "Parley"
	}
	if c.Email == "" {
		c.Email = "parley@localhost"
	}
	if len(c.Path) == 0 {
		c.Path = systemPath()
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
}

// environment gives the variables of git. It has nothing of ours.
func (c *Config) environment() []string {
	global := os.DevNull
	if c.GlobalConfig != "" {
		global = c.GlobalConfig
	}
	return append([]string{
		"PATH=" + strings.Join(c.Path, string(filepath.ListSeparator)),
		"HOME=" + noHome,
		"LC_ALL=C.UTF-8",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + global,
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(c.Dir), // a repository further up is not meant
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_EDITOR=false",
		"GIT_AUTHOR_NAME=" + c.Name, "GIT_AUTHOR_EMAIL=" + c.Email,
		"GIT_COMMITTER_NAME=" + c.Name, "GIT_COMMITTER_EMAIL=" + c.Email,
	}, systemVariables()...)
}

// options are what git is told before its command. They count before every config.
func (c *Config) options() []string {
	settings := []string{
		"safe.directory=" + filepath.ToSlash(c.Dir), // who runs Parley named it
		"safe.bareRepository=explicit",
		"core.fsmonitor=false",
		"core.abbrev=no", // ids are shown whole
		"core.quotePath=false",
		"commit.gpgSign=false",
		"credential.helper=",
		"protocol.allow=never",
		"submodule.recurse=false",
		"gc.auto=0",
		"maintenance.auto=false",
		"advice.detachedHead=false",
		"i18n.commitEncoding=utf-8",
		// Without the filter, git would commit large files as they are.
		"filter.lfs.required=true",
	}
	if !c.Hooks {
		settings = append(settings, "core.hooksPath=/dev/null")
	}
	args := []string{"--no-pager"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}
