package route_test

import (
	"encoding/json"
	"testing"

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
