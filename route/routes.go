package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

// compiledRoute is a route in normal form.
type compiledRoute struct {
	channel, account string
	space, chat      pattern
	topic, sender    string
	whatsApp         string // the sender as WhatsApp ids are compared, if it may be one
	agent            string
	dimensions       []parley.Dimension // nil: those of the configuration
	bots             bool
}

// matches reports whether the route is for the message.
func (r *compiledRoute) matches(f *facts, links *Links) bool {
	switch {
	case r.channel != "" && r.channel != f.channel,
		r.account != "" && r.account != f.account,
		!r.space.matches("", f.spaceType, f.space),
		!r.chat.matches(f.channel, f.scopeType(), f.chat),
		r.topic != "" && r.topic != f.topic:
		return false
	case r.sender == "":
		return true
	case f.sender == "":
		return false
	}
	want := linkedSender(links, f.channel, r.sender)
	if want == f.linked || want == f.channel+":"+f.sender {
		return true
	}
	return f.channel == channelWhatsApp && r.whatsApp != "" && linkedSender(links, f.channel, r.whatsApp) == f.linked
}

// linkedSender gives the name behind a sender that a route names, or what it
// says itself.
func linkedSender(links *Links, channel, sender string) string {
	if name, _ := links.find(channel, sender); name != "" {
		return name
	}
	return sender
}

// covers reports whether r matches every message that other matches.
func (r *compiledRoute) covers(other *compiledRoute, links *Links) bool {
	return (r.channel == "" || r.channel == other.channel) &&
		(r.account == "" || r.account == other.account) &&
		r.space.covers(other.space, "") && r.chat.covers(other.chat, other.channel) &&
		(r.topic == "" || r.topic == other.topic) &&
		(r.sender == "" || r.senderOn(other.channel, links) == other.senderOn(other.channel, links))
}

// senderOn gives the sender of a route in the one form that it has on a channel.
func (r *compiledRoute) senderOn(channel string, links *Links) string {
	sender := r.sender
	if channel == channelWhatsApp && r.whatsApp != "" {
		sender = r.whatsApp
	} else if channel != "" {
		sender = strings.TrimPrefix(sender, channel+":")
	}
	return linkedSender(links, channel, sender)
}

// compileRoutes brings routes into normal form and says what is wrong with them.
func compileRoutes(list []Route, agent string, agents map[string]bool, links *Links) ([]compiledRoute, []Problem) {
	var problems []Problem
	routes := make([]compiledRoute, 0, len(list))
	for i, r := range list {
		at := []string{"routes", strconv.Itoa(i)}
		problems = append(problems, checkMatch(r.Match, at)...)
		dims, wrong := compileDimensions(r.Dimensions, append(slices.Clone(at), "dimensions")...)
		problems = append(problems, wrong...)
		c := compileMatch(r.Match)
		if c.channel != "" && links.elsewhere(c.channel, c.sender) {
			problems = append(problems, Problem{
				Path: append(slices.Clone(at), "match", "sender"), Warning: true,
				Message: fmt.Sprintf("%s has no id on the channel %s, so the route matches nobody; add one to session.identity_links", quote(r.Match.Sender), c.channel),
			})
		}
		c.agent, c.dimensions, c.bots = agent, dims, r.Bots
		if strings.TrimSpace(r.Agent) != "" {
			c.agent = token(r.Agent, defaultAgent)
		}
		if len(agents) > 0 && !agents[c.agent] && c.agent != agent {
			problems = append(problems, Problem{
				Path:    append(slices.Clone(at), "agent"),
				Message: fmt.Sprintf("there is no agent %s; there are: %s", quote(r.Agent), names(agents)),
			})
		}
		for j := range routes {
			if routes[j].covers(&c, links) {
				problems = append(problems, Problem{
					Path:    append(slices.Clone(at), "match"),
					Message: fmt.Sprintf("the route can never match, because routes[%d] matches all of its messages first; move it up, or remove it", j),
				})
				break
			}
		}
		routes = append(routes, c)
	}
	return routes, problems
}

func compileMatch(m Match) compiledRoute {
	c := compiledRoute{channel: text(m.Channel), sender: text(m.Sender)}
	if strings.TrimSpace(m.Account) != "" {
		c.account = token(m.Account, defaultAccount)
	}
	c.space, c.chat = newPattern(m.Space), newPattern(m.Chat)
	c.topic, _ = strings.CutPrefix(text(m.Topic), "topic:")
	c.whatsApp = whatsAppOf(c.sender)
	return c
}

// checkMatch finds fields that match nothing, or, being blank, everything.
func checkMatch(m Match, at []string) []Problem {
	var problems []Problem
	for _, f := range []struct {
		name, value string
		typed       bool
	}{
		{"channel", m.Channel, false},
		{"account", m.Account, false},
		{"space", m.Space, true},
		{"chat", m.Chat, true},
		{"topic", m.Topic, false},
		{"sender", m.Sender, false},
	} {
		path := append(slices.Clone(at), "match", f.name)
		typ, id, ok := strings.Cut(strings.TrimSpace(f.value), ":")
		switch {
		case f.value != "" && strings.TrimSpace(f.value) == "":
			problems = append(problems, Problem{Path: path, Message: "is blank; leave it out to match anything"})
		case f.typed && ok && (typ == "" || strings.TrimSpace(id) == ""):
			problems = append(problems, Problem{
				Path:    path,
				Message: fmt.Sprintf("%s never matches; write it as <type>:<id>, such as group:-1001, or as the id alone", quote(f.value)),
			})
		}
	}
	return problems
}
