package route

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

// Request asks where a message goes. All but the inbound is optional; what is
// not given comes from the configuration.
type Request struct {
	Inbound parley.Inbound
	// Agent is asked for by name. It wins over routes.
	Agent string
	// Key is a key or an alias that the caller already has, or a name of their
	// own for a conversation. It is used as given, once it was checked that the
	// caller may; the name of an agent's own conversation becomes its key.
	Key string
	// User and Role are the principal's, for unified conversations.
	User parley.UserID
	Role parley.Role
	// Dimensions are taken literally. Nil: those of the route or configuration.
	Dimensions []parley.Dimension
	// These replace what the configuration says.
	GroupSessionsPerUser  *bool
	ThreadSessionsPerUser *bool
	Unified               *bool
	Links                 *Links
	// Explain asks for [Resolution.Why].
	Explain bool
}

// Resolution is where a message goes.
type Resolution struct {
	// Agent answers.
	Agent string
	// Route is the number of the route that matched, or -1.
	Route int
	// Dimensions are the effective ones; those without a value are not in the
	// scope.
	Dimensions []parley.Dimension
	Scope      parley.Scope
	Signature  string
	Key        parley.Key
	// Aliases are the names such messages have in older formats. Claims are
	// those of them that the key may claim, because they lead to no other key.
	Aliases []parley.Alias
	Claims  []parley.Alias
	// MainKey and MainAlias name the agent's own conversation.
	MainKey   parley.Key
	MainAlias parley.Alias
	// TextKey is a readable name, for people. It may be empty.
	TextKey string
	// Shared is set if several people may be in the conversation.
	Shared bool
	// Explicit is set if Key is a name that the caller gave, which may be an
	// alias: the session it leads to says which scope it has and who is in it.
	Explicit bool
	// Creatable is set if the conversation may be made where there is none. It
	// is not for a key or an alias that the caller gave: such names belong to
	// what routing decides, so they only lead to what is there. An agent's own
	// conversation and names that look like neither may be made.
	Creatable bool
	// AllowBots is set if the route lets messages of programs trigger turns.
	AllowBots bool
	// Unified is set if the conversation is one user's for all channels.
	Unified bool
	// Why says in short sentences how each part came about, if it was asked for.
	Why []string

	facts     facts
	promoters []parley.Alias
	refusal   error
}

// Refusal says why the conversation cannot be opened or written to, or gives
// nil: [parley.CodeInvalid] if nothing in the message identifies a chat, or it has
// none of the dimensions that are listed, so that strangers would share a
// conversation; [parley.CodeInvalid] or
// [parley.CodeTooLarge] if an id, a channel or a name that was given is such that
// it cannot be stored. The key is given all the same, so that people can look
// into it.
func (r *Resolution) Refusal() error { return r.refusal }

// Resolve gives the conversation of a message. It fails with
// [parley.CodeInvalid] if the request names a dimension, role or key that cannot
// be.
func (rt *Router) Resolve(req Request) (Resolution, error) {
	w := why{on: req.Explain}
	f := read(&req.Inbound)
	links := rt.links
	if req.Links != nil {
		links = req.Links
	}
	if name, id := links.find(f.channel, f.sender); name != "" {
		f.linked, f.entry = name, id
	}
	w.sender(&f)
	res := Resolution{Route: -1, Creatable: true}
	for i := range rt.routes {
		if rt.routes[i].matches(&f, links) {
			res.Route, res.AllowBots = i, rt.routes[i].bots
			break
		}
	}
	res.Agent = rt.chooseAgent(&req, res.Route, &w)
	res.MainKey, res.MainAlias = Main(res.Agent)

	var err error
	switch user, unified := rt.unifiedUser(&req, &f, &w); {
	case req.Key != "":
		err = rt.explicit(&res, &f, req.Key, &w)
	case unified:
		res.unify(rt.agent, user, &w)
	default:
		if res.Dimensions, err = rt.chooseDimensions(&req, res.Route, &f, &w); err == nil {
			res.route(&f, &w)
		}
	}
	if err == nil {
		err = checkRole(req.Role)
	}
	if err != nil {
		return Resolution{}, err
	}
	res.facts = f
	res.refusal = res.refuse()
	w.refusal(res.refusal)
	res.Why = w.lines
	return res, nil
}

func (rt *Router) chooseAgent(req *Request, route int, w *why) string {
	switch {
	case strings.TrimSpace(req.Agent) != "":
		agent := token(req.Agent, defaultAgent)
		w.add("agent ", agent, ": asked for")
		return agent
	case route >= 0:
		w.add("agent ", rt.routes[route].agent, ": routes[", strconv.Itoa(route), "] matches")
		return rt.routes[route].agent
	}
	w.add("agent ", rt.agent, ": the default")
	return rt.agent
}

// chooseDimensions gives the effective dimensions, including those for which
// this message has no value.
func (rt *Router) chooseDimensions(req *Request, route int, f *facts, w *why) ([]parley.Dimension, error) {
	if req.Dimensions != nil {
		dims, problems := compileDimensions(req.Dimensions, "dimensions")
		if len(problems) > 0 {
			return nil, parley.Errorf(parley.CodeInvalid, "%s", problems[0].Message)
		}
		w.dimensions(dims, "asked for")
		return dims, nil
	}
	if route >= 0 && rt.routes[route].dimensions != nil {
		w.dimensions(rt.routes[route].dimensions, "as the route says")
		return slices.Clone(rt.routes[route].dimensions), nil
	}
	w.dimensions(rt.dimensions, "as configured")
	group, thread := given(req.GroupSessionsPerUser, rt.group), given(req.ThreadSessionsPerUser, rt.thread)
	topic, sender := addedDimensions(rt.dimensions, f, group, thread)
	w.added(f, topic, sender, group, thread)
	dims := slices.Grow(slices.Clone(rt.dimensions), 2)
	if topic {
		dims = append(dims, parley.DimensionTopic)
	}
	if sender {
		dims = append(dims, parley.DimensionSender)
	}
	return dims, nil
}

func given(asked *bool, configured bool) bool {
	if asked != nil {
		return *asked
	}
	return configured
}

// route fills in what follows from the dimensions.
func (r *Resolution) route(f *facts, w *why) {
	r.Scope = f.scope(r.Agent, r.Dimensions)
	r.Signature = Signature(r.Scope)
	r.Key = hash(r.Signature)
	isForum := forum(r.Dimensions, f)
	r.TextKey = f.textKey(r.Agent, r.Dimensions, isForum)
	r.Shared = shared(&r.Scope)
	for _, a := range f.aliases(r.Agent) {
		r.Aliases = append(r.Aliases, a.name)
		if a.wider(&r.Scope, isForum) || a.name.Validate() != nil {
			continue
		}
		r.Claims = append(r.Claims, a.name)
		if a.channel && a.exact(&r.Scope, isForum) {
			r.promoters = append(r.promoters, a.name)
		}
	}
	w.scope(r, f, isForum)
}

func checkRole(role parley.Role) error {
	switch role {
	case "", parley.RoleOwner, parley.RoleUser, parley.RoleGuest:
		return nil
	}
	return parley.Errorf(parley.CodeInvalid, "there is no role %s; the roles are owner, user and guest", quote(string(role)))
}
