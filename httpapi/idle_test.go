package httpapi_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/parley-run/parley/internal/soak"
)

// TestIdleStreams holds many streams open that nothing happens on: each may cost
// little, as 5,000 have to fit into 200 MiB together with everything else.
func TestIdleStreams(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	w := newWorld(t)
	w.open("web:s", w.owner)
	streams := soak.Count(500, 2_000)
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	head := fmt.Sprintf("GET /api/sessions/web:s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n", w.owner)
	before := used()
	buf := make([]byte, 1<<10)
	for range streams {
		conn := w.dial()
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(buf); err != nil { // the stream has begun
			t.Fatal(err)
		}
	}
	each := (used() - before) / uint64(streams)
	t.Logf("%d streams use %d bytes each", streams, each)
	if each > 30<<10 {
		t.Errorf("a stream uses %d bytes; at most 30 KiB are allowed", each)
	}
}
