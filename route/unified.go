package route

import (
	"strings"

	"github.com/parley-run/parley"
)

// ChannelUnified is the channel in the scope of unified conversations. No surface may
// call itself so.
const ChannelUnified = "unified"

// unifiedOwner is whose the conversation of owners is.
const unifiedOwner = "default"

// unifiedUser says whether the message goes to a user's one conversation, and
// under which name.
func (rt *Router) unifiedUser(req *Request, f *facts, w *why) (name string, ok bool) {
	switch {
	case req.Key != "" || !given(req.Unified, rt.unified):
		return "", false
	case !f.direct():
		w.add("not unified: only direct messages are")
		return "", false
	case req.Role == parley.RoleOwner:
		return unifiedOwner, true
	case req.User == "":
		w.add("not unified: it is not known which user wrote this")
		return "", false
	}
	name = string(req.User)
	if name == unifiedOwner || strings.HasPrefix(name, "user:") {
		name = "user:" + name // nobody gets the owner's by their name
	}
	return name, true
}

// unify makes the conversation that of a user. Agents do not share one, because
// a session has one agent.
func (r *Resolution) unify(standard, user string, w *why) {
	r.Unified = true
	r.Dimensions = []parley.Dimension{parley.DimensionSender}
	r.Scope = parley.Scope{
		Version: scopeVersion, Agent: r.Agent, Channel: ChannelUnified, Account: defaultAccount,
		Dimensions: r.Dimensions, Values: map[parley.Dimension]string{parley.DimensionSender: user},
	}
	r.Signature = Signature(r.Scope)
	r.Key = hash(r.Signature)
	name := parley.Alias("unified:" + user)
	if r.Agent != standard {
		name = parley.Alias("agent:"+r.Agent+":") + name
	}
	r.Aliases = []parley.Alias{name}
	r.Claims = r.Aliases
	w.add("unified: the direct messages of this user share one conversation, on whichever channel")
	w.add("private: one user's")
}
