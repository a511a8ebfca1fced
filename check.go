package parley

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// checkID refuses what no id may hold.
func checkID(what, id string) error {
	if plainID(id) {
		return nil
	}
	if err := checkText(what, id, 1, MaxIDBytes); err != nil {
		return err
	}
	if i := strings.IndexFunc(id, func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsSpace(r)
	}); i >= 0 {
		return invalidf("%s %s must not hold spaces or path separators", what, quote(id))
	}
	return nil
}

// plainID reports whether id is of the kind that nearly all ids are: short, and
// visible ASCII. It spares the look at every rune.
func plainID(id string) bool {
	if id == "" || len(id) > MaxIDBytes {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '/' || c == '\\' {
			return false
		}
	}
	return true
}

// checkText refuses text that is too short, too long, not UTF-8, or holds
// control characters. It is for names, which are shown on one line; what people
// write is not checked by it.
func checkText(what, text string, least, most int) error {
	switch {
	case len(text) < least:
		return invalidf("%s is missing", what)
	case len(text) > most:
		return tooLargef("%s is %d bytes long; at most %d are allowed", what, len(text), most)
	case !utf8.ValidString(text):
		return invalidf("%s is not valid UTF-8", what)
	}
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		return invalidf("%s %s must not hold control characters", what, quote(text))
	}
	return nil
}

// checkProse refuses text that is too long, not UTF-8, or holds a NUL byte. It
// is for what people and models write, where line breaks are welcome.
func checkProse(what, text string, most int) error {
	switch {
	case len(text) > most:
		return tooLargef("%s is %d bytes long; at most %d are allowed", what, len(text), most)
	case !utf8.ValidString(text):
		return invalidf("%s is not valid UTF-8", what)
	case strings.ContainsRune(text, 0):
		return invalidf("%s must not hold NUL characters", what)
	}
	return nil
}

// checkTime refuses instants that cannot be written down: those before the year
// 1 or after 9999. The zero time is allowed.
func checkTime(what string, at time.Time) error {
	if year := at.UTC().Year(); year < 1 || year > 9999 {
		return invalidf("%s must be between the years 1 and 9999", what)
	}
	return nil
}

// checkOptionalTime is checkTime for a field that may be missing.
func checkOptionalTime(what string, at *time.Time) error {
	if at == nil {
		return nil
	}
	return checkTime(what, *at)
}

// quote shows a value in an error message: quoted, escaped, and cut.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.Quote(s)
}

// checkJSON refuses JSON that is malformed or nested too deeply. Nothing at all
// is allowed.
func checkJSON(what string, raw json.RawMessage) error { return checkJSONDepth(what, raw, MaxDepth) }

func checkJSONDepth(what string, raw json.RawMessage, most int) error {
	if err := checkDepth(what, raw, most); err != nil {
		return err
	}
	if len(raw) > 0 && !json.Valid(raw) {
		return notJSON(what)
	}
	return nil
}

func notJSON(what string) error { return invalidf("%s are not valid JSON", what) }

// checkDepth is [checkJSONDepth] for what is decoded next: that finds out whether
// it is JSON.
func checkDepth(what string, raw json.RawMessage, most int) error {
	if len(raw) > MaxBodyBytes {
		return tooLargef("%s are %d bytes long; at most %d are allowed", what, len(raw), MaxBodyBytes)
	}
	depth, inString, escaped := 0, false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > most {
				return invalidf("%s are nested more than %d deep", what, most)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !utf8.Valid(raw) {
		return notJSON(what)
	}
	return nil
}
