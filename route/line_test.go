package route_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

// answer is a line that `parley resolve` prints.
type answer struct {
	Agent string `json:"agent_id"`
	Scope struct {
		Version    int               `json:"version"`
		Agent      string            `json:"agent_id"`
		Channel    string            `json:"channel"`
		Account    string            `json:"account"`
		Dimensions []string          `json:"dimensions"`
		Values     map[string]string `json:"values"`
	} `json:"scope"`
	Signature   string   `json:"signature"`
	Key         string   `json:"session_key"`
	Aliases     []string `json:"session_aliases"`
	MainKey     string   `json:"main_session_key"`
	MainAliases []string `json:"main_aliases"`
	TextKey     string   `json:"text_key"`
	Shared      bool     `json:"shared"`
	Why         []string `json:"why"`
}

// ask puts a line that must have an answer.
func ask(t *testing.T, rt *route.Router, line any) answer {
	t.Helper()
	question, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := route.NewLines(rt).Append(nil, question)
	if !ok {
		t.Fatalf("%s: %s", question, out)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLines_Answer(t *testing.T) {
	t.Parallel()
	rt := newRouter(t, route.Config{})
	for name, c := range map[string]struct{ line, want string }{
		"the whole line": {
			`{"agent_id":"main","context":{"channel":"telegram","account":"","space_type":"","space_id":"","chat_type":"group","chat_id":"-1001","topic_id":"42","sender_id":"7","sender_id_alt":""},"dimensions":["chat"],"group_sessions_per_user":false,"thread_sessions_per_user":false,"identity_links":{"alice":["telegram:7"]}}`,
			`{"agent_id":"main","scope":{"version":1,"agent_id":"main","channel":"telegram","account":"default","dimensions":["chat"],"values":{"chat":"group:-1001/42"}},` +
				`"signature":"v=1|agent=main|channel=telegram|account=default|chat=group:-1001/42","session_key":"sk_v1_3c4cfe74cdd08960dc85992693171d5f6041b0edd0405a7a1847fa9b9434bb42",` +
				`"session_aliases":["agent:main:telegram:group:-1001/42"],"main_session_key":"sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b","main_aliases":["agent:main:main"],` +
				`"text_key":"agent:main:telegram:group:-1001:42","shared":true,"why":["sender \"7\" is \"alice\": identity link \"telegram:7\"","agent main: asked for","dimensions [chat]: asked for",` +
				`"chat holds topic \"42\": topics of a Telegram forum are apart","shared: neither a direct chat nor one sender's"]}`,
		},
		"values by name": {
			`{"context":{"channel":"x","space_id":"s","chat_type":"group","chat_id":"1","topic_id":"2","sender_id":"3"},"dimensions":["topic","space","sender","chat"]}`,
			`{"agent_id":"main","scope":{"version":1,"agent_id":"main","channel":"x","account":"default","dimensions":["topic","space","sender","chat"],` +
				`"values":{"chat":"group:1","sender":"3","space":"space:s","topic":"topic:2"}},` +
				`"signature":"v=1|agent=main|channel=x|account=default|topic=topic:2|space=space:s|sender=3|chat=group:1","session_key":"sk_v1_dac8d2154ebeabed65771599ddf0a4c8bc9dd64c4d132319f18af0ffce978ec0",` +
				`"session_aliases":["agent:main:x:group:1/2"],"main_session_key":"sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b","main_aliases":["agent:main:main"],` +
				`"text_key":"","shared":false,"why":["agent main: the default","dimensions [topic space sender chat]: asked for","private: one sender's"]}`,
		},
		"empty lists": {
			` { "context" : { } , "dimensions" : [ ] } `,
			`{"agent_id":"main","scope":{"version":1,"agent_id":"main","channel":"unknown","account":"default","dimensions":[],"values":{}},` +
				`"signature":"v=1|agent=main|channel=unknown|account=default","session_key":"sk_v1_dfe33bf094d83d31e7314649fd5690a888e2694d1a8ee659aaf997f31287f0b6",` +
				`"session_aliases":[],"main_session_key":"sk_v1_6d9217fe77c7f11d9cc992aabe81a2d09604e9c48babbda8fdad3791f9c19f3b","main_aliases":["agent:main:main"],` +
				`"text_key":"","shared":true,"why":["agent main: the default","dimensions []: asked for","shared: neither a direct chat nor one sender's",` +
				`"cannot be opened: the message has no channel, so nobody knows where it comes from; name one"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := route.NewLines(rt).Append([]byte("before\n"), []byte(c.line))
			if want := "before\n" + c.want + "\n"; !ok || string(got) != want {
				t.Errorf("answer (-want +got):\n%s", cmp.Diff(want, string(got)))
			}
		})
	}
}

func TestLines_Decode(t *testing.T) {
	t.Parallel()
	lines := route.NewLines(newRouter(t, route.Config{}))
	got, err := lines.Decode([]byte(`{"unified":true,"context":{"channel":"a\u0062\n","chat_id":-1001,"topic_id":1717.000100,"sender_id":null},` +
		`"user":"ada","role":"user","session_key":"k","dimensions":null,"group_sessions_per_user":null,"identity_links":null,"agent_id":7}`))
	if err != nil {
		t.Fatal(err)
	}
	want := route.Request{
		Inbound: ibd{Channel: "ab\n", ChatID: "-1001", TopicID: "1717.000100"},
		Agent:   "7", Key: "k", User: "ada", Role: parley.RoleUser, Unified: yes(), Explain: true,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(route.Links{})); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestLines_Refuses(t *testing.T) {
	t.Parallel()
	for line, has := range map[string]string{
		"":                             "is empty",
		" \t":                          "is empty",
		"[1]":                          "the line must be an object",
		"null":                         "the line must be an object",
		"7":                            "the line must be an object",
		"nonsense":                     `not JSON: "nonsense" is no value; a text stands in quotes`,
		"{}":                           "no context",
		`{"context":null}`:             "no context",
		`{"context":7}`:                "context must be an object",
		`{"context":{}} {}`:            "goes on",
		`{"context":{}`:                "ends before",
		`{"context":{"channel":"x`:     "ends before",
		`{"context":{"channel":"x\"`:   "ends before",
		`{"context":{"channel":`:       "ends before",
		`{"context":{}` + "\x00" + `}`: "not JSON",
		`{"context":{},}`:              "a name in quotes",
		`{,"context":{}}`:              "a name in quotes",
		`{"context":{}"user":"x"}`:     `',' is missing before "\"user`,
		`{"context" {}}`:               "':' is missing",
		`{"color":1,"context":{}}`:     `no field "color"`,
		`{"Context":{}}`:               `no field "Context"`,
		`{"context":{"color":1}}`:      `no field "color" in context`,
		`{"context":{},"context":{}}`:  `"context" is there twice`,
		`{"context":{"chat_id":"1","chat_id":"2"}}`:             `"chat_id" is there twice in context`,
		`{"context":{"chat_id":["1"]}}`:                         "chat_id must be a text",
		`{"context":{"chat_id":true}}`:                          "chat_id must be a text",
		`{"context":{"chat_id":01}}`:                            "not JSON",
		`{"context":{"chat_id":nul}}`:                           "not JSON",
		`{"context":{"chat_id":}}`:                              `not JSON: a value is missing before "}}"`,
		`{"context":{"chat_id":,}}`:                             "not JSON",
		"{\"context\":{\"chat_id\":\"a\nb\"}}":                  "not JSON",
		`{"context":{"chat_id":"\x"}}`:                          "is no text, because of a character or an escape",
		"{\"context\":{\"chat_id\":\"\xff\"}}":                  "not valid UTF-8",
		`{"context":{},"dimensions":"chat"}`:                    "dimensions must be a list",
		`{"context":{},"dimensions":[1]}`:                       "a dimension must be a text",
		`{"context":{},"dimensions":["chat",]}`:                 "not JSON",
		`{"context":{},"dimensions":["room"]}`:                  `no dimension "room"`,
		`{"context":{},"group_sessions_per_user":"yes"}`:        "group_sessions_per_user must be true or false",
		`{"context":{},"group_sessions_per_user":trueish}`:      "not JSON",
		`{"context":{},"role":"king"}`:                          `no role "king"`,
		`{"context":{},"identity_links":[]}`:                    "identity_links must be an object",
		`{"context":{},"identity_links":{"a":"b"}}`:             "identity_links must be an object",
		`{"context":{},"identity_links":{"a":[{}]}}`:            "identity_links must be an object",
		`{"context":{},"identity_links":{"a":["x:1"],"b":[1]}}`: `identity_links.a[0]: the id "x:1" is claimed by "b"`,
		`{"context":{},"session_key":"sk_v1_7"}`:                "is not a key",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			out, ok := route.NewLines(newRouter(t, route.Config{})).Append(nil, []byte(line))
			var got struct {
				Error struct {
					Code    parley.Code `json:"code"`
					Message string      `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if ok || got.Error.Code != parley.CodeInvalid || !strings.Contains(got.Error.Message, has) {
				t.Errorf("%q is answered with %s, want %q in it", line, out, has)
			}
		})
	}
	long := []byte(`{"context":{"chat_id":"` + strings.Repeat("x", route.MaxLine) + `"}}`)
	if out, ok := route.NewLines(newRouter(t, route.Config{})).Append(nil, long); ok || !bytes.Contains(out, []byte(`"too_large"`)) || len(out) > 1000 {
		t.Errorf("a line of %d bytes is answered with %.200s", len(long), out)
	}
}

func TestLines_LinksOfOneLineAreNotTheNextOnes(t *testing.T) {
	t.Parallel()
	lines := route.NewLines(newRouter(t, route.Config{IdentityLinks: map[string][]string{"conf": {"x:7"}}}))
	for _, c := range []struct{ links, want string }{
		{`,"identity_links":{"ann":["x:7"]}`, "sender=ann"},
		{`,"identity_links":{"ann":["x:7"]}`, "sender=ann"},
		{``, "sender=conf"},
		{`,"identity_links":{"bob":["x:7"]}`, "sender=bob"},
		{`,"identity_links":{}`, "sender=7"},
		{`,"identity_links":{"a":["x:7"],"b":["x:7"]}`, "error"},
		{`,"identity_links":{"a":["x:7"],"b":["x:7"]}`, "error"},
		{`,"identity_links":null`, "sender=conf"},
	} {
		out, _ := lines.Append(nil, []byte(`{"context":{"channel":"x","sender_id":7},"dimensions":["sender"]`+c.links+`}`))
		if !bytes.Contains(out, []byte(c.want)) {
			t.Errorf("with %q the answer is %s, want %q in it", c.links, out, c.want)
		}
	}
}

// FuzzLines holds the reader of lines to what encoding/json reads.
func FuzzLines(f *testing.F) {
	for _, line := range []string{
		`{"agent_id":"main","context":{"channel":"telegram","chat_type":"group","chat_id":"-1001","topic_id":42},"dimensions":["chat"],"unified":true,"user":"u","role":"owner"}`,
		`{"context":{"channel":"a\ud800\u2028\"\\"},"identity_links":{"a":["b",7,null]},"session_key":"x"}`,
		`{"context":{"chat_id":-0.0e+1},"group_sessions_per_user":null}`,
		`{"context":{}}x`, `[`, `{"context":{"channel":tru}}`, `{"context":{},"dimensions":[[]]}`, "{\"context\":{}}\r",
	} {
		f.Add([]byte(line))
	}
	rt := newRouter(f, route.Config{})
	f.Fuzz(func(t *testing.T, line []byte) {
		lines := route.NewLines(rt)
		out, ok := lines.Append(nil, line)
		if !json.Valid(out) || bytes.Count(out, []byte("\n")) != 1 || !bytes.HasSuffix(out, []byte("}\n")) {
			t.Fatalf("%q is answered with %q", line, out)
		}
		if isError := bytes.HasPrefix(out, []byte(`{"error":`)); isError == ok {
			t.Fatalf("ok is %v: %s", ok, out)
		}
		req, err := lines.Decode(line)
		if err != nil {
			if code := parley.CodeOf(err); code != parley.CodeInvalid && code != parley.CodeTooLarge {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		// What is read is JSON, and encoding/json finds the same in it.
		var want struct {
			Context map[string]any `json:"context"`
			User    any            `json:"user"`
			Unified *bool          `json:"unified"`
			Dims    dims           `json:"dimensions"`
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("%q is read, and is not JSON: %v", line, err)
		}
		same := func(v any) string {
			switch v := v.(type) {
			case string:
				return v
			case json.Number:
				return v.String()
			}
			return ""
		}
		for name, got := range map[string]string{
			"channel": req.Inbound.Channel, "account": req.Inbound.Account, "space_type": req.Inbound.SpaceType, "space_id": req.Inbound.SpaceID,
			"chat_type": req.Inbound.ChatType, "chat_id": req.Inbound.ChatID, "topic_id": req.Inbound.TopicID,
			"sender_id": req.Inbound.Sender.ID, "sender_id_alt": req.Inbound.Sender.AltID,
		} {
			if got != same(want.Context[name]) {
				t.Errorf("%s is %q, want %q", name, got, same(want.Context[name]))
			}
		}
		if string(req.User) != same(want.User) || !cmp.Equal(req.Unified, want.Unified) || !cmp.Equal(req.Dimensions, want.Dims) {
			t.Errorf("%q is read as %+v", line, req)
		}
	})
}
