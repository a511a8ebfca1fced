package parley

import (
	"encoding/hex"
	"strings"
	"time"
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
	// TokenID names a token; it is not the token.
	TokenID string
	// NoticeID names a notice within its session.
	NoticeID string
	// BlobHandle names a piece of media by its content.
	BlobHandle string
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

// OfScope reports whether k is named after a scope, and not by a person.
func (k Key) OfScope() bool { return strings.HasPrefix(string(k), scopeKeyPrefix) }

// scopeKeyPrefix begins the keys that routing makes of scopes.
const scopeKeyPrefix = "sk_v1_"

// Validate reports whether k can be a key.
func (k Key) Validate() error {
	if len(k) > MaxKeyBytes {
		return tooLargef("key is %d bytes long; at most %d are allowed", len(k), MaxKeyBytes)
	}
	return checkID("key", string(k))
}

// Validate reports whether a can be an alias.
func (a Alias) Validate() error { return checkText("alias", string(a), 1, MaxAliasBytes) }

// Validate reports whether h can name a blob.
func (h BlobHandle) Validate() error { return checkID("media handle", string(h)) }
