package pty

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported reports whether this system has terminals that [Start] can make.
const Supported = true

// Start starts a command in a terminal of its own, of so many columns and rows, and
// gives the terminal's other end, which the caller closes. Reading from there fails with
// [syscall.EIO] once the command, and all it started, have closed theirs.
func Start(cmd *exec.Cmd, cols, rows int) (_ *os.File, err error) {
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("make a terminal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, outer.Close())
		}
	}()
	inner, err := open(outer, cols, rows)
	if err != nil {
		return nil, fmt.Errorf("make a terminal: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = errors.Join(cmd.Start(), inner.Close()) // the command has it by then
	if err != nil {
		return nil, err
	}
	return outer, nil
}

// open unlocks a terminal, gives it a size, and opens the end that programs get.
func open(outer *os.File, cols, rows int) (*os.File, error) {
	raw, err := outer.SyscallConn()
	if err != nil {
		return nil, err
	}
	var number uint32
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = errors.Join(
			unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)}),
		)
		if failed == nil {
			number, failed = unix.IoctlGetUint32(int(fd), unix.TIOCGPTN)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.OpenFile("/dev/pts/"+strconv.FormatUint(uint64(number), 10), os.O_RDWR|unix.O_NOCTTY, 0)
}
