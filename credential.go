package parley

import "time"

// Token is a credential that somebody holds. The store has a hash of it, and
// never the token itself.
type Token struct {
	ID   TokenID   `json:"id"`
	Kind TokenKind `json:"kind"`
	Hash [32]byte  `json:"-"` // SHA-256 of the token
	Name string    `json:"name,omitempty"`
	// Identity is who acts with it. A join token has none.
	Identity IdentityID `json:"identity,omitempty"`
	// Namespace is that of a channel token: it speaks for accounts of it alone.
	Namespace string `json:"namespace,omitempty"`
	// Agent is who a join token lets people in to.
	Agent      string    `json:"agent,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"` // zero: never
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	RevokedAt  time.Time `json:"revoked_at,omitzero"`
}

// TokenKind says what a token is good for.
type TokenKind string

// The kinds of tokens.
const (
	TokenOwner   TokenKind = "owner"   // the owner's own, kept in the data folder
	TokenUser    TokenKind = "user"    // a person's, for programs
	TokenDevice  TokenKind = "device"  // a browser or terminal that signed in
	TokenChannel TokenKind = "channel" // a chat adapter's, bound to a namespace
	TokenJoin    TokenKind = "join"    // lets people in to a protected agent
)

func (k TokenKind) validate() error {
	switch k {
	case TokenOwner, TokenUser, TokenDevice, TokenChannel, TokenJoin:
		return nil
	}
	return invalidf("token kind %s is not known; it must be owner, user, device, channel or join", quote(string(k)))
}

// Valid reports whether the token is good at an instant.
func (t Token) Valid(at time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || at.Before(t.ExpiresAt))
}

func (t *Token) validate() error {
	if err := checkID("token id", string(t.ID)); err != nil {
		return err
	}
	if err := t.Kind.validate(); err != nil {
		return err
	}
	if t.Hash == [32]byte{} {
		return invalidf("token %s has no hash", quote(string(t.ID)))
	}
	if err := checkText("token name", t.Name, 0, MaxNameBytes); err != nil {
		return err
	}
	switch {
	case t.Kind == TokenJoin && (t.Identity != "" || t.Agent == ""):
		return invalidf("a join token names an agent and nobody")
	case t.Kind != TokenJoin && t.Agent != "":
		return invalidf("a token of kind %s names no agent", t.Kind)
	case (t.Kind == TokenChannel) != (t.Namespace != ""):
		return invalidf("a channel token has a namespace, and no other token has one")
	}
	if t.Kind != TokenJoin {
		if err := t.Identity.Validate(); err != nil {
			return err
		}
	}
	if t.Namespace != "" {
		if err := checkID("namespace", t.Namespace); err != nil {
			return err
		}
	}
	if err := checkText("agent name", t.Agent, 0, MaxNameBytes); err != nil {
		return err
	}
	for _, at := range []time.Time{t.CreatedAt, t.ExpiresAt, t.LastUsedAt, t.RevokedAt} {
		if err := checkTime("token times", at); err != nil {
			return err
		}
	}
	return nil
}

// TokenChange makes a token (New), or changes the one with the id: Revoke ends it
// at the instant of the batch, for good; Used raises its last use; Remove forgets
// it. An id or a hash that is taken is [CodeConflict], a token that is not there
// [CodeNotFound].
type TokenChange struct {
	New    *Token
	ID     TokenID
	Revoke bool
	Used   time.Time
	Remove bool
}

func (c *TokenChange) validate() error {
	if c.New != nil {
		if c.ID != "" || c.Revoke || c.Remove || !c.Used.IsZero() {
			return invalidf("a change makes a token or changes one, not both")
		}
		return c.New.validate()
	}
	if err := checkTime("the token's last use", c.Used); err != nil {
		return err
	}
	return checkID("token id", string(c.ID))
}

// Passcode is a short text that is shown on one side and entered on the other, once.
// The store has a hash of it.
type Passcode struct {
	Hash [32]byte
	Kind PasscodeKind
	// Identity is the side that shows it.
	Identity  IdentityID
	CreatedAt time.Time
	ExpiresAt time.Time
}

// PasscodeKind says what happens when a code is entered.
type PasscodeKind string

// The kinds of passcodes.
const (
	PasscodeLogin PasscodeKind = "login" // a device signs in as the identity
	PasscodeLink  PasscodeKind = "link"  // the identity and who enters it become one user
	PasscodePair  PasscodeKind = "pair"  // a stranger, the identity, is let in by who enters it
)

func (c *Passcode) validate() error {
	switch c.Kind {
	case PasscodeLogin, PasscodeLink, PasscodePair:
	default:
		return invalidf("code kind %s is not known; it must be login, link or pair", quote(string(c.Kind)))
	}
	if c.Hash == [32]byte{} {
		return invalidf("a code needs a hash")
	}
	if err := c.Identity.Validate(); err != nil {
		return err
	}
	if !c.ExpiresAt.After(c.CreatedAt) {
		return invalidf("a code must end after it was made")
	}
	for _, at := range []time.Time{c.CreatedAt, c.ExpiresAt} {
		if err := checkTime("code times", at); err != nil {
			return err
		}
	}
	return nil
}

// PasscodeChange stores a code (New), or uses up the one with the hash: one that is
// not there, or is over at the instant of the batch, is [CodeNotFound], so that of
// two who enter it one wins. A code replaces others of its kind and identity, and
// those that are over go; a hash that another code still has is [CodeConflict].
type PasscodeChange struct {
	New *Passcode
	Use [32]byte
}

func (c *PasscodeChange) validate() error {
	switch {
	case c.New != nil && c.Use != [32]byte{}:
		return invalidf("a change stores a code or uses one up, not both")
	case c.New != nil:
		return c.New.validate()
	case c.Use == [32]byte{}:
		return invalidf("a code that is used up needs its hash")
	}
	return nil
}
