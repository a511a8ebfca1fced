package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/openai"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	oai := modelserver.OpenAIError
	for _, c := range []struct {
		name   string
		status int
		body   string
		code   parley.Code
		text   string
	}{
		{"400", 400, "", parley.CodeInvalid, "openai/gpt-5 refused the request: The request is not valid."},
		{"400 too long", 400, oai("This model's maximum context length is 400000 tokens.", "invalid_request_error", "context_length_exceeded"), parley.CodeTooLarge, "longer than openai/gpt-5 takes"},
		{"400 too long, vllm", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, parley.CodeTooLarge, "4096"},
		{"400 too long, llama.cpp", 400, oai("the request exceeds the available context size", "exceed_context_size_error", ""), parley.CodeTooLarge, "context size"},
		{"400 other api", 400, oai("Function tools with reasoning_effort are not supported for gpt-5 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", "invalid_request_error", ""), parley.CodeInvalid, "choose another model"},
		{"401", 401, "", parley.CodeUnauthorized, "refused the API key; set one that is valid"},
		{"402", 402, oai("Insufficient Balance", "unknown_error", "invalid_request_error"), parley.CodeUnauthorized, "no credit left"},
		{"403", 403, "", parley.CodeUnauthorized, "Country, region, or territory not supported"},
		{"404", 404, "", parley.CodeInvalid, `model "gpt-5" is not known at http`},
		{"404 other api", 404, oai("This is not a chat model and thus not supported in the v1/chat/completions endpoint.", "invalid_request_error", ""), parley.CodeInvalid, "cannot be asked in this way"},
		{"404 page", 404, "<html>not here</html>", parley.CodeInvalid, "look at its name and the base URL"},
		{"408", 408, "", parley.CodeUnavailable, "status 408"},
		{"409", 409, "", parley.CodeUnavailable, "status 409"},
		{"413", 413, "", parley.CodeTooLarge, "The request is too large."},
		{"422, fastapi", 422, `{"detail":[{"loc":["body"],"msg":"extra fields not permitted"}]}`, parley.CodeInvalid, "refused the request"},
		{"422, text", 422, `{"detail":"no such parameter"}`, parley.CodeInvalid, "no such parameter"},
		{"429", 429, "", parley.CodeRateLimited, "Rate limit reached"},
		{"429 quota", 429, oai("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota"), parley.CodeUnauthorized, "no credit left; look at its plan and billing"},
		{"429 too large", 429, oai("Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 40000.", "tokens", "rate_limit_exceeded"), parley.CodeTooLarge, "Requested 40000"},
		{"500", 500, "", parley.CodeUnavailable, "status 500"},
		{"500, ollama", 500, `{"error":"model runner has unexpectedly stopped"}`, parley.CodeUnavailable, "unexpectedly stopped"},
		{"503", 503, "", parley.CodeUnavailable, "overloaded"},
		{"503, list", 503, `[{"error":{"message":"The model is overloaded.","code":503,"status":"UNAVAILABLE"}}]`, parley.CodeUnavailable, "The model is overloaded."},
		{"529 without a body", 529, " ", parley.CodeUnavailable, "status 529"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.OpenAI(t, always(modelserver.Reply{Status: c.status, Body: c.body}))
			_, err := collect(t, model(t, s, nil).Stream(t.Context(), user("hi")))
			if parley.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error is %v (%s), want %s with %q", err, parley.CodeOf(err), c.code, c.text)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests were sent; nothing is repeated", n)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		want   time.Duration
	}{
		{"seconds", 429, http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{"parts of seconds", 429, http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond},
		{"unavailable", 503, http.Header{"Retry-After": {"20"}}, 20 * time.Second},
		{"milliseconds first", 429, http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, 250 * time.Millisecond},
		{"date", 429, http.Header{"Date": {"Sun, 01 Mar 2026 10:00:00 GMT"}, "Retry-After": {"Sun, 01 Mar 2026 10:01:30 GMT"}}, 90 * time.Second},
		{"date gone by", 429, http.Header{"Date": {"Sun, 01 Mar 2026 10:00:00 GMT"}, "Retry-After": {"Sun, 01 Mar 2026 09:00:00 GMT"}}, 0},
		{"reset of requests", 429, http.Header{"X-Ratelimit-Reset-Requests": {"6m0s"}, "X-Ratelimit-Remaining-Requests": {"0"}}, 6 * time.Minute},
		{"reset that does not matter", 429, http.Header{"X-Ratelimit-Reset-Requests": {"6m0s"}, "X-Ratelimit-Remaining-Requests": {"3"}, "X-Ratelimit-Reset-Tokens": {"120ms"}, "X-Ratelimit-Remaining-Tokens": {"0"}}, 120 * time.Millisecond},
		{"too long", 429, http.Header{"Retry-After": {"1e300"}}, 24 * time.Hour},
		{"nonsense", 429, http.Header{"Retry-After": {"soon"}}, 0},
		{"not a number", 429, http.Header{"Retry-After": {"NaN"}}, 0},
		{"negative", 429, http.Header{"Retry-After": {"-5"}}, 0},
		{"none", 429, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.OpenAI(t, always(modelserver.Reply{Status: c.status, Header: c.header}))
			_, err := collect(t, model(t, s, nil).Stream(t.Context(), user("hi")))
			e, ok := err.(*parley.Error) //nolint:errorlint // The provider's error is the outermost one.
			if !ok || e.RetryAfter != c.want {
				t.Errorf("error is %#v, want it to wait %s", err, c.want)
			}
		})
	}
	// Without the server's clock, ours counts.
	at := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	_, err := collect(t, over(t, canned{status: 429, header: http.Header{"Retry-After": {at}}}, nil).Stream(t.Context(), user("hi")))
	if e := err.(*parley.Error); e.RetryAfter < 50*time.Second || e.RetryAfter > time.Minute { //nolint:errorlint // The provider's error is the outermost one.
		t.Errorf("it waits %s", e.RetryAfter)
	}
}

// TestErrorsAreShort holds that an error has no more than a few hundred bytes of
// what a server said, in one line, and never the key.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	said := "Bearer " + testKey + "\n\t\x07is wrong: " + strings.Repeat("ü", 100_000) + testKey
	bodies := map[string]string{
		"object": modelserver.OpenAIError(said, "invalid_request_error", "x"),
		"text":   `{"error":` + quoted(said) + `}`,
		"page":   said,
		"event":  `data: {"error":{"code":500,"message":` + quoted(said) + "}}\n\n",
		"reason": line(`{}`, "error"),
	}
	for name, body := range bodies {
		for _, status := range []int{200, 302, 400, 401, 402, 403, 404, 413, 418, 429, 500} {
			_, err := collect(t, over(t, canned{status: status, body: body}, nil).Stream(t.Context(), user("hi")))
			if err == nil {
				t.Fatalf("%s with status %d is no error", name, status)
			}
			text := err.Error()
			if strings.Contains(text, testKey) || strings.ContainsAny(text, "\n\t\x07") || len(text) > 500 {
				t.Errorf("%s with status %d: %q", name, status, text)
			}
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	key := func(context.Context) (string, error) { return "k", nil }
	for _, c := range []struct {
		name string
		cfg  openai.Config
		want string
	}{
		{"no model", openai.Config{KeyFunc: key}, "the model has no name"},
		{"no key", openai.Config{Model: "gpt-5"}, "openai needs an API key"},
		{"slash", openai.Config{Model: "gpt-5", KeyFunc: key, Provider: "a/b"}, "must not have a slash"},
		{"no url", openai.Config{Model: "m", BaseURL: "localhost:11434"}, "no http or https URL"},
		{"other scheme", openai.Config{Model: "m", BaseURL: "ftp://x/"}, "no http or https URL"},
		{"password", openai.Config{Model: "m", BaseURL: "https://me:hunter2@x/v1"}, "must not hold a user"},
		{"query", openai.Config{Model: "m", BaseURL: "https://x/v1?key=hunter2"}, "must not hold a user"},
		{"dialect", openai.Config{Model: "m", KeyFunc: key, Dialect: "old"}, `dialect "old" is not known`},
	} {
		m, err := openai.New(c.cfg)
		if parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || m != nil {
			t.Errorf("%s: error is %v (%s), want %q", c.name, err, parley.CodeOf(err), c.want)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	key := func(context.Context) (string, error) { return "k", nil }
	price := parley.Price{Input: 1, Output: 2}
	for _, c := range []struct {
		name  string
		cfg   openai.Config
		want  parley.ModelInfo
		price parley.Price // zero: none
	}{
		{"openai", openai.Config{Model: "gpt-4.1-2025-04-14", KeyFunc: key}, parley.ModelInfo{Name: "openai/gpt-4.1-2025-04-14", Context: 1_047_576, MaxOutput: 32_768}, parley.Price{Input: 2_000_000, Output: 8_000_000, CacheRead: 500_000, CacheWrite: 2_000_000}},
		{"own values", openai.Config{Model: "gpt-4.1", KeyFunc: key, Info: parley.ModelInfo{Name: "x", Context: 5, MaxOutput: 6, Price: &price}}, parley.ModelInfo{Name: "openai/gpt-4.1", Context: 5, MaxOutput: 6}, price},
		{"unknown price", openai.Config{Model: "gpt-5.6-terra", KeyFunc: key}, parley.ModelInfo{Name: "openai/gpt-5.6-terra", Context: 1_050_000, MaxOutput: 128_000}, parley.Price{}},
		{"elsewhere", openai.Config{Model: "gpt-4.1", BaseURL: "http://127.0.0.1:1/v1", Provider: "local"}, parley.ModelInfo{Name: "local/gpt-4.1"}, parley.Price{}},
		{"a host that sounds alike", openai.Config{Model: "gpt-4.1", BaseURL: "https://notopenai.com/v1"}, parley.ModelInfo{Name: "openai/gpt-4.1"}, parley.Price{}},
		{"a region", openai.Config{Model: "gpt-4o-mini", BaseURL: "https://eu.api.openai.com/v1", KeyFunc: key}, parley.ModelInfo{Name: "openai/gpt-4o-mini", Context: 128_000, MaxOutput: 16_384}, parley.Price{Input: 150_000, Output: 600_000, CacheRead: 75_000, CacheWrite: 150_000}},
		{"a proxy", openai.Config{Model: "gpt-4o-mini", BaseURL: "https://proxy.example/v1", Dialect: openai.DialectOpenAI}, parley.ModelInfo{Name: "openai/gpt-4o-mini", Context: 128_000, MaxOutput: 16_384}, parley.Price{Input: 150_000, Output: 600_000, CacheRead: 75_000, CacheWrite: 150_000}},
	} {
		m, err := openai.New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		info := m.Info()
		var p parley.Price
		if info.Price != nil {
			p = *info.Price
			info.Price.Input = 99 // changes nothing
			if *m.Info().Price != p {
				t.Errorf("%s: the price can be changed", c.name)
			}
		}
		info.Price = nil
		if info != c.want || p != c.price {
			t.Errorf("%s: %+v, %+v", c.name, info, p)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	if info, ok := openai.Known("gpt-5-nano-2025-08-07"); !ok || info.Name != "openai/gpt-5-nano-2025-08-07" || info.Price.CacheRead != 5_000 {
		t.Errorf("%+v, %t", info, ok)
	}
	for _, name := range []string{"", "gpt-99", "gpt-4o-2024-05-13", "gpt-5-", "claude"} {
		if info, ok := openai.Known(name); ok {
			t.Errorf("%q is known: %+v", name, info)
		}
	}
}
