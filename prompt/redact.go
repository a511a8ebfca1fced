package prompt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

const (
	minKey   = 16 // bytes of a key
	idDigits = 12 // hex digits of a redacted id
)

// rawPlatform is the one whose ids are never redacted: the model needs them to
// mention people.
const rawPlatform = "discord"

// SafePlatforms gives the platforms whose ids are redacted unless the
// configuration names others: those where nothing that a model writes needs the
// id. Slack is not among them, because a mention there is an id.
func SafePlatforms() []string {
	return []string{"acp", "api", "cli", "local", "signal", "telegram", "user", "web", "whatsapp"}
}

// Redactor gives ids as a model sees them. An id of a platform that is marked safe
// becomes twelve hex digits, by which things can be told apart and nothing else is
// told: they are an HMAC-SHA-256 with a key of this installation. Other
// ids stay as they are.
//
// What it gives is for the eyes of a model. Keys, routing and storage have the ids
// themselves. A nil Redactor gives "" for every id.
type Redactor struct {
	key  []byte
	safe []string
}

// NewRedactor makes one with a key of at least 16 bytes. Nil platforms are
// [SafePlatforms]. A shorter key is [parley.CodeInvalid], and so is Discord among
// the platforms: its ids are needed to mention people.
func NewRedactor(key []byte, platforms []string) (*Redactor, error) {
	if len(key) < minKey {
		return nil, parley.Errorf(parley.CodeInvalid, "the key that redacts ids has %d bytes; give it at least %d, at random", len(key), minKey)
	}
	if platforms == nil {
		platforms = SafePlatforms()
	}
	r := &Redactor{key: slices.Clone(key)}
	for _, p := range platforms {
		p = strings.ToLower(p)
		if p == rawPlatform {
			return nil, parley.Errorf(parley.CodeInvalid, "ids of %s cannot be redacted, because people are mentioned by them; take it out of the safe platforms", rawPlatform)
		}
		r.safe = append(r.safe, p)
	}
	return r, nil
}

// User gives the account of a person: user_<hex>, or the id if its platform is not
// marked safe.
func (r *Redactor) User(id parley.IdentityID) string {
	platform, _, _ := strings.Cut(string(id), ":")
	switch {
	case r == nil || id == "":
		return ""
	case !r.redacts(platform):
		return string(id)
	}
	return "user_" + r.digits("user", string(id))
}

// Chat gives a chat, a topic or another place of a platform: <platform>:<hex>, or
// <platform>:<id> if the platform is not marked safe.
func (r *Redactor) Chat(platform, id string) string {
	switch {
	case r == nil || id == "":
		return ""
	case !r.redacts(platform):
		return platform + ":" + id
	}
	return platform + ":" + r.digits("chat", platform+":"+id)
}

func (r *Redactor) redacts(platform string) bool {
	return slices.Contains(r.safe, strings.ToLower(platform))
}

// digits gives the digits of an id, which are others for each kind of thing.
func (r *Redactor) digits(kind, id string) string {
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(kind + "\x00" + id))
	return hex.EncodeToString(mac.Sum(nil))[:idDigits]
}
