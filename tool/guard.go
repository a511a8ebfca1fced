package tool

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/parley-run/parley"
)

// GuardConfig says what a [Guard] lets through. The zero value lets through what
// is public, on the ports 80 and 443.
type GuardConfig struct {
	// Allow has addresses that may be reached although they are not public, such
	// as 127.0.0.1/32. The addresses of cloud metadata need a prefix that names
	// them alone: a wider one does not open them.
	Allow []netip.Prefix
	// Deny has addresses that may not be reached in any case, such as those of a
	// network of your own that are public only by their number.
	Deny []netip.Prefix
	// Ports are those that may be reached. Nil: 80 and 443, and all of the
	// addresses in Allow.
	Ports []uint16
	// Resolver finds the addresses of names. Nil: the system's.
	Resolver *net.Resolver
	// DialTimeout is how long a connection may take. 0: 10 seconds.
	DialTimeout time.Duration
	// RootCAs are the authorities that certificates are checked with. Nil: the
	// system's.
	RootCAs *x509.CertPool
}

// Guard makes connections for tools, to public addresses only. It looks at the
// address that is dialled, at the moment it is: neither a name that resolves
// to something else a moment later, nor a redirect, nor an odd way to write an
// address gets around it. It may be used by many goroutines at once.
type Guard struct {
	cfg    GuardConfig
	public *ssrf.Guardian
	dialer net.Dialer
}

// NewGuard makes a guard.
func NewGuard(cfg GuardConfig) *Guard {
	cfg.Allow, cfg.Deny, cfg.Ports = plain(cfg.Allow), plain(cfg.Deny), slices.Clone(cfg.Ports)
	if cfg.DialTimeout <= 0 {
		cfg.DialTimeout = 10 * time.Second
	}
	g := &Guard{cfg: cfg, public: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork())}
	g.dialer = net.Dialer{Timeout: cfg.DialTimeout, Resolver: cfg.Resolver, Control: g.control}
	return g
}

// plain gives prefixes of IPv4 as such, and not as a part of IPv6: that is how
// addresses are compared with them.
func plain(prefixes []netip.Prefix) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(prefixes))
	for _, p := range prefixes {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		list = append(list, p.Masked())
	}
	return list
}

// DialContext connects to an address, of the form host:port, over TCP. It fails
// with [parley.CodeForbidden] if that is not allowed, and with
// [parley.CodeUnavailable] if it is and does not work.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, parley.Errorf(parley.CodeForbidden, "%s is not a network that tools may use", strconv.Quote(network))
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeForbidden, Message: "the address is not of the form host:port", Err: err}
	}
	if err := checkName(host); err != nil {
		return nil, err
	}
	conn, err := g.dialer.DialContext(ctx, network, address)
	if err == nil {
		return conn, nil
	}
	if refused, ok := errors.AsType[*parley.Error](err); ok {
		return nil, refused
	}
	return nil, &parley.Error{Code: parley.CodeUnavailable, Message: "cannot connect to " + host, Err: err}
}

// control is called with the address of each connection before it is made.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return parley.Errorf(parley.CodeForbidden, "%s is not a network that tools may use", strconv.Quote(network))
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return parley.Errorf(parley.CodeForbidden, "%s is not an address that can be checked; requests to it are not allowed", strconv.Quote(address))
	}
	return g.Check(at)
}

// Check says whether an address may be connected to: nil, or an error with
// [parley.CodeForbidden] that says why not.
func (g *Guard) Check(at netip.AddrPort) error {
	addr := at.Addr()
	if kind := g.refused(addr); kind != "" {
		return parley.Errorf(parley.CodeForbidden, "%s is %s; requests to it are not allowed", addr, kind)
	}
	ports := g.cfg.Ports
	if ports == nil {
		if within(g.cfg.Allow, addr.Unmap()) {
			return nil
		}
		ports = []uint16{80, 443}
	}
	if !slices.Contains(ports, at.Port()) {
		var names []string
		for _, p := range ports {
			names = append(names, strconv.Itoa(int(p)))
		}
		return parley.Errorf(parley.CodeForbidden, "port %d is not allowed for requests; allowed: %s", at.Port(), strings.Join(names, ", "))
	}
	return nil
}

// refused says what kind of address addr is, if it may not be reached.
func (g *Guard) refused(addr netip.Addr) string {
	if !addr.IsValid() {
		return "not an address"
	}
	if addr.Zone() != "" {
		return "an address of one network interface"
	}
	addr = addr.Unmap()
	if within(g.cfg.Deny, addr) {
		return "an address that the configuration denies"
	}
	if slices.Contains(metadata, addr) {
		if slices.Contains(g.cfg.Allow, netip.PrefixFrom(addr, addr.BitLen())) {
			return ""
		}
		return "an address of cloud metadata"
	}
	if within(g.cfg.Allow, addr) {
		return ""
	}
	if inner, ok := embedded(addr); ok {
		// What it stands for is reached from elsewhere: Allow is not about that.
		if slices.Contains(metadata, inner) || g.public.SafeAddr(inner) != nil || within(g.cfg.Deny, inner) {
			return "a form of " + inner.String() + ", which is " + kindOf(inner)
		}
		if nat64.Contains(addr) {
			return ""
		}
	}
	if g.public.SafeAddr(addr) != nil {
		return kindOf(addr)
	}
	return ""
}

func within(prefixes []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}
