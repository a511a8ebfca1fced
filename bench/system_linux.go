package bench

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// preallocate sets space aside for the first size bytes of the file.
func preallocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return fillZeros(f, size)
	}
	return err
}

// freeSpace gives the bytes that can still be written under dir, or -1.
func freeSpace(dir string) int64 {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return -1
	}
	return int64(st.Bavail) * st.Bsize
}

// resident gives the resident memory of this process in bytes, or -1.
func resident() int64 { return residentOf(os.Getpid()) }

// residentOf gives that of any process.
func residentOf(pid int) int64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return -1
	}
	value := field(status, "VmRSS")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
	if err != nil {
		return -1
	}
	return kib << 10
}

// pauseUntil waits until a moment. The runtime's own timers may be a millisecond
// late, which would be most of what is measured.
func pauseUntil(t time.Time) {
	for left := time.Until(t); left > 0; left = time.Until(t) {
		pause := syscall.NsecToTimespec(int64(left))
		if err := syscall.Nanosleep(&pause, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return // it takes every time that is positive
		}
	}
}

// alive reports whether a process is there, and not only waiting to be collected.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //nolint:gosec // G703: a number is no path
	if err != nil {
		return false
	}
	// The name before it is in parentheses and may hold anything.
	state := strings.TrimSpace(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return state != "" && state[0] != 'Z' && state[0] != 'X'
}

func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return field(info, "model name")
}

// field gives the value of the first line "name : value".
func field(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// filesystem gives the type of the file system that dir is on: the mount with
// the longest path above it.
func filesystem(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if followed, err := filepath.EvalSymlinks(dir); err == nil {
		dir = followed
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	best, kind := "", ""
	for line := range strings.Lines(string(mounts)) {
		before, after, ok := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(types) < 1 {
			continue
		}
		mount := strings.ReplaceAll(fields[4], `\040`, " ")
		above := mount == "/" || dir == mount || strings.HasPrefix(dir, mount+"/")
		if above && len(mount) >= len(best) {
			best, kind = mount, types[0]
		}
	}
	return kind
}
