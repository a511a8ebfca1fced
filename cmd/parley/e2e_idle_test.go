package main_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/soak"
)

// TestBad_Idle opens thousands of connections and says nothing, or only half of a
// request, on them.
func TestBad_Idle(t *testing.T) {
	t.Parallel()
	const idle = 2_000
	d := daemonOn(t, t.TempDir())
	session := d.open(`{}`)
	before := d.state()
	now, _ := d.memory()
	var half []net.Conn
	for i := range idle {
		conn := d.dial()
		if i%10 == 0 {
			if _, err := io.WriteString(conn, "GET /readyz HTTP/1.1\r\nHost: par"); err != nil {
				t.Fatal(err)
			}
			half = append(half, conn)
		}
	}
	if _, most := d.memory(); most > now+100 {
		t.Errorf("the daemon had %d MiB before, and %d with %d connections", now, most, idle)
	}
	d.unharmed(before)
	if got := d.say(session, "hello"); got.StopReason != "stop" {
		t.Errorf("beside idle connections the answer is %+v", got)
	}
	// Who does not end its headers is sent away.
	for _, conn := range half {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the daemon waits for the end of the headers for ever")
		}
	}
	d.ready()
}

// TestBad_Slow sends bodies a byte a second.
func TestBad_Slow(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	session := d.open(`{}`)
	before := d.state()
	var sending sync.WaitGroup
	stop := make(chan struct{})
	var slow []net.Conn
	for range 50 {
		conn := d.dial()
		slow = append(slow, conn)
		head := "POST /api/sessions/" + session + "/messages HTTP/1.1\r\nHost: parley\r\nAuthorization: Bearer " + d.token + "\r\nContent-Length: 1000\r\n\r\n"
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		sending.Go(func() {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for _, b := range `{"text":"` + strings.Repeat("x", 989) + `"}` {
				if _, err := io.WriteString(conn, string(b)); err != nil {
					return
				}
				select {
				case <-tick.C:
				case <-stop:
					return
				}
			}
		})
	}
	// Others are served meanwhile.
	other := d.open(`{}`)
	if got := d.say(other, "hello"); got.StopReason != "stop" {
		t.Errorf("beside slow bodies the answer is %+v", got)
	}
	if got := d.do(http.MethodDelete, "/api/sessions/"+other, ""); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	if soak.On() { // it takes as long as a body may take: half a minute
		for _, conn := range slow {
			if err := conn.SetReadDeadline(time.Now().Add(3 * patience)); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(string(answer), " 400 ") || !strings.Contains(string(answer), "did not arrive") {
				t.Errorf("a slow body is answered with %q, %v", answer, err)
			}
		}
	}
	close(stop)
	sending.Wait()
	for _, conn := range slow {
		_ = conn.Close() // the daemon may have done so
	}
	d.unharmed(before)
}
