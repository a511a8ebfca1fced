package route

import (
	"strings"

	"github.com/parley-run/parley"
)

// explicit uses the name the caller gave.
func (rt *Router) explicit(r *Resolution, f *facts, name string, w *why) error {
	if err := parley.Alias(name).Validate(); err != nil {
		return err
	}
	digits, canonical := strings.CutPrefix(name, keyPrefix)
	if canonical && !isHash(digits) {
		return parley.Errorf(parley.CodeInvalid, "%s is not a key; one that starts with %s goes on with 64 hex digits in lower case", quote(name), keyPrefix)
	}
	r.Key, r.Explicit, r.Shared = parley.Key(name), true, !f.direct()
	agent, ok := rt.mainAgent(r, name)
	switch {
	case ok:
		r.own(agent, w)
	case canonical || aliasForm(name):
		r.Creatable = false
		w.add("key: given, and used as it is; it leads to what is there, and nothing is made by it")
	default:
		w.add("key: given, and used as it is")
	}
	r.Scope = parley.Scope{Version: scopeVersion, Agent: r.Agent, Channel: f.channel, Account: f.account}
	return nil
}

// own makes the conversation an agent's own, by whichever name it was asked for.
func (r *Resolution) own(agent string, w *why) {
	if agent != r.Agent {
		w.add("agent ", agent, ": its own conversation was asked for")
	}
	r.Agent = agent
	r.MainKey, r.MainAlias = Main(agent)
	r.Key, r.Aliases = r.MainKey, []parley.Alias{r.MainAlias}
	r.Claims = r.Aliases
	w.add("key: the agent's own conversation was asked for")
}

// mainAgent gives the agent whose own conversation a name is. By its alias every
// agent's is known; by its key that of the agents the configuration names, and
// of the one that answers.
func (rt *Router) mainAgent(r *Resolution, name string) (agent string, ok bool) {
	if parley.Key(name) == r.MainKey {
		return r.Agent, true
	}
	if agent, ok := rt.mains[parley.Key(name)]; ok {
		return agent, true
	}
	rest, ok := strings.CutPrefix(name, "agent:")
	if !ok {
		return "", false
	}
	agent, ok = strings.CutSuffix(rest, ":main")
	return agent, ok && plainToken(agent)
}

// aliasForm reports whether a name looks like one that routing gives.
func aliasForm(name string) bool {
	name = text(name)
	return strings.HasPrefix(name, "agent:") || strings.HasPrefix(name, ChannelUnified+":")
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}
