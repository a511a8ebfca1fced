package turn_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/command"
	"github.com/parley-run/parley/tool/request"
	"github.com/parley-run/parley/turn"
)

// TestSecretsOfTheProgram has secrets where a program has them: the provider's key
// and a service's credential in the configuration, a variable in the environment,
// and the prompt. Real tools and a real provider try to bring them out: the
// environment is listed, the service and the provider repeat what they were sent.
// Not parallel: it sets a variable.
func TestSecretsOfTheProgram(t *testing.T) {
	values := map[string]string{
		"key":         "sk-ant-PROVIDERKEY-0123456789abcdef",
		"credential":  `s3rvice/token+with"quotes&more`,
		"environment": "environment-value-that-nobody-should-see",
	}
	t.Setenv("PARLEY_TEST_TOKEN", values["environment"])
	scrubber := &secret.Scrubber{}
	for _, v := range values {
		scrubber.Add(secret.NewValue(v))
	}

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("X-Token")
		quoted, err := json.Marshal(map[string]any{"you_sent": token, "nested": fmt.Sprintf("%q", token)})
		if err != nil {
			t.Error(err)
		}
		_, err = fmt.Fprintf(w, "whole %s base64 %s escaped %s json %s", token, base64.StdEncoding.EncodeToString([]byte("me:"+token)), url.QueryEscape(token), quoted)
		if err != nil {
			t.Error(err)
		}
	}))
	defer service.Close()
	guard := tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	web, err := request.New(request.Config{Guard: guard, Scrubber: scrubber, Credentials: []request.Credential{{
		Host: strings.TrimPrefix(service.URL, "http://"), Header: "X-Token",
		ValueFunc: func(context.Context) (secret.Value, error) { return secret.NewValue(values["credential"]), nil },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := command.New(command.Config{Allowed: [][]string{{"env"}, {"cat"}}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	registry, err := tool.New([]tool.Group{{Name: "http_request", Tools: []parley.Tool{web}}, {Name: "run_command", Tools: run.Tools()}}, tool.Config{
		Scrubber: scrubber, MaxResult: 2000,
		KeepFunc: func(_ context.Context, r io.Reader) (parley.Blob, error) {
			data, err := io.ReadAll(r)
			kept = append(kept, string(data))
			return parley.Blob{Handle: "kept", Type: "text/plain", Size: int64(len(data))}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	asked := 0
	provider := modelserver.Anthropic(t, func(req modelserver.Request) modelserver.Reply {
		asked++
		switch asked {
		case 1:
			return modelserver.Reply{
				// The key comes back in pieces of a few letters.
				Text: strings.SplitAfter("You sent "+req.Header.Get("X-Api-Key")+".", "R"),
				Calls: []modelserver.Call{
					{ID: "a", Name: "http_request", Arguments: `{"url":"` + service.URL + `/"}`},
					{ID: "b", Name: "run_command", Arguments: `{"argv":["env"]}`},
					{ID: "c", Name: "run_command", Arguments: `{"argv":["cat"],"stdin":"` + strings.Repeat(values["environment"]+" ", 400) + `"}`},
				},
			}
		case 2:
			return modelserver.Reply{Text: []string{"Done."}}
		}
		return modelserver.Reply{Status: http.StatusBadRequest, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"your key ` + req.Header.Get("X-Api-Key") + ` is odd"}}`}
	})
	model, err := anthropic.New(anthropic.Config{
		Model: "claude-sonnet-4-5", BaseURL: provider.URL, HTTPClient: provider.Client(),
		KeyFunc: func(context.Context) (string, error) { return values["key"], nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t)
	l.system = "The token is " + os.Getenv("PARLEY_TEST_TOKEN") + "."
	if _, err := l.store.Commit(t.Context(), parley.Batch{At: start, Blobs: []parley.BlobChange{{Handle: "kept", Type: "text/plain", Size: 10}}}); err != nil {
		t.Fatal(err)
	}
	r := runner(t, turn.Agent{}, func(c *turn.Config) {
		c.Scrubber = scrubber
		c.AgentFunc = func(_ context.Context, tc parley.TurnContext) (turn.Agent, error) {
			set, err := registry.For(tc.Principal, nil)
			return turn.Agent{Models: models(model), Tools: set}, err
		}
	})
	l.run(r, l.ask(parley.TextPart("Tell me everything.")))
	refused := l.run(r, l.ask(parley.TextPart("And now?")))
	if refused.Completed.Error == nil || asked != 3 {
		t.Fatalf("asked %d times, %+v", asked, refused)
	}

	seen := map[string]string{"error": refused.Completed.Error.Message, "kept": strings.Join(kept, "")}
	for _, e := range l.events() {
		seen["events"] += string(e.Data)
	}
	for _, d := range l.deltas {
		seen["deltas"] += d.Text
	}
	for _, req := range provider.Requests() {
		seen["prompts"] += string(req.Body)
	}
	for where, text := range seen {
		for name, value := range values {
			for _, form := range forms(t, value) {
				if strings.Contains(text, form) || strings.Contains(text, bare(form)) {
					t.Errorf("%s shows the %s as %q", where, name, form)
				}
			}
		}
		if !strings.Contains(text, secret.Mask) && !strings.Contains(text, "[key]") { // the provider masks its own
			t.Errorf("%s has nothing scrubbed: no secret got there: %.300s", where, text)
		}
	}
	// The child does not have the program's environment in the first place.
	if strings.Contains(seen["events"], "PARLEY_TEST_TOKEN") {
		t.Error("the command got the program's environment")
	}
}
