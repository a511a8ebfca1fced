// Package openai speaks to models over the Chat Completions API: OpenAI's own,
// and those of the many servers that took the API over, such as Ollama, vLLM and
// OpenRouter, by their base URL.
//
// The package starts no goroutine. It must not import any other of the module but
// the root, and no type of the vendor's SDK is in an exported signature.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/parley-run/parley"
)

// officialURL is where OpenAI's own API is.
const officialURL = "https://api.openai.com/v1"

// Dialect says which form of the API a server speaks.
type Dialect string

// The dialects. The newer parameters of OpenAI are unknown to many servers that
// took the API over: those get max_tokens instead of max_completion_tokens, no
// prompt_cache_key, and no reasoning_effort that was not configured. What
// [Known] knows is taken for OpenAI's own models only.
const (
	DialectAuto       Dialect = ""           // OpenAI if the base URL is one of openai.com, else compatible
	DialectOpenAI     Dialect = "openai"     // OpenAI itself, or a proxy in front of it
	DialectCompatible Dialect = "compatible" // any other server
)

// Config says which model is asked, and where. Only Model has no default.
type Config struct {
	// Model is the name that the server knows the model by.
	Model string
	// Provider is the part of the name before the slash. Empty: openai.
	Provider string
	// BaseURL is what /chat/completions is appended to. Empty: OpenAI's own.
	BaseURL string
	// Dialect is the form of the API. Empty: as the base URL says.
	Dialect Dialect
	// KeyFunc gives the API key. It is asked for each request, and the key is not
	// kept. Nil, or an empty key: none is sent, as local servers want it; OpenAI's
	// own needs one.
	KeyFunc func(ctx context.Context) (string, error)
	// HTTPClient sends the requests. Nil: [http.DefaultClient]. Time limits for a
	// whole answer belong into the context.
	HTTPClient *http.Client
	// Info says what is not known about the model, or otherwise: fields that are
	// not zero count before those of [Known]. Its name is not looked at.
	Info parley.ModelInfo
	// ReasoningEffort is sent as it is, such as low or high. Empty: what the model
	// does by itself, except that OpenAI's models which take tools over this API
	// only without reasoning get none when there are tools.
	ReasoningEffort string
	// NoImages says that the model takes no images: they are named in a line of
	// text instead.
	NoImages bool
	// NoUsage leaves out the wish for usage, for servers that refuse
	// stream_options.
	NoUsage bool
}

// Model is a model behind the Chat Completions API. It is used by many turns at
// once.
type Model struct {
	cfg      Config
	info     parley.ModelInfo
	traits   traits
	official bool
	chat     sdk.ChatCompletionService
}

var _ parley.Model = (*Model)(nil)

// New makes a model. Nothing is sent. A configuration that cannot work is
// [parley.CodeInvalid].
func New(cfg Config) (*Model, error) {
	if cfg.Provider == "" {
		cfg.Provider = "openai"
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = officialURL
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = http.DefaultClient
	}
	base, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	m := &Model{cfg: cfg, official: cfg.Dialect == DialectOpenAI || cfg.Dialect == DialectAuto && isOpenAI(base)}
	if m.official {
		m.info, _ = Known(cfg.Model)
		m.traits = known[family(cfg.Model)].traits
	}
	m.info.Name = cfg.Provider + "/" + cfg.Model
	if cfg.Info.Context != 0 {
		m.info.Context = cfg.Info.Context
	}
	if cfg.Info.MaxOutput != 0 {
		m.info.MaxOutput = cfg.Info.MaxOutput
	}
	if cfg.Info.Price != nil {
		price := *cfg.Info.Price
		m.info.Price, m.traits.long = &price, false
	}
	// A service made by itself, unlike one that a client of the SDK has, does not
	// look at the environment (OPENAI_BASE_URL, OPENAI_API_KEY, …).
	m.chat = sdk.NewChatCompletionService(
		option.WithBaseURL(cfg.BaseURL),
		option.WithHTTPClient(cfg.HTTPClient),
		option.WithMaxRetries(0),
	)
	return m, nil
}

func (c *Config) validate() (*url.URL, error) {
	if c.Model == "" {
		return nil, parley.Errorf(parley.CodeInvalid, "the model has no name; set the one that the server knows it by")
	}
	if strings.Contains(c.Provider, "/") {
		return nil, parley.Errorf(parley.CodeInvalid, "the provider's name %q must not have a slash", c.Provider)
	}
	switch c.Dialect {
	case DialectAuto, DialectOpenAI, DialectCompatible:
	default:
		return nil, parley.Errorf(parley.CodeInvalid, "the dialect %q is not known; it must be %q, %q or empty", c.Dialect, DialectOpenAI, DialectCompatible)
	}
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		// The text may hold a password; it is not repeated.
		return nil, parley.Errorf(parley.CodeInvalid, "the base URL of %s is no http or https URL", c.Provider)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, parley.Errorf(parley.CodeInvalid, "the base URL of %s must not hold a user, a query or a fragment; a key belongs into the key's own setting", c.Provider)
	case c.KeyFunc == nil && isOpenAI(base):
		return nil, parley.Errorf(parley.CodeInvalid, "%s needs an API key", c.Provider)
	}
	return base, nil
}

func isOpenAI(base *url.URL) bool {
	host := strings.ToLower(base.Hostname())
	return host == "openai.com" || strings.HasSuffix(host, ".openai.com")
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
