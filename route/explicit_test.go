package route_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func TestResolve_ExplicitKey(t *testing.T) {
	t.Parallel()
	rt := newRouter(t, route.Config{Unified: true})
	in := ibd{Channel: "api", ChatType: "group"}
	for key, creatable := range map[string]bool{
		"sk_v1_" + strings.Repeat("0a", 32):  false,
		"agent:main:telegram:group:-1001/42": false,
		"agent:main:x:group:my chat":         false,
		"agent:a:b:main":                     false,
		"agent::main":                        false,
		"Agent:Ops:main":                     false,
		"unified:default":                    false,
		"my-key":                             true,
		"project:x":                          true,
		"agents":                             true,
	} {
		got := resolve(t, rt, route.Request{Inbound: in, Key: key, User: "ada"})
		if string(got.Key) != key || !got.Explicit || got.Unified || len(got.Aliases) > 0 || got.Refusal() != nil || !got.Shared {
			t.Errorf("%s gives %+v", key, got)
		}
		if got.Creatable != creatable {
			t.Errorf("%s: creatable is %v", key, got.Creatable)
		}
	}
	for key, code := range map[string]parley.Code{
		"sk_v1_12":                         parley.CodeInvalid,
		"sk_v1_" + strings.Repeat("A", 64): parley.CodeInvalid,
		"a\nb":                             parley.CodeInvalid,
		strings.Repeat("k", 2000):          parley.CodeTooLarge,
	} {
		_, err := rt.Resolve(route.Request{Inbound: in, Key: key})
		wantCode(t, err, code)
	}
	routed := resolve(t, rt, route.Request{Inbound: ibd{Channel: "x", ChatType: "group", ChatID: "1"}})
	unified := resolve(t, rt, route.Request{Inbound: ibd{Channel: "x", ChatID: "1"}, User: "ada"})
	if !routed.Creatable || !unified.Creatable || !unified.Unified {
		t.Errorf("what is routed cannot be made: %+v, %+v", routed, unified)
	}
}

func TestResolve_ExplicitMain(t *testing.T) {
	t.Parallel()
	rt := newRouter(t, route.Config{Agents: []string{"main", "ops"}})
	key, alias := route.Main("ops")
	for name, req := range map[string]route.Request{
		"by its alias":                   {Key: string(alias)},
		"by its key":                     {Key: string(key)},
		"by its alias, as the agent":     {Key: string(alias), Agent: "ops"},
		"by its key, as the agent":       {Key: string(key), Agent: "ops"},
		"by its alias, as another agent": {Key: string(alias), Agent: "news"},
	} {
		req.Inbound = ibd{Channel: "api"}
		got := resolve(t, rt, req)
		want := []parley.Alias{alias}
		if got.Key != key || got.MainKey != key || got.MainAlias != alias || !slices.Equal(got.Claims, want) || !slices.Equal(got.Aliases, want) {
			t.Errorf("%s: key %s, claims %v, main %s", name, got.Key, got.Claims, got.MainAlias)
		}
		if got.Agent != "ops" || got.Scope.Agent != "ops" || !got.Creatable || !got.Explicit || got.Refusal() != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	stranger, strangerAlias := route.Main("stranger")
	if got := resolve(t, rt, route.Request{Key: string(strangerAlias)}); got.Key != stranger || got.Agent != "stranger" {
		t.Errorf("an agent that is not configured gets %s of %s", got.Key, got.Agent)
	}
	if got := resolve(t, rt, route.Request{Key: string(stranger)}); got.Creatable {
		t.Errorf("a key of nobody known may be made: %+v", got)
	}
}

func TestResolve_ExplicitNamesThatCannotBeKeys(t *testing.T) {
	t.Parallel()
	rt := newRouter(t, route.Config{})
	for name, code := range map[string]parley.Code{
		"my key":                 parley.CodeInvalid,
		" key":                   parley.CodeInvalid,
		"a\u00a0b":               parley.CodeInvalid,
		"a/b":                    parley.CodeInvalid,
		`a\b`:                    parley.CodeInvalid,
		strings.Repeat("k", 600): parley.CodeTooLarge,
	} {
		got := resolve(t, rt, route.Request{Inbound: ibd{Channel: "api"}, Key: name, Explain: true})
		if got.Key.Validate() == nil {
			t.Errorf("%q can be a key after all", name)
		}
		wantCode(t, got.Refusal(), code)
		if code == parley.CodeInvalid {
			wantCode(t, got.Refusal(), code, "cannot name a conversation", "white space")
		}
	}
}
