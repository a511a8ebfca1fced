package anthropic_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

func key(context.Context) (string, error) { return testKey, nil }

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config anthropic.Config
		want   string // of the error; empty: none
	}{
		"the least":        {anthropic.Config{Model: "m", KeyFunc: key}, ""},
		"a server":         {anthropic.Config{Model: "m", BaseURL: "http://localhost:1/v1"}, ""},
		"no model":         {anthropic.Config{KeyFunc: key}, "id is missing"},
		"a model's title":  {anthropic.Config{Model: "Claude Sonnet", KeyFunc: key}, "not one word"},
		"no key":           {anthropic.Config{Model: "m"}, "needs an API key"},
		"a provider's URL": {anthropic.Config{Model: "m", Provider: "a/b", KeyFunc: key}, "without a slash"},
		"no URL":           {anthropic.Config{Model: "m", BaseURL: "localhost:1"}, "base URL"},
		"a user in it":     {anthropic.Config{Model: "m", BaseURL: "https://user:pass@host/"}, "without a user"},
		"little thinking":  {anthropic.Config{Model: "m", KeyFunc: key, Thinking: 1023}, "at least 1024"},
		"much effort":      {anthropic.Config{Model: "m", KeyFunc: key, Effort: "extreme"}, `"extreme" is not known`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := anthropic.New(c.config)
			switch {
			case c.want == "" && err != nil, c.want != "" && err == nil:
				t.Errorf("got %v", err)
			case err != nil && (parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "pass")):
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	price := &parley.Price{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}
	for name, c := range map[string]struct {
		config anthropic.Config
		want   parley.ModelInfo
	}{
		"known": {
			anthropic.Config{Model: "claude-opus-5-5"},
			parley.ModelInfo{
				Name: "anthropic/claude-opus-5-5", Context: 1_000_000, MaxOutput: 128_000,
				Price: &parley.Price{Input: 4_000_000, Output: 20_000_000, CacheRead: 200_000, CacheWrite: 5_000_000},
			},
		},
		"unknown": {anthropic.Config{Model: "other", Provider: "mine"}, parley.ModelInfo{Name: "mine/other"}},
		"told otherwise": {
			anthropic.Config{Model: "claude-opus-5-5", Info: parley.ModelInfo{Name: "x/y", Context: 1, Price: price}},
			parley.ModelInfo{Name: "anthropic/claude-opus-5-5", Context: 1, MaxOutput: 128_000, Price: price},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.KeyFunc = key
			m, err := anthropic.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, m.Info()); diff != "" {
				t.Error(diff)
			}
			if got := m.Info(); got.Price != nil {
				got.Price.Input = -1
				if m.Info().Price.Input == -1 {
					t.Error("the price can be changed from outside")
				}
			}
		})
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	if info, ok := anthropic.Known("claude-haiku-4-5"); !ok || info.Context != 200_000 || info.Name != "anthropic/claude-haiku-4-5" {
		t.Errorf("got %+v, %t", info, ok)
	}
	if info, ok := anthropic.Known("gpt"); ok || info.Price != nil {
		t.Errorf("got %+v, %t", info, ok)
	}
	info, _ := anthropic.Known("claude-haiku-5-5") // half a cent must not get lost
	if diff := cmp.Diff(&parley.Price{Input: 500_000, Output: 2_500_000, CacheRead: 50_000, CacheWrite: 625_000}, info.Price); diff != "" {
		t.Error(diff)
	}
}

// TestPriceByLength asks a model whose long requests cost more.
func TestPriceByLength(t *testing.T) {
	t.Parallel()
	for input, want := range map[int]int64{
		99_000: 9_900 + 10 + 500,   // 99,000 at 0.10 $, 1,000 cached at 0.01 $, 1,000 out at 0.50 $
		99_001: 49_501 + 50 + 2500, // at 0.50 $, 0.05 $ and 2.50 $, rounded up
	} {
		s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"a"}, Usage: modelserver.Usage{Input: input, CacheRead: 1000, Output: 1000}}))
		a := ask(t, model(t, s, func(c *anthropic.Config) { c.Model = "claude-haiku-5-5" }), hello())
		if got := a.done.Usage.CostMicroUSD; got != want {
			t.Errorf("%d tokens: got %d, want %d", input, got, want)
		}
	}
	s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"a"}, Usage: modelserver.Usage{Input: 10}}))
	a := ask(t, model(t, s, func(c *anthropic.Config) {
		c.Model, c.Info.Price = "claude-haiku-5-5", &parley.Price{Input: 1_000_000}
	}), hello())
	if got := a.done.Usage.CostMicroUSD; got != 10 {
		t.Errorf("with a price of one's own: got %d", got)
	}
	a = ask(t, model(t, s, func(c *anthropic.Config) { c.Model = "unknown" }), hello())
	if got := a.done.Usage.CostMicroUSD; got != 0 {
		t.Errorf("without a price: got %d", got)
	}
}

// TestEnvironment sets everything that the SDK looks for. Nothing of it counts.
func TestEnvironment(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("somebody else was asked") }))
	t.Cleanup(elsewhere.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "active_config"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "wrong", "ANTHROPIC_AUTH_TOKEN": "wrong", "ANTHROPIC_BASE_URL": elsewhere.URL,
		"ANTHROPIC_PROFILE": "missing", "ANTHROPIC_CONFIG_DIR": dir, "ANTHROPIC_CUSTOM_HEADERS": "X-Wrong: yes",
		"ANTHROPIC_FEDERATION_RULE_ID": "fdrl_x", "ANTHROPIC_ORGANIZATION_ID": "x", "ANTHROPIC_IDENTITY_TOKEN": "wrong",
		"ANTHROPIC_WORKSPACE_ID": "wrong",
	} {
		t.Setenv(name, value)
	}
	s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"a"}}))
	ask(t, model(t, s, nil), hello())
	header := s.Requests()[0].Header
	if got := header.Get("X-Api-Key"); got != testKey {
		t.Errorf("the key is %q", got)
	}
	for name, values := range header {
		if strings.Contains(strings.Join(values, " ")+name, "rong") || name == "Authorization" {
			t.Errorf("%s: %s was sent", name, values)
		}
	}
	// Without a base URL it is the vendor's, whatever the environment says.
	var asked string
	m, err := anthropic.New(anthropic.Config{Model: currentModel, KeyFunc: key, HTTPClient: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String()
			return nil, http.ErrHandlerTimeout
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	collect(t, m.Stream(t.Context(), hello()))
	if asked != "https://api.anthropic.com/v1/messages" {
		t.Errorf("asked %s", asked)
	}
}

// TestBaseURL holds that the address may end as people write it.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"a"}}))
	for _, end := range []string{"", "/", "/v1", "/v1/"} {
		ask(t, model(t, s, func(c *anthropic.Config) { c.BaseURL = s.URL + end }), hello())
	}
	for _, r := range s.Requests() {
		if r.Path != "/v1/messages" {
			t.Errorf("asked %s", r.Path)
		}
	}
}
