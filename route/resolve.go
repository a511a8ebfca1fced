package route

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// Request asks where a message goes. All but the inbound is optional; what is
// not given comes from the configuration.
type Request struct {
	Inbound parley.Inbound
	// Agent is asked for by name. It wins over routes.
	Agent string
	// Key is a key or an alias that the caller already has. It is used as given,
	// once it was checked that the caller may.
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
	// Unified is set if the conversation is one user's for all channels.
	Unified bool
	// Why says in short sentences how each part came about, if it was asked for.
	Why []string

	facts     facts
	promoters []parley.Alias
	refusal   error
}

// Refusal says why the conversation cannot be opened or written to, or gives
// nil: [parley.CodeInvalid] if nothing in the message identifies a chat, so that
// strangers would share a conversation; [parley.CodeInvalid] or
// [parley.CodeTooLarge] if an id is such that it cannot be stored. The key is
// given all the same, so that people can look into it.
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
	res := Resolution{Route: -1}
	for i := range rt.routes {
		if rt.routes[i].matches(&f, links) {
			res.Route = i
			break
		}
	}
	res.Agent = rt.chooseAgent(&req, res.Route, &w)
	res.MainKey, res.MainAlias = Main(res.Agent)

	var err error
	switch user, unified := rt.unifiedUser(&req, &f, &w); {
	case req.Key != "":
		err = res.explicit(&f, req.Key, &w)
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

// explicit uses the name the caller gave.
func (r *Resolution) explicit(f *facts, name string, w *why) error {
	if err := parley.Alias(name).Validate(); err != nil {
		return err
	}
	if digits, ok := strings.CutPrefix(name, keyPrefix); ok && !isHash(digits) {
		return parley.Errorf(parley.CodeInvalid, "%s is not a key; one that starts with %s goes on with 64 hex digits in lower case", quote(name), keyPrefix)
	}
	r.Key, r.Explicit, r.Shared = parley.Key(name), true, !f.direct()
	r.Scope = parley.Scope{Version: scopeVersion, Agent: r.Agent, Channel: f.channel, Account: f.account}
	w.add("key: given, and used as it is")
	return nil
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func checkRole(role parley.Role) error {
	switch role {
	case "", parley.RoleOwner, parley.RoleUser, parley.RoleGuest:
		return nil
	}
	return parley.Errorf(parley.CodeInvalid, "there is no role %s; the roles are owner, user and guest", quote(string(role)))
}

// refuse says why the conversation must not be opened.
func (r *Resolution) refuse() error {
	f := &r.facts
	if r.Explicit {
		return nil
	}
	if !r.Unified {
		_, bySpace := r.Scope.Values[parley.DimensionSpace]
		_, bySender := r.Scope.Values[parley.DimensionSender]
		switch {
		case f.noChannel:
			return parley.Errorf(parley.CodeInvalid, "the message has no channel, so nobody knows where it comes from; name one")
		case f.channel == channelUnified:
			return parley.Errorf(parley.CodeInvalid, "the channel %s is Parley's own; give the surface another name", channelUnified)
		case f.chat == "" && !bySender && (!bySpace || slices.Contains(r.Dimensions, parley.DimensionChat)):
			return parley.Errorf(parley.CodeInvalid, "nothing in the message identifies a chat, so strangers would share the conversation; give a chat id")
		}
	}
	for _, part := range [...]struct {
		what, value string
		most        int
	}{
		{"channel", r.Scope.Channel, parley.MaxNameBytes},
		{"space", r.Scope.Values[parley.DimensionSpace], parley.MaxAliasBytes},
		{"chat", r.Scope.Values[parley.DimensionChat], parley.MaxAliasBytes},
		{"topic", r.Scope.Values[parley.DimensionTopic], parley.MaxAliasBytes},
		{"sender", r.Scope.Values[parley.DimensionSender], parley.MaxAliasBytes},
	} {
		if len(part.value) > part.most {
			return parley.Errorf(parley.CodeTooLarge, "the %s is %d bytes long; at most %d are allowed", part.what, len(part.value), part.most)
		}
		if strings.ContainsRune(part.value, utf8.RuneError) || strings.IndexFunc(part.value, unicode.IsControl) >= 0 {
			return parley.Errorf(parley.CodeInvalid, "the %s %s holds characters that no id may: control characters, or bytes that are not UTF-8", part.what, quote(part.value))
		}
	}
	return nil
}
