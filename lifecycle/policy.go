package lifecycle

import (
	"time"

	"github.com/parley-run/parley"
)

// Mode says which clocks start a conversation anew.
type Mode string

// The modes.
const (
	ModeNone  Mode = "none"  // no clock does
	ModeIdle  Mode = "idle"  // nobody wrote for some time
	ModeDaily Mode = "daily" // a day began
	ModeBoth  Mode = "both"  // whichever comes first
)

// Carry says what the session after a reset starts with.
type Carry string

// What is carried over.
const (
	CarryTail Carry = "tail" // the last messages of the session before
	CarryNone Carry = "none" // nothing
)

// What a zero field of a [Policy] or [Resume] stands for, and how long a session
// stays in lists if the configuration says nothing.
const (
	DefaultAtHour        = 4
	DefaultIdle          = 24 * time.Hour
	DefaultFreshness     = time.Hour
	DefaultStrikes       = 3
	DefaultInactiveAfter = 30 * 24 * time.Hour
)

// MaxIdle is the longest time without activity that a policy can name.
const MaxIdle = 100 * 365 * 24 * time.Hour

// Policy says when the clock resets a session, and how. The zero value is the
// default.
type Policy struct {
	// Mode is which clocks count; "" means both.
	Mode Mode
	// AtHour is the hour of the wall clock at which a day begins, 0 to 23; nil
	// means 4.
	AtHour *int
	// Idle is how long nobody may have written; 0 means 24 hours.
	Idle time.Duration
	// Zone is whose wall clock it is; nil means the machine's.
	Zone *time.Location
	// Quiet leaves out the notice that tells people about a reset.
	Quiet bool
	// Carry is what the next session starts with; "" means the tail.
	Carry Carry
}

// Validate reports whether p makes sense: [parley.CodeInvalid] for an unknown
// mode or carry, an hour outside 0 to 23, and an idle time that is negative or
// above [MaxIdle].
func (p Policy) Validate() error {
	switch p.Mode {
	case "", ModeNone, ModeIdle, ModeDaily, ModeBoth:
	default:
		return parley.Errorf(parley.CodeInvalid, "reset mode %q is not known; it must be none, idle, daily or both", p.Mode)
	}
	switch p.Carry {
	case "", CarryTail, CarryNone:
	default:
		return parley.Errorf(parley.CodeInvalid, "reset carry %q is not known; it must be tail or none", p.Carry)
	}
	if h := p.hour(); h < 0 || h > 23 {
		return parley.Errorf(parley.CodeInvalid, "reset hour %d does not exist; it must be 0 to 23", h)
	}
	if p.Idle < 0 || p.Idle > MaxIdle {
		return parley.Errorf(parley.CodeInvalid, "idle time %s is not possible; it must be above zero and at most %d years", p.Idle, MaxIdle/(365*24*time.Hour))
	}
	return nil
}

func (p Policy) mode() Mode {
	if p.Mode == "" {
		return ModeBoth
	}
	return p.Mode
}

func (p Policy) hour() int {
	if p.AtHour == nil {
		return DefaultAtHour
	}
	return *p.AtHour
}

func (p Policy) idle() time.Duration {
	if p.Idle == 0 {
		return DefaultIdle
	}
	return p.Idle
}

func (p Policy) zone() *time.Location {
	if p.Zone == nil {
		return time.Local
	}
	return p.Zone
}

func (p Policy) carry() Carry {
	if p.Carry == "" {
		return CarryTail
	}
	return p.Carry
}

func (p Policy) hasIdle() bool  { return p.mode() == ModeIdle || p.mode() == ModeBoth }
func (p Policy) hasDaily() bool { return p.mode() == ModeDaily || p.mode() == ModeBoth }

// Policies says which policy holds where. The zero value is the default policy
// everywhere.
type Policies struct {
	Default  Policy
	Types    map[parley.SessionType]Policy
	Channels map[string]ChannelPolicies // by the channel's name in scopes
}

// ChannelPolicies are the policies of one channel.
type ChannelPolicies struct {
	Default *Policy // nil: the channel has none of its own
	Types   map[parley.SessionType]Policy
}

// Rule says which of several policies was taken.
type Rule string

// The rules, the first one that has a policy wins.
const (
	RuleChannelType Rule = "channel and type"
	RuleChannel     Rule = "channel"
	RuleType        Rule = "type"
	RuleDefault     Rule = "default"
)

// For gives the policy for sessions of a type in a channel: that of the channel
// and type, else of the channel, else of the type, else the default. It is taken
// as it stands; what it leaves out is not filled in from another.
func (ps Policies) For(channel string, t parley.SessionType) (Policy, Rule) {
	of := ps.Channels[channel]
	if p, ok := of.Types[t]; ok {
		return p, RuleChannelType
	}
	if of.Default != nil {
		return *of.Default, RuleChannel
	}
	if p, ok := ps.Types[t]; ok {
		return p, RuleType
	}
	return ps.Default, RuleDefault
}

// Validate reports the first policy, if any, that makes no sense, and where it
// stands: [parley.CodeInvalid]. Types are direct and group.
func (ps Policies) Validate() error {
	if err := ps.Default.Validate(); err != nil {
		return err
	}
	if err := validateTypes("", ps.Types); err != nil {
		return err
	}
	for _, name := range sortedKeys(ps.Channels) {
		of := ps.Channels[name]
		where := "channel " + name + ": "
		if of.Default != nil {
			if err := at(where, of.Default.Validate()); err != nil {
				return err
			}
		}
		if err := validateTypes(where, of.Types); err != nil {
			return err
		}
	}
	return nil
}

func validateTypes(where string, types map[parley.SessionType]Policy) error {
	for _, t := range sortedKeys(types) {
		if t != parley.SessionDirect && t != parley.SessionGroup {
			return parley.Errorf(parley.CodeInvalid, "%ssession type %q is not known; it must be direct or group", where, t)
		}
		if err := at(where+"type "+string(t)+": ", types[t].Validate()); err != nil {
			return err
		}
	}
	return nil
}
