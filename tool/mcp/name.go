package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxName is how long the name of a tool is at most, for every provider.
const maxName = 64

// names gives the tools of a server names that models can use, by their own
// ones. They depend on which tools there are, and not on their order: a name that
// needed no change is kept; one that did, and could be taken for another, ends in
// a part of its hash. A tool for which no name is left is missing.
func names(server string, raw []string) map[string]string {
	result := make(map[string]string, len(raw))
	taken := make(map[string]bool, len(raw))
	wanted := make(map[string]int, len(raw))
	var changed []string
	for _, r := range slices.Compact(slices.Sorted(slices.Values(raw))) {
		name, same := candidate(server, r)
		if same {
			result[r], taken[name] = name, true
			continue
		}
		changed = append(changed, r)
		wanted[name]++
	}
	for _, r := range changed {
		name, _ := candidate(server, r)
		if taken[name] || wanted[name] > 1 || len(name) > maxName {
			sum := sha256.Sum256([]byte(r))
			name = name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
		}
		if !taken[name] {
			result[r], taken[name] = name, true
		}
	}
	return result
}

// candidate gives the name a tool would have if it were the only one, and
// whether it says all that its own name does.
func candidate(server, raw string) (name string, same bool) {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, raw)
	name = server + "_" + clean
	return name, clean == raw && len(name) <= maxName
}
