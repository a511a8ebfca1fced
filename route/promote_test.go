package route_test

import (
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func TestMayPromote(t *testing.T) {
	t.Parallel()
	group := ibd{Channel: "telegram", ChatType: "group", ChatID: "-1", Sender: from("7")}
	forum := ibd{Channel: "telegram", ChatType: "group", ChatID: "-1", TopicID: "4", Sender: from("7")}
	direct := ibd{Channel: "slack", ChatType: "dm", ChatID: "D1", Sender: parley.Sender{ID: "U1", AltID: "W1"}}
	thread := ibd{Channel: "slack", ChatType: "channel", ChatID: "C1", TopicID: "9", Sender: from("U1")}
	scope := func(channel string, values map[parley.Dimension]string, order ...parley.Dimension) *parley.Scope {
		return &parley.Scope{Version: 1, Agent: "main", Channel: channel, Account: "default", Dimensions: order, Values: values}
	}
	people := func(ids ...parley.IdentityID) []parley.IdentityID { return ids }
	const (
		groupAlias  = "agent:main:telegram:group:-1"
		forumAlias  = "agent:main:telegram:group:-1/4"
		directAlias = "agent:main:slack:direct:d1"
		threadAlias = "agent:main:slack:channel:c1/9"
	)
	for name, c := range map[string]struct {
		req   route.Request
		found route.Found
		want  bool
	}{
		"a group, same scope":              {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1"}, "chat")}, true},
		"another account's":                {route.Request{Inbound: ibd{Channel: "telegram", Account: "b", ChatType: "group", ChatID: "-1"}}, route.Found{Alias: groupAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1"}, "chat")}, false},
		"another agent's":                  {route.Request{Inbound: group, Agent: "ops"}, route.Found{Alias: "agent:ops:telegram:group:-1", Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1"}, "chat")}, false},
		"another channel's":                {route.Request{Inbound: direct}, route.Found{Alias: directAlias, Scope: scope("teams", map[parley.Dimension]string{"chat": "direct:d1"}, "chat")}, false},
		"the group's, to one sender":       {route.Request{Inbound: group, GroupSessionsPerUser: yes()}, route.Found{Alias: groupAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1"}, "chat")}, false},
		"the group's, to one, by people":   {route.Request{Inbound: group, GroupSessionsPerUser: yes()}, route.Found{Alias: groupAlias, Participants: people("telegram:7")}, false},
		"one sender's, to the group":       {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1", "sender": "7"}, "chat", "sender")}, false},
		"a stored scope with nothing":      {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Scope: scope("telegram", nil)}, false},
		"the group's, to a topic":          {route.Request{Inbound: forum}, route.Found{Alias: groupAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1"}, "chat")}, false},
		"a topic, in its other form":       {route.Request{Inbound: forum}, route.Found{Alias: forumAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1", "topic": "topic:4"}, "topic", "chat")}, true},
		"a dimension nobody knows":         {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1", "device": "8"}, "chat", "device")}, false},
		"another topic":                    {route.Request{Inbound: forum}, route.Found{Alias: forumAlias, Scope: scope("telegram", map[parley.Dimension]string{"chat": "group:-1/5"}, "chat")}, false},
		"a group, the sender takes part":   {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Participants: people("telegram:7", "telegram:8")}, true},
		"a group, the sender does not":     {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Participants: people("telegram:8")}, false},
		"a group with another channel":     {route.Request{Inbound: group}, route.Found{Alias: groupAlias, Participants: people("telegram:7", "slack:U1")}, false},
		"nobody knows":                     {route.Request{Inbound: group}, route.Found{Alias: groupAlias}, false},
		"a direct chat, this person":       {route.Request{Inbound: direct}, route.Found{Alias: directAlias, Participants: people("slack:U1")}, true},
		"by the alternative id":            {route.Request{Inbound: direct}, route.Found{Alias: directAlias, Participants: people("slack:W1", "slack:u1")}, true},
		"with the account in the alias":    {route.Request{Inbound: direct}, route.Found{Alias: "agent:main:slack:default:direct:d1", Participants: people("slack:U1")}, true},
		"a direct chat, two people":        {route.Request{Inbound: direct}, route.Found{Alias: directAlias, Participants: people("slack:U1", "slack:U2")}, false},
		"without the channel in the alias": {route.Request{Inbound: direct}, route.Found{Alias: "agent:main:direct:d1", Participants: people("slack:U1")}, false},
		"by the sender, not the chat":      {route.Request{Inbound: direct}, route.Found{Alias: "agent:main:slack:direct:w1", Participants: people("slack:U1")}, false},
		"by a linked name":                 {route.Request{Inbound: direct, Dimensions: dims{"sender"}}, route.Found{Alias: "agent:main:slack:direct:ann", Participants: people("slack:U1")}, false},
		"a linked person is not enough":    {route.Request{Inbound: direct}, route.Found{Alias: directAlias, Participants: people("slack:U9")}, false},
		"an alias of another message":      {route.Request{Inbound: direct}, route.Found{Alias: "agent:main:slack:direct:d2", Participants: people("slack:U1")}, false},
		"by the readable key":              {route.Request{Inbound: direct}, route.Found{Alias: "agent:main:slack:dm:D1", Participants: people("slack:U1")}, false},
		"the agent's own":                  {route.Request{Inbound: direct}, route.Found{Alias: "agent:main:main", Participants: people("slack:U1")}, false},
		"to a key that was given":          {route.Request{Inbound: direct, Key: "agent:main:slack:direct:d1"}, route.Found{Alias: directAlias, Participants: people("slack:U1")}, false},
		"to a unified conversation":        {route.Request{Inbound: direct, Unified: yes(), User: "ann"}, route.Found{Alias: "unified:ann", Participants: people("slack:U1")}, false},
		"to what cannot be opened":         {route.Request{Inbound: ibd{ChatType: "dm", ChatID: "d1", Sender: from("u1")}}, route.Found{Alias: "agent:main:unknown:direct:d1", Participants: people("unknown:u1")}, false},
		"a direct chat, to a channel":      {route.Request{Inbound: direct, Dimensions: dims{}}, route.Found{Alias: directAlias, Participants: people("slack:U1")}, false},
		"the same, by a stored scope":      {route.Request{Inbound: direct, Dimensions: dims{}}, route.Found{Alias: directAlias, Scope: scope("slack", nil)}, false},
		"a group, to a channel":            {route.Request{Inbound: group, Dimensions: dims{}}, route.Found{Alias: groupAlias, Participants: people("telegram:7")}, false},
		"a topic, to a channel":            {route.Request{Inbound: forum, Dimensions: dims{"topic"}}, route.Found{Alias: forumAlias, Participants: people("telegram:7")}, false},
		"a group, to no topic":             {route.Request{Inbound: group, Dimensions: dims{"topic"}}, route.Found{Alias: groupAlias, Participants: people("telegram:7")}, false},
		"a thread, to the chat":            {route.Request{Inbound: thread, Dimensions: dims{"chat"}}, route.Found{Alias: threadAlias, Participants: people("slack:U1")}, false},
		"a thread, to the thread":          {route.Request{Inbound: thread}, route.Found{Alias: threadAlias, Participants: people("slack:U1")}, true},
		"a topic, to the topic":            {route.Request{Inbound: forum}, route.Found{Alias: forumAlias, Participants: people("telegram:7")}, true},
		"a topic, to a chat that reads so": {route.Request{Inbound: ibd{Channel: "telegram", ChatType: "group", ChatID: "-1/4", Sender: from("7")}}, route.Found{Alias: forumAlias, Participants: people("telegram:7")}, false},
		"a topic that is listed":           {route.Request{Inbound: forum, Dimensions: dims{"topic", "chat"}}, route.Found{Alias: forumAlias, Participants: people("telegram:7")}, true},
		"a direct chat, to the person":     {route.Request{Inbound: direct, Dimensions: dims{"sender"}}, route.Found{Alias: directAlias, Participants: people("slack:U1")}, false},
		"WhatsApp, in another form": {
			route.Request{Inbound: ibd{Channel: "whatsapp", ChatType: "dm", ChatID: "1555@s.whatsapp.net", Sender: from("1555:3@s.whatsapp.net")}},
			route.Found{Alias: "agent:main:whatsapp:direct:1555", Participants: people("whatsapp:+1555")},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := newRouter(t, route.Config{IdentityLinks: map[string][]string{"ann": {"slack:w1", "slack:u9"}}})
			res := resolve(t, rt, c.req)
			got, why := res.MayPromote(c.found)
			if got != c.want || why == "" {
				t.Errorf("promotion is %v (%s), want %v", got, why, c.want)
			}
		})
	}
}
