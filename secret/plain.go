package secret

import (
	"regexp"
	"strings"
)

// shapes are credentials that show what they are: the marks that providers put
// on theirs, private keys, authorization headers, passwords in addresses.
var shapes = regexp.MustCompile(`(?:^|[^A-Za-z0-9])(?:` + strings.Join([]string{
	`sk-[\w-]{20,}`,
	`[sr]k_(?:live|test)_\w{16,}`,
	`gh[pousr]_\w{30,}`,
	`github_pat_\w{30,}`,
	`glpat-[\w-]{20,}`,
	`xox[a-z]-[\w-]{10,}`,
	`xapp-[\w-]{10,}`,
	`A[KS]IA[A-Z0-9]{16}\b`,
	`AIza[\w-]{35}`,
	`ya29\.[\w-]{20,}`,
	`(?:hf|npm|gsk|r8)_[A-Za-z0-9]{30,}`,
	`(?:xai|pypi)-[\w-]{30,}`,
	`SG\.[\w-]{16,}\.[\w-]{16,}`,
	`eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.`,
	`\d{8,10}:[\w-]{35}`,
	`[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,}`,
	`-----BEGIN [A-Z ]*PRIVATE KEY-----`,
	`(?i:bearer|basic)\s+[\w+/=.~-]{16,}`,
	`[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@${<][^\s/@]*@`,
}, "|") + `)`)

// words are what could be a random token.
var words = regexp.MustCompile(`[A-Za-z0-9_+-]{32,}`)

// CheckPlain refuses, with CodeInvalid, a text that looks like a credential or
// has one in it. It is for the places where no secret belongs: variables of
// prompts, titles, names. It knows the marks of common providers and long random
// words of mixed letters and digits. It takes hashes, ids and passwords that
// people made up for harmless, so it is a help against mistakes and no guard.
func CheckPlain(text string) error {
	looks := shapes.MatchString(text)
	for _, word := range words.FindAllString(text, -1) {
		looks = looks || random(word)
	}
	if !looks {
		return nil
	}
	return invalid("this looks like a credential, and those are not written down here; put it into a variable, " +
		"a file or the system's keyring, and give env:NAME, file:PATH or keyring:NAME where a secret is asked for")
}

// random reports whether a word changes between capitals, small letters and
// digits as often as only a random one does.
func random(word string) bool {
	var runs [4]int // of each kind
	changes, last := 0, -1
	for i := range len(word) {
		kind := 3
		switch c := word[i]; {
		case c >= 'a' && c <= 'z':
			kind = 0
		case c >= 'A' && c <= 'Z':
			kind = 1
		case c >= '0' && c <= '9':
			kind = 2
		}
		if kind != last {
			runs[kind]++
			changes++
		}
		last = kind
	}
	return min(runs[0], runs[1], runs[2]) >= 2 && changes*100 >= 45*len(word)
}
