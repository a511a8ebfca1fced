package main

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// TestUntouch: what is reserved takes no memory, also if zeros were written to it.
func TestUntouch(t *testing.T) { // not beside others, which need memory as well
	b := make([]byte, 256<<20)
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 0
	}
	touched := residentKiB(t)
	untouch(b)
	if got := residentKiB(t); got > touched-len(b)/1024/2 {
		t.Errorf("the process has %d KiB after %d were given back, and had %d before", got, len(b)/1024, touched)
	}
	if b[0] != 0 || b[len(b)-1] != 0 {
		t.Error("what was given back is not zero")
	}
	runtime.KeepAlive(b)
}

func residentKiB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("the status of a process does not tell its memory: %s", status)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
