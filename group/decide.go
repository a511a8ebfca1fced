package group

import "github.com/parley-run/parley"

// Config says how groups work. The zero value is the default.
type Config struct {
	// OwnersMention makes owners mention the agent, as all others have to. By
	// default what an owner says in a group is always for the agent to consider.
	OwnersMention bool
}

// Arrival is a message, as far as it matters for whom it is.
type Arrival struct {
	// Session is the type of the session it arrives in. "" counts as direct, an
	// unknown type as a group.
	Session parley.SessionType
	// Role is that of the principal; "" is nobody's.
	Role parley.Role
	// Mentioned says whether the agent was mentioned. Nil means that the surface
	// cannot tell, and counts as true.
	Mentioned *bool
	// Bot says that a program wrote it: a bot or a webhook.
	Bot bool
	// Self says that the agent's own account wrote it: what the agent said comes
	// back from the platform.
	Self bool
	// AllowBots is set where a route lets programs trigger turns. Who sets it
	// limits their rate.
	AllowBots bool
}

// Directed reports whether the message is for the agent: it was mentioned, or the
// surface cannot tell. It is what an input keeps as mentioned, and [Prefix] takes.
func (a Arrival) Directed() bool { return a.Mentioned == nil || *a.Mentioned }

// Mode is what to do with a message.
type Mode string

// The modes.
const (
	ModeTurn   Mode = "turn"       // log it, and take a turn
	ModeStore  Mode = "store_only" // log it; the next turn sees it
	ModeIgnore Mode = "ignore"     // do neither
)

// Reason says why, in one word that programs may compare.
type Reason string

// The reasons.
const (
	ReasonDirect       Reason = "direct"
	ReasonMentioned    Reason = "mentioned"
	ReasonOwner        Reason = "owner"
	ReasonNotMentioned Reason = "not_mentioned"
	ReasonBot          Reason = "bot"
	ReasonSelf         Reason = "self"
)

// Verdict is what to do with a message, and why: in a word, and in a sentence for
// people.
type Verdict struct {
	Mode   Mode
	Reason Reason
	Why    string
}

// Decide says whether a message makes the agent take a turn. In this order:
//
//  1. What the agent's own account wrote is ignored, whatever a route allows: it
//     is in the log already, and answering it would never end.
//  2. What a program wrote is only logged, unless a route allows more. Then it is
//     treated like a message of somebody who is not an owner.
//  3. In a direct chat everything triggers a turn.
//  4. In a group a message that mentions the agent does; one that does not is
//     only logged, except an owner's, which triggers unless the configuration
//     says otherwise.
func Decide(a Arrival, cfg Config) Verdict {
	switch {
	case a.Self:
		return Verdict{ModeIgnore, ReasonSelf, "the agent wrote it itself"}
	case a.Bot && !a.AllowBots:
		return Verdict{ModeStore, ReasonBot, "a program wrote it, and no route lets programs trigger a turn"}
	case isDirect(a.Session):
		return Verdict{ModeTurn, ReasonDirect, "it is a direct chat"}
	case a.Directed():
		return Verdict{ModeTurn, ReasonMentioned, "it mentions the agent"}
	case a.Role == parley.RoleOwner && !a.Bot && !cfg.OwnersMention:
		return Verdict{ModeTurn, ReasonOwner, "an owner wrote it"}
	}
	return Verdict{ModeStore, ReasonNotMentioned, "it does not mention the agent"}
}

func isDirect(t parley.SessionType) bool { return t == "" || t == parley.SessionDirect }
