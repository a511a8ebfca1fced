package route_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

// Short names for tables.
type (
	dims = []parley.Dimension
	ibd  = parley.Inbound
)

func from(id string) parley.Sender { return parley.Sender{ID: id} }

// someTime is when things happen.
var someTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func yes() *bool {
	b := true
	return &b
}

// wantCode fails unless err has the code and says something.
func wantCode(t *testing.T, err error, code parley.Code, has ...string) {
	t.Helper()
	if parley.CodeOf(err) != code {
		t.Fatalf("error is %v, want one with code %q", err, code)
	}
	for _, text := range has {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error is %q, want %q in it", err, text)
		}
	}
}

func TestResolve_EffectiveDimensions(t *testing.T) {
	t.Parallel()
	group := ibd{Channel: "slack", ChatType: "group", ChatID: "C1", Sender: from("U1")}
	thread := ibd{Channel: "slack", ChatType: "group", ChatID: "C1", TopicID: "9", Sender: from("U1")}
	forum := ibd{Channel: "telegram", ChatType: "group", ChatID: "-1", TopicID: "9", Sender: from("7")}
	direct := ibd{Channel: "telegram", ChatType: "dm", ChatID: "7", Sender: from("7")}
	for name, c := range map[string]struct {
		cfg  route.Config
		req  route.Request
		want string // the end of the signature
	}{
		"the default is the chat":        {route.Config{}, route.Request{Inbound: group}, "|chat=group:c1"},
		"threads are apart":              {route.Config{}, route.Request{Inbound: thread}, "|chat=group:c1|topic=topic:9"},
		"a forum is part of the chat":    {route.Config{}, route.Request{Inbound: forum}, "|chat=group:-1/9"},
		"unless the topic is listed":     {route.Config{Dimensions: dims{"topic", "chat"}}, route.Request{Inbound: forum}, "|topic=topic:9|chat=group:-1"},
		"or the chat is not":             {route.Config{Dimensions: dims{"sender"}}, route.Request{Inbound: forum}, "|sender=7"},
		"a slash in a Telegram id":       {route.Config{}, route.Request{Inbound: ibd{Channel: "telegram", ChatType: "group", ChatID: "-1/9"}}, "|chat=group:-1%252F9"},
		"a slash elsewhere":              {route.Config{}, route.Request{Inbound: ibd{Channel: "x", ChatType: "group", ChatID: "-1/9"}}, "|chat=group:-1/9"},
		"per user":                       {route.Config{GroupSessionsPerUser: true}, route.Request{Inbound: group}, "|chat=group:c1|sender=u1"},
		"per user, not in threads":       {route.Config{GroupSessionsPerUser: true}, route.Request{Inbound: thread}, "|chat=group:c1|topic=topic:9"},
		"per user, in threads":           {route.Config{GroupSessionsPerUser: true, ThreadSessionsPerUser: true}, route.Request{Inbound: thread}, "|chat=group:c1|topic=topic:9|sender=u1"},
		"threads alone are not per user": {route.Config{ThreadSessionsPerUser: true}, route.Request{Inbound: thread}, "|chat=group:c1|topic=topic:9"},
		"per user in a forum":            {route.Config{GroupSessionsPerUser: true, ThreadSessionsPerUser: true}, route.Request{Inbound: forum}, "|chat=group:-1/9|sender=7"},
		"direct chats are one person's":  {route.Config{GroupSessionsPerUser: true, ThreadSessionsPerUser: true}, route.Request{Inbound: direct}, "|chat=direct:7"},
		"a chat without a type, too":     {route.Config{GroupSessionsPerUser: true}, route.Request{Inbound: ibd{Channel: "x", ChatID: "7", Sender: from("8")}}, "|chat=direct:7"},
		"an unknown type is a group":     {route.Config{GroupSessionsPerUser: true}, route.Request{Inbound: ibd{Channel: "x", ChatType: "guild:x", ChatID: "7", Sender: from("8")}}, "|chat=guild%253Ax:7|sender=8"},
		"the order stays":                {route.Config{Dimensions: dims{"sender", "chat"}, GroupSessionsPerUser: true}, route.Request{Inbound: thread}, "|sender=u1|chat=group:c1|topic=topic:9"},
		"a repeat counts once":           {route.Config{Dimensions: dims{"chat", " Chat ", "chat"}}, route.Request{Inbound: group}, "|chat=group:c1"},
		"none, configured":               {route.Config{Dimensions: dims{}}, route.Request{Inbound: thread}, "|topic=topic:9"},
		"none, asked for":                {route.Config{GroupSessionsPerUser: true}, route.Request{Inbound: thread, Dimensions: dims{}}, ""},
		"asked for is literal":           {route.Config{GroupSessionsPerUser: true}, route.Request{Inbound: thread, Dimensions: dims{"chat"}}, "|chat=group:c1"},
		"asked for in a forum":           {route.Config{}, route.Request{Inbound: forum, Dimensions: dims{"chat"}}, "|chat=group:-1/9"},
		"flags asked for":                {route.Config{}, route.Request{Inbound: thread, GroupSessionsPerUser: yes(), ThreadSessionsPerUser: yes()}, "|chat=group:c1|topic=topic:9|sender=u1"},
		"separators in ids": {
			route.Config{Dimensions: dims{"space", "chat", "sender"}},
			route.Request{Inbound: ibd{Channel: "a|b=c", SpaceID: "s%7C", ChatType: "group", ChatID: "x|sender=1", Sender: from("50%")}},
			"|space=space:s%257c|chat=group:x%7Csender%3D1|sender=50%25",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := resolve(t, newRouter(t, c.cfg), c.req)
			_, end, _ := strings.Cut(got.Signature, "|account=default")
			if end != c.want {
				t.Errorf("signature is %s, want %s at the end", got.Signature, c.want)
			}
			if got.Signature != route.Signature(got.Scope) || got.Key != route.KeyOf(got.Scope) {
				t.Error("scope, signature and key do not belong together")
			}
		})
	}
}

func TestResolve_Sender(t *testing.T) {
	t.Parallel()
	links := map[string][]string{"Ann": {"signal:uuid-1", "whatsapp:1555"}}
	for name, c := range map[string]struct {
		channel string
		sender  parley.Sender
		want    string
	}{
		"the alternative id comes first": {"signal", parley.Sender{ID: "+1555", AltID: "UUID-2"}, "uuid-2"},
		"and is what links are asked by": {"signal", parley.Sender{ID: "+1555", AltID: "UUID-1"}, "ann"},
		"WhatsApp, with all there is":    {"WhatsApp", from("+1555:4@s.whatsapp.net"), "ann"},
		"WhatsApp, nothing left":         {"whatsapp", parley.Sender{ID: "1555", AltID: "@lid"}, "ann"},
		"the same id elsewhere":          {"whatsapp_cloud", from("+1555"), "+1555"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := newRouter(t, route.Config{IdentityLinks: links})
			got := resolve(t, rt, route.Request{
				Inbound: ibd{Channel: c.channel, ChatType: "group", ChatID: "1@g.us", Sender: c.sender}, Dimensions: dims{"chat", "sender"},
			})
			if got.Scope.Values["sender"] != c.want || got.Scope.Values["chat"] != "group:1@g.us" {
				t.Errorf("values are %v, want the sender %s", got.Scope.Values, c.want)
			}
		})
	}
}

func TestResolve_Routes(t *testing.T) {
	t.Parallel()
	rt := newRouter(t, route.Config{
		DefaultAgent:  "Helper",
		IdentityLinks: map[string][]string{"alice": {"telegram:7", "slack:U1"}},
		Routes: []route.Route{
			{Match: route.Match{Channel: " Telegram ", Chat: "group:-1001", Topic: "5"}, Agent: "news"},
			{Match: route.Match{Channel: "telegram", Chat: "Group:-1001"}, Agent: "Ops", Dimensions: dims{"chat", "sender"}},
			{Match: route.Match{Channel: "discord", Space: "guild:77", Account: "Bot A"}, Agent: "guide", Dimensions: dims{}},
			{Match: route.Match{Sender: "slack:u1", Channel: "slack"}, Agent: "butler"},
			{Match: route.Match{Sender: "ALICE"}, Dimensions: dims{"sender"}},
			{Match: route.Match{Channel: "matrix", Chat: "!room:server"}, Agent: "poet"},
			{Match: route.Match{Channel: "whatsapp", Chat: "direct:+1555@s.whatsapp.net"}, Agent: "clerk"},
			{Match: route.Match{Sender: "irc:bob"}, Agent: "bouncer"},
		},
	})
	for name, c := range map[string]struct {
		in    ibd
		agent string
		route int
		end   string
	}{
		"the first that matches":      {ibd{Channel: "telegram", ChatType: "group", ChatID: "-1001", TopicID: "5", Sender: from("8")}, "news", 0, "|chat=group:-1001/5"},
		"topics are part of the chat": {ibd{Channel: "telegram", ChatType: "group", ChatID: "-1001", TopicID: "6", Sender: from("8")}, "ops", 1, "|chat=group:-1001/6|sender=8"},
		"another type of chat":        {ibd{Channel: "telegram", ChatType: "channel", ChatID: "-1001", Sender: from("8")}, "helper", -1, "|chat=channel:-1001"},
		"by space and account":        {ibd{Channel: "discord", Account: "bot-a", SpaceType: "guild", SpaceID: "77", ChatType: "group", ChatID: "1"}, "guide", 2, ""},
		"another account":             {ibd{Channel: "discord", SpaceType: "guild", SpaceID: "77", ChatType: "group", ChatID: "1"}, "helper", -1, "|chat=group:1"},
		"a sender by a linked id":     {ibd{Channel: "slack", ChatType: "dm", ChatID: "d", Sender: from("U1")}, "butler", 3, "|chat=direct:d"},
		"a sender by name":            {ibd{Channel: "telegram", ChatType: "group", ChatID: "1", Sender: from("7")}, "helper", 4, "|sender=alice"},
		"an id with a colon":          {ibd{Channel: "matrix", ChatType: "group", ChatID: "!room:server"}, "poet", 5, "|chat=group:!room:server"},
		"a WhatsApp id":               {ibd{Channel: "whatsapp", ChatType: "dm", ChatID: "1555:2@s.whatsapp.net"}, "clerk", 6, "|chat=direct:1555"},
		"a sender who is not linked":  {ibd{Channel: "irc", ChatType: "group", ChatID: "#a", Sender: from("Bob")}, "bouncer", 7, "|chat=group:#a"},
		"the same id elsewhere":       {ibd{Channel: "efnet", ChatType: "group", ChatID: "#a", Sender: from("bob")}, "helper", -1, "|chat=group:#a"},
		"nobody":                      {ibd{Channel: "slack", ChatType: "group", ChatID: "c"}, "helper", -1, "|chat=group:c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := resolve(t, rt, route.Request{Inbound: c.in})
			_, end, _ := strings.Cut(got.Signature, "|account="+got.Scope.Account)
			if got.Agent != c.agent || got.Scope.Agent != c.agent || got.Route != c.route || end != c.end {
				t.Errorf("agent %s, route %d, signature %s", got.Agent, got.Route, got.Signature)
			}
			asked := resolve(t, rt, route.Request{Inbound: c.in, Agent: "Other", Dimensions: dims{"space"}})
			if asked.Agent != "other" || asked.MainAlias != "agent:other:main" || asked.Route != c.route {
				t.Errorf("asked for another agent, got %s with %s", asked.Agent, asked.MainAlias)
			}
		})
	}
}

func TestResolve_Unified(t *testing.T) {
	t.Parallel()
	rt := newRouter(t, route.Config{Unified: true, Routes: []route.Route{{Match: route.Match{Channel: "slack"}, Agent: "ops"}}})
	direct := func(channel string) ibd {
		return ibd{Channel: channel, ChatType: "dm", ChatID: channel + "-1", Sender: from("7")}
	}
	ask := func(in ibd, user parley.UserID, role parley.Role) route.Resolution {
		return resolve(t, rt, route.Request{Inbound: in, User: user, Role: role})
	}
	ada, adaElsewhere := ask(direct("telegram"), "ada", parley.RoleUser), ask(direct("discord"), "ada", parley.RoleGuest)
	if ada.Key != adaElsewhere.Key || !ada.Unified || ada.Shared || ada.Refusal() != nil || !slices.Equal(ada.Claims, []parley.Alias{"unified:ada"}) {
		t.Errorf("one user has %+v and %+v", ada, adaElsewhere)
	}
	keys := map[parley.Key]string{}
	for name, res := range map[string]route.Resolution{
		"ada": ada, "bob": ask(direct("telegram"), "bob", parley.RoleUser),
		"the owner": ask(direct("telegram"), "eve", parley.RoleOwner), "somebody called default": ask(direct("telegram"), "default", parley.RoleUser),
		"user:default":      ask(direct("telegram"), "user:default", parley.RoleUser),
		"case matters":      ask(direct("telegram"), "Ada", parley.RoleUser),
		"ada's other agent": ask(direct("slack"), "ada", parley.RoleUser),
		"a group":           ask(ibd{Channel: "telegram", ChatType: "group", ChatID: "1"}, "ada", parley.RoleUser),
		"a stranger":        ask(direct("telegram"), "", parley.RoleGuest),
	} {
		if other, ok := keys[res.Key]; ok {
			t.Errorf("%s and %s share %s", name, other, res.Key)
		}
		keys[res.Key] = name
		if got, want := res.Unified, name != "a group" && name != "a stranger"; got != want {
			t.Errorf("%s: unified is %v", name, got)
		}
	}
	if owner := ask(direct("telegram"), "", parley.RoleOwner); !slices.Equal(owner.Aliases, []parley.Alias{"unified:default"}) {
		t.Errorf("the owner's alias is %v", owner.Aliases)
	}
	if ops := ask(direct("slack"), "ada", parley.RoleUser); !slices.Equal(ops.Aliases, []parley.Alias{"agent:ops:unified:ada"}) {
		t.Errorf("another agent's alias is %v", ops.Aliases)
	}
	// A surface that calls itself so gets nobody's conversation.
	fake := resolve(t, rt, route.Request{
		Inbound: ibd{Channel: "Unified", ChatType: "group", ChatID: "1", Sender: from("ada")}, Dimensions: dims{"sender"},
	})
	wantCode(t, fake.Refusal(), parley.CodeInvalid, "unified")
	if _, err := rt.Resolve(route.Request{Inbound: direct("x"), Role: "king"}); err == nil {
		t.Error("a role that is none is taken")
	} else {
		wantCode(t, err, parley.CodeInvalid, "king", "owner")
	}
}

func TestResolve_Refusal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	for name, c := range map[string]struct {
		req  route.Request
		code parley.Code
	}{
		"a chat":                       {route.Request{Inbound: ibd{Channel: "x", ChatID: "1"}}, ""},
		"nothing":                      {route.Request{}, parley.CodeInvalid},
		"no channel":                   {route.Request{Inbound: ibd{ChatID: "1"}}, parley.CodeInvalid},
		"no chat":                      {route.Request{Inbound: ibd{Channel: "x", Sender: from("7")}}, parley.CodeInvalid},
		"no chat, but a topic":         {route.Request{Inbound: ibd{Channel: "x", ChatType: "group", TopicID: "7"}}, parley.CodeInvalid},
		"no chat, but a sender":        {route.Request{Inbound: ibd{Channel: "x", Sender: from("7")}, Dimensions: dims{"chat", "sender"}}, ""},
		"no chat, nor sender":          {route.Request{Inbound: ibd{Channel: "x"}, Dimensions: dims{"chat", "sender"}}, parley.CodeInvalid},
		"a space, and a chat expected": {route.Request{Inbound: ibd{Channel: "x", SpaceID: "7"}, Dimensions: dims{"space", "chat"}}, parley.CodeInvalid},
		"a space":                      {route.Request{Inbound: ibd{Channel: "x", SpaceID: "7"}, Dimensions: dims{"space"}}, ""},
		"no dimensions":                {route.Request{Inbound: ibd{Channel: "x", ChatID: "1"}, Dimensions: dims{}}, ""},
		"no dimensions, no chat":       {route.Request{Inbound: ibd{Channel: "x"}, Dimensions: dims{}}, parley.CodeInvalid},
		"no sender, of senders":        {route.Request{Inbound: ibd{Channel: "x", ChatID: "1"}, Dimensions: dims{"sender"}}, parley.CodeInvalid},
		"no topic, of topics":          {route.Request{Inbound: ibd{Channel: "x", ChatID: "1"}, Dimensions: dims{"topic", "sender"}}, parley.CodeInvalid},
		"no space, of spaces":          {route.Request{Inbound: ibd{Channel: "x", ChatID: "1"}, Dimensions: dims{"space"}}, parley.CodeInvalid},
		"one of two":                   {route.Request{Inbound: ibd{Channel: "x", ChatID: "1", TopicID: "2"}, Dimensions: dims{"topic", "sender"}}, ""},
		"a long id":                    {route.Request{Inbound: ibd{Channel: "x", ChatID: long}}, parley.CodeTooLarge},
		"a long channel":               {route.Request{Inbound: ibd{Channel: long, ChatID: "1"}}, parley.CodeTooLarge},
		"a channel that ends an id":    {route.Request{Inbound: ibd{Channel: strings.Repeat("x", 231), ChatID: "1"}}, ""},
		"a channel a byte longer":      {route.Request{Inbound: ibd{Channel: strings.Repeat("x", 232), ChatID: "1"}}, parley.CodeTooLarge},
		"a channel with a colon":       {route.Request{Inbound: ibd{Channel: "x:y", ChatID: "1"}}, parley.CodeInvalid},
		"a channel with a slash":       {route.Request{Inbound: ibd{Channel: "x/y", ChatID: "1"}}, parley.CodeInvalid},
		"a channel with a backslash":   {route.Request{Inbound: ibd{Channel: `x\y`, ChatID: "1"}}, parley.CodeInvalid},
		"a channel with white space":   {route.Request{Inbound: ibd{Channel: "x y", ChatID: "1"}}, parley.CodeInvalid},
		"such a channel, a given name": {route.Request{Inbound: ibd{Channel: "x y", ChatID: "1"}, Key: "project"}, parley.CodeInvalid},
		"such a channel, for a look":   {route.Request{Inbound: ibd{Channel: "x y", ChatID: "1"}, Key: "unified:ada"}, ""},
		"such a channel, unified":      {route.Request{Inbound: ibd{Channel: "x y", ChatID: "1"}, User: "ada", Unified: yes()}, ""},
		"a long id that is not used":   {route.Request{Inbound: ibd{Channel: "x", ChatID: "1", SpaceID: long}}, ""},
		"a control character":          {route.Request{Inbound: ibd{Channel: "x", ChatID: "1\x00"}}, parley.CodeInvalid},
		"not UTF-8":                    {route.Request{Inbound: ibd{Channel: "x", ChatID: "\xff"}}, parley.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.req.Explain = true
			res := resolve(t, newRouter(t, route.Config{}), c.req)
			if res.Key.Validate() != nil || res.MainKey.Validate() != nil {
				t.Errorf("keys are %q and %q", res.Key, res.MainKey)
			}
			wantCode(t, res.Refusal(), c.code)
			said := strings.Contains(strings.Join(res.Why, "\n"), "cannot be opened")
			if said != (c.code != "") {
				t.Errorf("the reasons are %q", res.Why)
			}
			// What is not refused can be stored, and so can what it claims.
			if c.code == "" && res.Creatable {
				if err := parley.NewSessionID(res.Scope.Channel, someTime, [4]byte{}).Validate(); err != nil {
					t.Errorf("it is not refused, and no session can be named: %v", err)
				}
				batch := parley.Batch{At: someTime, Keys: []parley.KeyChange{{Key: res.Key, Scope: &res.Scope}}}
				for _, a := range res.Claims {
					batch.Aliases = append(batch.Aliases, parley.AliasChange{Alias: a, Key: res.Key})
				}
				if err := batch.Validate(); err != nil {
					t.Errorf("it is not refused, and cannot be stored: %v", err)
				}
			}
		})
	}
	_, err := newRouter(t, route.Config{}).Resolve(route.Request{Dimensions: dims{"chat", "room"}})
	wantCode(t, err, parley.CodeInvalid, `"room"`, "space, chat, topic and sender")
}

func TestResolve_Claims(t *testing.T) {
	t.Parallel()
	links := map[string][]string{"ann": {"x:7"}}
	for name, c := range map[string]struct {
		in   ibd
		dims dims
		want []parley.Alias
	}{
		"a group's own":       {ibd{Channel: "x", ChatType: "group", ChatID: "1", Sender: from("7")}, nil, []parley.Alias{"agent:main:x:group:1"}},
		"not one sender's":    {ibd{Channel: "x", ChatType: "group", ChatID: "1", Sender: from("7")}, dims{"chat", "sender"}, nil},
		"a thread's own":      {ibd{Channel: "x", ChatType: "group", ChatID: "1", TopicID: "2"}, nil, []parley.Alias{"agent:main:x:group:1/2"}},
		"a forum topic's own": {ibd{Channel: "telegram", ChatType: "group", ChatID: "1", TopicID: "2"}, nil, []parley.Alias{"agent:main:telegram:group:1/2"}},
		"not one space's":     {ibd{Channel: "x", SpaceID: "s", ChatType: "group", ChatID: "1"}, dims{"space", "chat"}, nil},
		"a direct chat's": {
			ibd{Channel: "x", ChatType: "dm", ChatID: "d", Sender: from("7")},
			nil,
			[]parley.Alias{"agent:main:direct:d", "agent:main:x:direct:d", "agent:main:x:default:direct:d"},
		},
		"not a direct topic's": {ibd{Channel: "telegram", ChatType: "dm", ChatID: "d", TopicID: "3"}, nil, nil},
		"a person's": {
			ibd{Channel: "x", ChatType: "dm", Sender: from("7")},
			dims{"sender"},
			[]parley.Alias{
				"agent:main:direct:7", "agent:main:x:direct:7", "agent:main:x:default:direct:7",
				"agent:main:direct:ann", "agent:main:x:direct:ann", "agent:main:x:default:direct:ann",
			},
		},
		"none that reads as a topic": {ibd{Channel: "telegram", ChatType: "group", ChatID: "-1/9"}, nil, nil},
		"nor with a topic":           {ibd{Channel: "x", ChatType: "group", ChatID: "-1/9", TopicID: "2"}, nil, nil},
		"nor of a direct chat":       {ibd{Channel: "x", ChatType: "dm", ChatID: "d/9", Sender: from("7")}, nil, nil},
		"a topic with a slash":       {ibd{Channel: "telegram", ChatType: "group", ChatID: "-1", TopicID: "9/2"}, nil, []parley.Alias{"agent:main:telegram:group:-1/9/2"}},
		"none that cannot be stored": {ibd{Channel: "x", ChatType: "group", ChatID: "a\tb"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := resolve(t, newRouter(t, route.Config{IdentityLinks: links}), route.Request{Inbound: c.in, Dimensions: c.dims})
			if diff := cmp.Diff(c.want, got.Claims, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			for _, a := range got.Claims {
				if !slices.Contains(got.Aliases, a) || a == got.MainAlias {
					t.Errorf("%s is claimed and is not one of %v", a, got.Aliases)
				}
			}
		})
	}
}

func TestResolve_TextKey(t *testing.T) {
	t.Parallel()
	in := ibd{Channel: "Slack", SpaceID: "T1", ChatType: "Channel", ChatID: " C1 ", TopicID: "9", Sender: parley.Sender{ID: "U1", AltID: "Alt"}}
	for want, d := range map[string]dims{
		"agent:main:slack:channel:C1:9":     {"chat", "topic"},
		"agent:main:slack:channel:C1:9:Alt": {"sender", "chat", "topic"},
		"agent:main:slack:channel:C1":       {"chat"},
		"":                                  {"space", "chat"},
		"agent:main:slack:channel:C1:Alt":   {"chat", "sender"},
	} {
		got := resolve(t, newRouter(t, route.Config{IdentityLinks: map[string][]string{"ann": {"slack:alt"}}}), route.Request{Inbound: in, Dimensions: d})
		if got.TextKey != want {
			t.Errorf("%v: text key is %q, want %q", d, got.TextKey, want)
		}
	}
	for _, d := range []dims{{}, {"sender"}, {"topic"}, {"space"}} {
		if got := resolve(t, newRouter(t, route.Config{}), route.Request{Inbound: in, Dimensions: d}); got.TextKey != "" {
			t.Errorf("%v: text key is %q, want none", d, got.TextKey)
		}
	}
}
