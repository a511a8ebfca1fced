package request_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/tool/request"
)

// TestAnswers has servers that answer in ways they should not.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	say := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text) }
	}
	// until writes one thing again and again, until nobody listens any more.
	until := func(head, again string) func(net.Conn) {
		return func(c net.Conn) {
			_, err := io.WriteString(c, head)
			for err == nil {
				_, err = io.WriteString(c, again)
			}
		}
	}
	// slow says something, and then nothing for as long as somebody listens.
	slow := func(head string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.WriteString(c, head)
			_, _ = io.Copy(io.Discard, c)
		}
	}
	const kib = 1 << 10
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64*kib, strings.Repeat("z", 64*kib))
	short := request.Config{Timeout: 200 * time.Millisecond}
	for _, tt := range []struct {
		title   string
		talk    func(net.Conn)
		cfg     request.Config
		isError bool
		want    []string
		least   int // bytes of the result
	}{
		{"as it should be", say(ok + "Content-Length: 2\r\n\r\nhi"), request.Config{}, false, []string{"200 OK", "\n\nhi"}, 0},
		{"no body", say("HTTP/1.1 204 No Content\r\n\r\n"), request.Config{}, false, []string{"204", "(no body)"}, 0},
		{"no length, to the end", say("HTTP/1.0 200 OK\r\n\r\nhi"), request.Config{}, false, []string{"hi"}, 0},
		{"huge, and says so", until(ok+"Content-Length: 1099511627776\r\n\r\n", strings.Repeat("a", 64*kib)), request.Config{MaxBody: 300 * kib}, false, []string{"the answer has more than 307200 bytes; this is its beginning"}, 250 * kib},
		{"endless", until(ok+"\r\n", strings.Repeat("a", 64*kib)), request.Config{MaxBody: 300 * kib}, false, []string{"more than 307200 bytes"}, 250 * kib},
		{"endless, in chunks", until(ok+"Transfer-Encoding: chunked\r\n\r\n", chunk), request.Config{MaxBody: 300 * kib}, false, []string{"more than 307200 bytes"}, 250 * kib},
		{"a bomb", say(ok + "Content-Encoding: gzip\r\n\r\n" + bomb()), request.Config{MaxBody: 300 * kib}, false, []string{"more than 307200 bytes"}, 250 * kib},
		{"packed, as it should be", say(ok + "Content-Encoding: gzip\r\n\r\n" + packed("hi", 1)), request.Config{}, false, []string{"\n\nhi"}, 0},
		{"packed, but not", say(ok + "Content-Encoding: gzip\r\n\r\nhi"), request.Config{}, true, []string{"gzip|EOF"}, 0},
		{"packed, and cut off", say(ok + "Content-Encoding: gzip\r\n\r\n" + packed("hi", 1000)[:20]), request.Config{}, true, []string{"broke off"}, 0},
		{"packed in another way", say(ok + "Content-Encoding: br\r\nContent-Length: 2\r\n\r\nhi"), request.Config{}, false, []string{"not text"}, 0},
		{"silent", slow(""), short, true, []string{"no whole answer within 200ms"}, 0},
		{"slow in the head", slow("HTTP/1.1 200 OK\r\nX-A: "), short, true, []string{"no whole answer within 200ms"}, 0},
		{"slow in the body", slow(ok + "Content-Length: 100\r\n\r\nabc"), short, true, []string{"no whole answer within 200ms"}, 0},
		{"a huge header", until("HTTP/1.1 200 OK\r\nX-A: ", strings.Repeat("a", 64*kib)), request.Config{}, true, []string{"header"}, 0},
		{"a large header", say("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", 50*kib) + "\r\nContent-Length: 2\r\n\r\nhi"), request.Config{}, false, []string{"hi"}, 0},
		{"a large one that is shown", say("HTTP/1.1 200 OK\r\nEtag: " + strings.Repeat("e", 50*kib) + "\r\nContent-Length: 2\r\n\r\nhi"), request.Config{}, false, []string{strings.Repeat("e", 500) + "\n\nhi"}, 0},
		{"headers without end", until("HTTP/1.1 200 OK\r\n", "X-A: a\r\n"), request.Config{}, true, []string{"header"}, 0},
		{"interim answers without end", until("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), request.Config{}, true, []string{"1xx|header"}, 0},
		{"a length that is too long", say(ok + "Content-Length: 100\r\n\r\nhi"), request.Config{}, true, []string{"broke off"}, 0},
		{"a length that is too short", say(ok + "Content-Length: 1\r\n\r\nhi"), request.Config{}, false, []string{"\n\nh"}, 0},
		{"a length below nothing", say(ok + "Content-Length: -1\r\n\r\nhi"), request.Config{}, true, []string{"failed"}, 0},
		{"two lengths", say(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi"), request.Config{}, true, []string{"failed"}, 0},
		{"garbage instead of chunks", say(ok + "Transfer-Encoding: chunked\r\n\r\nzzz\r\nhi\r\n0\r\n\r\n"), request.Config{}, true, []string{"broke off"}, 0},
		{"a chunk of all there is", say(ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhi"), request.Config{}, true, []string{"broke off"}, 0},
		{"chunks that end too early", say(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"), request.Config{}, true, []string{"broke off"}, 0},
		{"not HTTP", say("SSH-2.0-OpenSSH_9.9\r\n"), request.Config{}, true, []string{"failed"}, 0},
		{"nothing", say(""), request.Config{}, true, []string{"failed"}, 0},
		{"a header over two lines", say("HTTP/1.1 200 OK\r\nEtag: a\r\n b\r\nContent-Length: 0\r\n\r\n"), request.Config{}, false, []string{"Etag: a b\n"}, 0},
		{"a header with odd bytes", say("HTTP/1.1 200 OK\r\nEtag: a\xff\xfe\tb\r\nContent-Length: 0\r\n\r\n"), request.Config{}, false, []string{"Etag: a b\n"}, 0},
		{"one header many times", say("HTTP/1.1 200 OK\r\n" + strings.Repeat("Link: </a>\r\n", 1000) + "Content-Length: 0\r\n\r\n"), request.Config{}, false, []string{"\nLink: </a>\nLink: </a>\nLink: </a>\n\n"}, 0},
		{"a long reason", say("HTTP/1.1 200 " + strings.Repeat("ok", 1000) + "\r\nContent-Length: 0\r\n\r\n"), request.Config{}, false, []string{"200 OK\n"}, 0},
		{"binary that calls itself text", say(ok + "Content-Length: 4\r\n\r\n\x00\x01\x02\x03"), request.Config{}, false, []string{"not text: application/octet-stream, 4 bytes"}, 0},
		{"a redirect to nowhere", say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), request.Config{}, false, []string{"302 Found", "(no body)"}, 0},
		{"a redirect that cannot be read", say("HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n"), request.Config{}, true, []string{"Location"}, 0},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			address := raw(t, tt.talk)
			res, err := run(t.Context(), t, tt.cfg, map[string]any{"url": address})
			if err != nil {
				t.Fatal(err)
			}
			shown := res.Text[:min(len(res.Text), 2000)]
			if res.IsError != tt.isError {
				t.Errorf("got %v, %q", res.IsError, shown)
			}
			for _, text := range tt.want {
				one, other, _ := strings.Cut(text, "|")
				if !strings.Contains(res.Text, one) && (other == "" || !strings.Contains(res.Text, other)) {
					t.Errorf("got %q, want %q", shown, text)
				}
			}
			if len(res.Text) < tt.least || tt.least == 0 && len(res.Text) > 4*kib || len(res.Text) > 310*kib {
				t.Errorf("the result has %d bytes", len(res.Text))
			}
		})
	}
}

// packed packs a text, as often as given.
func packed(text string, times int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range times {
		_, _ = io.WriteString(z, text)
	}
	_ = z.Close()
	return b.String()
}

// bomb is 64 MiB, small.
func bomb() string { return strings.Repeat(packed(strings.Repeat("a", 1<<20), 1), 64) }
