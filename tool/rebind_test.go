package tool_test

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/tool"
)

// good may be reached in these tests, and bad may not. Both are this machine.
const good, bad = "127.0.0.2", "127.0.0.1"

// pair starts a server at each of the two addresses, on one port.
func pair(t *testing.T, handler http.HandlerFunc) (allowed, victim *site) {
	t.Helper()
	for range 20 {
		a, err := newSite(t, good, 0, handler)
		if err != nil {
			soak.SkipOrFail(t, "this machine has no %s: %v", good, err)
		}
		if v, err := newSite(t, bad, a.port, nil); err == nil {
			return a, v
		}
	}
	t.Fatal("no port is free at both addresses")
	return nil, nil
}

// TestNamesThatChange has names whose address is fine when somebody looks, and
// another when it is dialled.
func TestNamesThatChange(t *testing.T) {
	t.Parallel()
	const name = "rebind.test"
	for _, tt := range []struct {
		title   string
		names   map[string]func(int) []string
		looks   int    // lookups by who checks names before use
		want    []bool // requests that get through to the good address; the others are refused
		bounces bool   // the good address redirects to the same name
	}{
		{title: "nothing changes", names: map[string]func(int) []string{name: steps(good)}, looks: 1, want: []bool{true, true}},
		{title: "after the first look", names: map[string]func(int) []string{name: steps(good, bad)}, looks: 1, want: []bool{false}},
		{title: "after two looks", names: map[string]func(int) []string{name: steps(good, good, bad)}, looks: 2, want: []bool{false}},
		{title: "between two requests", names: map[string]func(int) []string{name: steps(good, bad, good, bad)}, want: []bool{true, false, true, false}},
		{title: "between request and redirect", names: map[string]func(int) []string{name: steps(good, bad)}, want: []bool{false}, bounces: true},
		{title: "both at once, the bad one first", names: map[string]func(int) []string{name: steps(bad + " " + good)}, want: []bool{true}},
		{title: "the bad one as IPv6", names: map[string]func(int) []string{name: steps(good, "AAAA=::ffff:"+bad)}, looks: 1, want: []bool{false}},
		{title: "loopback of IPv6", names: map[string]func(int) []string{name: steps(good, "::1")}, looks: 1, want: []bool{false}},
		{title: "a detour by another name", names: map[string]func(int) []string{name: steps(good, "inner.test "+bad), "inner.test": steps(bad)}, looks: 1, want: []bool{false}},
		{title: "metadata", names: map[string]func(int) []string{name: steps(good, "169.254.169.254")}, looks: 1, want: []bool{false}},
		{title: "this machine", names: map[string]func(int) []string{name: steps(good, "0.0.0.0")}, looks: 1, want: []bool{false}},
		{title: "a private network", names: map[string]func(int) []string{name: steps(good, "10.0.0.1 192.168.0.1")}, looks: 1, want: []bool{false}},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			var port string
			allowed, victim := pair(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.bounces && r.URL.Path == "/" {
					http.Redirect(w, r, "http://"+name+":"+port+"/again", http.StatusFound)
				}
			})
			port = strconv.Itoa(int(allowed.port))
			dns := newDNS(t, tt.names)
			for range tt.looks {
				addrs, err := dns.resolver().LookupNetIP(t.Context(), "ip4", name)
				if err != nil || len(addrs) != 1 || addrs[0].Unmap() != netip.MustParseAddr(good) {
					t.Fatalf("the look gives %v, %v", addrs, err)
				}
			}
			g := tool.NewGuard(tool.GuardConfig{
				Resolver: dns.resolver(), Ports: []uint16{allowed.port}, Allow: []netip.Prefix{netip.MustParsePrefix(good + "/32")},
			})
			client := g.Client(tool.Limits{})
			for i, through := range tt.want {
				_, err := get(t.Context(), client, "http://"+name+":"+port+"/")
				if through && err != nil {
					t.Errorf("request %d does not get through: %v", i, err)
				}
				if !through {
					wantForbidden(t, err, "requests to it are not allowed")
				}
			}
			if n := victim.hits.Load(); n != 0 {
				t.Fatalf("%d requests got through to the bad address", n)
			}
		})
	}
}

// TestCareless shows that the tests with names have something to find: without
// the guard the bad address is reached.
func TestCareless(t *testing.T) {
	t.Parallel()
	allowed, victim := pair(t, nil)
	dns := newDNS(t, map[string]func(int) []string{"rebind.test": steps(good, bad)})
	if addrs, err := dns.resolver().LookupNetIP(t.Context(), "ip4", "rebind.test"); err != nil || addrs[0].Unmap() != netip.MustParseAddr(good) {
		t.Fatalf("the look gives %v, %v", addrs, err)
	}
	if text, err := get(t.Context(), unguarded(dns.resolver()), "http://rebind.test:"+strconv.Itoa(int(allowed.port))); err != nil || text != bad || victim.hits.Load() != 1 {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestNameFlips changes the address of a name all the time while many ask.
func TestNameFlips(t *testing.T) {
	t.Parallel()
	allowed, victim := pair(t, nil)
	flip := func(nth int) []string { return []string{[]string{good, bad, "10.0.0.1"}[nth%3]} }
	dns := newDNS(t, map[string]func(int) []string{"flip.test": flip})
	client := tool.NewGuard(tool.GuardConfig{
		Resolver: dns.resolver(), Ports: []uint16{allowed.port}, Allow: []netip.Prefix{netip.MustParsePrefix(good + "/32")},
	}).Client(tool.Limits{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				if _, err := get(t.Context(), client, "http://flip.test:"+strconv.Itoa(int(allowed.port))); err != nil && parley.CodeOf(err) != parley.CodeForbidden {
					t.Errorf("failed otherwise: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if victim.hits.Load() != 0 || allowed.hits.Load() == 0 || allowed.hits.Load() == 240 {
		t.Errorf("%d requests got through to the bad address, %d to the good one", victim.hits.Load(), allowed.hits.Load())
	}
}
