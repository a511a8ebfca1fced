package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// Scope says which files the tools reach.
type Scope string

// The scopes. In Sandboxed and Project whatever is called .git can be read and not
// written: who writes it decides what git runs.
const (
	Sandboxed Scope = "sandboxed" // a folder of the agent's own, made if it is missing
	Project   Scope = "project"   // a folder that is there
	Full      Scope = "full"      // the whole file system (on Windows the drive), except /proc
)

// Config is what the tools may reach, and how much of it at once.
type Config struct {
	Scope Scope    // default: Sandboxed
	Dir   string   // the folder; relative paths start there. Required
	Hide  []string // files and folders that are never reached, such as Parley's own data

	MaxFile int64 // bytes of a file that is read whole, written, edited or searched; default 1 MiB
	MaxScan int64 // bytes that one reading of lines, or one search, goes through; default 64 MiB

	MaxEntries int           // names that one list gives; default 2,000
	MaxFiles   int           // files that one search opens; default 10,000
	MaxMatches int           // lines that one search gives; default 200
	MaxTime    time.Duration // of one search; default 10 s
}

// Files are the tools, and the folder they are about.
type Files struct {
	cfg  Config
	base *os.Root
	from []string // where relative paths start, as names from base

	writing sync.Mutex // held from reading what is edited until it is replaced

	hiding sync.Mutex
	pins   []pin // hidden folders that were found
	closed bool
}

// New opens the folder. It fails with [parley.CodeInvalid] for a Config that makes
// no sense, and with [parley.CodeNotFound] if the folder is not there. Close it
// after use.
func New(cfg Config) (*Files, error) {
	if cfg.Dir == "" {
		return nil, parley.Errorf(parley.CodeInvalid, "the tools for files need a folder")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Op: "files", Message: "the folder's path cannot be used", Err: err}
	}
	cfg.Dir = dir
	cfg.Hide = append([]string(nil), cfg.Hide...)
	for i, path := range cfg.Hide {
		if cfg.Hide[i], err = filepath.Abs(path); err != nil || path == "" {
			return nil, &parley.Error{Code: parley.CodeInvalid, Op: "files", Message: "a hidden path cannot be used", Err: err}
		}
	}
	cfg.setDefaults()
	f := &Files{cfg: cfg}
	at := dir
	switch cfg.Scope {
	case Sandboxed:
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, &parley.Error{Code: parley.CodeUnavailable, Op: "files", Message: "the agent's folder cannot be made", Err: err}
		}
	case Project:
	case Full:
		at = filepath.VolumeName(dir) + string(filepath.Separator)
		f.from = split(dir[len(filepath.VolumeName(dir)):])
	default:
		return nil, parley.Errorf(parley.CodeInvalid, "the scope %q is not known; it must be sandboxed, project or full", cfg.Scope)
	}
	if f.base, err = os.OpenRoot(at); err != nil {
		return nil, &parley.Error{Code: parley.CodeNotFound, Op: "files", Message: "the folder of the tools for files cannot be opened", Err: err}
	}
	if err := f.checkStart(); err != nil {
		return nil, &parley.Error{
			Code: parley.CodeInvalid, Op: "files", Err: err,
			Message: "the folder of the tools for files is hidden from them, or cannot be entered",
		}
	}
	return f, nil
}

// checkStart makes sure that relative paths lead somewhere.
func (f *Files) checkStart() error {
	w, err := f.walk()
	if err == nil {
		err = w.enterAll(".")
		w.close()
	}
	if err != nil {
		_ = f.Close() // nothing was done with it
	}
	return err
}

func (c *Config) setDefaults() {
	if c.Scope == "" {
		c.Scope = Sandboxed
	}
	if c.Scope == Full && runtime.GOOS == "linux" {
		// Its files are the memory and the variables of processes, our own among
		// them. Other mounts of it are noticed when a file is opened.
		c.Hide = append(c.Hide, "/proc")
	}
	setDefault(&c.MaxFile, 1<<20)
	setDefault(&c.MaxScan, 64<<20)
	setDefault(&c.MaxEntries, 2_000)
	setDefault(&c.MaxFiles, 10_000)
	setDefault(&c.MaxMatches, 200)
	setDefault(&c.MaxTime, 10*time.Second)
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Close gives the folder back. Calls that come later fail.
func (f *Files) Close() error {
	f.hiding.Lock()
	defer f.hiding.Unlock()
	f.closed = true
	err := f.base.Close()
	for _, p := range f.pins {
		err = errors.Join(err, p.root.Close())
	}
	f.pins = nil
	return err
}

// Tools gives read_file, write_file, edit_file, list_files and search_files.
func (f *Files) Tools() []parley.Tool {
	return []parley.Tool{f.readTool(), f.writeTool(), f.editTool(), f.listTool(), f.searchTool()}
}

// where tells a model where paths start.
func (f *Files) where() string {
	if f.cfg.Scope == Full {
		return "Paths are absolute, or relative to the working folder."
	}
	return "Paths are relative to the folder you work in, which you cannot leave, with / between names."
}
