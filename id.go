package parley

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The names of things. Ids are opaque, compared byte by byte, at most
// [MaxIDBytes] long, and hold no control characters, white space, or path
// separators.
type (
	// SessionID is <namespace>:<name>, see [NewSessionID].
	SessionID string
	// TurnID names a turn within its session.
	TurnID string
	// CallID names a tool call within its turn.
	CallID string
	// UserID names a person or a bot.
	UserID string
	// IdentityID names one account on one platform: <channel>:<id>.
	IdentityID string
	// DeliveryID names a delivery in the store.
	DeliveryID string
	// NoticeID names a notice within its session.
	NoticeID string
	// Key is the canonical name of a scope, sk_v1_<sha256>.
	Key string
	// Alias is another name for a key. It may hold what platforms put into
	// chat ids, such as slashes and spaces.
	Alias string
)

// Fence is the number a turn's owner presents with every write. Each claim of a
// session raises it by one, so that an older owner's writes fail.
type Fence uint64

// NewSessionID makes the id of a session whose client chose no name:
// <namespace>:<YYYYMMDD_HHMMSS>_<8 hex>. The random bytes come from the caller,
// so that tests control them.
func NewSessionID(namespace string, at time.Time, random [4]byte) SessionID {
	return SessionID(namespace + ":" + at.UTC().Format("20060102_150405") + "_" + hex.EncodeToString(random[:]))
}

// Namespace gives the part of the id before its first colon.
func (id SessionID) Namespace() string {
	ns, _, _ := strings.Cut(string(id), ":")
	return ns
}

// Validate reports whether id can name a session.
func (id SessionID) Validate() error {
	if err := checkID("session id", string(id)); err != nil {
		return err
	}
	if ns, name, ok := strings.Cut(string(id), ":"); !ok || ns == "" || name == "" {
		return invalidf("session id %s must be <namespace>:<name>, such as cli:work", quote(string(id)))
	}
	return nil
}

// Validate reports whether id can name an identity.
func (id IdentityID) Validate() error {
	if err := checkID("identity", string(id)); err != nil {
		return err
	}
	if channel, name, ok := strings.Cut(string(id), ":"); !ok || channel == "" || name == "" {
		return invalidf("identity %s must be <channel>:<id>, such as telegram:7", quote(string(id)))
	}
	return nil
}

// Validate reports whether k can be a key.
func (k Key) Validate() error {
	if len(k) > MaxKeyBytes {
		return tooLargef("key is %d bytes long; at most %d are allowed", len(k), MaxKeyBytes)
	}
	return checkID("key", string(k))
}

// Validate reports whether a can be an alias.
func (a Alias) Validate() error { return checkText("alias", string(a), 1, MaxAliasBytes) }

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
