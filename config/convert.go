package config

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/route"
)

// Route gives what the package route needs to know.
func (c *Config) Route() route.Config {
	r := route.Config{
		Agents:                slices.Sorted(maps.Keys(c.Agents)),
		DefaultAgent:          MainAgent,
		Dimensions:            c.Session.Dimensions,
		GroupSessionsPerUser:  c.Session.GroupSessionsPerUser,
		ThreadSessionsPerUser: c.Session.ThreadSessionsPerUser,
		Unified:               c.Session.Unified,
		IdentityLinks:         c.Session.IdentityLinks,
	}
	for _, rt := range c.Routes {
		r.Routes = append(r.Routes, route.Route{Match: route.Match(rt.Match), Agent: rt.Agent, Dimensions: rt.Dimensions, Bots: rt.Bots})
	}
	return r
}

// Policies gives when sessions are reset, by channel and type.
func (c *Config) Policies() lifecycle.Policies {
	ps := lifecycle.Policies{Default: c.Session.Reset.policy(), Types: c.Session.Reset.types()}
	for name, ch := range c.Channels {
		reset := ch.Session.Reset
		if reset == nil {
			continue
		}
		if ps.Channels == nil {
			ps.Channels = map[string]lifecycle.ChannelPolicies{}
		}
		p := reset.policy()
		ps.Channels[name] = lifecycle.ChannelPolicies{Default: &p, Types: reset.types()}
	}
	return ps
}

// Bots gives the bots of a channel by their accounts; the one without a name is "".
func (c Channel) Bots() map[string]Bot {
	bots := maps.Clone(c.Accounts)
	if bots == nil {
		bots = map[string]Bot{}
	}
	if !c.Token.IsZero() {
		bots[""] = c.Bot
	}
	return bots
}

func (r Reset) types() map[parley.SessionType]lifecycle.Policy {
	if len(r.ByType) == 0 {
		return nil
	}
	types := make(map[parley.SessionType]lifecycle.Policy, len(r.ByType))
	for name, p := range r.ByType {
		types[parley.SessionType(name)] = p.policy()
	}
	return types
}

func (p Policy) policy() lifecycle.Policy {
	hour := p.AtHour
	l := lifecycle.Policy{
		Mode: lifecycle.Mode(p.Mode), AtHour: &hour, Idle: time.Duration(p.IdleMinutes) * time.Minute,
		Quiet: !p.Notify, Carry: lifecycle.Carry(p.Carry),
	}
	// A zone that cannot be loaded was refused when the file was read.
	if zone, err := time.LoadLocation(p.Zone); err == nil && p.Zone != "" {
		l.Zone = zone
	}
	return l
}

// Resume gives which turns go on by themselves after a stop.
func (c *Config) Resume() lifecycle.Resume {
	freshness := c.Session.Resume.Freshness
	return lifecycle.Resume{Freshness: &freshness, Strikes: c.Session.Resume.Strikes}
}
