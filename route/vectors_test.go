package route_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/vectors"
	"github.com/parley-run/parley/route"
)

// newRouter makes a router that must be possible.
func newRouter(t testing.TB, cfg route.Config) *route.Router {
	t.Helper()
	rt, err := route.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// resolve asks a router what must have an answer.
func resolve(t testing.TB, rt *route.Router, req route.Request) route.Resolution {
	t.Helper()
	res, err := rt.Resolve(req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	return res
}

// scopeCase is a case of scope_keys.json. Its fields are those of a line of
// `parley resolve`, and what must come of it.
type scopeCase struct {
	Name       string              `json:"name"`
	Agent      string              `json:"agent_id"`
	Context    map[string]string   `json:"context"`
	Dimensions []parley.Dimension  `json:"dimensions"`
	Links      map[string][]string `json:"identity_links"`
	Scope      parley.Scope        `json:"scope"`
	Signature  string              `json:"signature"`
	Key        parley.Key          `json:"session_key"`
	Aliases    []parley.Alias      `json:"session_aliases"`
	MainKey    parley.Key          `json:"main_session_key"`
	MainAlias  []parley.Alias      `json:"main_aliases"`
}

func (c *scopeCase) inbound(t *testing.T) parley.Inbound {
	t.Helper()
	var in parley.Inbound
	for field, to := range map[string]*string{
		"channel": &in.Channel, "account": &in.Account, "space_type": &in.SpaceType, "space_id": &in.SpaceID,
		"chat_type": &in.ChatType, "chat_id": &in.ChatID, "topic_id": &in.TopicID, "sender_id": &in.Sender.ID,
	} {
		*to = c.Context[field]
		delete(c.Context, field)
	}
	if len(c.Context) > 0 {
		t.Fatalf("the case has more in its context: %v", c.Context)
	}
	return in
}

func TestVectors_ScopeKeys(t *testing.T) {
	t.Parallel()
	for _, c := range vectors.Load[scopeCase](t, "scope_keys.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			rt := newRouter(t, route.Config{IdentityLinks: c.Links})
			got := resolve(t, rt, route.Request{Inbound: c.inbound(t), Agent: c.Agent, Dimensions: c.Dimensions})
			if got.Signature != c.Signature {
				t.Errorf("signature is %s, want %s", got.Signature, c.Signature)
			}
			if got.Key != c.Key || route.KeyOf(got.Scope) != c.Key {
				t.Errorf("key is %s, that of the scope %s, want %s", got.Key, route.KeyOf(got.Scope), c.Key)
			}
			if diff := cmp.Diff(c.Scope, got.Scope, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("scope (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.Aliases, got.Aliases, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("aliases (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.MainAlias, []parley.Alias{got.MainAlias}); diff != "" || got.MainKey != c.MainKey {
				t.Errorf("main key is %s, want %s; main aliases (-want +got):\n%s", got.MainKey, c.MainKey, diff)
			}
		})
	}
}

func TestVectors_TextKeys(t *testing.T) {
	t.Parallel()
	type sourceCase struct {
		ID     string         `json:"id"`
		Source map[string]any `json:"source"`
		Config struct {
			Group  bool `json:"group_sessions_per_user"`
			Thread bool `json:"thread_sessions_per_user"`
		} `json:"config"`
		Expected string `json:"expected"`
	}
	for _, c := range vectors.Load[sourceCase](t, "text_keys.json") {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			rt := newRouter(t, route.Config{GroupSessionsPerUser: c.Config.Group, ThreadSessionsPerUser: c.Config.Thread})
			// As a line, because one of the ids is a number.
			context := map[string]any{}
			for from, to := range map[string]string{
				"platform": "channel", "chat_id": "chat_id", "chat_type": "chat_type",
				"thread_id": "topic_id", "user_id": "sender_id", "user_id_alt": "sender_id_alt",
			} {
				if v, ok := c.Source[from]; ok {
					context[to] = v
				}
			}
			if got := ask(t, rt, map[string]any{"context": context}); got.TextKey != c.Expected {
				t.Errorf("text key is %s, want %s", got.TextKey, c.Expected)
			}
		})
	}
}

func TestVectors_WhatsApp(t *testing.T) {
	t.Parallel()
	type idCase struct {
		Fn       string  `json:"fn"`
		Input    *string `json:"input"`
		Expected string  `json:"expected"`
	}
	rt := newRouter(t, route.Config{})
	for _, c := range vectors.Load[idCase](t, "whatsapp.json") {
		if c.Fn != "normalize" {
			t.Fatalf("%s is another function", c.Fn)
		}
		want := map[string]string{}
		if c.Expected != "" {
			want = map[string]string{"chat": "direct:" + c.Expected, "sender": c.Expected}
		}
		line := map[string]any{
			"context":    map[string]any{"channel": "whatsapp", "chat_type": "direct", "chat_id": c.Input, "sender_id": c.Input},
			"dimensions": []string{"chat", "sender"},
		}
		if got := ask(t, rt, line); !cmp.Equal(got.Scope.Values, want) {
			t.Errorf("%v becomes %v, want %v", line, got.Scope.Values, want)
		}
	}
}

func TestVectors_SharedMultiUser(t *testing.T) {
	t.Parallel()
	type sharedCase struct {
		ChatType string  `json:"chat_type"`
		Thread   *string `json:"thread_id"`
		Group    bool    `json:"group_sessions_per_user"`
		PerUser  bool    `json:"thread_sessions_per_user"`
		TextKey  string  `json:"text_key"`
		Shared   bool    `json:"shared"`
	}
	rt := newRouter(t, route.Config{})
	for _, c := range vectors.Load[sharedCase](t, "shared_multi_user.json") {
		in := parley.Inbound{Channel: "telegram", ChatType: c.ChatType, ChatID: "-1", Sender: parley.Sender{ID: "7"}}
		if c.Thread != nil {
			in.TopicID = *c.Thread
		}
		got := resolve(t, rt, route.Request{Inbound: in, GroupSessionsPerUser: &c.Group, ThreadSessionsPerUser: &c.PerUser})
		if got.TextKey != c.TextKey || got.Shared != c.Shared {
			t.Errorf("%+v: text key is %s, shared %v", c, got.TextKey, got.Shared)
		}
	}
}
