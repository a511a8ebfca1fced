// Package anthropic answers requests with Anthropic's models, and with whatever
// else speaks its Messages API.
//
// It keeps nothing between two requests and starts no goroutine. It takes no
// setting from the environment: what the SDK would read there (keys, profiles,
// addresses, tracing) is switched off. It imports the root package only.
package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/parley-run/parley"
)

// Config says which model to ask, and how.
type Config struct {
	// Model is the vendor's id, such as claude-sonnet-5-5. It is required.
	Model string
	// Provider is the part of the model's name before the slash; empty:
	// "anthropic".
	Provider string
	// BaseURL is where the API is, without /v1; empty: Anthropic's own.
	BaseURL string
	// KeyFunc gives the API key. It is called once for each request, right before
	// it is sent, and the key is not kept. It is required unless there is a
	// BaseURL: nil sends none, for servers that need none.
	KeyFunc func(ctx context.Context) (string, error)
	// HTTPClient sends the requests; nil: one with [http.DefaultTransport] and no
	// time limit of its own. Redirects are never followed, since they would take
	// the key along.
	HTTPClient *http.Client
	// Info replaces what [Known] says, field by field. Its name is not used.
	Info parley.ModelInfo
	// Thinking asks the model to think before it answers, and to show it. For
	// models that take a budget it is that, in tokens and at least 1024; those that
	// decide by themselves (Claude 4.6 and later) are told to, and the number does
	// not matter. 0: what the model does unasked, which for Claude 5 and later is
	// to think without showing it.
	Thinking int
	// Effort is how much the model does for an answer: low, medium, high, xhigh or
	// max; empty: the model's default. Models before Claude 4.5 take none.
	Effort string
}

// minThinking is the smallest budget that the API takes.
const minThinking = 1024

// Model is a model of the Messages API. It is safe for concurrent use.
type Model struct {
	config   Config
	info     parley.ModelInfo
	traits   traits
	messages sdk.MessageService
}

var _ parley.Model = (*Model)(nil)

// New makes a model. It reaches for nothing; a key that is wrong shows with the
// first request. What is wrong with the config is [parley.CodeInvalid].
func New(c Config) (*Model, error) {
	if c.Provider == "" {
		c.Provider = "anthropic"
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	known, t, _ := lookup(c.Model)
	info := parley.ModelInfo{
		Name:      c.Provider + "/" + c.Model,
		Context:   pick(c.Info.Context, known.Context),
		MaxOutput: pick(c.Info.MaxOutput, known.MaxOutput),
		Price:     known.Price,
	}
	if c.Info.Price != nil {
		price := *c.Info.Price
		info.Price, t.short = &price, nil
	}
	client := http.Client{}
	if c.HTTPClient != nil {
		client = *c.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	options := []option.RequestOption{
		option.WithEnvironmentProduction(),
		option.WithHTTPClient(&client),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
		option.WithMiddleware(guard),
	}
	if c.BaseURL != "" {
		base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1")
		options = append(options, option.WithBaseURL(base+"/"))
	}
	// The service alone, since a whole client would first look for credentials in
	// the environment.
	return &Model{config: c, info: info, traits: t, messages: sdk.NewMessageService(options...)}, nil
}

func (c *Config) validate() error {
	if c.Model == "" || strings.ContainsFunc(c.Model, isSpaceOrControl) {
		return parley.Errorf(parley.CodeInvalid, "the model's id is missing or not one word: set it to the vendor's, such as claude-sonnet-5-5")
	}
	if strings.Contains(c.Provider, "/") || strings.ContainsFunc(c.Provider, isSpaceOrControl) {
		return parley.Errorf(parley.CodeInvalid, "provider %q must be one word without a slash", c.Provider)
	}
	if c.KeyFunc == nil && c.BaseURL == "" {
		return parley.Errorf(parley.CodeInvalid, "provider %s needs an API key", c.Provider)
	}
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
			return parley.Errorf(parley.CodeInvalid, "the base URL of provider %s must be http:// or https:// with a host, and without a user", c.Provider)
		}
	}
	if c.Thinking != 0 && c.Thinking < minThinking {
		return parley.Errorf(parley.CodeInvalid, "thinking takes at least %d tokens, or 0", minThinking)
	}
	if !slices.Contains([]string{"", "low", "medium", "high", "xhigh", "max"}, c.Effort) {
		return parley.Errorf(parley.CodeInvalid, "effort %q is not known; it must be low, medium, high, xhigh or max", c.Effort)
	}
	return nil
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7f }

func pick(first, second int) int {
	if first != 0 {
		return first
	}
	return second
}

// Info says what is known about the model.
func (m *Model) Info() parley.ModelInfo {
	info := m.info
	if info.Price != nil {
		price := *info.Price
		info.Price = &price
	}
	return info
}

// cost gives what usage costs; 0 if the price is not known.
func (m *Model) cost(u parley.Usage) int64 {
	if m.info.Price == nil {
		return 0
	}
	prompt := u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens
	if short := m.traits.short; short != nil && prompt <= m.traits.shortTokens {
		return short.Cost(u)
	}
	return m.info.Price.Cost(u)
}
