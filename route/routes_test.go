package route_test

import (
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func TestResolve_RoutesOfWhatsApp(t *testing.T) {
	t.Parallel()
	direct := ibd{Channel: "whatsapp", ChatType: "dm", ChatID: "1555@s.whatsapp.net", Sender: from("1555:4@s.whatsapp.net")}
	group := ibd{Channel: "whatsapp", ChatType: "group", ChatID: "1555@g.us", Sender: from("+1555")}
	letter := ibd{Channel: "whatsapp", ChatType: "channel", ChatID: "1777@newsletter", Sender: from("9")}
	bare := ibd{Channel: "whatsapp", ChatID: "1777@newsletter "}
	elsewhere := ibd{Channel: "signal", ChatType: "dm", ChatID: "1555", Sender: from("1555")}
	stranger := ibd{Channel: "whatsapp", ChatType: "dm", ChatID: "telegram", Sender: from("telegram")}
	for name, c := range map[string]struct {
		match route.Match
		want  []ibd
	}{
		"a sender":                         {route.Match{Sender: "1555"}, []ibd{direct, group, elsewhere}},
		"a sender with a plus":             {route.Match{Sender: "+1555"}, []ibd{direct, group}},
		"the same on the channel":          {route.Match{Channel: "whatsapp", Sender: "+1555"}, []ibd{direct, group}},
		"a sender with channel and plus":   {route.Match{Sender: "whatsapp:+1555"}, []ibd{direct, group}},
		"both":                             {route.Match{Channel: "whatsapp", Sender: "WhatsApp: +1555"}, []ibd{direct, group}},
		"a sender with a device":           {route.Match{Sender: "1555:47@s.whatsapp.net"}, []ibd{direct, group}},
		"the same, on the channel":         {route.Match{Channel: "whatsapp", Sender: "1555:47@s.whatsapp.net"}, []ibd{direct, group}},
		"a sender of another channel":      {route.Match{Sender: "telegram:1555"}, nil},
		"a chat":                           {route.Match{Chat: "1555"}, []ibd{direct, elsewhere}},
		"a chat with a plus":               {route.Match{Chat: "+1555"}, []ibd{direct}},
		"the same chat on the channel":     {route.Match{Channel: "whatsapp", Chat: "+1555"}, []ibd{direct}},
		"a chat with a channel":            {route.Match{Chat: "whatsapp:+1555"}, []ibd{direct}},
		"a chat with a device":             {route.Match{Chat: "1555:47@s.whatsapp.net"}, []ibd{direct}},
		"a chat with a type":               {route.Match{Chat: "dm:+1555"}, []ibd{direct}},
		"a chat with type and device":      {route.Match{Chat: "direct:1555:47@s.whatsapp.net"}, []ibd{direct}},
		"a group":                          {route.Match{Chat: "1555@g.us"}, []ibd{group}},
		"a group with its type":            {route.Match{Channel: "whatsapp", Chat: "group:1555@g.us"}, []ibd{group}},
		"a newsletter":                     {route.Match{Channel: "whatsapp", Chat: "1777@newsletter"}, []ibd{letter, bare}},
		"a newsletter with its type":       {route.Match{Chat: "channel:1777@newsletter"}, []ibd{letter}},
		"a group by what a direct chat is": {route.Match{Chat: "group:+1555"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := newRouter(t, route.Config{Routes: []route.Route{{Match: c.match}}})
			for _, in := range []ibd{direct, group, letter, bare, elsewhere, stranger} {
				want := false
				for _, w := range c.want {
					want = want || in.Channel+in.ChatID == w.Channel+w.ChatID
				}
				if got := resolve(t, rt, route.Request{Inbound: in}); (got.Route == 0) != want {
					t.Errorf("%s %s: matches is %v, want %v", in.ChatType, in.ChatID, got.Route == 0, want)
				}
			}
		})
	}
	linked := newRouter(t, route.Config{
		IdentityLinks: map[string][]string{"ann": {"whatsapp:1555"}},
		Routes:        []route.Route{{Match: route.Match{Sender: "whatsapp:+1555"}}},
	})
	if got := resolve(t, linked, route.Request{Inbound: direct, Dimensions: dims{parley.DimensionSender}}); got.Route != 0 || got.Scope.Values["sender"] != "ann" {
		t.Errorf("a linked sender takes route %d as %v", got.Route, got.Scope.Values)
	}
}
