package tool_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

// site is a server that counts who gets through to it.
type site struct {
	hits atomic.Int64
	port uint16
}

// newSite starts a server at an address of this machine, on the given port or, if
// that is 0, on any.
func newSite(t *testing.T, ip string, port uint16, handler http.HandlerFunc) (*site, error) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort(ip, strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	s := &site{port: netip.MustParseAddrPort(l.Addr().String()).Port()}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		if handler != nil {
			handler(w, r)
			return
		}
		_, _ = io.WriteString(w, ip)
	}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	return s, nil
}

func mustSite(t *testing.T, ip string, handler http.HandlerFunc) *site {
	t.Helper()
	s, err := newSite(t, ip, 0, handler)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks for an address, and gives the answer's text.
func get(ctx context.Context, c *http.Client, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func wantForbidden(t *testing.T, err error, want string) {
	t.Helper()
	if parley.CodeOf(err) != parley.CodeForbidden || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v (%s), want a refusal with %q", err, parley.CodeOf(err), want)
	}
}

// unguarded is what a careless program would use.
func unguarded(resolver *net.Resolver) *http.Client {
	d := net.Dialer{Resolver: resolver}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
}

// TestAddresses asks for forbidden addresses, in all the ways to write one. Each
// request goes to the port of a server on loopback; those that reach it without
// the guard are marked, and that is checked as well.
func TestAddresses(t *testing.T) {
	t.Parallel()
	const machine, neither = "address of this machine", "neither a name nor an address"
	for _, tt := range []struct {
		host, want string
		reaches    bool
	}{
		{"127.0.0.1", "127.0.0.1 is a loopback address; requests to it are not allowed", true},
		{"127.8.9.10", "loopback", false},
		{"localhost", "loopback", true},
		{"LOCALHOST", "loopback", true},
		{"0.0.0.0", machine, true},
		{"0.1.2.3", machine, false},
		{"１２７.0.0.1", "loopback", true},  // full-width digits
		{"①②⑦.0.0.1", "loopback", true},  // digits in circles
		{"127。0。0。1", "loopback", true},  // ideographic full stops
		{"2130706433", neither, false},   // decimal
		{"0x7f000001", neither, false},   // hexadecimal
		{"017700000001", neither, false}, // octal
		{"0177.0.0.1", neither, false},   //
		{"0x7f.0.0.1", neither, false},   //
		{"0x7f.0x0.0x0.0x1", neither, false},
		{"127.1", neither, false},
		{"127.0.1", neither, false},
		{"127.0.0.1.", neither, false},
		{"127.0.0.01", neither, false},
		{"3232235777", neither, false},
		{"[::1]", "loopback", false},
		{"[::]", machine, false},
		{"[0:0:0:0:0:0:0:1]", "loopback", false},
		{"[::ffff:127.0.0.1]", "loopback", true},
		{"[::ffff:7f00:1]", "loopback", true},
		{"[::ffff:0a00:0001]", "private", false},
		{"[::127.0.0.1]", "a form of 127.0.0.1, which is a loopback address", false},
		{"[64:ff9b::7f00:1]", "a form of 127.0.0.1", false},
		{"[64:ff9b::169.254.169.254]", "a form of 169.254.169.254, which is an address of cloud metadata", false},
		{"[64:ff9b::168.63.129.16]", "cloud metadata", false},
		{"[64:ff9b:1::a00:1]", "translator", false},
		{"[2002:7f00:1::]", "a form of 127.0.0.1", false},
		{"[2002:0808:0808::1]", "6to4", false},
		{"[2001:0:0:0:0:0:f5ff:fffe]", "a form of 10.0.0.1", false},
		{"[2001:0:4136:e378:8000:63bf:f7f7:f7f7]", "Teredo", false},
		{"[2600:1:2:3:0:5efe:10.0.0.1]", "a form of 10.0.0.1", false},
		{"[2600:1:2:3:200:5efe:10.0.0.1]", "a form of 10.0.0.1", false},
		{"[fe80::1]", "link-local", false},
		{"[fe80::1%25lo]", "one network interface", false},
		{"[::1%25lo]", "one network interface", false},
		{"[fec0::1]", "site-local", false},
		{"[fc00::1]", "private", false},
		{"[fd12:3456::1]", "private", false},
		{"[ff02::1]", "multicast", false},
		{"[2001:db8::1]", "documentation", false},
		{"[3fff::1]", "documentation", false},
		{"[100::1]", "reserved", false},
		{"[4000::1]", "reserved", false},
		{"10.0.0.1", "10.0.0.1 is a private address; requests to it are not allowed", false},
		{"172.16.0.1", "private", false},
		{"172.31.255.255", "private", false},
		{"192.168.1.1", "private", false},
		{"100.64.0.1", "shared address", false},
		{"169.254.1.1", "link-local", false},
		{"192.0.2.1", "documentation", false},
		{"198.51.100.1", "documentation", false},
		{"203.0.113.1", "documentation", false},
		{"198.18.0.1", "benchmarks", false},
		{"198.19.255.255", "benchmarks", false},
		{"192.0.0.8", "reserved", false},
		{"192.88.99.1", "reserved", false},
		{"224.0.0.1", "multicast", false},
		{"239.255.255.255", "multicast", false},
		{"240.0.0.1", "reserved", false},
		{"255.255.255.255", "broadcast", false},
		{"169.254.169.254", "cloud metadata", false},
		{"169.254.170.2", "cloud metadata", false},
		{"168.63.129.16", "cloud metadata", false},
		{"100.100.100.200", "cloud metadata", false},
		{"192.0.0.192", "cloud metadata", false},
		{"[fd00:ec2::254]", "cloud metadata", false},
		{"[::ffff:a9fe:a9fe]", "cloud metadata", false},
		{"metadata.google.internal", "name of cloud metadata", false},
		{"Metadata.Google.Internal.", "name of cloud metadata", false},
		{"metadata", "name of cloud metadata", false},
		{"instance-data", "name of cloud metadata", false},
	} {
		t.Run(tt.host, func(t *testing.T) {
			t.Parallel()
			s := mustSite(t, "127.0.0.1", nil)
			address := "http://" + tt.host + ":" + strconv.Itoa(int(s.port)) + "/"
			// The port is not what it fails for.
			g := tool.NewGuard(tool.GuardConfig{Ports: []uint16{s.port}})
			_, err := get(t.Context(), g.Client(tool.Limits{}), address)
			wantForbidden(t, err, tt.want)
			if n := s.hits.Load(); n != 0 {
				t.Fatalf("%d requests got through", n)
			}
			if tt.reaches {
				if _, err := get(t.Context(), unguarded(nil), address); err != nil || s.hits.Load() != 1 {
					t.Errorf("this way does not lead to the server, so it tests nothing: %v", err)
				}
			}
			// The same set-up reaches an address that is allowed.
			s.hits.Store(0)
			g = tool.NewGuard(tool.GuardConfig{Ports: []uint16{s.port}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
			if _, err := get(t.Context(), g.Client(tool.Limits{}), "http://127.0.0.1:"+strconv.Itoa(int(s.port))); err != nil || s.hits.Load() != 1 {
				t.Errorf("what is allowed is not reached: %v", err)
			}
		})
	}
}

// TestCheck has what no test can dial: public addresses, and what the settings
// change.
func TestCheck(t *testing.T) {
	t.Parallel()
	prefixes := func(list ...string) (all []netip.Prefix) {
		for _, p := range list {
			all = append(all, netip.MustParsePrefix(p))
		}
		return all
	}
	for _, tt := range []struct {
		name, at string
		cfg      tool.GuardConfig
		want     string // "": allowed
	}{
		{name: "public", at: "8.8.8.8:443"},
		{name: "public, http", at: "8.8.8.8:80"},
		{name: "public IPv6", at: "[2606:4700::1111]:443"},
		{name: "mapped public", at: "[::ffff:8.8.8.8]:443"},
		{name: "translated public", at: "[64:ff9b::808:808]:443"},
		{name: "ISATAP of a public one", at: "[2600:1:2:3:200:5efe:8.8.8.8]:443"},
		{name: "another port", at: "8.8.8.8:25", want: "port 25 is not allowed for requests; allowed: 80, 443"},
		{name: "own ports", at: "8.8.8.8:8443", cfg: tool.GuardConfig{Ports: []uint16{8443}}},
		{name: "own ports only", at: "8.8.8.8:443", cfg: tool.GuardConfig{Ports: []uint16{8443}}, want: "allowed: 8443"},
		{name: "no ports", at: "8.8.8.8:443", cfg: tool.GuardConfig{Ports: []uint16{}}, want: "port 443"},
		{name: "allowed, any port", at: "10.1.2.3:9", cfg: tool.GuardConfig{Allow: prefixes("10.0.0.0/8")}},
		{name: "allowed, own ports", at: "10.1.2.3:9", cfg: tool.GuardConfig{Allow: prefixes("10.0.0.0/8"), Ports: []uint16{80}}, want: "port 9"},
		{name: "allowed in its mapped form", at: "[::ffff:10.1.2.3]:80", cfg: tool.GuardConfig{Allow: prefixes("10.0.0.0/8")}},
		{name: "allowed by a mapped prefix", at: "10.1.2.3:80", cfg: tool.GuardConfig{Allow: prefixes("::ffff:10.0.0.0/104")}},
		{name: "a prefix that is not masked", at: "10.1.2.3:80", cfg: tool.GuardConfig{Allow: prefixes("10.9.9.9/8")}},
		{name: "beside what is allowed", at: "11.0.0.1:81", cfg: tool.GuardConfig{Allow: prefixes("10.0.0.0/8")}, want: "port 81"},
		{name: "allowed elsewhere, not here", at: "[64:ff9b::10.0.0.1]:80", cfg: tool.GuardConfig{Allow: prefixes("10.0.0.0/8")}, want: "a form of 10.0.0.1"},
		{name: "metadata in a wide prefix", at: "169.254.169.254:80", cfg: tool.GuardConfig{Allow: prefixes("169.254.0.0/16", "0.0.0.0/0")}, want: "cloud metadata"},
		{name: "metadata by its number", at: "169.254.169.254:80", cfg: tool.GuardConfig{Allow: prefixes("169.254.169.254/32")}},
		{name: "denied", at: "8.8.8.8:443", cfg: tool.GuardConfig{Deny: prefixes("8.8.0.0/16")}, want: "the configuration denies"},
		{name: "denied and allowed", at: "10.0.0.1:80", cfg: tool.GuardConfig{Allow: prefixes("10.0.0.0/8"), Deny: prefixes("10.0.0.1/32")}, want: "denies"},
		{name: "denied, mapped", at: "[::ffff:8.8.8.8]:443", cfg: tool.GuardConfig{Deny: prefixes("8.8.0.0/16")}, want: "denies"},
		{name: "denied, translated", at: "[64:ff9b::808:808]:443", cfg: tool.GuardConfig{Deny: prefixes("8.8.0.0/16")}, want: "a form of 8.8.8.8"},
		{name: "a zone in what is allowed", at: "[fe80::1%lo]:80", cfg: tool.GuardConfig{Allow: prefixes("fe80::/10")}, want: "network interface"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tool.NewGuard(tt.cfg).Check(netip.MustParseAddrPort(tt.at))
			if tt.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wantForbidden(t, err, tt.want)
		})
	}
	wantForbidden(t, tool.NewGuard(tool.GuardConfig{}).Check(netip.AddrPort{}), "not an address")
}

func TestDialContext(t *testing.T) {
	t.Parallel()
	g := tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	s := mustSite(t, "127.0.0.1", nil)
	at := "127.0.0.1:" + strconv.Itoa(int(s.port))
	for _, tt := range []struct{ network, address, want string }{
		{"udp", at, "network"},
		{"unix", "/tmp/x", "network"},
		{"ip4:icmp", "127.0.0.1", "network"},
		{"tcp", ":" + strconv.Itoa(int(s.port)), "has no host"},
		{"tcp", "127.0.0.1", "host:port"},
		{"tcp", "", "host:port"},
	} {
		_, err := g.DialContext(t.Context(), tt.network, tt.address)
		wantForbidden(t, err, tt.want)
	}
	conn, err := g.DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()

	// What is allowed and does not work is another matter.
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if _, err := g.DialContext(t.Context(), "tcp", l.Addr().String()); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("a closed port gives %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	cancel()
	if _, err := g.DialContext(ctx, "tcp", at); err == nil || parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("a context that has ended gives %v", err)
	}
}
