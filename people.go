package parley

import "time"

// Role is what a user may do in general.
type Role string

// The roles.
const (
	RoleOwner Role = "owner"
	RoleUser  Role = "user"
	RoleGuest Role = "guest"
)

func (r Role) validate() error {
	switch r {
	case RoleOwner, RoleUser, RoleGuest:
		return nil
	}
	return invalidf("role %s is not known; it must be owner, user or guest", quote(string(r)))
}

// User is a person or a bot, with one or more identities.
type User struct {
	ID        UserID    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Role      Role      `json:"role"`
	CreatedAt time.Time `json:"created_at"`
}

// Identity is one account on one platform. User is empty while nobody has
// claimed it. Taking part in a session is recorded by identity, so linking and
// unlinking people changes identity rows only.
type Identity struct {
	ID        IdentityID `json:"id"`
	User      UserID     `json:"user,omitempty"`
	Name      string     `json:"name,omitempty"`
	Bot       bool       `json:"bot,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
}

// Principal is who is behind a request. The edge sets it from the credential,
// never from the body of a request; it does not change during a turn.
type Principal struct {
	Identity IdentityID `json:"identity"`
	User     UserID     `json:"user,omitempty"`
	Role     Role       `json:"role"`
	Via      string     `json:"via,omitempty"` // how it was authenticated: token, cookie, channel, local, automation
}

func (p Principal) validate() error {
	if err := p.Identity.Validate(); err != nil {
		return err
	}
	if p.User != "" {
		if err := checkID("user id", string(p.User)); err != nil {
			return err
		}
	}
	if err := checkText("principal's way of authentication", p.Via, 0, MaxIDBytes); err != nil {
		return err
	}
	return p.Role.validate()
}

func (u User) validate() error {
	if err := checkID("user id", string(u.ID)); err != nil {
		return err
	}
	if err := checkText("user name", u.Name, 0, MaxNameBytes); err != nil {
		return err
	}
	if err := checkTime("the user's time", u.CreatedAt); err != nil {
		return err
	}
	return u.Role.validate()
}

func (i Identity) validate() error {
	if err := i.ID.Validate(); err != nil {
		return err
	}
	if i.User != "" {
		if err := checkID("user id", string(i.User)); err != nil {
			return err
		}
	}
	if err := checkTime("the identity's time", i.CreatedAt); err != nil {
		return err
	}
	return checkText("identity name", i.Name, 0, MaxNameBytes)
}
