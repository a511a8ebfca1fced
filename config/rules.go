package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// ruleID is for ids that platforms make, which may look like anything.
const ruleID = "id"

// rules are what the tag is names. Each says what is wrong with a text, "" being
// nothing, and whether the message is not to repeat the text.
var rules = map[string]func(text string) (mute bool, wrong string){
	"account":  shown(ruleAccount),
	"agent":    shown(ruleAgent),
	"author":   shown(ruleAuthor),
	"file":     shown(optional(rulePath)),
	"folder":   shown(ruleLine),
	"header":   shown(ruleHeader),
	"host":     shown(ruleHost),
	"identity": ruleIdentity,
	"keyplace": ruleKeyPlace,
	"listen":   shown(ruleListen),
	"listener": shown(optional(ruleListen)),
	"model":    shown(ruleModel),
	"name":     shown(ruleName),
	"network":  shown(ruleNetwork),
	"origin":   ruleOrigin,
	"path":     shown(rulePath),
	"required": shown(ruleRequired),
	"server":   shown(ruleServer),
	"variable": shown(ruleVariable),
	"url":      ruleURL,
	"zone":     shown(ruleZone),
	ruleID:     shown(ruleLine),
}

func shown(rule func(string) string) func(string) (bool, string) {
	return func(text string) (bool, string) { return false, rule(text) }
}

// optional is a rule for a text that may be empty.
func optional(rule func(string) string) func(string) string {
	return func(text string) string {
		if text == "" {
			return ""
		}
		return rule(text)
	}
}

var agentName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,62}[a-z0-9_])?$`)

// ruleAgent wants a name that stands in keys as it is.
func ruleAgent(text string) string {
	if agentName.MatchString(text) {
		return ""
	}
	return "the name of an agent has small letters, digits, _ and, inside, -, and at most 64 of them"
}

// ruleAccount wants a name that stands in keys as it is, and is not that of the bot
// that has none.
func ruleAccount(text string) string {
	switch {
	case text == "default":
		return "default is the bot that has no name, whose token stands beside accounts"
	case !agentName.MatchString(text):
		return "the name of an account has small letters, digits, _ and, inside, -, and at most 64 of them"
	}
	return ""
}

// ruleIdentity wants channel:id.
func ruleIdentity(text string) (bool, string) {
	if err := parley.IdentityID(text).Validate(); err != nil {
		return true, err.Error()
	}
	return false, ""
}

var hexKey = regexp.MustCompile(`^[0-9A-Fa-f]{32,}$`)

// ruleKeyPlace wants keyring or a path, and no key.
func ruleKeyPlace(text string) (bool, string) {
	kind, _, reference := strings.Cut(text, ":")
	switch {
	case text == "":
		return true, "it must be keyring, or the path of a key file"
	case hexKey.MatchString(text):
		return true, "that is a key itself, and those are not written down here; put it into a file that only you can read, and give its path"
	case reference && (kind == "file" || kind == "keyring" || kind == "env"):
		return true, "it must be keyring, or the path of a key file without " + kind + ": before it"
	}
	return false, rulePath(text)
}

func ruleListen(text string) string {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "it must be host:port, such as 127.0.0.1:7788"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "the port must be a number up to 65535"
	}
	if strings.ContainsAny(host, " /\t") {
		return "the host must be a name or an address, such as 127.0.0.1"
	}
	return ""
}

// ruleModel wants provider/model.
func ruleModel(text string) string {
	provider, name, ok := strings.Cut(text, "/")
	if text == "" || text == scripted || ok && provider != "" && name != "" && !strings.ContainsAny(text, " \t\n") {
		return ""
	}
	return "it must be provider/model, such as anthropic/claude-sonnet-4-5, or scripted"
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func ruleName(text string) string {
	if plainName.MatchString(text) {
		return ""
	}
	return "a name has letters, digits and _ . -, and at most 64 of them"
}

func ruleNetwork(text string) string {
	if _, err := netip.ParsePrefix(text); err == nil {
		return ""
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return ""
	}
	return "it must be an address or a network, such as 10.0.0.1 or 10.0.0.0/8"
}

func rulePath(text string) string {
	if text == "" || ruleLine(text) != "" || strings.HasSuffix(text, "/") {
		return "it must be the path of a file"
	}
	return ""
}

func ruleRequired(text string) string {
	if strings.TrimSpace(text) == "" {
		return "it must not be empty"
	}
	return ""
}

// ruleURL wants an address without a password, which it does not show.
func ruleURL(text string) (bool, string) {
	if text == "" {
		return false, ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return true, "it must be an address, such as https://example.com"
	case u.User != nil:
		return true, "an address must not hold a name or a password"
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return true, "it must be an address that starts with https:// or http://, such as https://example.com"
	case u.RawQuery != "" || u.Fragment != "":
		return true, "it must be an address without ? and #"
	}
	return false, ""
}

func ruleZone(text string) string {
	if _, err := time.LoadLocation(text); err == nil && text != "Local" {
		return ""
	}
	return "it must be a time zone, such as Europe/Berlin or UTC; without one it is the machine's"
}

// ruleLine wants text without control characters, which no id has.
func ruleLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "it must not hold control characters"
	}
	if len(text) > parley.MaxAliasBytes {
		return "it must not be longer than " + strconv.Itoa(parley.MaxAliasBytes) + " bytes"
	}
	return ""
}
