package tool

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// metadata has the addresses under which clouds tell machines about themselves,
// credentials included. One of them is public by its number.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"),
	netip.MustParseAddr("169.254.170.2"),  // roles of containers
	netip.MustParseAddr("169.254.170.23"), // roles of pods
	netip.MustParseAddr("169.254.0.23"),
	netip.MustParseAddr("168.63.129.16"), // public by its number
	netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("fd20:ce::254"),
	netip.MustParseAddr("fd00:42::42"),
}

// metadataNames has their names. They are refused before they are resolved; what
// other names resolve to is found when it is dialled.
var metadataNames = []string{
	"metadata", "metadata.google.internal", "metadata.goog",
	"instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com", "metadata.platformequinix.com",
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
	teredo = netip.MustParsePrefix("2001::/32")
	zeros  = netip.MustParsePrefix("::/96") // IPv4-compatible, which nobody uses any more

	kinds = []struct {
		prefix netip.Prefix
		name   string
	}{
		{netip.MustParsePrefix("255.255.255.255/32"), "the broadcast address"},
		{netip.MustParsePrefix("0.0.0.0/8"), "an address of this machine"},
		{netip.MustParsePrefix("100.64.0.0/10"), "a shared address behind a provider"},
		{netip.MustParsePrefix("192.0.2.0/24"), "an address for documentation"},
		{netip.MustParsePrefix("198.51.100.0/24"), "an address for documentation"},
		{netip.MustParsePrefix("203.0.113.0/24"), "an address for documentation"},
		{netip.MustParsePrefix("2001:db8::/32"), "an address for documentation"},
		{netip.MustParsePrefix("3fff::/20"), "an address for documentation"},
		{netip.MustParsePrefix("198.18.0.0/15"), "an address for benchmarks"},
		{netip.MustParsePrefix("2001:2::/48"), "an address for benchmarks"},
		{netip.MustParsePrefix("fec0::/10"), "a site-local address"},
		{sixTo4, "a 6to4 address"},
		{teredo, "a Teredo address"},
		{netip.MustParsePrefix("64:ff9b:1::/48"), "an address of a local translator"},
	}
)

// kindOf says in words what kind of address is not public.
func kindOf(addr netip.Addr) string {
	switch {
	case slices.Contains(metadata, addr):
		return "an address of cloud metadata"
	case addr.IsUnspecified():
		return "an address of this machine"
	case addr.IsLoopback():
		return "a loopback address"
	case addr.IsPrivate():
		return "a private address"
	case addr.IsLinkLocalUnicast():
		return "a link-local address"
	case addr.IsMulticast():
		return "a multicast address"
	}
	for _, k := range kinds {
		if k.prefix.Contains(addr) {
			return k.name
		}
	}
	return "a reserved address"
}

// embedded gives the IPv4 address inside of an IPv6 address, for the forms that
// have one.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	at := func(i int) (netip.Addr, bool) { return netip.AddrFrom4([4]byte(b[i : i+4])), true }
	switch {
	case nat64.Contains(addr):
		return at(12)
	case zeros.Contains(addr) && addr != netip.IPv6Unspecified() && addr != netip.IPv6Loopback():
		return at(12)
	case sixTo4.Contains(addr):
		return at(2)
	case teredo.Contains(addr):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return at(12)
	}
	return netip.Addr{}, false
}

// checkName refuses names that are no names: nothing at all, those of metadata,
// and ways to write an address that some resolvers understand and others take for
// a name.
func checkName(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "" {
		return parley.Errorf(parley.CodeForbidden, "the address has no host; requests to this machine are not allowed")
	}
	if slices.Contains(metadataNames, name) {
		return parley.Errorf(parley.CodeForbidden, "%s is a name of cloud metadata; requests to it are not allowed", name)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil // looked at when it is dialled
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if numeric(last) {
		return parley.Errorf(parley.CodeForbidden, "%q is neither a name nor an address in its usual form; write an address as in 192.0.2.1", host)
	}
	return nil
}

// numeric reports whether the last part of a host is a number, decimal, octal or
// hexadecimal: no name of the internet ends like that.
func numeric(label string) bool {
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}
