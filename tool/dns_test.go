package tool_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// dnsServer is a name server on loopback whose answers change from one question
// to the next.
type dnsServer struct {
	conn net.PacketConn
	done chan struct{}

	mu    sync.Mutex
	names map[string]func(nth int) []string // addresses, or another name
	asked map[string]int                    // questions for IPv4 addresses
}

// newDNS starts a name server. Each name has what it answers to the first,
// second … question; the last answer stays.
func newDNS(t *testing.T, names map[string]func(nth int) []string) *dnsServer {
	t.Helper()
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{conn: conn, done: make(chan struct{}), names: names, asked: map[string]int{}}
	go s.serve()
	t.Cleanup(func() {
		_ = conn.Close()
		<-s.done
	})
	return s
}

// steps gives the answers in order; the last one stays.
func steps(answers ...string) func(int) []string {
	return func(nth int) []string { return strings.Fields(answers[min(nth, len(answers)-1)]) }
}

func (s *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *dnsServer) serve() {
	defer close(s.done)
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := s.answer(buf[:n]); reply != nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

const typeA, typeCNAME, typeAAAA = 1, 5, 28

// answer makes the reply to a question.
func (s *dnsServer) answer(q []byte) []byte {
	if len(q) < 17 {
		return nil
	}
	var labels []string
	at := 12
	for at < len(q) && q[at] != 0 {
		end := at + 1 + int(q[at])
		if end >= len(q) {
			return nil
		}
		labels = append(labels, string(q[at+1:end]))
		at = end
	}
	at += 5
	if at > len(q) {
		return nil
	}
	name, kind := strings.ToLower(strings.Join(labels, ".")), binary.BigEndian.Uint16(q[at-4:])
	reply := append([]byte{q[0], q[1], 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:at]...)
	answers := s.next(name, kind == typeA)
	if answers == nil {
		reply[3] = 3 // there is no such name
		return reply
	}
	for _, a := range answers {
		if more := record(a, kind); more != nil {
			reply = append(reply, more...)
			reply[7]++
		}
	}
	return reply
}

func (s *dnsServer) next(name string, count bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.names[name]
	if answer == nil {
		return nil
	}
	nth := s.asked[name]
	if count {
		s.asked[name]++
	}
	return answer(nth)
}

// record is one line of an answer, if it fits the question: it lasts no time.
func record(answer string, kind uint16) []byte {
	data, is := []byte(nil), uint16(typeCNAME)
	if forced, ok := strings.CutPrefix(answer, "AAAA="); ok {
		b := netip.MustParseAddr(forced).As16()
		data, is = b[:], typeAAAA
	} else if addr, err := netip.ParseAddr(answer); err == nil {
		data, is = addr.AsSlice(), typeA
		if addr.Is6() {
			is = typeAAAA
		}
	} else {
		for label := range strings.SplitSeq(answer, ".") {
			data = append(append(data, byte(len(label))), label...)
		}
		data = append(data, 0)
	}
	if is != kind && is != typeCNAME {
		return nil
	}
	head := []byte{0xc0, 12, 0, byte(is), 0, 1, 0, 0, 0, 0, 0, byte(len(data))}
	return append(head, data...)
}
