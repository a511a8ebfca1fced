package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// daemonFile says, in the data folder, that a daemon runs on it.
const daemonFile = "daemon.json"

// daemonInfo is what is in that file.
type daemonInfo struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url"`
	StartedAt time.Time `json:"started_at"`
	Version   string    `json:"version"`
}

// daemon gives the daemon that runs on the data folder; nil: none. What a daemon has
// left that was killed counts as none.
func (a *app) daemon() (*daemonInfo, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, daemonFile)
	data, err := os.ReadFile(path) //nolint:gosec // G304: it is in the data folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none, which is no error
	}
	var info daemonInfo
	if err == nil && json.Unmarshal(data, &info) != nil {
		return nil, parley.Errorf(parley.CodeUnavailable, "%s is damaged; remove it, and start the daemon again if one runs", path)
	}
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot read " + path, Err: err}
	}
	if info.PID <= 0 || !alive(info.PID) || !a.holds(info.PID) {
		return nil, nil //nolint:nilnil // it was killed
	}
	return &info, nil
}

// writeDaemon says that a daemon runs on the data folder.
func (a *app) writeDaemon(dir string, info daemonInfo) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(dir, daemonFile), append(data, '\n')); err != nil {
		return &parley.Error{Code: parley.CodeUnavailable, Message: "cannot write " + daemonFile, Err: err}
	}
	return nil
}

// removeDaemon says that none runs any more.
func removeDaemon(dir string) error {
	err := os.Remove(filepath.Join(dir, daemonFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// holds reports whether a process has the store, as a daemon does from before it says
// so until it ends. Another process may have the number of one that was killed.
func (a *app) holds(pid int) bool {
	path, err := a.storePath()
	if err != nil {
		return !errors.Is(err, parley.ErrNotFound) // who cannot tell believes the file
	}
	f, err := os.Open(path + ".lock") //nolint:gosec // G304: it is beside the store
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // it was only looked at
	if disk.Lock(f) == nil {
		return false // nobody had it; closing gives it back
	}
	text, err := io.ReadAll(io.LimitReader(f, 32))
	return err != nil || strings.TrimSpace(string(text)) == strconv.Itoa(pid)
}

// alive reports whether there is a process with this number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // it was only looked for
	// One that is somebody else's may not be asked, and is there.
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
