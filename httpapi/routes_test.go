package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/httpapi"
)

var update = flag.Bool("update", false, "write the OpenAPI document anew")

// fill puts something into the variables of a path.
func fill(path, session string) string {
	path = strings.ReplaceAll(path, "/sessions/{id}", "/sessions/"+session)
	return strings.NewReplacer(
		"/users/{id}", "/users/owner", "/tokens/{id}", "/tokens/t1", "{call_id}", "c1", "{input_id}", "i1",
		"{identity}", "local:owner", "{handle}", "sha_0000",
	).Replace(path)
}

// bodies make requests whole, so that they are refused for who asks and not for
// what.
var bodies = map[string]any{
	"openSession":    map[string]any{"session_id": "web:theirs"},
	"postMessage":    map[string]any{"text": "hello"},
	"patchSession":   map[string]any{"title": "mine"},
	"rewindSession":  map[string]any{"turns": 1},
	"redactEvents":   map[string]any{"seqs": []int{1}},
	"answerApproval": map[string]any{"decision": "approve"},
	"addParticipant": map[string]any{"identity": "web:eve"},
	"addUser":        map[string]any{"name": "Eve"},
	"patchUser":      map[string]any{"role": "owner"},
	"createToken":    map[string]any{"for": "local:owner"},
	"joinAgent":      map[string]any{"agent": "main"},
	"makePairCode":   map[string]any{"sender": map[string]any{"channel": "web", "id": "x"}},
	"pairStranger":   map[string]any{"code": "ABCD-EFGH"},
	"resolve":        map[string]any{"context": map[string]any{"channel": "telegram", "chat_id": "1"}},
	"putBlob":        "some bytes",
}

// TestStrangers asks for every route without a credential, and with bad ones.
func TestStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.Rate = -1 })
	w.open("web:theirs", w.owner)
	before := w.head()
	public := 0
	for _, r := range httpapi.Routes(w.server) {
		path := fill(r.Path, "web:theirs")
		if r.Public {
			public++
			continue
		}
		if a := w.do(r.Method, path, "", bodies[r.Name]); a.status != 401 || a.code() != "unauthorized" || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s without a credential: %s", r.Method, r.Path, a)
		}
		if a := w.do(r.Method, path, "", bodies[r.Name], "Authorization", "Basic b3duZXI6b3duZXI="); a.status != 401 {
			t.Errorf("%s %s with another scheme: %s", r.Method, r.Path, a)
		}
	}
	if public != 5 {
		t.Errorf("%d routes are open to everybody; each has to be meant", public)
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
}

// harmless are routes that somebody without rights may ask for: they answer for the
// caller alone.
var harmless = map[string]int{
	"listSessions": 200, "listApprovals": 200, "listTurns": 200, "whoAmI": 200, "listTokens": 200,
	"linkAccounts": 200, "makeLoginLink": 201, "putBlob": 201, "followAll": 400, "logout": 400,
}

// TestNoRights asks for every route as somebody who is known and has no rights to
// anything of the owner's.
func TestNoRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.Rate = -1 })
	w.open("web:theirs", w.owner)
	w.must(200, "POST", "/api/sessions/web:theirs/messages?wait=20s", w.owner, map[string]any{"text": "hello"})
	eve := w.person("web:eve", parley.RoleGuest)
	before := w.head()
	for _, r := range httpapi.Routes(w.server) {
		if r.Public {
			continue
		}
		body := bodies[r.Name]
		a := w.do(r.Method, fill(r.Path, "web:theirs"), eve, body)
		want, ok := harmless[r.Name]
		switch {
		case ok && a.status != want:
			t.Errorf("%s %s: %s, want %d", r.Method, r.Path, a, want)
		case !ok && a.status != 403 && a.status != 404:
			t.Errorf("%s %s: %s", r.Method, r.Path, a)
		case r.Owners && a.status != 403:
			t.Errorf("%s %s is for owners: %s", r.Method, r.Path, a)
		}
		if !ok && strings.HasPrefix(r.Path, "/api/sessions/{id}") {
			// What is hidden and what is not there are told apart by nobody.
			gone := w.do(r.Method, fill(r.Path, "web:nobody"), eve, body)
			if got, want := strings.ReplaceAll(string(gone.body), "web:nobody", "web:theirs"), string(a.body); got != want {
				t.Errorf("%s %s: %s if it is not there, %s if it is", r.Method, r.Path, got, want)
			}
		}
		if strings.Contains(string(a.body), "you said") {
			t.Errorf("%s %s shows the owner's words: %s", r.Method, r.Path, a)
		}
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
}

// TestOpenAPI compares the document with the routes, both ways, and with the one
// that was last looked at.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.must(200, "GET", "/api/openapi.json", "", nil)
	var doc struct {
		OpenAPI string                                `json:"openapi"`
		Paths   map[string]map[string]json.RawMessage `json:"paths"`
		Parts   struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(a.body, &doc); err != nil {
		t.Fatal(err)
	}
	var documented, registered []string
	for path, methods := range doc.Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	names := map[string]bool{}
	for _, r := range httpapi.Routes(w.server) {
		registered = append(registered, r.Method+" "+r.Path)
		if names[r.Name] || r.Name == "" {
			t.Errorf("%s %s: %q is not a name of its own", r.Method, r.Path, r.Name)
		}
		names[r.Name] = true
	}
	slices.Sort(documented)
	slices.Sort(registered)
	if !slices.Equal(documented, registered) {
		t.Errorf("documented %q\nregistered %q", documented, registered)
	}
	for _, name := range []string{"ErrorBody", "Event", "Receipt", "FinishedResponse"} {
		if doc.Parts.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
	for ref := range strings.SplitSeq(string(a.body), "#/components/schemas/") {
		if name, _, ok := strings.Cut(ref, `"`); ok && !strings.Contains(name, "{") && doc.Parts.Schemas[name] == nil {
			t.Errorf("schema %s is referred to and not there", name)
		}
	}
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.WriteFile(golden, a.body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, a.body) {
		t.Errorf("the document changed; look at it, and if it is right: go test ./httpapi -run OpenAPI -update")
	}
}
