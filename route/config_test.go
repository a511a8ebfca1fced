package route_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	match := func(m route.Match) route.Route { return route.Route{Match: m} }
	for name, c := range map[string]struct {
		cfg  route.Config
		want []string // the path, then words of the message; a warning has a ? before it
	}{
		"nothing configured":  {route.Config{}, nil},
		"all is well":         {route.Config{Agents: []string{"main", "ops"}, Dimensions: dims{"space", "chat"}, IdentityLinks: map[string][]string{"ann": {"x:1", "y:1"}, "bob": {"x:2"}}, Routes: []route.Route{{Match: route.Match{Channel: "x"}, Agent: "OPS", Dimensions: dims{}}, match(route.Match{Channel: "y"}), match(route.Match{})}}, nil},
		"unknown dimension":   {route.Config{Dimensions: dims{"chat", "room"}}, []string{`session.dimensions[1]: there is no dimension "room"; the dimensions are space, chat, topic and sender`}},
		"default agent":       {route.Config{Agents: []string{"ops", "news"}}, []string{"agents: the default agent main is not among the agents: news, ops"}},
		"agents alike":        {route.Config{Agents: []string{"main", "my ops", "My-Ops"}}, []string{`agents.My-Ops: agents "my ops" and "My-Ops" are both named my-ops`}},
		"route's agent":       {route.Config{Agents: []string{"main"}, Routes: []route.Route{{Agent: "ops"}}}, []string{`routes[0].agent: there is no agent "ops"; there are: main`}},
		"route's dimension":   {route.Config{Routes: []route.Route{{Dimensions: dims{"chats"}}}}, []string{`routes[0].dimensions[0]: there is no dimension "chats"`}},
		"one id twice":        {route.Config{IdentityLinks: map[string][]string{"ann": {"x:1"}, "bob": {"y:3", " X:1 "}}}, []string{`session.identity_links.bob[1]: the id "x:1" is claimed by "ann" too`}},
		"one id, two forms":   {route.Config{IdentityLinks: map[string][]string{"ann": {"x:1"}, "bob": {"1"}}}, []string{`? session.identity_links.bob[0]: the id "1" has no channel`, `session.identity_links.ann[0]: the id "x:1" is claimed by "bob" too, with "1"`}},
		"one id, three forms": {route.Config{IdentityLinks: map[string][]string{"ann": {"slack:x:1"}, "bob": {"1"}}}, []string{`? session.identity_links.bob[0]`, `session.identity_links.ann[0]: the id "slack:x:1" is claimed by "bob" too, with "1"`}},
		"one person, twice":   {route.Config{IdentityLinks: map[string][]string{"ann": {"x:1", "x:1", "y:x:1"}}}, nil},
		"bare id":             {route.Config{IdentityLinks: map[string][]string{"ann": {"", "999"}}}, []string{`? session.identity_links.ann[1]: the id "999" has no channel`}},
		"WhatsApp ids":        {route.Config{IdentityLinks: map[string][]string{"ann": {"whatsapp:1555", "whatsapp:+1556", "WhatsApp:1557@s.whatsapp.net", "1558:47@s.whatsapp.net", "signal:+1559"}}}, []string{`? session.identity_links.ann[1]: the id "whatsapp:+1556" never matches, because WhatsApp ids count without server, device and plus sign; write whatsapp:1556`, `? session.identity_links.ann[2]: the id "whatsapp:1557@s.whatsapp.net" never matches`, `? session.identity_links.ann[3]: the id "1558:47@s.whatsapp.net" never matches, because WhatsApp ids count without server, device and plus sign; write whatsapp:1558`}},
		"blank name":          {route.Config{IdentityLinks: map[string][]string{" ": {"x:1"}}}, []string{`? session.identity_links. : the name is blank`}},
		"names alike":         {route.Config{IdentityLinks: map[string][]string{"Ann": {"x:1"}, "ann": {"x:2"}}}, []string{`? session.identity_links.ann: is the same name as "Ann"`}},
		"never, after all":    {route.Config{Routes: []route.Route{match(route.Match{}), match(route.Match{Chat: "group:1"})}}, []string{"routes[1].match: the route can never match, because routes[0]"}},
		"never, by an id":     {route.Config{Routes: []route.Route{match(route.Match{Chat: "-1"}), match(route.Match{Channel: "x", Chat: "group:-1", Topic: "4"})}}, []string{"routes[1].match: the route can never match"}},
		"never, by a name":    {route.Config{IdentityLinks: map[string][]string{"ann": {"x:1"}}, Routes: []route.Route{match(route.Match{Sender: "ann"}), match(route.Match{Channel: "x", Sender: "1"})}}, []string{"routes[1].match: the route can never match"}},
		"never, by a type":    {route.Config{Routes: []route.Route{match(route.Match{Chat: "dm:1", Space: "Guild: 7"}), match(route.Match{Chat: "direct: 1", Space: "guild:7"})}}, []string{"routes[1].match: the route can never match"}},
		"never, by a channel": {route.Config{Routes: []route.Route{match(route.Match{Sender: "x:1"}), match(route.Match{Channel: "x", Sender: "1"})}}, []string{"routes[1].match: the route can never match"}},
		"never, on WhatsApp":  {route.Config{Routes: []route.Route{match(route.Match{Sender: "+1555"}), match(route.Match{Channel: "whatsapp", Sender: "1555@lid"}), match(route.Match{Chat: "+1666"}), match(route.Match{Channel: "whatsapp", Chat: "dm:1666@lid"})}}, []string{"routes[1].match: the route can never match, because routes[0]", "routes[3].match: the route can never match, because routes[2]"}},
		"not never, by type":  {route.Config{Routes: []route.Route{match(route.Match{Chat: "dm:1"}), match(route.Match{Chat: "group:1"}), match(route.Match{Chat: "direct:2"}), match(route.Match{Channel: "signal", Chat: "+1"}), match(route.Match{Channel: "signal", Chat: "direct:1:2"}), match(route.Match{Channel: "x", Sender: "y:1"}), match(route.Match{Channel: "x", Sender: "1"})}}, nil},
		"a name elsewhere":    {route.Config{IdentityLinks: map[string][]string{"Ann": {"x:1"}}, Routes: []route.Route{match(route.Match{Channel: "y", Sender: "ANN"}), match(route.Match{Channel: "x", Sender: "ann"}), match(route.Match{Channel: "y", Sender: "bob"})}}, []string{`? routes[0].match.sender: "ANN" has no id on the channel y, so the route matches nobody; add one to session.identity_links`}},
		"a name of a bare id": {route.Config{IdentityLinks: map[string][]string{"ann": {"x:1", "7"}}, Routes: []route.Route{match(route.Match{Channel: "y", Sender: "ann"})}}, []string{`? session.identity_links.ann[1]: the id "7" has no channel`}},
		"not never":           {route.Config{Routes: []route.Route{match(route.Match{Channel: "x", Chat: "group:-1"}), match(route.Match{Chat: "group:-1"}), match(route.Match{Chat: "-1"}), match(route.Match{Channel: "x", Topic: "1"}), match(route.Match{Channel: "x", Account: "b"}), match(route.Match{Channel: "x", Space: "s"}), match(route.Match{Channel: "x", Sender: "7"})}}, nil},
		"blank":               {route.Config{Routes: []route.Route{match(route.Match{Sender: "  "})}}, []string{"routes[0].match.sender: is blank; leave it out to match anything"}},
		"a type alone":        {route.Config{Routes: []route.Route{match(route.Match{Chat: "group:", Space: ":7"})}}, []string{`routes[0].match.space: ":7" never matches`, `routes[0].match.chat: "group:" never matches`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			wrong := 0
			for i, p := range route.Check(c.cfg) {
				text := p.String()
				if p.Warning {
					text = "? " + text
				} else {
					wrong++
				}
				if i < len(c.want) && strings.HasPrefix(text, c.want[i]) {
					text = c.want[i]
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			rt, err := route.New(c.cfg)
			if (rt == nil) != (wrong > 0) {
				t.Errorf("%d things are wrong, and New gives %v, %v", wrong, rt, err)
			}
			if wrong > 0 {
				wantCode(t, err, parley.CodeInvalid, strings.TrimPrefix(c.want[len(c.want)-1], "? "))
			}
		})
	}
}

func TestCheck_PathsAreKeysOfTheFile(t *testing.T) {
	t.Parallel()
	got := route.Check(route.Config{
		IdentityLinks: map[string][]string{"jane.doe": {"7"}},
		Routes:        []route.Route{{}, {Match: route.Match{Chat: " "}}},
	})
	var paths [][]string
	for _, p := range got {
		paths = append(paths, p.Path)
	}
	want := [][]string{{"session", "identity_links", "jane.doe", "0"}, {"routes", "1", "match", "chat"}, {"routes", "1", "match"}}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
