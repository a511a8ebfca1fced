package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ruleAuthor wants what can stand in a commit.
func ruleAuthor(text string) string {
	if text == "" || strings.ContainsAny(text, "<>") || ruleLine(text) != "" {
		return "it must be one line without < and >"
	}
	return ""
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$")

func ruleHeader(text string) string {
	if headerName.MatchString(text) {
		return ""
	}
	return "it must be the name of a header, such as Authorization"
}

// ruleHost wants one host, with a port if it is not the usual one.
func ruleHost(text string) string {
	at, err := url.Parse("https://" + text)
	if err != nil || at.Hostname() == "" || at.Host != text || at.User != nil || strings.ContainsAny(text, "*/?#@ ") {
		return "it must be one host, such as api.example.org or api.example.org:8443"
	}
	return ""
}

// ruleOrigin wants what browsers send as an origin.
func ruleOrigin(text string) (bool, string) {
	const want = "it must be the origin of a web page, such as https://app.example.com"
	if mute, wrong := ruleURL(text); wrong != "" {
		return mute, wrong
	}
	if u, err := url.Parse(text); err != nil || text == "" || u.Path != "" || strings.ToLower(u.Host) != u.Host {
		return false, want + ", without a path and in small letters"
	}
	return false, ""
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// toolGroups are the names that the tools of Parley have in policies.
var toolGroups = []string{"files", "run_command", "http_request", "git_commit"}

// ruleServer wants a name that the names of tools can begin with.
func ruleServer(text string) string {
	switch {
	case !serverName.MatchString(text):
		return "the name of a server has letters, digits, _ and -, and at most 32 of them"
	case slices.Contains(toolGroups, text):
		return "that is the name of other tools; choose another"
	}
	return ""
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

func ruleVariable(text string) string {
	if variableName.MatchString(text) {
		return ""
	}
	return "the name of a variable has letters, digits and _"
}
